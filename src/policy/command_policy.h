// Decides whether an agent may run a command. Each category is a rule over what the shell would run
// (policy/shell/lexer.h), not over the text: quoted text does not trigger it, and disguised commands are recognised as
// far as the command line reveals them. This is a seat belt; SECURITY.md lists its limits. docs/formats/hooks.md
// describes the categories.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/paths.h"
#include "policy/shell/lexer.h"

namespace ralph {

// The project's own rules (settings hooks.commands). A pattern is the first words of a command; `*` is any one word.
// `deny` takes precedence over `allow`, and `allow` over the enabled categories.
struct CommandLists {
  std::vector<std::string> allow{}, deny{};
  std::map<std::string, bool> categories{};  // absent: on
};

struct Objection {
  std::string category;  // as in settings, or "denied by the settings"
  std::string part;      // the offending command, as resolved
  std::string detail;    // what is wrong with it
  std::string advice;
  bool only_asked = false;  // its effect is known only at run time, so a person may allow it
};

// For the agent: category, part, detail, and what to do instead.
std::string reason_of(const Objection& objection);
// For a person who can answer, if `only_asked` is set.
std::string question_of(const Objection& objection);

struct CommandReport {
  ShellReading reading;
  std::vector<std::optional<Objection>> objections;  // one per command of `reading`
  std::vector<std::string> allowed_by;               // the settings pattern that allows it; empty: none
  std::optional<Objection> first;  // a denial takes precedence over a question; nullopt: the command may run
};

CommandReport judge_command(std::string_view text, const CommandLists& lists, const PolicyPlace& place,
                            const ShellSetting& setting);

// For a command that can't be judged in time.
Objection too_long_to_judge(std::string_view text);

// For a tool that writes or reads a file. `part` of the objection names the tool.
std::optional<Objection> judge_file_write(const std::string& path, std::string_view tool, const CommandLists& lists,
                                          const PolicyPlace& place, const std::string& cwd);
std::optional<Objection> judge_file_read(const std::string& path, std::string_view tool, const CommandLists& lists,
                                         const PolicyPlace& place, const std::string& cwd);

// Scripts that a guardrail's command runs, as written: "./check.sh", or "ci/test.py" in "python3 ci/test.py".
std::vector<std::string> scripts_of_guardrail(std::string_view command);

}  // namespace ralph
