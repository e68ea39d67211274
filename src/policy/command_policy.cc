#include "policy/command_policy.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "os/files.h"
#include "policy/command_runners.h"
#include "policy/command_view.h"
#include "policy/rules.h"

namespace ralph {
namespace {

// A category of docs/formats/hooks.md, and the advice for the agent.
struct CategoryText {
  std::string_view name;
  std::string_view advice;
};
constexpr std::array<CategoryText, kCategoryCount> kCategories = {{
    {"tamper-ralph", "leave ralph's files as they are; if they are wrong, say so and let the user change them"},
    {"delete-project", "name the single files or build folders that you want to remove"},
    {"delete-outside", "delete only inside the project, or in a folder that mktemp -d gave you"},
    {"device-write", "work with image files inside the project"},
    {"credential-read", "use the tool that needs the credential; ask the user if it is not set up"},
    {"reverse-shell", "this work does not need it"},
    {"download-and-run", "download it to a file and read it, or use a package manager"},
    {"exfiltration", "ask the user to send it; localhost is fine"},
    {"history-rewrite", "make a new commit, or a new branch, and push that"},
    {"discard-work", "name the files, or use git stash push -u, which can be undone"},
    {"privilege", "do it without root; if it needs root, tell the user what to run"},
    {"permissions", "set only the bits that are needed, on the files that need them: chmod u+x file"},
    {"persistence", "do it within the project; tell the user what to put into their profile"},
    {"exhaustion", "put a limit on it: a count, head, or a wait"},
    {"kill-processes",
     "end your own by process id, or by a pattern that only they have: pkill -f 'my-server.js --port 3000'"},
    {"system-change", "work inside the project, or in a container"},
    {"network-change", "this work does not need it"},
    {"database", "write a migration, or work on a database file inside the project"},
    {"infrastructure", "show the plan (terraform plan, --dry-run) and let the user do it"},
    {"publish", "prepare it (--dry-run) and let the user publish"},
    {"containers", "use docker compose down, or name the containers of this project"},
    {"obfuscated", "write the command itself, or write a script into the project and run that"},
}};

const CategoryText& text_of(Category category) {
  return kCategories[static_cast<size_t>(category)];
}

bool is_on(const CommandLists& lists, Category category) {
  const auto found = lists.categories.find(std::string(text_of(category).name));
  return found == lists.categories.end() || found->second;
}

std::vector<bool> all_on(const CommandLists& lists) {
  std::vector<bool> on;
  for (size_t i = 0; i < kCategoryCount; ++i) on.push_back(is_on(lists, static_cast<Category>(i)));
  return on;
}

// Only this category, if it is on.
std::vector<bool> only(Category category, const std::vector<bool>& on) {
  std::vector<bool> one(kCategoryCount);
  one[static_cast<size_t>(category)] = on[static_cast<size_t>(category)];
  return one;
}

// A pattern from the settings: the first words of a command.
struct Pattern {
  std::string text;
  std::vector<std::string> words;
};
std::vector<Pattern> patterns_of(const std::vector<std::string>& texts) {
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) {
    if (auto words = split_shell_words(text); words && !words->empty()) patterns.push_back({text, *std::move(words)});
  }
  return patterns;
}

// The first pattern in the list that matches the command; empty if none.
std::string matching(const std::vector<Pattern>& patterns, const ShellCommand& command) {
  for (const Pattern& pattern : patterns) {
    if (pattern.words.size() > command.words.size()) continue;
    bool matches = true;
    for (size_t i = 0; i < pattern.words.size() && matches; ++i) {
      const std::string& wanted = pattern.words[i];
      matches = wanted == "*" || wanted == command.word(i) || (i == 0 && wanted == program_of(command));
    }
    if (matches) return pattern.text;
  }
  return {};
}

constexpr size_t kLongestShown = 200;

std::string shortened(std::string text) {
  if (text.size() <= kLongestShown) return text;
  size_t end = kLongestShown;
  while (end > 0 && is_continuation_byte(text[end])) --end;
  return text.substr(0, end) + "…";
}

Objection objection_of(Category category, const std::string& part, const std::string& detail) {
  return {std::string(text_of(category).name), shortened(part), shortened(readable(detail)),
          std::string(text_of(category).advice)};
}

std::optional<Objection> judged(const Subject& subject, const std::vector<bool>& on) {
  const auto offence = offence_of(subject, on);
  if (!offence) return std::nullopt;
  Objection objection = objection_of(offence->category, readable(subject.command), offence->finding.what);
  objection.only_asked = offence->finding.only_asked;
  return objection;
}

// For a command whose words a pattern from the settings allows: redirections are still judged.
std::optional<Objection> judged_without_words(const ShellReading& reading, const ShellCommand& command,
                                              const std::vector<bool>& on, const PolicyPlace& place) {
  if (command.redirections.empty()) return std::nullopt;
  ShellReading only;
  only.effort = reading.effort;
  only.commands.push_back(command);
  only.commands[0].words.clear();
  only.commands[0].assignments.clear();
  return judged(Subject(only, 0, place), on);
}

constexpr size_t kMostFiles = 64;  // that are remembered

// Notes the files that the command generates from other text: sed 's/^/rm /' list > x.sh.
void note_made(const Subject& subject, std::vector<std::string>& files) {
  if (!subject.is("sed awk gawk mawk tr cut paste perl xargs jq yq m4") || files.size() > kMostFiles) return;
  for (const ShellRedirection& one : subject.command.redirections) {
    if (!one.op.starts_with('>') || one.fd > 1 || one.op == ">&") continue;
    for (std::string& path : subject.paths(one.target.text)) files.push_back(std::move(path));
  }
}

// Notes the names of copies of ralph that the command makes: cp $(which ralph) r.
void note_copies(const Subject& subject, std::vector<std::string>& names) {
  if (!subject.is("cp mv ln link install cat dd rsync") || names.size() > kMostFiles) return;
  const bool takes_ralph = std::ranges::any_of(subject.operands, [](const std::string& one) {
    return base_name(one.starts_with("if=") ? one.substr(3) : one) == "ralph";
  });
  if (!takes_ralph) return;
  for (const std::string& path : subject.written()) names.push_back(base_name(path));
}

// Notes the files that the command downloads, in case the command line runs them later.
void note_downloads(const Subject& subject, std::vector<std::string>& files) {
  if (!subject.is("curl wget aria2c") || files.size() > kMostFiles) return;
  for (const std::string& path : subject.written()) files.push_back(path);
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
      "Denied by ralph ({}): {}: {}{}. Instead: {}. The user can allow it in their own settings "
      "(hooks.commands in ~/.config/ralph/settings.json); do not try to get around it.",
      objection.category, objection.part, objection.detail,
      objection.only_asked ? ", and there is nobody here to ask" : "", objection.advice);
}

std::string question_of(const Objection& objection) {
  return fmt::format("ralph can't tell what this does ({}): {}: {}. Run it?", objection.category, objection.part,
                     objection.detail);
}

Objection too_long_to_judge(std::string_view text) {
  return objection_of(Category::kObfuscated, readable(text.substr(0, 2 * kLongestShown)),
                      "it takes too long to be judged");
}

CommandReport judge_command(std::string_view text, const CommandLists& lists, const PolicyPlace& place,
                            const ShellSetting& setting) {
  CommandReport report;
  report.reading = read_shell(text, setting);
  const ShellReading& reading = report.reading;
  const size_t count = reading.commands.size();
  report.objections.resize(count);
  report.allowed_by.resize(count);
  std::vector<bool> runs_unknown(count);
  for (const ShellCommand& command : reading.commands) {
    if (command.via >= 0 && command.word(0).starts_with(kUnknownPart))
      runs_unknown[static_cast<size_t>(command.via)] = true;
  }
  const std::vector<bool> on = all_on(lists), in_container = only(Category::kDatabase, on);
  std::vector<bool> is_contained(count);
  const std::vector<Pattern> allow = patterns_of(lists.allow), deny = patterns_of(lists.deny);
  const std::vector<bool> as_ralph = only(Category::kTamperRalph, on);
  std::vector<std::string> downloaded, made, copies;
  for (size_t i = 0; i < count && !reading.effort->is_over(); ++i) {
    const ShellCommand& command = reading.commands[i];
    if (const auto via = static_cast<size_t>(command.via); command.via >= 0)
      is_contained[i] = is_contained[via] || is_container_runner(program_of(reading.commands[via]));
    std::optional<Objection>& objection = report.objections[i];
    if (const std::string pattern = matching(deny, command); !pattern.empty()) {
      objection =
          Objection{"denied by the settings", shortened(readable(command)),
                    fmt::format("hooks.commands.deny has \"{}\"", pattern), "find a way without it, or ask the user"};
    }
    std::string& allowed = report.allowed_by[i];
    if (!objection && command.via >= 0) allowed = report.allowed_by[static_cast<size_t>(command.via)];
    if (!objection && allowed.empty()) allowed = matching(allow, command);
    if (!objection && !allowed.empty()) {
      objection = judged_without_words(reading, command, on, place);
    } else if (!objection) {
      Subject subject(reading, i, place);
      subject.runs_unknown = runs_unknown[i];
      subject.downloaded = &downloaded;
      subject.made = &made;
      objection = judged(subject, is_contained[i] ? in_container : on);
      if (!copies.empty() && (!objection || objection->only_asked) && is_one_of(subject.program, copies)) {
        if (auto denial = judged(Subject(reading, i, place, "ralph"), as_ralph)) objection = std::move(denial);
      }
      note_downloads(subject, downloaded);
      note_copies(subject, copies);
      note_made(subject, made);
    }
    // A denial takes precedence over a question.
    if (objection && (!report.first || (report.first->only_asked && !objection->only_asked))) report.first = objection;
  }
  const bool is_denied = report.first && !report.first->only_asked;
  if (reading.effort->is_over() && !is_denied) {
    report.first = too_long_to_judge(text);
  } else if (reading.cut_short && !is_denied && is_on(lists, Category::kObfuscated)) {
    report.first = objection_of(Category::kObfuscated, readable(text.substr(0, 2 * kLongestShown)),
                                "it is nested too deep, or grows too large, to be read to its end");
  }
  return report;
}

std::optional<Objection> judge_file_write(const std::string& path, std::string_view tool, const CommandLists& lists,
                                          const PolicyPlace& place, const std::string& cwd) {
  const auto object = [&](Category category, const std::string& detail) -> std::optional<Objection> {
    if (!is_on(lists, category)) return std::nullopt;
    return objection_of(category, fmt::format("{} {}", tool, readable(path)), detail);
  };
  for (const std::string& one : paths_of(with_home(path, place.home), cwd, place)) {
    std::optional<Objection> objection;
    if (is_ralphs(one, place, false)) {
      objection = object(Category::kTamperRalph,
                         one + " is ralph's, a hook that calls it, a guardrail's script, or a protected file");
    } else if (is_start_up_file(one, place)) {
      objection = object(Category::kPersistence, one + " is run or read later by others");
    } else if (is_credential(one, place)) {
      objection = object(Category::kCredentialRead, one + " holds credentials");
    }
    if (objection) return objection;
  }
  return std::nullopt;
}

std::optional<Objection> judge_file_read(const std::string& path, std::string_view tool, const CommandLists& lists,
                                         const PolicyPlace& place, const std::string& cwd) {
  for (const std::string& one : paths_of(with_home(path, place.home), cwd, place)) {
    if (is_credential(one, place) && is_on(lists, Category::kCredentialRead)) {
      return objection_of(Category::kCredentialRead, fmt::format("{} {}", tool, readable(path)),
                          one + " holds credentials");
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
