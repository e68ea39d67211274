#include "engine/progress.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/time.h"
#include "engine/observation.h"
#include "engine/scm_command.h"
#include "journal/changed_file.h"

namespace ralph {
namespace {

constexpr size_t kWaitedFor = 64;  // ids of background tasks to remember

struct Folding {
  Progress& progress;
  WallTime time;  // of the record

  void operator()(const record::IterationStarted& started) {
    progress.iteration = static_cast<int>(started.iteration);
    progress.iteration_open = true;
    progress.iteration_began = progress.run_time;
    progress.scm = {};
    progress.attempts = 0;
    progress.failed_attempts = 0;
    progress.half_done = false;
    progress.turn_outcome = TurnOutcome::kNone;
    progress.turn_reason.clear();
    progress.turn_exit_code = 0;
    progress.response.reset();
    progress.mentioned = false;
    progress.said.clear();
    progress.final_words.clear();
    progress.guardrails_passed = 0;
    progress.guardrails_failed.clear();
    progress.tests_lost.clear();
    progress.collecting.clear();
    progress.watch.held.clear();
    progress.watch.feedback.clear();
  }

  void operator()(const record::AgentStarted& started) {
    progress.running = {
        started.agent, started.resumes, started.stdout_file, started.stderr_file, started.purpose, started.attempt,
        time};
    if (started.purpose == Purpose::kWork) progress.attempts = static_cast<int>(started.attempt);
  }

  void operator()(const record::AgentEnded& ended) {
    const Tokens tokens{ended.input_tokens, ended.output_tokens, ended.cache_read_tokens, ended.cache_write_tokens};
    progress.tokens += tokens;
    progress.cost_usd += ended.cost_usd;
    progress.running.reset();
    if (!ended.message.empty()) progress.scm.message = ended.message;
    if (ended.purpose != Purpose::kWork) return;
    ++progress.totals.turns;
    progress.totals.agent_time += Milliseconds(ended.duration_ms);
    progress.turn_outcome = ended.outcome;
    progress.turn_reason = ended.reason;
    progress.turn_exit_code = static_cast<int>(ended.exit_code);
    progress.turn_agent = ended.agent;
    progress.response = ended.response;
    progress.mentioned = ended.mentioned;
    progress.said = ended.said;
    progress.final_words = ended.final_words;
    const bool failed = ended.outcome == TurnOutcome::kCrashed || ended.outcome == TurnOutcome::kEmpty ||
                        ended.outcome == TurnOutcome::kNotStarted;
    if (failed) ++progress.failed_attempts;
    if (!failed) progress.half_done = progress.turn_was_cut_off();
    progress.failed_turns_in_row = failed ? progress.failed_turns_in_row + 1 : 0;
    progress.overloads_in_row = ended.outcome == TurnOutcome::kOverloaded ? progress.overloads_in_row + 1 : 0;
    if (ended.outcome == TurnOutcome::kUsageLimit) {
      const auto known = progress.limited.find(ended.agent);
      const int times = known == progress.limited.end() ? 1 : known->second.times + 1;
      progress.limited[ended.agent] = {from_iso8601(ended.resets_at), time, times};
    } else {
      progress.limited.erase(ended.agent);
    }
    progress.tool_calls += static_cast<int>(ended.tools);
    remember_session(ended, tokens);
    if (ended.session.empty()) return;
    Progress::Session last{ended.session, ended.agent, {}, 0};
    if (progress.last_session && progress.last_session->id == ended.session) last = *progress.last_session;
    last.tokens += tokens;
    last.cost_usd += ended.cost_usd;
    progress.last_session = last;
  }

  // Only a turn that was cut off from outside is worth resuming, and only if it had called a tool.
  void remember_session(const record::AgentEnded& ended, const Tokens& tokens) {
    const bool cut_off = ended.outcome == TurnOutcome::kUsageLimit || ended.outcome == TurnOutcome::kOverloaded ||
                         progress.turn_was_cut_off();
    if (!cut_off || ended.session.empty() || ended.tools == 0) {
      if (!cut_off) progress.session.reset();
      return;
    }
    const bool same = progress.session && progress.session->id == ended.session;
    Progress::Session session = same ? *progress.session : Progress::Session{ended.session, ended.agent, {}, 0};
    session.tokens += tokens;
    session.cost_usd += ended.cost_usd;
    progress.session = session;
  }

  // The first guardrail resets the results: if guardrails run again in an iteration, their earlier messages do not
  // count.
  void operator()(const record::GuardrailStarted& started) {
    if (started.index != 1 || started.baseline) return;
    progress.guardrails_passed = 0;
    progress.guardrails_failed.clear();
    progress.tests_lost.clear();
    progress.collecting.clear();
  }

  void operator()(const record::GuardrailEnded& ended) {
    const bool passed = ended.outcome == CheckOutcome::kPassed;
    const bool ran = passed || (ended.baseline && ended.outcome == CheckOutcome::kFailed);
    if (ran && ended.tests_passed)
      progress.tests.try_emplace(ended.command, TestCounts{*ended.tests_passed, ended.tests_failed.value_or(0),
                                                           ended.tests_skipped.value_or(0)});
    if (ended.baseline) return;
    if (passed) {
      ++progress.guardrails_passed;
      ++progress.totals.passed;
      if (!ended.tests_lost.empty()) progress.tests_lost.push_back(fmt::format("{} {}", ended.name, ended.tests_lost));
      if (!ended.feedback.empty()) progress.collecting.push_back({FailAction::kAppend, ended.feedback});
      return;
    }
    ++progress.totals.failed;
    progress.guardrails_failed.push_back(ended.name);
    if (!ended.feedback.empty()) {
      const auto action = from_word<FailAction>(ended.fail_action).value_or(FailAction::kAppend);
      progress.collecting.push_back({action, ended.feedback});
    }
  }

  // Diagnostics may run again in an iteration; their earlier results do not count.
  void operator()(const record::Diagnosed& said) {
    progress.diagnosed.unmet = said.unmet;
    add_snapshot(progress.diagnosed.snapshots, from_json<diagnostics::Snapshot>(said.snapshot));
    std::erase_if(progress.guardrails_failed, [](const std::string& name) { return name.starts_with(kDiagnostics); });
    std::erase_if(progress.collecting,
                  [](const Feedback& feedback) { return feedback.message.starts_with(kDiagnosticsTitle); });
    if (said.baseline || said.unmet.empty()) return;
    progress.guardrails_failed.push_back(fmt::format("{} ({})", kDiagnostics, join(said.unmet, ", ")));
    if (!said.feedback.empty()) progress.collecting.push_back({FailAction::kAppend, said.feedback});
  }

  void operator()(const record::ScmStarted& started) {
    progress.scm.task = started.task;
    progress.scm.head = started.head;
  }

  void operator()(const record::ScmEnded& ended) {
    if (ended.outcome != ScmOutcome::kFailed) {
      progress.scm.done.push_back(ended.task);
      // It may have failed earlier in this iteration, before the run was resumed.
      std::erase(progress.scm.failed, ended.task);
      if (progress.scm.failed.empty()) progress.scm.feedback.clear();
    }
    progress.scm.task.clear();
    if (is_commit(ended.task)) {
      progress.scm.message.clear();
      if (ended.outcome == ScmOutcome::kDone) ++progress.totals.commits;
    }
    if (ended.outcome == ScmOutcome::kFailed) ++progress.totals.scm_failures;
    if (ended.feedback.empty()) return;
    progress.scm.failed.push_back(ended.task);
    progress.scm.feedback.push_back({FailAction::kAppend, ended.feedback});
  }

  void operator()(const record::FilesWatched& watched) { progress.watch.manifest = watched.manifest; }

  void operator()(const record::FilesChanged& changed) {
    const bool late = changed.after != StepKind::kAgent;
    for (const record::ChangedFile& file : changed.files) {
      const bool holds = file.action == WatchAction::kFailed || (late && file.action == WatchAction::kPutBack);
      if (holds && !is_one_of(file.path, progress.watch.held)) progress.watch.held.push_back(file.path);
    }
    if (!changed.feedback.empty()) progress.watch.feedback.push_back({FailAction::kAppend, changed.feedback});
  }

  void operator()(const record::TriggersWatched& watched) { progress.watch.triggers = watched.manifest; }

  // A restored trigger is as it was, whoever changed it, so it does not keep the run from completing.
  void operator()(const record::TriggersChanged& changed) {
    constexpr size_t kMostReported = 50;
    for (const record::ChangedFile& file : changed.files) {
      if (file.action == WatchAction::kFailed && !is_one_of(file.path, progress.watch.held))
        progress.watch.held.push_back(file.path);
      if (progress.watch.tampered.size() < kMostReported)
        progress.watch.tampered.push_back(fmt::format("iteration {}: {}", changed.iteration, changed_file_text(file)));
    }
    if (!changed.feedback.empty()) progress.watch.feedback.push_back({FailAction::kAppend, changed.feedback});
  }

  void operator()(const record::ProcessesSwept& swept) {
    progress.totals.swept += static_cast<int>(swept.ended.size());
    if (swept.agent_lives) progress.living_agent = join(swept.survivors, "; ");
    if (swept.after == StepKind::kAgent) progress.survivors = swept.survivors;
  }

  void operator()(const record::PlanBegan& began) {
    progress.plan.uncommitted = began.uncommitted;
    progress.plan.added = began.added;
  }

  void operator()(const record::SandboxNoted& noted) { progress.totals.blocked += static_cast<int>(noted.requests); }

  void operator()(const record::PlanWork& work) {
    progress.plan.worked = static_cast<int>(work.iteration);
    progress.plan.head = work.head;
    progress.plan.story = work.story;
    if (work.mode == Mode::kReview) progress.plan.reviewed = work.head;
    if (!work.base.empty()) progress.plan.bases.emplace(work.story, work.base);
  }

  void operator()(const record::PlanChecked& checked) {
    progress.totals.violations += static_cast<int>(checked.violations.size());
    Progress::Plan& plan = progress.plan;
    plan.stories = static_cast<int>(checked.stories);
    plan.done = static_cast<int>(checked.done);
    plan.open = checked.open;
    plan.at_cap = checked.at_cap;
    plan.pending = checked.pending;
    plan.before = checked.before;
    plan.head = checked.head;
    plan.bases = checked.bases;
    plan.made = checked.made;
    plan.added = checked.added;
    if (checked.mode == Mode::kReview) plan.unsaid = checked.unsaid ? plan.unsaid + 1 : 0;
    if (checked.judged) plan.judged = static_cast<int>(checked.iteration);
    if (is_one_of(checked.outcome, std::array{StoryStep::kApproved, StoryStep::kAutoApproved}))
      progress.watch.tampered.clear();
    if (!checked.feedback.empty()) progress.collecting.push_back({FailAction::kAppend, checked.feedback});
  }

  void operator()(const record::SignalReceived& received) {
    progress.stop_requests = std::max(progress.stop_requests, static_cast<int>(received.count));
  }

  // An iteration that was cut short has no such record: the feedback of the previous one still applies.
  void operator()(const record::IterationEnded&) {
    progress.feedback = std::move(progress.collecting);
    for (const auto* more : {&progress.scm.feedback, &progress.watch.feedback})
      progress.feedback.insert(progress.feedback.end(), more->begin(), more->end());
    progress.collecting.clear();
    progress.iteration_open = false;
  }

  void operator()(const record::RunResumed& resumed) {
    // A finished task continues if somebody has removed DONE. Other complete runs are not resumed, except one that was
    // killed when only the seal of its last record was missing: it stays complete.
    if (is_one_of(progress.last_rule, rules::kEndsOfTasks)) progress.completed.clear();
    progress.status = StopStatus::kNone;
    progress.outcome_note.clear();
    progress.stop_requests = 0;
    progress.living_agent.reset();
    progress.last_stop.idle = 0;
    progress.plan.unsaid = 0;
    progress.survivors.clear();  // resuming a run implies that they have been ended
    progress.run_time = Milliseconds(resumed.spent_ms);
    for (const Claim claim : resumed.disbelieved) ignore(claim, resumed);
  }

  void ignore(Claim claim, const record::RunResumed& resumed) {
    switch (claim) {
      case Claim::kUnknown:
        break;
      case Claim::kWords:
        progress.final_words.clear();
        progress.turn_outcome = TurnOutcome::kInterrupted;
        break;
      case Claim::kCompleted:
        progress.completed.clear();
        break;
      case Claim::kEnded:
        progress.iteration_open = true;
        break;
      case Claim::kJudged:
        progress.plan.judged = 0;
        break;
      case Claim::kPending:
        progress.plan.pending.reset();
        progress.plan.before.reset();
        break;
      case Claim::kWatched:
        progress.watch.manifest = resumed.watched;
        break;
      case Claim::kTriggers:
        progress.watch.triggers = resumed.triggers;
        break;
    }
  }

  void operator()(const record::SessionBound& bound) {
    progress.host = {};
    progress.host.session = bound.session;
    progress.host.transcript = bound.transcript;
    progress.host.transcript_start = bound.transcript_size;
    progress.host.transcript_read = std::max(bound.transcript_read, bound.transcript_size);
    progress.host.transcript_calls = bound.transcript_calls;
    progress.host.tree = bound.tree;
    progress.host.since = time;
    progress.host.prompt_id = bound.prompt_id;
    progress.iteration = bound.iteration;
  }

  void operator()(const record::SessionEnded& ended) { progress.host.ended = ended.reason; }

  // In a session loop, each refused stop is an iteration.
  void operator()(const record::Decided& decided) {
    progress.last_rule = decided.rule;
    if (decided.status == StopStatus::kComplete) progress.completed = decided.reason;
    if (!decided.observation) return;
    const auto now = from_json<Observation>(*decided.observation);
    if (now.moment != Moment::kAtStop || decided.decision == Action::kRunChecks) return;
    const bool goes_on = decided.decision == Action::kContinue;
    progress.last_stop = {now.signals.tool_calls, now.signals.idle + (goes_on ? 1 : 0)};
    if (!now.session) return;
    const Observation::Session* const seen = &*now.session;
    Progress::Host& host = progress.host;
    host.transcript = seen->transcript;
    host.transcript_read = seen->transcript_read;
    host.transcript_calls = seen->transcript_calls;
    host.recent_calls = seen->recent_calls;
    host.refused_late = seen->refused_late;
    host.prompt_id = seen->prompt_id;
    host.last_message = seen->last_message;
    host.prompts = seen->prompts;
    host.ended.clear();
    host.held = now.checks.running;
    if (goes_on) ++progress.iteration;
    wait_for_background(*seen, decided.decision == Action::kWait);
    // The run has ended, even if its run_ended record is missing.
    if (decided.decision == Action::kStop) progress.status = decided.status, progress.outcome_note = decided.reason;
  }

  void wait_for_background(const Observation::Session& seen, bool waits) {
    Progress::Host& host = progress.host;
    if (!waits) {
      host.waiting_since = {};
      return;
    }
    if (host.waiting_since == WallTime{}) host.waiting_since = time;
    for (const std::string& id : seen.background) {
      if (std::find(host.waited.begin(), host.waited.end(), id) == host.waited.end()) host.waited.push_back(id);
    }
    if (host.waited.size() > kWaitedFor) host.waited.erase(host.waited.begin(), host.waited.end() - kWaitedFor);
  }

  void operator()(const record::RunEnded& ended) {
    // Changes after an orderly end are the user's own.
    if (ended.status != StopStatus::kFatal) progress.watch.triggers.clear();
    progress.status = ended.status;
    progress.outcome_note = ended.reason;
    if (ended.duration_ms > 0) progress.run_time = Milliseconds(ended.duration_ms);
  }

  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

bool Progress::turn_was_cut_off() const {
  return turn_outcome == TurnOutcome::kInterrupted || turn_outcome == TurnOutcome::kOverBudget;
}

bool Progress::turn_is_over() const {
  switch (turn_outcome) {
    case TurnOutcome::kNone:
    case TurnOutcome::kNotStarted:
    case TurnOutcome::kMaxBudget:
    // It never did any work, for a reason that may have been fixed since.
    case TurnOutcome::kAuthentication:
    case TurnOutcome::kBilling:
    case TurnOutcome::kModelNotFound:
    case TurnOutcome::kPermissionDenied:
    case TurnOutcome::kRefused:
      return false;
    default:
      return !turn_was_cut_off();
  }
}

void list_unsealed_claims(record::RunResumed& resumed, const Progress& all, const Progress& sealed) {
  const auto claim_if = [&](bool is_new, Claim claim) {
    if (is_new) resumed.disbelieved.push_back(claim);
  };
  const bool words = !all.final_words.empty() && all.turn_outcome == TurnOutcome::kOk;
  claim_if(words && (all.iteration != sealed.iteration || all.final_words != sealed.final_words), Claim::kWords);
  const bool completed = !all.completed.empty() && all.completed != sealed.completed;
  claim_if(completed, Claim::kCompleted);
  // That decision ended the iteration, and is made again.
  claim_if(completed && sealed.iteration_open && !all.iteration_open && all.iteration == sealed.iteration,
           Claim::kEnded);
  claim_if(all.plan.judged != sealed.plan.judged, Claim::kJudged);
  claim_if(all.plan.pending && all.plan.pending != sealed.plan.pending, Claim::kPending);
  // A list that was first recorded after the seal is vouched for by the state folder, which holds the copies.
  const auto keep = [&](const std::string& now, const std::string& then, std::string& field, Claim claim) {
    if (then.empty() || now == then) return;
    claim_if(true, claim);
    field = then;
  };
  keep(all.watch.manifest, sealed.watch.manifest, resumed.watched, Claim::kWatched);
  keep(all.watch.triggers, sealed.watch.triggers, resumed.triggers, Claim::kTriggers);
}

Progress fold(Progress progress, const record::Record& written) {
  // Only the run knows how long it was paused. Without its word, the time of day has to do; setting the clock back does
  // not reduce the time spent. The run_resumed record itself overrides the gap before it.
  if (written.run_time) {
    progress.run_time = *written.run_time;
  } else if (progress.last_record != WallTime{} && written.time > progress.last_record) {
    progress.run_time += written.time - progress.last_record;
  }
  progress.last_record = written.time;
  std::visit(Folding{progress, written.time}, written.body);
  return progress;
}

std::string Progress::diagnostics_trend() const {
  return diagnostics::trend(diagnosed.snapshots);
}

}  // namespace ralph
