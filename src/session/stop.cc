#include "session/stop.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "engine/response.h"
#include "session/contract.h"
#include "session/transcript.h"

namespace ralph {
namespace {

// For a host that writes its transcript late: for a last message that it did not give us, and for the record of tool
// calls without which a promise would be rejected.
constexpr Milliseconds kPatienceForText{1500};
constexpr Milliseconds kPatienceForCalls{300};
constexpr size_t kRecentCalls = 32;

// What happened since the session was last asked.
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

// Nobody can tell whether a task is repeated that has no word besides the promise.
bool is_only_the_promise(const std::string& task, const std::string& marker) {
  const std::string rest = replace_all(task, marker, "");
  return std::none_of(rest.begin(), rest.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<signed char>(c) < 0;
  });
}

// A text that repeats what it was told has promised nothing. It may repeat the task alone, too.
bool says_promise(const std::string& text, const LoopState& state) {
  const LoopRequest& request = state.request;
  const std::string marker = promise_marker(request);
  if (text.find(marker) == std::string::npos) return false;
  if (!finds_promise(text, all_that_is_told(state), request)) return false;
  const bool in_task = request.task.find(marker) != std::string::npos && !is_only_the_promise(request.task, marker);
  return !in_task || finds_promise(text, request.task, request);
}

void count_calls(LoopState& state, const TranscriptNews& news) {
  for (const std::string& id : news.tool_ids) {
    if (std::find(state.recent_calls.begin(), state.recent_calls.end(), id) != state.recent_calls.end()) continue;
    ++state.transcript_calls;
    state.recent_calls.push_back(id);
  }
  // One that was counted and is refused later: it was asked about in between.
  for (const std::string& id : news.refused_ids) {
    const bool counted =
        std::find(state.recent_calls.begin(), state.recent_calls.end(), id) != state.recent_calls.end();
    if (counted && state.transcript_calls > 0) --state.transcript_calls;
  }
  if (state.recent_calls.size() > kRecentCalls)
    state.recent_calls.erase(state.recent_calls.begin(), state.recent_calls.end() - kRecentCalls);
}

// What of the transcript the session was not asked about yet.
struct Unread {
  std::string path;
  std::uint64_t offset = 0;
  std::string not_before;  // where the offset says nothing
};

Unread unread_of(const LoopState& state, const StopRequest& stop) {
  const bool other = !stop.transcript_path.empty() && stop.transcript_path != state.transcript;
  if (!other) return {state.transcript, state.transcript_read, ""};
  // Not known when the loop began, or the host has begun another file, which may repeat what was in the old one.
  return {stop.transcript_path, 0, state.updated};
}

Since look_back(LoopState& state, const StopRequest& stop) {
  Since since;
  if (stop.last_message) since.promised = since.late = says_promise(*stop.last_message, state);
  const Unread unread = unread_of(state, stop);
  const bool all_words_promise = stop.all_words && says_promise(*stop.all_words, state);
  if (unread.path.empty()) {
    since.promised = since.promised || all_words_promise;
    return since;
  }
  state.transcript = unread.path;
  const TranscriptNews news = read_transcript_since(unread.path, unread.offset, kTranscriptLimit, unread.not_before);
  state.transcript_read = news.end_offset;
  if (!news.readable) {
    since.promised = since.promised || all_words_promise;
    return since;
  }
  since.calls_known = true;
  count_calls(state, news);
  for (const std::string& text : news.assistant_texts) {
    const bool promises = says_promise(text, state);
    if (promises && state.refused_late) {
      state.refused_late = false;  // the one that was refused last time
      continue;
    }
    since.promised = since.promised || promises;
    if (promises && news.ends_in_text && &text == &news.assistant_texts.back()) since.late = false;
  }
  return since;
}

// Waits for what the host has still to write. Before the lock is taken: a cancel need not wait for it.
void await_host(const LoopStore& store, const StopRequest& stop) {
  const auto state = store.load(stop.session);
  if (!state || !*state || !(*state)->active()) return;
  const LoopState& loop = **state;
  const Unread unread = unread_of(loop, stop);
  if (unread.path.empty()) return;
  if (!stop.last_message) {
    await_assistant_text(unread.path, unread.offset, kPatienceForText);
  } else if (std::max(loop.transcript_calls, store.counted_tool_calls(stop.session)) < loop.request.min_tool_calls &&
             says_promise(*stop.last_message, loop)) {
    await_assistant_text(unread.path, unread.offset, kPatienceForCalls);
  }
}

}  // namespace

Result<std::optional<StopAnswer>> judge_stop(LoopStore& store, const StopRequest& stop,
                                             const Environment& environment) {
  await_host(store, stop);
  StopAnswer answer;
  TRY_VALUE(auto state, store.update(stop.session, [&](LoopState& loop) {
    const Since since = look_back(loop, stop);
    Observation now;
    now.moment = Moment::kAtStop;
    now.promised = since.promised;
    const std::int64_t calls = std::max(loop.transcript_calls, store.counted_tool_calls(stop.session));
    now.tool_calls = static_cast<int>(calls);
    if (calls >= loop.request.min_tool_calls) {
      now.worked = true;
    } else if (calls > 0 || since.calls_known) {
      now.worked = false;
    } else if (since.promised) {
      // Nobody counts, so only a change of the tree can be seen.
      const std::string tree = loop.tree.empty() ? "" : tree_fingerprint(store.project(), environment);
      if (!tree.empty()) now.worked = tree != loop.tree;
    }
    Progress progress;
    progress.iteration = static_cast<int>(loop.iteration);
    answer.decision = decide(policy_of(loop.request), progress, now);
    if (answer.decision.action == Action::kStop) {
      loop.status = answer.decision.status == StopStatus::kComplete ? LoopStatus::kPromiseAccepted
                                                                    : LoopStatus::kMaxIterationsReached;
      loop.reason = answer.decision.reason;
    } else {
      ++loop.iteration;
      loop.refused_late = since.late;
      answer.continuation = continuation(loop, answer.decision.rule, stop.background_tasks, now.tool_calls);
    }
    loop.decisions.push_back({"", loop.iteration, std::string(to_string(answer.decision.action)),
                              std::string(answer.decision.rule), answer.decision.reason});
  }));
  if (!state) return std::optional<StopAnswer>();
  answer.state = *std::move(state);
  return std::optional(std::move(answer));
}

}  // namespace ralph
