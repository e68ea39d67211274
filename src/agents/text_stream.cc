#include <string>

#include "agents/stream.h"
#include "base/utf8.h"

namespace ralph {
namespace {

// A character that was cut by the end of a piece waits for its rest, so that every piece is whole characters.
class TextStream final : public AgentStream {
 public:
  void feed(std::string_view bytes, EventSink& sink) override {
    if (!rest_.empty()) {
      while (!bytes.empty() && unfinished(rest_) > 0) {
        rest_ += bytes.front();
        bytes.remove_prefix(1);
      }
      if (unfinished(rest_) > 0) return;
      say(rest_, sink);
      rest_.clear();
    }
    const size_t cut = unfinished(bytes);
    rest_ = bytes.substr(bytes.size() - cut);
    say(bytes.substr(0, bytes.size() - cut), sink);
  }

  void finish(EventSink& sink) override {
    say(rest_, sink);
    rest_.clear();
  }

 private:
  // How many bytes at the end are the beginning of a character that may go on.
  static size_t unfinished(std::string_view bytes) {
    for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
      const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
      if ((byte & 0xC0) == 0x80) continue;
      const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
      return length > back ? back : 0;
    }
    return 0;
  }

  static void say(std::string_view text, EventSink& sink) {
    if (text.empty()) return;
    if (find_invalid_utf8(text) == std::string_view::npos) {
      sink.on_event(event::Text{text, true, false});
    } else {
      const std::string valid = to_valid_utf8(text);
      sink.on_event(event::Text{valid, true, false});
    }
  }

  std::string rest_;  // at most 3 bytes
};

}  // namespace

std::unique_ptr<AgentStream> make_text_stream() {
  return std::make_unique<TextStream>();
}

}  // namespace ralph
