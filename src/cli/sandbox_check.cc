// ralph sandbox check: attacks the sandbox, and reports the outcome of each attack.
#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/registry.h"
#include "cli/sandbox_range.h"
#include "json/value.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{"direct", 0, "", "Run the attacks without a sandbox, to see what they do."},
    Option{"only", 0, "NAME", "Only this attack.", false, true},
    Option{"json", 0, "", "Print the results as JSON."},
};

std::string table_of(const std::vector<AttackResult>& results, size_t through) {
  size_t width = 0;
  for (const AttackResult& result : results) width = std::max(width, result.attack->name.size());
  std::string out;
  for (const AttackResult& result : results) {
    out += fmt::format("{}  {:<{}}  {}: {}\n", result.through ? "THROUGH" : "stopped", result.attack->name, width,
                       result.attack->what, result.how);
  }
  return out + fmt::format("\n{} of {} attacks were stopped.\n", results.size() - through, results.size());
}

json::object json_of(const std::vector<AttackResult>& results, size_t through, const std::string& limits) {
  json::array all;
  for (const AttackResult& result : results) {
    all.push_back(json::object{{"attack", result.attack->name},
                               {"what", result.attack->what},
                               {"stopped", !result.through},
                               {"how", to_json_string(result.how)}});
  }
  return {{"attacks", std::move(all)},
          {"stopped", results.size() - through},
          {"through", through},
          {"limits", to_json_string(limits)}};
}

std::string nearest_attack(std::string_view name, const std::vector<const Attack*>& attacks) {
  std::vector<std::string_view> names;
  for (const Attack* attack : attacks) names.push_back(attack->name);
  const std::string_view near = nearest(name, names);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

Result<int> check_sandbox(const Arguments& arguments) {
  std::vector<const Attack*> attacks = all_attacks();
  if (const std::vector<std::string> only = arguments.values("only"); !only.empty()) {
    for (const std::string& name : only) {
      if (std::ranges::any_of(attacks, [&](const Attack* attack) { return attack->name == name; })) continue;
      return fail(ErrorKind::kUsage, "--only: there is no attack {}{}; 'ralph sandbox check' lists them", name,
                  nearest_attack(name, attacks));
    }
    std::erase_if(attacks, [&](const Attack* attack) { return std::ranges::find(only, attack->name) == only.end(); });
  }
  TRY_VALUE(const std::unique_ptr<AttackRange> range, AttackRange::set_up(arguments.has("direct")));
  std::vector<AttackResult> results;
  size_t through = 0;
  for (const Attack* attack : attacks) {
    TRY_VALUE(AttackResult result, range->run(*attack));
    through += result.through ? 1 : 0;
    results.push_back(std::move(result));
  }
  std::string text;
  if (arguments.has("json")) {
    text = to_pretty_json(json_of(results, through, range->limits()));
  } else {
    text = arguments.has("direct") ? "Without a sandbox:\n\n" : fmt::format("In bubblewrap; {}:\n\n", range->limits());
    text += printable_lines(table_of(results, through));
  }
  TRY(write_all(STDOUT_FILENO, text, "standard output"));
  return through > 0 ? 1 : 0;
}

// Runs inside the sandbox: the attack itself.
constexpr std::array kAttackPositionals = {Positional{"NAME", "The attack.", true},
                                           Positional{"PLACE", "What is set up for it, as JSON.", true}};

Result<int> attack(const Arguments& arguments) {
  TRY_VALUE(const AttackPlace place, attack_place_from(arguments.positionals()[1]));
  for (const Attack* one : all_attacks()) {
    if (one->name != arguments.positionals()[0]) continue;
    const Attempt attempt = one->attempt(place);
    TRY(write_all(STDOUT_FILENO, attempt.how + "\n", "standard output"));
    return attempt.through ? kAttackThrough : kAttackStopped;
  }
  return fail(ErrorKind::kUsage, "there is no attack {}", arguments.positionals()[0]);
}

}  // namespace

const Command kSandboxCheck = {
    "sandbox check",
    "Attack the sandbox from inside, and show what was stopped and how.",
    R"(Sets up a scratch folder with a project, a home with fake secrets, servers on the loopback interface and a victim
process, and runs each attack in its own sandbox. Your own files are not touched. Attacks are limited in processes,
memory and time.

Exit codes: 0 all attacks were stopped, 1 an attack got through, 2 there is no sandbox here.)",
    R"(ralph sandbox check
       ralph sandbox check --json
       ralph sandbox check --direct --only environment)",
    kOptions,
    {},
    check_sandbox,
};

const Command kSandboxAttack = {
    "sandbox attack",
    "One attack of `ralph sandbox check`, from inside.",
    "For ralph's own use.",
    "ralph sandbox check --only environment",
    {},
    kAttackPositionals,
    attack,
    true,
};

}  // namespace ralph::cli
