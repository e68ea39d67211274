#include "cli/rerun.h"

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "base/utf8.h"
#include "checks/guardrail.h"
#include "checks/test_counts.h"
#include "git/clone_of_commit.h"
#include "git/repository.h"
#include "os/clock.h"
#include "os/guardian.h"
#include "os/processes_linux.h"

namespace ralph::cli {
namespace {

struct CheckEnd {
  ExitStatus status;
  std::optional<TestCounts> tests;
  bool timed_out = false, interrupted = false;
};

Result<CheckEnd> run_check(Processes& processes, const Clock& clock, const std::string& command,
                           const std::string& folder, Milliseconds limit) {
  CheckEnd end;
  TestCountReader tests;
  TRY(processes.start(guardrail_launch(command, Environment::of_this_process(), folder)));
  const auto deadline = limit.count() > 0 ? std::optional(clock.monotonic() + limit) : std::nullopt;
  for (;;) {
    const Event event = processes.next(end.timed_out || end.interrupted ? std::nullopt : deadline);
    if (const auto* output = std::get_if<Output>(&event)) tests.feed(output->bytes);
    if (const auto* exited = std::get_if<Exited>(&event)) end.status = exited->status;
    if (std::holds_alternative<GuardianLost>(event)) exit_without_guardian("");
    const bool late = std::holds_alternative<DeadlinePassed>(event);
    if (late || std::holds_alternative<SignalArrived>(event)) {
      (late ? end.timed_out : end.interrupted) = true;
      processes.end(stop_gently());
    }
    if (std::holds_alternative<Finished>(event)) break;
  }
  end.tests = tests.counts();
  return end;
}

std::string outcome_in_words(CheckOutcome outcome, int code) {
  if (outcome == CheckOutcome::kFailed) return fmt::format("failed with exit code {}", code);
  return replace_all(to_string(outcome), "_", " ");
}

// Compares a check's result in the run with its result now.
VerifyFinding compare(const record::GuardrailEnded& then, const CheckEnd& now) {
  CheckOutcome outcome = now.status.success() ? CheckOutcome::kPassed : CheckOutcome::kFailed;
  if (now.tests && now.tests->executed() == 0) outcome = CheckOutcome::kFailed;
  if (now.timed_out) outcome = CheckOutcome::kTimedOut;
  const std::string name = fit_to_width(then.name, 80);
  if (outcome != then.outcome)
    return {"rerun", false,
            fmt::format("{}: {} in the run, and {} now", name,
                        outcome_in_words(then.outcome, static_cast<int>(then.exit_code)),
                        outcome_in_words(outcome, now.status.code))};
  if (then.tests_passed) {
    const TestCounts before{*then.tests_passed, then.tests_failed.value_or(0), then.tests_skipped.value_or(0)};
    if (!now.tests || *now.tests != before)
      return {"rerun", false,
              fmt::format("{}: {} in the run, and {} now", name, in_words(before),
                          now.tests ? in_words(*now.tests) : "an unknown number of tests")};
  }
  const std::string tests = now.tests ? fmt::format(", {}", in_words(*now.tests)) : "";
  return {"rerun", true, fmt::format("{}: {} again{}", name, outcome_in_words(outcome, now.status.code), tests)};
}

// The checks of the last iteration that had any, from its last round.
std::vector<record::GuardrailEnded> last_checks(const Receipt& receipt) {
  std::vector<record::GuardrailEnded> last;
  for (const record::GuardrailEnded& check : receipt.checks()) {
    if (check.baseline) continue;
    if (!last.empty() && (last.front().iteration != check.iteration || check.index == 1)) last.clear();
    last.push_back(check);
  }
  return last;
}

// The settings of the guardrail with this command; nullptr for a verify command of the plan.
const json::value* guardrail_with(const json::value& settings, const std::string& command) {
  for (const json::value& guardrail : array_at(settings, "guardrails")) {
    if (find_string(guardrail, "command") == command) return &guardrail;
  }
  return nullptr;
}

Milliseconds limit_of(const json::value& settings, const std::string& command) {
  const json::value* guardrail = guardrail_with(settings, command);
  const json::value* plan = find(settings, "plan");
  const json::value* seconds = guardrail ? find(*guardrail, "timeoutSeconds")
                               : plan    ? find(*plan, "verifyTimeoutSeconds")
                                         : nullptr;
  if (!seconds || !seconds->is_number()) return Milliseconds(0);
  return Milliseconds(static_cast<long long>(seconds->to_number<double>() * 1000));
}

std::int64_t tries_of(const json::value& settings, const std::string& command) {
  const json::value* guardrail = guardrail_with(settings, command);
  return 1 + (guardrail ? find_integer(*guardrail, "flakeRetries").value_or(0) : 0);
}

std::string setup_of(const json::value& settings) {
  const json::value* plan = find(settings, "plan");
  const json::value* room = plan ? find(*plan, "cleanRoom") : nullptr;
  return room ? std::string(find_string(*room, "setup").value_or("")) : "";
}

// A temporary folder, removed with its contents.
class Checkout {
 public:
  Checkout() {
    const char* base = std::getenv("TMPDIR");
    path_ = fmt::format("{}/ralph-verify-XXXXXX", base && *base ? base : "/tmp");
    if (!::mkdtemp(path_.data())) path_.clear();
  }
  Checkout(const Checkout&) = delete;
  Checkout& operator=(const Checkout&) = delete;
  ~Checkout() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status rerun_all(Verification& verification, const std::string& project, Processes& processes, const Clock& clock) {
  const Receipt& receipt = verification.receipt;
  const std::string commit = receipt.end() ? receipt.end()->commit : "";
  if (commit.empty()) return fail(ErrorKind::kInput, "the run names no final commit to check out");
  const std::vector<record::GuardrailEnded> checks = last_checks(receipt);
  if (checks.empty()) return fail(ErrorKind::kInput, "the run had no checks");
  TRY_VALUE(const std::string tree, Repository(plain_git(project), project).work_tree());
  const Checkout checkout;
  if (checkout.path().empty()) return fail(ErrorKind::kIo, "no temporary folder can be created; is TMPDIR writable?");
  const std::string target = join_path(checkout.path(), "tree");
  TRY(clone_commit(tree, commit, target));
  const std::string below = path_below(real_path(project), real_path(tree));
  const std::string folder = below.empty() ? target : join_path(target, below);
  if (const std::string setup = setup_of(receipt.settings()); !setup.empty()) {
    TRY_VALUE(const CheckEnd end, run_check(processes, clock, setup, folder, Milliseconds(0)));
    if (!end.status.success())
      return fail(ErrorKind::kIo, "plan.cleanRoom.setup ({}) failed with exit code {}", setup, end.status.code);
  }
  for (const record::GuardrailEnded& check : checks) {
    VerifyFinding finding;
    for (std::int64_t left = tries_of(receipt.settings(), check.command); left > 0; --left) {
      TRY_VALUE(const CheckEnd end,
                run_check(processes, clock, check.command, folder, limit_of(receipt.settings(), check.command)));
      if (end.interrupted) return fail(ErrorKind::kIo, "interrupted");
      finding = compare(check, end);
      if (*finding.fits) break;
    }
    verification.findings.push_back(std::move(finding));
  }
  return {};
}

}  // namespace

std::vector<std::string> commands_to_rerun(const Receipt& receipt) {
  std::vector<std::string> commands;
  if (std::string setup = setup_of(receipt.settings()); !setup.empty()) commands.push_back(std::move(setup));
  for (const record::GuardrailEnded& check : last_checks(receipt)) commands.push_back(check.command);
  return commands;
}

void rerun_checks(Verification& verification, const std::string& project, int guardian) {
  const SystemClock clock;
  LinuxProcesses processes(clock, guardian);
  if (const Status done = rerun_all(verification, project, processes, clock); !done)
    verification.add("rerun", false, fmt::format("the checks can't be run again: {}", done.error().message));
}

}  // namespace ralph::cli
