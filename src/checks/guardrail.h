// A guardrail: a command of the user that must exit 0. Everything here is data and text; running it is the engine's.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "os/launch.h"

namespace ralph {

// "./mvnw clean install -T 2C" -> "mvnw_clean_install_T_2C": letters and digits kept, runs of anything else become one
// "_", none at the ends, at most 50 characters. A command of nothing but punctuation is "guardrail".
std::string slug_of(std::string_view command);

// "guardrail_<iteration>_<slug>.log"; a name that is in `taken` gets _1, _2, ... and is added to it.
std::string log_name(int iteration, std::string_view command, std::set<std::string>& taken);

// The command in a shell, as the user would type it; both streams as one.
Launch guardrail_launch(const std::string& command, const Environment& environment, const std::string& folder);

struct GuardrailFailure {
  std::string command;
  int exit_code = 0;
  std::string why;       // instead of an exit code: "timed out after 60 s"; empty otherwise
  std::string hint;      // never cut
  std::string log_file;  // as shown to the agent
  std::string output;    // what was kept of it
  bool truncated = false;
};

// The message for the agent, in the format that docs/guide.md shows.
std::string failure_message(const GuardrailFailure& failure);

// Keeps the first `characters` characters of a stream and remembers whether there were more. Never cuts a character.
class OutputExcerpt {
 public:
  explicit OutputExcerpt(size_t characters) : limit_(characters) {}
  void feed(std::string_view bytes);
  std::string text() const;  // valid UTF-8, at most the limit
  bool truncated() const;

 private:
  size_t limit_;
  std::string kept_;  // up to 4 bytes a character, so that the cut can be made at the end
  bool dropped_ = false;
};

}  // namespace ralph
