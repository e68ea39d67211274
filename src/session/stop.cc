#include "session/stop.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "engine/response.h"
#include "git/fingerprint.h"
#include "session/contract.h"
#include "session/transcript.h"

namespace ralph {
namespace {

// How long to wait for a host that writes its transcript late: for a last message that the hook did not get, and for
// tool calls without which a promise would be rejected.
constexpr Milliseconds kPatienceForText{1500};
constexpr Milliseconds kPatienceForCalls{300};
constexpr size_t kRecentCalls = 32;

// What happened since the last stop.
struct Since {
  bool promised = false;
  bool late = false;  // the promise of the last message is not in the transcript yet
  bool calls_known = false;
};

bool finds_promise(const std::string& text, std::string_view told, const LoopRequest& request) {
  ResponseFinder finder(told, request.promise);
  finder.feed(text);
  finder.finish();
  return finder.response().has_value();
}

// A task without any word besides the promise: repeating it can't be told from promising.
bool is_only_the_promise(const std::string& task, const std::string& marker) {
  const std::string rest = replace_all(task, marker, "");
  return std::none_of(rest.begin(), rest.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<signed char>(c) < 0;
  });
}

// Echoing ralph's texts, or the task alone, is not a promise.
bool says_promise(const std::string& text, const LoopRequest& request, int iteration) {
  const std::string marker = promise_marker(request);
  if (text.find(marker) == std::string::npos) return false;
  if (!finds_promise(text, all_that_is_told(request, iteration), request)) return false;
  const bool in_task = request.task.find(marker) != std::string::npos && !is_only_the_promise(request.task, marker);
  return !in_task || finds_promise(text, request.task, request);
}

void count_calls(Observation::Session& seen, const TranscriptNews& news) {
  const auto counted = [&](const std::string& id) {
    return std::find(seen.recent_calls.begin(), seen.recent_calls.end(), id) != seen.recent_calls.end();
  };
  for (const std::string& id : news.tool_ids) {
    if (counted(id)) continue;
    ++seen.transcript_calls;
    seen.recent_calls.push_back(id);
  }
  // A call that was counted at an earlier stop and refused later.
  for (const std::string& id : news.refused_ids) {
    if (counted(id) && seen.transcript_calls > 0) --seen.transcript_calls;
  }
  if (seen.recent_calls.size() > kRecentCalls)
    seen.recent_calls.erase(seen.recent_calls.begin(), seen.recent_calls.end() - kRecentCalls);
}

// The unread part of the transcript.
struct Unread {
  std::string path;
  std::uint64_t offset = 0;
  std::string not_before;  // used if the offset is unknown
};

Unread unread_of(const Progress::Host& host, const std::string& updated, const StopRequest& stop) {
  const bool other = !stop.transcript_path.empty() && stop.transcript_path != host.transcript;
  if (!other) return {host.transcript, host.transcript_read, ""};
  // Unknown when the loop began, or the host has begun another file, which may repeat the old one.
  return {stop.transcript_path, 0, updated};
}

// Continues where the last stop ended, and notes in `seen` how far it read.
Since look_back(Observation::Session& seen, const LoopRequest& request, const Progress& progress,
                const StopRequest& stop) {
  const Progress::Host& host = progress.host;
  seen = {host.transcript, host.transcript_read, host.transcript_calls, host.recent_calls, false};
  bool refused_late = host.refused_late;
  const auto promises = [&](const std::string& text) { return says_promise(text, request, progress.iteration); };
  Since since;
  if (stop.last_message) since.promised = since.late = promises(*stop.last_message);
  const Unread unread = unread_of(host, to_iso8601(progress.last_record), stop);
  seen.transcript = unread.path;
  const TranscriptNews news = read_transcript_since(unread.path, unread.offset, kTranscriptLimit, unread.not_before);
  seen.transcript_read = news.end_offset;
  if (!news.readable) {
    since.promised = since.promised || (stop.all_words && promises(*stop.all_words));
    return since;
  }
  since.calls_known = true;
  count_calls(seen, news);
  for (const std::string& text : news.assistant_texts) {
    const bool promise = promises(text);
    if (promise && refused_late) {
      refused_late = false;  // the promise that was refused last time
      continue;
    }
    since.promised = since.promised || promise;
    if (promise && news.ends_in_text && &text == &news.assistant_texts.back()) since.late = false;
  }
  return since;
}

// Waits for the host to finish writing. Called before locking, so that a cancel need not wait.
void await_host(const LoopStore& store, const StopRequest& stop) {
  if (stop.last_message && stop.last_message->find("<promise>") == std::string::npos) return;
  const auto state = store.load(stop.session);
  if (!state || !*state || !(*state)->active()) return;
  const LoopState& loop = **state;
  const Unread unread = unread_of(loop.host, loop.updated, stop);
  if (unread.path.empty()) return;
  if (!stop.last_message) {
    await_assistant_text(unread.path, unread.offset, kPatienceForText);
  } else if (std::max(loop.host.transcript_calls, store.counted_tool_calls(stop.session)) <
                 loop.request.min_tool_calls &&
             says_promise(*stop.last_message, loop.request, static_cast<int>(loop.iteration))) {
    await_assistant_text(unread.path, unread.offset, kPatienceForCalls);
  }
}

}  // namespace

Result<std::optional<StopAnswer>> judge_stop(LoopStore& store, const StopRequest& stop,
                                             const Environment& environment) {
  await_host(store, stop);
  TRY_VALUE(auto loop, store.open(stop.session));
  if (!loop) return std::optional<StopAnswer>();
  const LoopRequest& request = loop->request;
  const Progress& progress = loop->run.progress();
  Observation now;
  now.moment = Moment::kAtStop;
  Observation::Session seen;
  const Since since = look_back(seen, request, progress, stop);
  seen.refused_late = since.late;
  now.signals.promised = since.promised;
  const std::int64_t calls = std::max(seen.transcript_calls, store.counted_tool_calls(stop.session));
  now.signals.tool_calls = static_cast<int>(calls);
  if (calls >= request.min_tool_calls) {
    now.signals.worked = true;
  } else if (calls > 0 || since.calls_known || stop.calls_counted) {
    now.signals.worked = false;
  } else if (since.promised) {
    // Without a count, only a change of the tree shows work.
    const std::string& then = progress.host.tree;
    const std::string tree = then.empty() ? "" : tree_fingerprint(store.project(), environment);
    if (!tree.empty()) now.signals.worked = tree != then;
  }
  StopAnswer answer;
  now.session = std::move(seen);
  TRY_VALUE(answer.decision, loop->run.ask(now));
  if (answer.decision.stops()) {
    TRY(store.close(*loop, answer.decision.status, answer.decision.reason));
  } else {
    answer.continuation =
        continuation(request, progress.iteration, answer.decision.rule, stop.background_tasks, now.signals.tool_calls);
  }
  answer.state = loop->state();
  return std::optional(std::move(answer));
}

}  // namespace ralph
