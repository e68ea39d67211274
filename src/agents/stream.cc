#include "agents/stream.h"

#include <string>

#include "base/utf8.h"
#include "json/splitter.h"
#include "json/tape.h"

namespace ralph {
namespace {

class JsonStream final : public AgentStream, private LineSink {
 public:
  explicit JsonStream(std::unique_ptr<LineParser> parser) : parser_(std::move(parser)), wanted_(parser_->wanted()) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    sink_ = &sink;
    splitter_.feed(bytes, *this);
  }

  void finish(EventSink& sink) override {
    sink_ = &sink;
    splitter_.finish(*this);
    parser_->on_end(sink);
  }

 private:
  void on_line(std::string_view line) override {
    if (!tape_.read(line, wanted_)) {
      // Agents also print warnings and a tool's terminal output. Such lines are not worth a second parse.
      const char* const reason = line[0] == '{' ? tape_.read_slowly(line, wanted_) : "not JSON";
      if (reason) {
        sink_->on_event(event::Unknown{{}, reason});
        return;
      }
    }
    parser_->on_object(tape_.root(), *sink_);
  }

  void on_oversized_line(std::string_view head) override {
    sink_->on_event(event::Unknown{outermost_string(head, "type"), "larger than 16 MB"});
  }

  std::unique_ptr<LineParser> parser_;
  const Wanted& wanted_;
  LineSplitter splitter_{kLongestLine};
  JsonTape tape_;
  EventSink* sink_ = nullptr;  // of the current call
};

// Holds back a character that is split between two pieces, so that every event has whole characters.
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
    const bool is_valid = find_invalid_utf8(text) == std::string_view::npos;
    const std::string valid = is_valid ? "" : to_valid_utf8(text);
    sink.on_event(event::Text{is_valid ? text : valid, true, false});
  }

  std::string rest_;  // at most 3 bytes
};

}  // namespace

std::unique_ptr<AgentStream> make_json_stream(std::unique_ptr<LineParser> parser) {
  return std::make_unique<JsonStream>(std::move(parser));
}

std::unique_ptr<AgentStream> make_text_stream() {
  return std::make_unique<TextStream>();
}

}  // namespace ralph
