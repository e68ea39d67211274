#include "agents/event_json.h"

#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "json/writer.h"

namespace ralph {
namespace {

// Writes the members of one event in order. Inlining makes each key a constant, which avoids calls of memcpy.
class Members {
 public:
  Members(ByteBuffer& out, std::string_view type) : out_(out) {
    out_.append(R"({"type":")");
    out_.append(type);
    out_.append("\"");
  }
  ~Members() { out_.append("}\n"); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  [[gnu::always_inline]] Members& text(std::string_view key, std::string_view value) {
    begin(key);
    append_json_string(out_, value);
    return *this;
  }
  Members& text_if_any(std::string_view key, std::string_view value) {
    return value.empty() ? *this : text(key, value);
  }
  [[gnu::always_inline]] Members& truth(std::string_view key, bool value) {
    begin(key);
    out_.append(value ? "true" : "false");
    return *this;
  }
  Members& truth_if_so(std::string_view key, bool value) { return value ? truth(key, value) : *this; }
  template <class Number>
  [[gnu::always_inline]] Members& number(std::string_view key, Number value) {
    begin(key);
    char* const at = out_.room(32);
    out_.added(std::to_chars(at, at + 32, value).ptr);
    return *this;
  }
  // Rounded to a billionth, to hide the rounding errors of binary fractions.
  Members& cost(double usd) {
    constexpr std::int64_t kBillion = 1'000'000'000;
    const double most = 9e9;
    std::int64_t rest = std::llround((usd > -most && usd < most ? usd : 0) * static_cast<double>(kBillion));
    begin("costUsd");
    if (rest < 0) {
      out_.append("-");
      rest = -rest;
    }
    char* at = out_.room(32);
    at = std::to_chars(at, at + 20, rest / kBillion).ptr;
    rest %= kBillion;
    if (rest > 0) *at++ = '.';
    for (std::int64_t digit = kBillion / 10; rest > 0; digit /= 10) {
      *at++ = static_cast<char>('0' + rest / digit);
      rest %= digit;
    }
    out_.added(at);
    return *this;
  }
  [[gnu::always_inline]] Members& tokens(const Tokens& tokens) {
    return number("inputTokens", tokens.input)
        .number("outputTokens", tokens.output)
        .number("cacheReadTokens", tokens.cache_read)
        .number("cacheWriteTokens", tokens.cache_write);
  }
  Members& time_if_any(std::string_view key, const std::optional<WallTime>& time) {
    return time ? text(key, to_iso8601(*time)) : *this;
  }
  // Writes the key; the caller writes its value.
  [[gnu::always_inline]] void begin(std::string_view key) {
    char* at = put_bytes(out_.room(key.size() + 4), ",\"");
    at = put_bytes(at, key);
    out_.added(put_bytes(at, "\":"));
  }

 private:
  ByteBuffer& out_;
};

std::string_view name_of(event::TodoStatus status) {
  if (status == event::TodoStatus::kActive) return "active";
  return status == event::TodoStatus::kDone ? "done" : "pending";
}

// The first kToolOutputCharacters characters. A text with no more bytes than that needs no counting.
std::string_view beginning_of(std::string_view output) {
  return output.size() <= kToolOutputCharacters ? output : prefix_of_characters(output, kToolOutputCharacters);
}

void write(ByteBuffer& out, const event::Session& e) {
  Members(out, "session").text("id", e.id).text_if_any("model", e.model).text_if_any("version", e.version);
}

void write(ByteBuffer& out, const event::Text& e) {
  Members(out, "text").text("text", e.text).truth_if_so("piece", e.piece).truth_if_so("subAgent", e.sub_agent);
}

void write(ByteBuffer& out, const event::Thinking& e) {
  Members(out, "thinking").text("text", e.text).truth_if_so("subAgent", e.sub_agent);
}

void write(ByteBuffer& out, const event::ToolStart& e) {
  Members(out, "tool_start")
      .text("id", e.id)
      .text("name", e.name)
      .text_if_any("summary", e.summary)
      .truth_if_so("subAgent", e.sub_agent);
}

void write(ByteBuffer& out, const event::ToolEnd& e) {
  const TextSize size = size_of(e.output);
  Members(out, "tool_end")
      .text("id", e.id)
      .text_if_any("name", e.name)
      .truth("failed", e.failed)
      .number("lines", size.lines)
      .number("chars", size.characters)
      .text_if_any("output", beginning_of(e.output))
      .truth_if_so("subAgent", e.sub_agent);
}

void write(ByteBuffer& out, const event::Todo& e) {
  Members members(out, "todo");
  members.begin("items");
  out.append("[");
  for (size_t i = 0; i < e.items.size(); ++i) {
    out.append(i == 0 ? R"({"text":)" : R"(,{"text":)");
    append_json_string(out, e.items[i].text);
    out.append(R"(,"status":")");
    out.append(name_of(e.items[i].status));
    out.append("\"}");
  }
  out.append("]");
}

void write(ByteBuffer& out, const event::Spent& e) {
  Members(out, "spent").tokens(e.tokens).cost(e.cost_usd).truth_if_so("estimate", e.estimate);
}

void write(ByteBuffer& out, const event::Result& e) {
  Members members(out, "result");
  members.truth("failed", e.failed).text_if_any("text", e.text).tokens(e.tokens);
  if (e.cost_usd) members.cost(*e.cost_usd);
  if (e.turns != 0) members.number("turns", e.turns);
  if (e.duration.count() != 0) members.number("durationMs", e.duration.count());
}

void write(ByteBuffer& out, const event::Progress& e) {
  Members(out, "progress").text("kind", e.kind).text_if_any("text", e.text);
}

void write(ByteBuffer& out, const event::Retry& e) {
  Members(out, "retry")
      .number("attempt", e.attempt)
      .number("maximum", e.maximum)
      .number("delayMs", e.delay.count())
      .text("kind", to_string(e.kind))
      .text_if_any("message", e.message);
}

void write(ByteBuffer& out, const event::Limit& e) {
  Members(out, "limit").truth("rejected", e.rejected).text_if_any("limit", e.type).time_if_any("resetsAt", e.resets_at);
}

void write(ByteBuffer& out, const event::Failure& e) {
  Members(out, "failure")
      .text("kind", to_string(e.kind))
      .text_if_any("message", e.message)
      .time_if_any("resetsAt", e.resets_at);
}

void write(ByteBuffer& out, const event::Unknown& e) {
  Members(out, "unknown").text_if_any("event", e.type).text("reason", e.reason);
}

}  // namespace

void append_event_line(ByteBuffer& out, const AgentEvent& event) {
  std::visit([&out](const auto& body) { write(out, body); }, event);
}

}  // namespace ralph
