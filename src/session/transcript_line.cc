#include "session/transcript_line.h"

#include "agents/claude.h"
#include "agents/claude_usage.h"
#include "agents/registry.h"

namespace ralph {
namespace {

// One list for all hosts: no two of them use the same member with different meanings.
const Wanted& wanted_of_transcripts() {
  static const Wanted block{{"type"}, {"text"}, {"id"}};
  // Claude Code
  static const Wanted blocks{{"type"}, {"text"}, {"id"}, {"tool_use_id"}, {"is_error"}, {"content", &Wanted::later()}};
  static const Wanted message{{"model"}, {"content", &blocks}, {"usage", &wanted_of_claude_usage()}};
  static const Wanted permission{{"decision"}};
  static const Wanted compaction{{"postTokens"}};
  // Codex
  static const Wanted usage{{"total_tokens"}};
  static const Wanted info{{"last_token_usage", &usage}, {"model_context_window"}};
  static const Wanted payload{
      {"type"}, {"role"}, {"content", &block}, {"call_id"}, {"id"}, {"output", &Wanted::later()}, {"info", &info}};
  // Gemini CLI
  static const Wanted tokens{{"total"}};
  static const Wanted line{
      {"type"},
      {"timestamp"},
      {"subtype"},
      {"sessionId"},
      {"uuid"},
      {"leafUuid"},
      {"isSidechain"},
      {"message", &message},
      {"permissionDecision", &permission},
      {"compactMetadata", &compaction},
      {"isApiErrorMessage"},
      {"payload", &payload},
      {"content", &block},
      {"toolCalls", &block},
      {"tokens", &tokens},
      {"projectHash"},
      {"$set"},
      {"operation"},
  };
  return line;
}

std::string_view without_margins(std::string_view text) {
  const auto is_margin = [](char c) { return static_cast<unsigned char>(c) <= ' '; };  // a crash may leave NUL bytes
  while (!text.empty() && is_margin(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_margin(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

const TranscriptLine* TranscriptLines::read(std::string_view line, bool ended) {
  line = without_margins(line);
  if (!line.starts_with('{')) return nullptr;
  if (!ended && !line.ends_with('}')) return nullptr;  // still being written by the host
  const Wanted& wanted = wanted_of_transcripts();
  if (!tape_.read(line, wanted) && tape_.read_slowly(line, wanted)) return nullptr;
  line_.texts.clear();
  line_.tool_ids.clear();
  line_.refused.clear();
  line_.queued.reset(), line_.unqueued.reset();
  line_.is_step = line_.is_own = line_.ends_in_text = false;
  line_.use.reset();
  line_.time = tape_.root()["timestamp"].text();
  line_.session = tape_.root()["sessionId"].text();
  const JsonView root = tape_.root();
  return is_codex(root) || is_claude(root) || is_gemini(root) ? &line_ : nullptr;
}

bool TranscriptLines::is_claude(JsonView line) {
  const std::string_view type = line["type"].text();
  const JsonView message = line["message"];
  const bool is_message = (type == "assistant" || type == "user") && message.is(JsonKind::kObject);
  if (type.empty()) return false;
  if (!is_message && !line["sessionId"] && !line["uuid"] && !line["leafUuid"]) return false;
  if (line["isSidechain"].truth()) return true;  // a sub-agent: older versions wrote them into the same file
  if (is_message) line_.is_step = true;
  if (type == "queue-operation") {
    const std::string_view operation = line["operation"].text();
    if (operation == "enqueue") line_.queued = line["content"].text();
    if (operation == "remove" || operation == "popAll") line_.unqueued = line["content"].text();
  }
  if (is_message && type == "assistant" && !line["isApiErrorMessage"].truth() && !is_written_by_claude_code(message)) {
    line_.is_own = true;
    assistant_message(message);
  }
  if (is_message && type == "user") tool_results(line);
  if (type == "system" && line["subtype"].text() == "compact_boundary") {
    line_.use = ContextUse{.tokens = line["compactMetadata"]["postTokens"].integer()};
  }
  return true;
}

void TranscriptLines::assistant_message(JsonView message) {
  const JsonView content = message["content"];
  if (const std::string_view text = content.text(); !text.empty()) {
    line_.texts.push_back(text);
    line_.ends_in_text = true;
  }
  if (content.is(JsonKind::kArray)) {
    for (const JsonView block : content) {
      const std::string_view type = block["type"].text();
      const std::string_view text = block["text"].text();
      if (type.ends_with("tool_use")) line_.tool_ids.push_back(block["id"].text());
      if (type == "text" && !text.empty()) line_.texts.push_back(text);
      line_.ends_in_text = type == "text" && !text.empty();
    }
  }
  const JsonView usage = message["usage"];
  std::int64_t tokens = 0;
  for (const std::string_view part :
       {"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"}) {
    const std::int64_t count = usage[part].integer();
    if (count > 0 && count < (std::int64_t{1} << 48)) tokens += count;
  }
  if (tokens > 0) line_.use = ContextUse{.tokens = tokens};  // 0: the message is not from a model
}

// A call that a hook or the user refused was not made. Older versions have no permissionDecision.
void TranscriptLines::tool_results(JsonView line) {
  const bool refused = line["permissionDecision"]["decision"].text() == "reject";
  const JsonView content = line["message"]["content"];
  if (!content.is(JsonKind::kArray)) return;
  for (const JsonView block : content) {
    if (block["type"].text() != "tool_result" || !block["is_error"].truth()) continue;
    if (refused || is_denied_by_hook(block["content"].text())) line_.refused.push_back(block["tool_use_id"].text());
  }
}

bool TranscriptLines::is_codex(JsonView line) {
  const JsonView payload = line["payload"];
  const std::string_view type = line["type"].text();
  if (type.empty() || !payload.is(JsonKind::kObject)) return false;
  const std::string_view kind = payload["type"].text();
  if (type == "response_item") response_item(payload);
  if (type == "compacted" || (type == "event_msg" && kind == "context_compacted")) line_.use = ContextUse{};
  if (type == "event_msg" && kind == "token_count") {
    const JsonView info = payload["info"];
    const std::int64_t tokens = info["last_token_usage"]["total_tokens"].integer();
    if (tokens > 0) line_.use = ContextUse{.tokens = tokens, .window = info["model_context_window"].integer()};
  }
  return true;
}

// Gemini CLI writes a message again after its tool calls have ended.
bool TranscriptLines::is_gemini(JsonView line) {
  constexpr std::int64_t kWindow = 1'048'576;
  const std::string_view type = line["type"].text();
  const JsonView content = line["content"];
  if (line["projectHash"] || line["$set"]) return true;
  if (type.empty() || !content || !line["timestamp"]) return false;
  line_.is_step = type == "gemini" || type == "user";
  line_.is_own = type == "gemini";
  if (!line_.is_own) return true;
  if (const std::string_view text = content.text(); !text.empty()) line_.texts.push_back(text);
  if (content.is(JsonKind::kArray)) {
    for (const JsonView part : content) {
      if (const std::string_view text = part["text"].text(); !text.empty()) line_.texts.push_back(text);
    }
  }
  const JsonView calls = line["toolCalls"];
  line_.ends_in_text = !line_.texts.empty() && !calls;
  if (calls.is(JsonKind::kArray)) {
    for (const JsonView call : calls) line_.tool_ids.push_back(call["id"].text());
  }
  if (const std::int64_t total = line["tokens"]["total"].integer(); total > 0)
    line_.use = ContextUse{.tokens = total, .window = kWindow};
  return true;
}

void TranscriptLines::response_item(JsonView item) {
  const std::string_view kind = item["type"].text();
  line_.is_step = true;
  if (kind.ends_with("_call")) {  // function_call, custom_tool_call, local_shell_call, web_search_call, ...
    const std::string_view id = item["call_id"].text();
    line_.tool_ids.push_back(id.empty() ? item["id"].text() : id);
  }
  if (kind.ends_with("_call_output") && is_denied_by_hook(item["output"].text()))
    line_.refused.push_back(item["call_id"].text());
  const bool is_words = kind == "message" && item["role"].text() == "assistant";
  line_.is_own = is_words || kind == "reasoning" || kind.ends_with("_call");
  if (!is_words) return;
  for (const JsonView block : item["content"]) {
    const std::string_view text = block["text"].text();
    line_.ends_in_text = block["type"].text() == "output_text" && !text.empty();
    if (line_.ends_in_text) line_.texts.push_back(text);
  }
}

}  // namespace ralph
