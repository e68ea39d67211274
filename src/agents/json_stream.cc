#include <memory>
#include <string>

#include "agents/stream.h"
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
      // What agents print besides their events (warnings, what a tool said to the terminal) is no fault of the line.
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
  EventSink* sink_ = nullptr;  // of the call under way
};

}  // namespace

std::unique_ptr<AgentStream> make_json_stream(std::unique_ptr<LineParser> parser) {
  return std::make_unique<JsonStream>(std::move(parser));
}

}  // namespace ralph
