// Reads a host agent's transcript by position, never as a whole: it may be a gigabyte, and a hook has milliseconds.
// Recognizes the hosts' formats by their lines. The host appends while we read, often after it has called the hook, so
// missing lines may follow a moment later. Specified in docs/formats/hooks.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace ralph {

inline constexpr std::uint64_t kTranscriptLimit = 8 * 1024 * 1024;

struct TranscriptNews {
  // The texts of this session's assistant, one per text block, in order: without thinking, tool output, the user's
  // words, sub-agents, and error messages that the host wrote in the assistant's name.
  std::vector<std::string> assistant_texts{};

  // The ids of the session's own tool calls, each once, except those that were never made. A call without an id
  // gets one from its position.
  std::vector<std::string> tool_ids{};

  // The ids of earlier calls that were never made: a hook or the user refused them.
  std::vector<std::string> refused_ids{};

  // Lines that the user typed while the session was working and that still wait in the host's queue.
  struct Queued {
    std::string session, line;  // `session` is empty if the host does not name it
  };
  std::vector<Queued> queued{};

  bool has_own = false;  // the assistant said, thought or did something

  // The last step is a text of the assistant, so nothing after it is missing.
  bool ends_in_text = false;

  std::uint64_t end_offset = 0;  // where to read next: after the last complete line
  bool partial = false;          // more than `limit` bytes were new: the first of them were skipped
  bool readable = true;          // false: missing, not a regular file, shorter than before, or not understood
};

// Reads what follows `offset`. A line that began before it is skipped, so `offset` may be the file's size at any
// moment. Without a known offset, `not_before` skips lines that the host dated earlier. If the file is shorter than
// `offset`, it is unknown what is new: the result has no news and is not readable, and the next read begins at the
// current end. Memory use is bounded by a small multiple of `limit`, whatever the content.
TranscriptNews read_transcript_since(const std::string& path, std::uint64_t offset,
                                     std::uint64_t limit = kTranscriptLimit, std::string_view not_before = {});

// The same, for a host that writes late: keeps reading until the news ends in a text, at most for `patience`. A text
// before the last tool call does not count as the last word.
TranscriptNews await_assistant_text(const std::string& path, std::uint64_t offset, Milliseconds patience,
                                    std::uint64_t limit = kTranscriptLimit);

// The same, until there is something from the assistant that the host dated `not_before` or later.
TranscriptNews await_own(const std::string& path, std::uint64_t offset, Milliseconds patience,
                         std::string_view not_before, std::uint64_t limit = kTranscriptLimit);

std::uint64_t transcript_size(const std::string& path);  // 0 if the file is missing

// How full the session's context is, as counted by the model's provider.
struct ContextUse {
  std::int64_t tokens = 0;
  std::int64_t window = 0;  // 0: the transcript does not say
};

struct UsageSearch {
  std::optional<ContextUse> use{};
  bool out_of_reach = false;  // the host records usage, but the last record is too far back
};

// The last usage record after `since`, searching at most 4 MB back from the end. A compaction invalidates earlier
// records: after it there are no tokens until there is a new record.
UsageSearch last_usage(const std::string& path, std::uint64_t since = 0);

}  // namespace ralph
