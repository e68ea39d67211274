// A guardrail: a user's command that must exit 0. Data and text only; the engine runs it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "os/launch.h"

namespace ralph {

// "./mvnw clean install -T 2C" -> "mvnw_clean_install_T_2C": keeps letters and digits, turns runs of anything else into
// one "_", none at the ends, at most 50 characters. A command of only punctuation becomes "guardrail".
std::string slug_of(std::string_view command);

// "guardrail_<iteration>_<slug>.log"; a name in `taken` gets _1, _2, ...; the result is added to `taken`.
std::string log_name(int iteration, std::string_view command, std::set<std::string>& taken);

// Runs the command in a shell, as the user would type it, with both streams merged.
Launch guardrail_launch(const std::string& command, const Environment& environment, const std::string& folder);

struct GuardrailFailure {
  std::string command;
  int exit_code = 0;
  std::string why;       // replaces the exit code: "timed out after 60 s"; may be empty
  std::string hint;      // never truncated
  std::string log_file;  // as shown to the agent
  std::string output;    // the excerpt
  bool truncated = false;
};

// The message for the agent, in the format shown in docs/guide.md.
std::string failure_message(const GuardrailFailure& failure);

// The message about a guardrail that passed with fewer tests; `lost` comes from lost_since().
std::string lost_tests_message(std::string_view command, std::string_view lost, std::string_view log_file);

// Keeps the first `characters` characters of a stream and records whether there were more. Never splits a character.
class OutputExcerpt {
 public:
  explicit OutputExcerpt(size_t characters) : limit_(characters) {}
  void feed(std::string_view bytes);
  std::string text() const;  // valid UTF-8, at most the limit
  bool truncated() const;

 private:
  size_t limit_;
  std::string kept_;  // up to 4 bytes per character; cut to characters at the end
  bool dropped_ = false;
};

}  // namespace ralph
