#include "policy/command_policy.h"

#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "policy/command_view.h"
#include "policy/rules.h"

namespace ralph {
namespace {

// A category of docs/formats/hooks.md: the rule that finds an offence, and what the agent is told to do instead.
struct Category {
  std::string_view name;
  Finding (*rule)(const Subject&);
  std::string_view advice;
};
constexpr std::array kCategories = {
    Category{"tamper-ralph", tampers_with_ralph,
             "leave ralph's files as they are; if they are wrong, say so and let the user change them"},
    Category{"delete-project", deletes_project, "name the single files or build folders that you want to remove"},
    Category{"delete-outside", deletes_outside,
             "delete only inside of the project, or in a folder that mktemp -d gave you"},
    Category{"device-write", writes_to_device, "work with image files inside of the project"},
    Category{"credential-read", reads_credentials,
             "use the tool that needs the credential; ask the user if it is not set up"},
    Category{"reverse-shell", opens_reverse_shell, "there is no reason for it in this work"},
    Category{"download-and-run", runs_download, "download it to a file and read it, or use a package manager"},
    Category{"exfiltration", exfiltrates, "ask the user to send it; localhost is fine"},
    Category{"history-rewrite", rewrites_history, "make a new commit, or a new branch, and push that"},
    Category{"discard-work", discards_work, "name the files, or use git stash push -u, which can be undone"},
    Category{"privilege", changes_privileges, "do it without; if it needs root, tell the user what to run"},
    Category{"permissions", loosens_permissions,
             "give the bits that are needed to the files that need them: chmod u+x file"},
    Category{"persistence", persists, "do it within the project; tell the user what to put into their profile"},
    Category{"exhaustion", exhausts_resources, "put a limit on it: a count, head, or a wait"},
    Category{"kill-processes", kills_others,
             "end your own by process id, or by a pattern that only they have: pkill -f 'my-server.js --port 3000'"},
    Category{"system-change", changes_system, "work inside of the project, or in a container"},
    Category{"network-change", changes_network, "there is no reason for it in this work"},
    Category{"database", destroys_database, "write a migration, or work on a database file inside of the project"},
    Category{"infrastructure", destroys_infrastructure,
             "show the plan (terraform plan, --dry-run) and let the user do it"},
    Category{"publish", publishes, "prepare it (--dry-run) and let the user publish"},
    Category{"containers", deletes_containers, "use docker compose down, or name the containers of this project"},
    Category{"obfuscated", is_obfuscated, "write the command itself, or write a script into the project and run that"},
};

constexpr size_t kTamper = 0, kCredentials = 4, kPersistence = 12, kObfuscated = kCategories.size() - 1;

bool is_on(const CommandLists& lists, std::string_view category) {
  const auto found = lists.categories.find(std::string(category));
  return found == lists.categories.end() || found->second;
}

// The pattern in the list that the command begins with; empty if none.
std::string matching(const std::vector<std::string>& patterns, const ShellCommand& command) {
  for (const std::string& pattern : patterns) {
    const auto words = split_shell_words(pattern);
    if (!words || words->empty() || words->size() > command.words.size()) continue;
    bool matches = true;
    for (size_t i = 0; i < words->size() && matches; ++i) {
      const std::string& wanted = (*words)[i];
      matches = wanted == "*" || wanted == command.word(i) || (i == 0 && wanted == program_of(command));
    }
    if (matches) return pattern;
  }
  return {};
}

std::string shortened(std::string text) {
  constexpr size_t kLongest = 200;
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && is_inner_byte(text[end])) --end;
  return text.substr(0, end) + "…";
}

Objection objection_of(size_t category, const std::string& part, const std::string& detail) {
  return {std::string(kCategories[category].name), shortened(part), shortened(readable(detail)),
          std::string(kCategories[category].advice)};
}

std::optional<Objection> judged(const Subject& subject, const CommandLists& lists) {
  for (size_t i = 0; i < kCategories.size(); ++i) {
    if (!is_on(lists, kCategories[i].name)) continue;
    if (auto finding = kCategories[i].rule(subject)) return objection_of(i, readable(subject.command), *finding);
  }
  return std::nullopt;
}

// A pattern of the settings allows the words; redirections are still judged.
std::optional<Objection> judged_without_words(const ShellCommand& command, const CommandLists& lists,
                                              const PolicyPlace& place) {
  if (command.redirections.empty()) return std::nullopt;
  ShellReading only;
  only.commands.push_back(command);
  only.commands[0].words.clear();
  only.commands[0].assignments.clear();
  return judged(Subject(only, 0, place), lists);
}

// Files that the command downloads, to recognise when the line runs them later.
void note_downloads(const Subject& subject, std::vector<std::string>& files) {
  constexpr size_t kMost = 64;
  if (!subject.is("curl wget aria2c") || files.size() > kMost) return;
  for (std::string& path : subject.written()) files.push_back(std::move(path));
  const bool own_name = subject.program != "curl" || subject.flag('O') || subject.option("--remote-name");
  if (!own_name) return;
  for (const std::string& operand : subject.operands) {
    const std::string name = operand.substr(operand.rfind('/') + 1);
    if (!contains(operand, '/') || name.empty()) continue;
    for (std::string& path : subject.paths(name.substr(0, name.find('?')))) files.push_back(std::move(path));
  }
}

}  // namespace

std::string reason_of(const Objection& objection) {
  return fmt::format(
      "Denied by ralph ({}): {}: {}. Instead: {}. The user can allow it in .ralph/settings.json "
      "(hooks.commands); do not try to get around it.",
      objection.category, objection.part, objection.detail, objection.advice);
}

CommandReport judge_command(std::string_view text, const CommandLists& lists, const PolicyPlace& place,
                            const ShellSetting& setting) {
  CommandReport report;
  report.reading = read_shell(text, setting);
  const size_t count = report.reading.commands.size();
  report.objections.resize(count);
  report.allowed_by.resize(count);
  std::vector<bool> runs_unknown(count);
  for (const ShellCommand& command : report.reading.commands) {
    if (command.via >= 0 && command.word(0).starts_with(kUnknownPart))
      runs_unknown[static_cast<size_t>(command.via)] = true;
  }
  std::vector<std::string> downloaded;
  for (size_t i = 0; i < count; ++i) {
    const ShellCommand& command = report.reading.commands[i];
    std::optional<Objection>& objection = report.objections[i];
    if (const std::string pattern = matching(lists.deny, command); !pattern.empty()) {
      objection =
          Objection{"denied by the settings", shortened(readable(command)),
                    fmt::format("hooks.commands.deny has \"{}\"", pattern), "find a way without it, or ask the user"};
    }
    std::string& allowed = report.allowed_by[i];
    if (!objection && command.via >= 0) allowed = report.allowed_by[static_cast<size_t>(command.via)];
    if (!objection && allowed.empty()) allowed = matching(lists.allow, command);
    if (!objection && !allowed.empty()) {
      objection = judged_without_words(command, lists, place);
    } else if (!objection) {
      Subject subject(report.reading, i, place);
      subject.runs_unknown = runs_unknown[i];
      subject.downloaded = &downloaded;
      objection = judged(subject, lists);
      note_downloads(subject, downloaded);
    }
    if (objection && !report.first) report.first = objection;
  }
  if (report.reading.cut_short && !report.first && is_on(lists, kCategories[kObfuscated].name)) {
    report.first = objection_of(kObfuscated, shortened(readable(text)),
                                "it is nested too deep, or grows too large, to be read to its end");
  }
  return report;
}

std::optional<Objection> judge_file_write(const std::string& path, std::string_view tool, const CommandLists& lists,
                                          const PolicyPlace& place, const std::string& cwd) {
  const auto object = [&](size_t category, const std::string& detail) -> std::optional<Objection> {
    if (!is_on(lists, kCategories[category].name)) return std::nullopt;
    return objection_of(category, fmt::format("{} {}", tool, readable(path)), detail);
  };
  for (const std::string& one : paths_of(with_home(path, place.home), cwd, place)) {
    std::optional<Objection> objection;
    if (is_ralphs(one, place, false)) {
      objection = object(kTamper, one + " is ralph's, a hook that calls it, or a guardrail's script");
    } else if (is_start_up_file(one, place)) {
      objection = object(kPersistence, one + " is run or read later by others");
    } else if (is_credential(one, place)) {
      objection = object(kCredentials, one + " holds credentials");
    }
    if (objection) return objection;
  }
  return std::nullopt;
}

std::optional<Objection> judge_file_read(const std::string& path, std::string_view tool, const CommandLists& lists,
                                         const PolicyPlace& place, const std::string& cwd) {
  for (const std::string& one : paths_of(with_home(path, place.home), cwd, place)) {
    if (is_credential(one, place) && is_on(lists, kCategories[kCredentials].name)) {
      return objection_of(kCredentials, fmt::format("{} {}", tool, readable(path)), one + " holds credentials");
    }
  }
  return std::nullopt;
}

std::vector<std::string> scripts_of_guardrail(std::string_view command) {
  std::vector<std::string> scripts;
  for (const ShellCommand& one : read_shell(command, {"/", "/", {}}).commands) {
    if (one.words.empty()) continue;
    const std::string& program = one.word(0);
    if (contains(program, '/')) scripts.push_back(program);
    if (!is_shell(program_of(one)) && !is_interpreter(program_of(one))) continue;
    for (size_t i = 1; i < one.words.size(); ++i) {
      const std::string& word = one.word(i);
      if (word.starts_with('-')) {
        if (word.find_first_of("cem") != std::string::npos) break;
        continue;
      }
      scripts.push_back(word);
      break;
    }
  }
  return scripts;
}

}  // namespace ralph
