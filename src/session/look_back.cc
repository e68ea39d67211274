#include "session/look_back.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "engine/response.h"
#include "session/contract.h"
#include "session/loop_command.h"
#include "session/transcript.h"

namespace ralph {
namespace {

// How long to wait for a host that writes its transcript late: for a last message that the hook did not get, and for
// tool calls without which a promise would be rejected.
constexpr Milliseconds kPatienceForText{1500};
constexpr Milliseconds kPatienceForCalls{300};
constexpr Milliseconds kPatienceForWords{1000};  // for words that prove that this stop is a new one
constexpr size_t kRecentCalls = 32;

Said find_promise(const std::string& text, std::string_view given, const LoopRequest& request) {
  ResponseFinder finder(given, request.promise);
  finder.feed(text);
  finder.finish();
  if (finder.response()) return Said::kPromise;
  return finder.mentioned() ? Said::kMention : Said::kNothing;
}

// Whether the task has no words other than the promise. Then repeating it can't be distinguished from promising.
bool is_only_the_promise(const std::string& task, const std::string& marker) {
  const std::string rest = replace_all(task, marker, "");
  return std::none_of(rest.begin(), rest.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<signed char>(c) < 0;
  });
}

// Echoing ralph's texts, or the task alone, is not a promise.
Said what_is_said(const std::string& text, const LoopRequest& request, int iteration) {
  const std::string marker = promise_tag(request);
  if (text.find(marker) == std::string::npos) return Said::kNothing;
  const Said said = find_promise(text, all_loop_texts(request, iteration), request);
  const bool in_task = request.task.find(marker) != std::string::npos && !is_only_the_promise(request.task, marker);
  return in_task ? std::min(said, find_promise(text, request.task, request)) : said;
}

bool says_promise(const std::string& text, const LoopRequest& request, int iteration) {
  return what_is_said(text, request, iteration) == Said::kPromise;
}

bool is_cancel(const std::string& line) {
  const auto command = loop_command_from(line);
  return command && *command && (*command)->verb == LoopVerb::kCancel;
}

// Gemini CLI repeats the end of a message: "<promise>DONE</promise> NE</promise>".
std::string without_repeated_end(std::string text, const std::string& marker) {
  for (size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
    const size_t from = at + marker.size(), to = std::min(text.find('\n', from), text.size());
    if (marker.ends_with(trim(std::string_view(text).substr(from, to - from)))) text.erase(from, to - from);
  }
  return text;
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
  // These calls were counted at an earlier stop and refused later.
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
  // The transcript was unknown when the loop began, or the host has started a new file, which may repeat the old one.
  return {stop.transcript_path, 0, updated};
}

}  // namespace

std::string transcript_of(const Progress::Host& host, const StopRequest& stop) {
  return unread_of(host, "", stop).path;
}

Since look_back(Observation::Session& seen, const LoopRequest& request, const Progress& progress,
                const StopRequest& stop, WallTime last_record) {
  const Progress::Host& host = progress.host;
  seen.transcript_read = host.transcript_read;
  seen.transcript_calls = host.transcript_calls;
  seen.recent_calls = host.recent_calls;
  bool refused_late = host.refused_late;
  const auto read = [&](const std::string& text) { return what_is_said(text, request, progress.iteration); };
  Since since;
  if (stop.last_message) since.said = read(*stop.last_message);
  since.late = since.said == Said::kPromise;
  since.last_words = stop.last_message.value_or("");
  const Unread unread = unread_of(host, to_iso8601(last_record), stop);
  seen.transcript = unread.path;
  const TranscriptNews news = read_transcript_since(unread.path, unread.offset, kTranscriptLimit, unread.not_before);
  seen.transcript_read = news.end_offset;
  if (!news.readable) {
    if (stop.all_words)
      since.said = std::max(since.said, read(without_repeated_end(*stop.all_words, promise_tag(request))));
    return since;
  }
  since.calls_known = true;
  // A file can contain lines of another session, such as the one that this session was forked from.
  since.cancelled = std::any_of(news.queued.begin(), news.queued.end(), [&](const TranscriptNews::Queued& one) {
    return (one.session.empty() || one.session == stop.session) && is_cancel(one.line);
  });
  if (!stop.last_message && !news.assistant_texts.empty()) since.last_words = news.assistant_texts.back();
  count_calls(seen, news);
  for (const std::string& text : news.assistant_texts) {
    const Said said = read(text);
    if (said == Said::kPromise && refused_late) {
      refused_late = false;  // the promise that was refused last time
      continue;
    }
    since.said = std::max(since.said, said);
    if (said == Said::kPromise && news.ends_in_text && &text == &news.assistant_texts.back()) since.late = false;
  }
  return since;
}

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

// If ralph's hook is installed twice (by the plugin and in the settings), each stop is reported twice. The host waits
// for both hooks before the agent continues, so a stop with the same words is a new one only if the agent said them
// after the last decision. The presence of lines in the transcript proves nothing: the host writes the agent's last
// lines late, but the first hook's answer immediately. Their timestamps are reliable.
bool is_reported_already(const Progress& progress, const Observation::Session& seen, const StopRequest& stop) {
  const Progress::Host& host = progress.host;
  if (seen.prompt_id.empty() || seen.prompt_id != host.prompt_id || seen.last_message != host.last_message)
    return false;
  if (stop.called && stop.called() <= progress.last_record) return true;
  const TranscriptNews news =
      await_own(seen.transcript, host.transcript_read, kPatienceForWords, to_iso8601(progress.last_record));
  return news.readable && !news.has_own;
}

}  // namespace ralph
