// Parses one line of a transcript for loops and the context monitor. Touches no files.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "json/tape.h"
#include "session/transcript.h"

namespace ralph {

struct TranscriptLine {
  std::string_view time{};                   // as written by the host: 2026-11-15T18:23:37.302Z; may be empty
  std::vector<std::string_view> texts{};     // the assistant's own texts, none empty
  std::vector<std::string_view> tool_ids{};  // of its tool calls; empty if the host gave no id
  std::vector<std::string_view> refused{};   // ids of tool calls that were refused, according to their results
  std::string_view session{};                // whose line it is, if Claude Code says so
  // A line that the user typed while the session was working: put into the host's queue, or taken out of it again
  // ("": all of them).
  std::optional<std::string_view> queued{}, unqueued{};
  bool is_step = false;             // anyone but a sub-agent said or did something
  bool is_own = false;              // the session's assistant said, thought or did it
  bool ends_in_text = false;        // its last part is a text of the assistant
  std::optional<ContextUse> use{};  // how full the context is
};

class TranscriptLines {
 public:
  // nullptr if the line is not from a known host. The texts are valid until the next call and as long as `line` is.
  // `ended`: the line is complete, so malformed JSON in it is worth a repair.
  const TranscriptLine* read(std::string_view line, bool ended);

 private:
  bool is_claude(JsonView line);
  bool is_codex(JsonView line);
  bool is_gemini(JsonView line);
  void assistant_message(JsonView message);
  void tool_results(JsonView line);
  void response_item(JsonView item);

  JsonTape tape_;
  TranscriptLine line_;
};

}  // namespace ralph
