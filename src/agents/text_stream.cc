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
      while (!bytes.empty() && unfinished_utf8(rest_) > 0) {
        rest_ += bytes.front();
        bytes.remove_prefix(1);
      }
      if (unfinished_utf8(rest_) > 0) return;
      say(rest_, sink);
      rest_.clear();
    }
    const size_t cut = unfinished_utf8(bytes);
    rest_ = bytes.substr(bytes.size() - cut);
    say(bytes.substr(0, bytes.size() - cut), sink);
  }

  void finish(EventSink& sink) override {
    say(rest_, sink);
    rest_.clear();
  }

 private:
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
