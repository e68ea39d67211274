// Finds findings with a user's regular expression, one line at a time. The groups (?<file>…), (?<line>…), (?<column>…),
// (?<severity>…), (?<rule>…) and (?<message>…) name the parts; `message` is required. Matching takes linear time for
// any expression: an agent controls the text, and the expression is tried on every line of it.
//
// Supported: characters, . \d \w \s \D \W \S, sets, (…) (?:…) (?<name>…), |, * + ? {m,n} and their lazy forms, ^ and $.
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

  // Errors say what is wrong and where in the expression.
  static Result<LinePattern> compile(std::string_view expression);

  using Match = std::array<std::string_view, kGroups>;
  std::optional<Match> match(std::string_view line) const;  // the leftmost match

 private:
  friend class PatternCompiler;
  struct Step {
    enum Op : unsigned char { kByte, kSplit, kJump, kSave, kBegin, kEnd, kMatch } op = kMatch;
    unsigned a = 0, b = 0;     // kSplit: tries a first; kSave: the slot
    std::bitset<256> bytes{};  // kByte
  };
  std::vector<Step> steps_;
};

// The exit code is ignored, because linters use it in many ways. Only without any output is a nonzero exit code a
// failure.
ParsedOutput parse_by_pattern(const ToolOutput& output, const std::string& expression);

}  // namespace ralph::diagnostics
