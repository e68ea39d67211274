// ralph runs verify: verifies the record of a run and, with --rerun, its checks.
#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/accept.h"
#include "cli/any_run.h"
#include "cli/output_options.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "cli/rerun.h"
#include "history/verify.h"
#include "os/guardian.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    kTrustOption,
    Option{"rerun", 0, "", "Run the checks again, in a clean checkout of the final commit, and compare results."},
    Option{"json", 0, "", "Print one JSON object."},
};

constexpr std::array kPositionals = {
    Positional{"RUN", "The id of a run, including a task's, its beginning, or \"last\" (the default)."}};

void print_json(const Verification& verification, const RunFolder& folder) {
  json::array findings;
  for (const VerifyFinding& finding : verification.findings) {
    json::object object;
    object["what"] = finding.what;
    object["fits"] = finding.fits ? json::value(*finding.fits) : json::value(nullptr);
    object["text"] = to_json_string(finding.text);
    findings.push_back(std::move(object));
  }
  fmt::print("{}", to_pretty_json(json::object{
                       {"runId", folder.id}, {"fits", verification.fits()}, {"findings", std::move(findings)}}));
}

void print_text(const Verification& verification, const RunFolder& folder) {
  const Style style = style_of_output(Environment::of_this_process());
  for (const VerifyFinding& finding : verification.findings) {
    const std::string mark = !finding.fits   ? style.yellow(style.note())
                             : *finding.fits ? style.green(style.ok())
                                             : style.red(style.error());
    fmt::print("{} {}: {}\n", mark, finding.what, fit_to_width(finding.text, 2000));
  }
  if (verification.fits()) {
    fmt::print("Run {}: everything matches.\n", folder.id);
  } else {
    fmt::print("Run {}: not everything matches.\n", folder.id);
  }
}

// Whether the journal is as this machine wrote it. Then this user has already run the commands in it.
bool is_this_machines(const Verification& verification) {
  return std::ranges::all_of(verification.findings, [](const VerifyFinding& finding) {
    return !is_one_of(finding.what, {"journal", "its end"}) || finding.fits == true;
  });
}

std::string why_not_again(const Verification& verification) {
  std::vector<std::string> commands;
  for (const std::string& command : commands_to_rerun(verification.receipt))
    commands.push_back(fmt::format("\"{}\"", fit_to_width(command, 200)));
  return fmt::format(
      "the checks were not run again: the journal is not as this machine wrote it, so anybody may have chosen their "
      "commands ({}); to run these with your rights, add --trust",
      commands.empty() ? "there are none" : join(commands, ", "));
}

Result<int> verify(const Arguments& arguments) {
  TRY_VALUE(const Project place, enter_project());
  const std::string_view which =
      arguments.positionals().empty() ? "last" : std::string_view(arguments.positionals()[0]);
  TRY_VALUE(const AnyRun found, find_any_run(place.folder, which));
  const RunFolder& folder = found.folder;
  const std::string& project = found.project;
  const std::string seal = seal_of(found.keeper(), folder.id);
  Verification verification =
      verify_run({folder, project, seal.empty() ? std::nullopt : std::optional(seal), plain_git(project)});
  const auto print = [&] {
    arguments.has("json") ? print_json(verification, folder) : print_text(verification, folder);
    return verification.fits() ? 0 : 1;
  };
  if (!arguments.has("rerun")) return print();
  if (!is_this_machines(verification)) {
    TRY_VALUE(const bool trusted, is_trusted_once(arguments.has("trust")));
    if (!trusted) {
      verification.add("rerun", false, why_not_again(verification));
      return print();
    }
  }
  return run_guarded([&](int guardian) {
    rerun_checks(verification, project, guardian);
    return print();
  });
}

}  // namespace

const Command kRunsVerify = {
    "runs verify",
    "Verify the record of a run: journal, receipt, logs, commits; with --rerun, its checks.",
    "Prints what does not match; the exit code is then 1, as it is for a run that was killed or has no receipt.\n"
    "--rerun repeats the run's last checks, with your rights, in a temporary checkout of the final commit, after\n"
    "plan.cleanRoom.setup. If the journal is not as this machine wrote it (because it came with a clone, or was\n"
    "changed), the commands are only shown, and --trust runs them. docs/formats/receipt.md says what is checked and\n"
    "what that proves.",
    "ralph runs verify\n"
    "ralph runs verify 20261115-202233 --rerun\n"
    "ralph runs verify --json | jq .fits",
    kOptions,
    kPositionals,
    verify,
};

}  // namespace ralph::cli
