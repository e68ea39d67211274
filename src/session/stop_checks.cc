#include "session/stop_checks.h"

#include "base/text.h"
#include "checks/guardrail.h"
#include "git/fingerprint.h"
#include "session/contract.h"

namespace ralph {

StopChecks::StopChecks(const LoopStore& store, const StopRequest& stop, const Environment& environment)
    : store_(store),
      stop_(stop),
      environment_(environment),
      held_(store.checks_of(stop.session)),
      until_(clock_.monotonic() + stop.patience) {}

CheckNews StopChecks::from_earlier_stop() {
  CheckNews news;
  const auto there = held_.pending();
  if (!there) return news;  // first, because it is one lstat, and most stops end here
  const auto state = store_.load(stop_.session);
  if (!state || !*state || !(*state)->active() || !(*state)->host.held) return news;
  if (!is_about_these_files(*there)) {
    held_.end();
    news.now.restarted = true;
    return news;
  }
  news.promise_stands = true;
  await(*there, news);
  return news;
}

Result<HeldChecks::State> StopChecks::begin(CheckOrder order) {
  order.tree = tree_fingerprint(order.project, environment_);
  order.calls = store_.counted_tool_calls(stop_.session);
  auto there = held_.pending();
  if (!there || there->commands != order.commands || there->criteria != order.criteria.has_value() ||
      (there->stop != order.stop && !is_about_these_files(*there))) {
    return held_.start(order);
  }
  return *there;
}

void StopChecks::await(const HeldChecks::State& state, CheckNews& news) const {
  news.now.ran = HeldChecks::wait(state, until_);
  news.now.running = !news.now.ran;
  if (!news.now.ran) return;
  news.ended = state;
  news.found = held_.found(state);
}

void StopChecks::use(CheckNews& news) const {
  if (news.ended && !held_.take(*news.ended)) news = {};
}

// Without a repository, a tool call counts as a change.
bool StopChecks::is_about_these_files(const HeldChecks::State& state) const {
  if (!state.tree.empty()) return tree_fingerprint(store_.project(), environment_) == state.tree;
  return store_.counted_tool_calls(stop_.session) == state.calls;
}

Status note_results(Run& run, std::vector<record::GuardrailEnded> results) {
  for (record::GuardrailEnded& ended : results) {
    TRY(run.note(record::GuardrailStarted{ended.iteration, ended.index, ended.name, ended.command, ended.log_file}));
    const auto before = run.progress().tests.find(ended.command);
    if (ended.outcome == CheckOutcome::kPassed && before != run.progress().tests.end()) {
      std::optional<TestCounts> counts;
      if (ended.tests_passed)
        counts = {*ended.tests_passed, ended.tests_failed.value_or(0), ended.tests_skipped.value_or(0)};
      ended.tests_lost = lost_since(before->second, counts);
      if (!ended.tests_lost.empty())
        ended.feedback = lost_tests_message(ended.command, ended.tests_lost, ended.log_file);
    }
    TRY(run.note(ended));
  }
  return {};
}

Result<std::vector<diagnostics::Snapshot>> note_diagnosis(SessionRun& loop, const LoopStore& store,
                                                          const std::string& session, const HeldChecks::Found& found) {
  std::vector<diagnostics::Snapshot> snapshots = load_snapshots(store.snapshots_of(session));
  if (!found.diagnosis) return snapshots;
  diagnostics::Snapshot now = found.diagnosis->snapshot;
  now.iteration = loop.run.progress().iteration + 1;
  add_snapshot(snapshots, now);
  TRY(save_snapshots(store.snapshots_of(session), snapshots));
  TRY(save_snapshots(join_path(loop.run.folder, kSnapshotsFile), snapshots));
  record::GuardrailEnded ended;
  ended.iteration = now.iteration;
  ended.index = static_cast<std::int64_t>(found.checks.size()) + 1;
  ended.name = "diagnostics";
  ended.command = "ralph check";
  ended.outcome = found.diagnosis->unmet.empty() ? CheckOutcome::kPassed : CheckOutcome::kFailed;
  ended.exit_code = found.diagnosis->unmet.empty() ? 0 : 1;
  if (!found.diagnosis->unmet.empty())
    ended.feedback = continue_message(snapshots, now.iteration, loop.request.max_iterations, found.diagnosis->worst);
  TRY(loop.run.note(record::GuardrailStarted{ended.iteration, ended.index, ended.name, ended.command, ""}));
  TRY(loop.run.note(std::move(ended)));
  return snapshots;
}

}  // namespace ralph
