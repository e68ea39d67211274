#include "session/stop.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "base/utf8.h"
#include "engine/watch.h"
#include "git/fingerprint.h"
#include "session/contract.h"
#include "session/look_back.h"
#include "session/stop_checks.h"

namespace ralph {
namespace {

constexpr size_t kSaidWidth = 300;

// Identifies a stop, which two hooks may report.
std::string name_of_stop(const Observation::Session& seen) {
  return seen.prompt_id + "/" + seen.last_message;
}

// Continuations in a row without a tool call. The user's next line resets the count. 0 if nobody counts calls.
int idle_now(const Progress& progress, const Observation::Session& seen, const Since& since, std::int64_t calls) {
  const bool counted = calls > 0 || since.calls_known;
  const bool moved = calls > progress.last_stop.calls || seen.prompts > progress.host.prompts;
  return counted && !moved ? progress.last_stop.idle : 0;
}

int new_background_tasks(const Progress::Host& host, const StopRequest& stop) {
  return static_cast<int>(
      std::count_if(stop.background_tasks.begin(), stop.background_tasks.end(), [&](const std::string& id) {
        return std::find(host.waited.begin(), host.waited.end(), id) == host.waited.end();
      }));
}

// The changes to protected files since the last stop, in words.
std::string changed_files(Run& run) {
  if (run.progress().watch.manifest.empty()) return {};
  Watch watch(run);
  if (const Status begun = watch.begin_session(); !begun) return begun.error().message;
  const size_t before = run.progress().watch.feedback.size();
  if (const auto looked = watch.look(StepKind::kAgent); !looked) return looked.error().message;
  const std::vector<Feedback>& feedback = run.progress().watch.feedback;
  return feedback.size() > before ? feedback.back().message : "";
}

// The agent's changes to files that determine what the tools find, in words.
Result<std::string> report_hiding(Run& run, const HeldChecks::Found& found) {
  if (!found.diagnosis || found.diagnosis->hiding.empty()) return std::string();
  TRY(report_files(run, found.diagnosis->hiding));
  return run.progress().watch.feedback.back().message;
}

// Completion tags count only in loops without a promise, unless the user forbids it.
bool is_marked(const LoopStore& store, const LoopRequest& request, const std::string& words,
               const Environment& environment) {
  if (!request.no_promise || !request.has_criteria() || !has_completion_tag(words)) return false;
  const auto settings = load_settings(store.project(), {}, Distrusted::kLeftOut, environment);
  return !settings || !settings->settings.diagnostics.strict;
}

// The output of this stop's failing checks.
std::string what_checks_say(const Progress& progress, const LoopRequest& request) {
  std::string text;
  for (const Feedback& one : progress.collecting) text += fmt::format("{}{}", text.empty() ? "" : "\n\n", one.message);
  return without_promise_tag(text, request);
}

// What the session said and did since its last stop, for a decision.
Observation observe(const LoopStore& store, const SessionRun& loop, const StopRequest& stop, const CheckNews& checks,
                    Observation::Session seen, WallTime heard, const Environment& environment) {
  const Progress& progress = loop.run.progress();
  Observation now;
  now.moment = Moment::kAtStop;
  now.checks = checks.now;
  const Since since = look_back(seen, loop.request, progress, stop, heard);
  seen.prompts = loop.counted_prompts();
  seen.background = stop.background_tasks;
  seen.refused_late = since.late;
  now.signals.promised = since.said == Said::kPromise || checks.promise_stands;
  now.signals.mentioned = since.said == Said::kMention;
  now.signals.cancelled = since.cancelled;
  now.signals.background = new_background_tasks(progress.host, stop);
  const std::int64_t calls = std::max(seen.transcript_calls, loop.counted_tool_calls());
  now.signals.tool_calls = static_cast<int>(calls);
  if (calls >= loop.request.min_tool_calls) {
    now.signals.worked = true;
  } else if (calls > 0 || since.calls_known || stop.calls_counted) {
    now.signals.worked = false;
  } else if (now.signals.promised) {
    // Without a count, only a change to the tree proves work.
    const std::string& then = progress.host.tree;
    const std::string tree = then.empty() ? "" : tree_fingerprint(store.project(), environment);
    if (!tree.empty()) now.signals.worked = tree != then;
  }
  if (is_marked(store, loop.request, since.last_words, environment)) now.diagnostics = {.marked = true};
  now.signals.idle = idle_now(progress, seen, since, calls);
  if (now.signals.idle > 0) now.signals.said = fit_to_width(trim(since.last_words), kSaidWidth);
  now.session = std::move(seen);
  return now;
}

// The loop's state when this hook first read it. While the checks run, another hook may decide. This hook's own request
// to run them does not change this state, so it is not mistaken for such a decision.
struct LastHeard {
  std::int64_t iteration = 0;
  Progress::Host host{};
  WallTime at{};

  bool is_still(const Progress& progress) const { return iteration == progress.iteration && host == progress.host; }
};

}  // namespace

Result<std::optional<StopAnswer>> judge_stop(LoopStore& store, const StopRequest& stop,
                                             const Environment& environment) {
  await_host(store, stop);
  StopChecks checks(store, stop, environment);
  CheckNews news = checks.from_earlier_stop();
  std::string report;  // about protected files
  std::optional<LastHeard> last;
  for (;;) {
    std::optional<HeldChecks::State> begun;
    {
      TRY_VALUE(auto loop, store.open(stop.session));
      if (!loop) return std::optional<StopAnswer>();
      const LoopRequest& request = loop->request;
      const Progress& progress = loop->run.progress();
      Observation::Session seen;
      seen.prompt_id = stop.prompt_id;
      seen.last_message = fmt::format("{:016x}", stable_hash(stop.last_message.value_or("")));
      seen.transcript = transcript_of(progress.host, stop);
      if (!last || !last->is_still(progress)) {
        if (is_reported_already(progress, seen, stop)) return std::optional<StopAnswer>();
        last = {progress.iteration, progress.host, progress.last_record};
      }
      checks.use(news);
      const std::string name = name_of_stop(seen);
      Observation now = observe(store, *loop, stop, news, std::move(seen), last->at, environment);
      StopAnswer answer;
      // A change is reported only once, but the decision may come in the second round.
      if (std::string news_of_files = changed_files(loop->run); !news_of_files.empty())
        report = std::move(news_of_files);
      TRY(note_results(loop->run, news.found.checks));
      TRY_VALUE(const std::string hiding, report_hiding(loop->run, news.found));
      if (!hiding.empty()) report += fmt::format("{}{}", report.empty() ? "" : "\n\n", hiding);
      answer.report = report;
      TRY_VALUE(const auto snapshots, note_diagnosis(*loop, store, stop.session, news.found));
      if (news.found.diagnosis && !now.diagnostics)
        now.diagnostics = {.issues = snapshots.back().issues,
                           .summary = join(news.found.diagnosis->unmet, ", "),
                           .stagnation = stagnation(snapshots, request.stagnation_limit)};
      TRY_VALUE(answer.decision, loop->run.ask(now));
      if (answer.decision.action != Action::kRunChecks) {
        if (answer.decision.stops()) {
          if (answer.decision.status == StopStatus::kComplete && news.found.diagnosis)
            answer.summary = complete_message(stop.session, progress.iteration + 1, snapshots);
          TRY(store.close(*loop, answer.decision.status, answer.decision.reason));
        } else if (answer.decision.action != Action::kWait) {
          answer.continuation = continuation(request, progress.iteration, answer.decision.rule,
                                             static_cast<int>(stop.background_tasks.size()), now.signals.tool_calls,
                                             now.checks.ran ? what_checks_say(progress, request) : "");
          if (!answer.report.empty()) answer.continuation = answer.report + "\n\n" + answer.continuation;
        }
        answer.state = loop->state();
        return std::optional(std::move(answer));
      }
      TRY_VALUE(begun,
                checks.begin({.project = store.project(),
                              .run = loop->run.id,
                              .folder = loop->run.folder,
                              .iteration = progress.iteration + 1,
                              .commands = request.checks,
                              .criteria = request.has_criteria() ? std::optional(request.criteria()) : std::nullopt,
                              .paths = request.paths,
                              .outset = store.outset_of(loop->run.id),
                              .environment = environment,
                              .tree = {},
                              .stop = name}));
    }
    checks.await(*begun, news);
  }
}

}  // namespace ralph
