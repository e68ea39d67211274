// Whatever texts an agent puts into its events, in whatever order: the only control sequences in the output are the
// colours that ralph itself writes, there are no C1 control characters and no bare CR, it is valid UTF-8, and its last
// line is terminated.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "ui/event_formatter.h"

namespace {

using namespace ralph;

void require(bool holds) {
  if (!holds) std::abort();
}

// Cuts the input into numbers and texts.
class Input {
 public:
  Input(const std::uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  unsigned byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::string_view text() {
    const size_t length = byte();
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

AgentEvent next_event(Input& in) {
  const unsigned kind = in.byte();
  const bool yes = (kind & 0x80) != 0, sub_agent = (kind & 0x40) != 0;
  switch (kind % 14) {
    case 0:
      return event::Session{in.text(), in.text(), in.text()};
    case 1:
      return event::Thinking{in.text(), sub_agent};
    case 2:
      return event::ToolStart{in.text(), in.text(), in.text(), sub_agent};
    case 3:
      return event::ToolEnd{in.text(), in.text(), in.text(), yes, sub_agent};
    case 4: {
      event::Todo todo;
      for (unsigned left = in.byte() % 60; left > 0; --left) {
        todo.items.push_back({std::string(in.text()), static_cast<event::TodoStatus>(left % 3)});
      }
      return todo;
    }
    case 5:
      return event::Spent{{in.byte() << 20, in.byte(), in.byte(), in.byte()}, in.byte() / 7.0, yes};
    case 6: {
      event::Result result;
      result.failed = yes;
      result.text = in.text();
      if (sub_agent) result.cost_usd = in.byte() / 9.0;
      return result;
    }
    case 7:
      return event::Progress{in.text(), in.text()};
    case 8:
      return event::Retry{static_cast<int>(in.byte()), static_cast<int>(in.byte()), Milliseconds(in.byte() * 100),
                          FailureKind::kOverloaded, in.text()};
    case 9:
      return event::Limit{yes, WallTime(Milliseconds(in.byte() * 1'000'000'000LL)), in.text()};
    case 10:
      return event::Failure{static_cast<FailureKind>(in.byte() % 12), in.text(), WallTime(Milliseconds(in.byte()))};
    case 11:
      return event::Unknown{in.text(), in.text()};
    default:
      return event::Text{in.text(), yes, sub_agent};
  }
}

size_t own_color_at(std::string_view text) {
  for (const std::string_view color :
       {"\033[0m", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"}) {
    if (text.starts_with(color)) return color.size();
  }
  return 0;
}

void require_harmless(std::string_view text, bool color) {
  require(find_invalid_utf8(text) == std::string_view::npos);  // so no C1 byte is on its own
  require(text.empty() || text.back() == '\n');
  bool painted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x1b) {
      const size_t length = own_color_at(text.substr(at));
      require(color && length > 0);
      painted = text.substr(at, length) != "\033[0m";
      at += length - 1;
      continue;
    }
    require(byte >= 0x20 || byte == '\n' || byte == '\t');
    require(byte != 0x7f);
    require(byte != '\n' || !painted);
    if (byte == 0xc2) require(static_cast<unsigned char>(text[at + 1]) >= 0xa0);
  }
}

}  // namespace

// The first byte selects the options.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  Input in(data, size);
  const unsigned choice = in.byte();
  Style style;
  style.color = (choice & 1) != 0;
  style.unicode = (choice & 2) != 0;
  style.terminal = (choice & 4) != 0;
  style.width = (choice & 8) != 0 ? 7 : 80;
  const FormatOptions options{.emoji = (choice & 16) != 0,
                              .timestamps = (choice & 32) != 0,
                              .max_output_lines = (choice & 64) != 0 ? 0U : 5U,
                              .max_output_chars = in.byte(),
                              .thinking = (choice & 128) != 0};
  std::string text;
  EventFormatter formatter(options, style, [&](std::string_view piece) { text += piece; }, [] { return WallTime(); });
  while (!in.empty()) formatter.on_event(next_event(in));
  formatter.finish();
  require_harmless(text, style.color);
  return 0;
}
