// Findings by a user's regular expression, one line at a time. The groups (?<file>…), (?<line>…), (?<column>…),
// (?<severity>…), (?<rule>…) and (?<message>…) say what is what; `message` is required. Matching takes time
// proportional to the text, whatever the expression: the text is an agent's work, and the expression is tried on every
// line of it.
//
// Known: characters, . \d \w \s \D \W \S, sets, (…) (?:…) (?<name>…), |, * + ? {m,n} and their lazy forms, ^ and $.
#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checks/diagnostics/collector.h"

namespace ralph::diagnostics {

class LinePattern {
 public:
  enum Group : unsigned char { kFile, kLine, kColumn, kSeverity, kRule, kMessage, kGroups };

  // Errors say what is wrong, and where in the expression.
  static Result<LinePattern> compile(std::string_view expression);

  using Match = std::array<std::string_view, kGroups>;
  std::optional<Match> match(std::string_view line) const;  // the leftmost one

 private:
  friend class PatternCompiler;
  struct Step {
    enum Op : unsigned char { kByte, kSplit, kJump, kSave, kBegin, kEnd, kMatch } op = kMatch;
    unsigned a = 0, b = 0;     // kSplit: tries a first; kSave: the slot
    std::bitset<256> bytes{};  // kByte
  };
  std::vector<Step> steps_;
};

// Exit codes don't matter: linters use them in many ways. Without any line of output, an exit code that is not 0 is a
// failure.
ParsedOutput parse_by_pattern(const ToolOutput& output, const std::string& expression);

}  // namespace ralph::diagnostics
