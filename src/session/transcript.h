// A host agent's transcript, read by position and never whole: it may be a gigabyte, and a hook has milliseconds.
// Claude Code's JSONL and Codex's rollouts are told apart by their lines. The host appends while we read, often after
// it has called the hook: what is not there yet may come a moment later. Specified in docs/formats/hooks.md.
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
  // What this session's own assistant said: one for each text block, in order. No thinking, no tool's output, no user's
  // words, no sub-agents', no error message that the host wrote in the assistant's name.
  std::vector<std::string> assistant_texts{};

  // Of the session's own tool calls, each once, but for those that the news say were never made. A call without an id
  // gets one from where it stands.
  std::vector<std::string> tool_ids{};

  // Of calls from before the news that were never made: a hook or the user has refused them.
  std::vector<std::string> refused_ids{};

  // The last thing that was said or done is a text of the assistant: nothing that followed it is missing.
  bool ends_in_text = false;

  std::uint64_t end_offset = 0;  // where the next reading begins: after the last whole line
  bool partial = false;          // more than `limit` bytes were new: the beginning of them was left out
  bool readable = true;          // false: no such file, no plain file, shorter than it was, or nothing understood
};

// What came after `offset`. A line that began before it was not new and is left out, so `offset` may be the file's size
// at any moment. Where no offset is known, `not_before` tells: lines that the host has dated earlier are left out. Of a
// file that is shorter than `offset` nobody can say what is new: nothing is, it is not readable this time, and the next
// reading begins at its present end. Whatever stands there, it takes no more memory than some multiple of `limit`.
TranscriptNews read_transcript_since(const std::string& path, std::uint64_t offset,
                                     std::uint64_t limit = kTranscriptLimit, std::string_view not_before = {});

// The same, for a host that writes late: reads on until the news ends in a text, for `patience` at most. A text from
// before the last tool call is not the last word, and is not taken for it.
TranscriptNews await_assistant_text(const std::string& path, std::uint64_t offset, Milliseconds patience,
                                    std::uint64_t limit = kTranscriptLimit);

std::uint64_t transcript_size(const std::string& path);  // 0 if there is none

// How full the session's context is: as the model's provider counted it.
struct ContextUse {
  std::int64_t tokens = 0;
  std::int64_t window = 0;  // 0: the transcript does not say
};

struct UsageSearch {
  std::optional<ContextUse> use{};
  bool out_of_reach = false;  // the host is one that keeps records, but the last is too far back
};

// The last record of it after `since`, searched from the end and not further than 4 MB. Records from before a
// compaction say nothing any more: after one there are no tokens until there is a new record.
UsageSearch last_usage(const std::string& path, std::uint64_t since = 0);

}  // namespace ralph
