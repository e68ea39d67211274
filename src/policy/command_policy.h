// May an agent run this command? A list of categories, each a rule over what the shell would run
// (session/shell_lexer.h), not over the text: what is quoted is not meant, what is disguised is seen as far as the line
// shows it. A seat belt: SECURITY.md says what it cannot hold. The list is in docs/formats/hooks.md, which a test
// compares with this table.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/paths.h"
#include "policy/shell/lexer.h"

namespace ralph {

struct PolicyCategory {
  std::string_view name;  // "delete-outside", as settings write it
  std::string_view forbids;
  std::string_view why;
  std::string_view advice;  // for the agent: what to do instead
};
std::span<const PolicyCategory> policy_categories();

// The project's own say (settings hooks.commands). A pattern is the first words of a command; `*` is any one word. What
// `deny` matches is denied, else what `allow` matches is allowed, else the categories that are on decide.
struct CommandLists {
  std::vector<std::string> allow{}, deny{};
  std::map<std::string, bool> categories{};  // absent: on
};

struct Objection {
  std::string category;  // of policy_categories(), or "denied by the settings"
  std::string part;      // the offending command, as resolved
  std::string detail;    // what about it
  std::string advice;
};

// For the agent: category, part, detail, and what to do instead.
std::string reason_of(const Objection& objection);

struct CommandReport {
  ShellReading reading;
  std::vector<std::optional<Objection>> objections;  // one for each command of `reading`
  std::vector<std::string> allowed_by;               // the pattern of the settings that allows it; empty: none
  std::optional<Objection> first;                    // the first of them; nothing: the command may run
};

CommandReport judge_command(std::string_view text, const CommandLists& lists, const PolicyPlace& place,
                            const ShellSetting& setting);

// A tool that writes or reads a file. `part` names the tool.
std::optional<Objection> judge_file_write(const std::string& path, std::string_view tool, const CommandLists& lists,
                                          const PolicyPlace& place, const std::string& cwd);
std::optional<Objection> judge_file_read(const std::string& path, std::string_view tool, const CommandLists& lists,
                                         const PolicyPlace& place, const std::string& cwd);

// Scripts that a guardrail's command runs, as it names them: "./check.sh", and "ci/test.py" of "python3 ci/test.py".
std::vector<std::string> scripts_of_guardrail(std::string_view command);

}  // namespace ralph
