// One line of a transcript: what of it counts for a loop and for the context monitor. Nothing here touches files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "json/tape.h"
#include "session/transcript.h"

namespace ralph {

struct TranscriptLine {
  std::string_view time{};                   // as the host wrote it: 2026-11-15T18:23:37.302Z; empty: it did not say
  std::vector<std::string_view> texts{};     // the assistant's own words, none empty
  std::vector<std::string_view> tool_ids{};  // of its tool calls; empty if the host gave none
  std::vector<std::string_view> refused{};   // ids of tool calls that were not made, as their results say
  bool is_step = false;                      // something was said or done, by whomever but a sub-agent
  bool ends_in_text = false;                 // and the last of it are the assistant's words
  std::optional<ContextUse> use{};           // how full the context is, as the host says here
};

class TranscriptLines {
 public:
  // Nothing if this is no line of a host that we know. Its texts are valid until the next is read, and as long as
  // `line` is. `ended`: there is a line end behind it, so that a line in bad order is worth a repair.
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
