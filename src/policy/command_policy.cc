#include "policy/command_policy.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "policy/command_view.h"
#include "policy/rules.h"

namespace ralph {
namespace {

constexpr std::array kCategories = {
    PolicyCategory{"tamper-ralph",
                   "writing or deleting ralph's state and settings, the hooks that call it, scripts of guardrails; "
                   "cancelling loops; ending ralph or the host agent; switching hooks off",
                   "what judges the work must not be changed by who is judged",
                   "leave ralph's files as they are; if they are wrong, say so and let the user change them"},
    PolicyCategory{"delete-project", "deleting the project, all of its files, or .git", "nothing brings them back",
                   "name the single files or build folders that you want to remove"},
    PolicyCategory{"delete-outside", "deleting what lies outside of the project, but for temporary files and caches",
                   "it is not yours", "delete only inside of the project, or in a folder that mktemp -d gave you"},
    PolicyCategory{"device-write", "writing to disks and partitions: dd, mkfs, fdisk, > /dev/sda",
                   "a disk that is overwritten is lost", "work with image files inside of the project"},
    PolicyCategory{"credential-read",
                   "reading keys, tokens and passwords: ~/.ssh, ~/.aws, ~/.netrc, keyrings, /etc/shadow",
                   "what an agent reads goes to its model and into logs",
                   "use the tool that needs the credential; ask the user if it is not set up"},
    PolicyCategory{"reverse-shell", "connecting a shell to the network: nc -e, /dev/tcp, socat exec:",
                   "it opens the machine to others", "there is no reason for it in this work"},
    PolicyCategory{"download-and-run", "running what comes straight from the network: curl | sh, eval \"$(wget ...)\"",
                   "nobody has seen what will run", "download it to a file and read it, or use a package manager"},
    PolicyCategory{"exfiltration", "sending files or the environment to other machines: curl -T, -d @file, scp, nc",
                   "what has left cannot be called back", "ask the user to send it; localhost is fine"},
    PolicyCategory{"history-rewrite",
                   "forced pushes, deleting remote branches, filter-branch, expiring the reflog, pruning now",
                   "others rely on that history, and the reflog is the way back",
                   "make a new commit, or a new branch, and push that"},
    PolicyCategory{
        "discard-work", "throwing away what is not committed: git clean -f, git checkout -- ., git stash clear",
        "git can't bring back what it never had", "name the files, or use git stash push -u, which can be undone"},
    PolicyCategory{"privilege", "sudo, su, set-user-id bits, chown root, users and groups, privileged containers",
                   "root is stopped by nothing", "do it without; if it needs root, tell the user what to run"},
    PolicyCategory{"permissions", "making files writable for everybody: chmod -R 777", "others could change them",
                   "give the bits that are needed to the files that need them: chmod u+x file"},
    PolicyCategory{"persistence",
                   "having something run later: cron, start-up services, shell profiles, /etc, authorized_keys, git "
                   "hooks, LD_PRELOAD",
                   "it outlives the session unseen",
                   "do it within the project; tell the user what to put into their profile"},
    PolicyCategory{"exhaustion", "fork bombs, endless loops of processes, filling disk or memory",
                   "the machine stops working", "put a limit on it: a count, head, or a wait"},
    PolicyCategory{
        "kill-processes", "ending processes that the session did not start: kill -1, killall, pkill -u, shutdown",
        "they belong to others",
        "end your own by process id, or by a pattern that only they have: pkill -f 'my-server.js --port 3000'"},
    PolicyCategory{"system-change", "removing packages, stopping services, kernel settings, files of the system",
                   "the machine is not part of the project", "work inside of the project, or in a container"},
    PolicyCategory{"network-change", "firewall, interfaces, routes", "it can cut the machine off",
                   "there is no reason for it in this work"},
    PolicyCategory{"database", "DROP, TRUNCATE, DELETE without WHERE, FLUSHALL, dropDatabase", "data is gone at once",
                   "write a migration, or work on a database file inside of the project"},
    PolicyCategory{"infrastructure", "terraform destroy, kubectl delete namespace, deleting cloud resources",
                   "it is running for somebody", "show the plan (terraform plan, --dry-run) and let the user do it"},
    PolicyCategory{"publish", "npm publish, cargo publish, docker push, gh release",
                   "what is public can't be taken back", "prepare it (--dry-run) and let the user publish"},
    PolicyCategory{"containers", "deleting containers and volumes of every project: docker system prune, volume rm",
                   "other projects use them", "use docker compose down, or name the containers of this project"},
    PolicyCategory{"obfuscated",
                   "running what can't be read from the line: decoded, computed or nested text in a shell",
                   "nobody can judge it", "write the command itself, or write a script into the project and run that"},
};

using Rule = Finding (*)(const Subject&);
constexpr std::array<Rule, kCategories.size()> kRules = {
    tampers_with_ralph,  deletes_project,     deletes_outside,   writes_to_device,        reads_credentials,
    opens_reverse_shell, runs_download,       exfiltrates,       rewrites_history,        discards_work,
    changes_privileges,  loosens_permissions, persists,          exhausts_resources,      kills_others,
    changes_system,      changes_network,     destroys_database, destroys_infrastructure, publishes,
    deletes_containers,  is_obfuscated};

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
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (!is_on(lists, kCategories[i].name)) continue;
    if (auto finding = kRules[i](subject)) return objection_of(i, readable(subject.command), *finding);
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
  if (!subject.is({"curl", "wget", "aria2c"}) || files.size() > kMost) return;
  for (std::string& path : subject.written()) files.push_back(std::move(path));
  const bool own_name = subject.program != "curl" || subject.flag('O') || subject.option("--remote-name");
  if (!own_name) return;
  for (const std::string& operand : subject.operands) {
    const std::string name = operand.substr(operand.rfind('/') + 1);
    if (operand.find('/') == std::string::npos || name.empty()) continue;
    for (std::string& path : subject.paths(name.substr(0, name.find('?')))) files.push_back(std::move(path));
  }
}

}  // namespace

std::span<const PolicyCategory> policy_categories() {
  return kCategories;
}

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
    if (program.find('/') != std::string::npos) scripts.push_back(program);
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
