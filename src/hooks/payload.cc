#include "hooks/payload.h"

#include "json/repair.h"

namespace ralph {
namespace {

// The text of a message. Its content is a string, or a list of blocks, of which only those of type "text" count.
std::string words_of(const json::value& message) {
  const json::value* content = find(message, "content");
  if (!content) return {};
  if (content->is_string()) return std::string(content->get_string());
  std::string words;
  for (const json::value& block : items_of(content)) {
    if (find_string(block, "type") == "text") words += fmt::format("{}\n", find_string(block, "text").value_or(""));
  }
  return words;
}

// The last assistant message of {"messages": [...]}, as some hosts send it.
std::optional<std::string> last_of_messages(const json::value& payload) {
  const json::value* messages = find(payload, "messages");
  if (!messages || !messages->is_array()) return std::nullopt;
  std::optional<std::string> last;
  for (const json::value& message : messages->get_array()) {
    if (find_string(message, "role") == "assistant") last = words_of(message);
  }
  return last;
}

}  // namespace

HookPayload payload_from(std::string_view text, std::string* fault) {
  auto value = parse_json(text, "the hook's input");
  // Hosts written in JavaScript may send half an emoji. That must not lose a session.
  if (!value && !text.empty()) value = parse_json(repair_json(text), "the hook's input");
  if (!value || !value->is_object()) {
    if (fault) *fault = value ? "the hook's input is not a JSON object" : value.error().message;
    return {};
  }
  HookPayload payload = from_json<HookPayload>(*value);
  if (!payload.cwd.starts_with('/')) payload.cwd.clear();
  for (const json::value& task : array_at(*value, "background_tasks")) {
    if (find_string(task, "status").value_or("running") == "running")
      payload.background_tasks.emplace_back(find_string(task, "id").value_or(""));
  }
  if (!payload.last_message) payload.last_message = last_of_messages(*value);
  return payload;
}

StopRequest stop_request_from(const HookPayload& payload) {
  return {payload.session,          payload.transcript_path, payload.last_message,      payload.all_words,
          payload.background_tasks, payload.prompt_id,       payload.tool_calls_counted};
}

}  // namespace ralph
