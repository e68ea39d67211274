// Times the line scanner with which ralph reads agents' streams.
#include "json/splitter.h"
#include "json/tape.h"
#include "scan_lines.h"

namespace {

using ralph::JsonView;
using ralph::Wanted;

class Texts : public ralph::LineSink {
 public:
  void on_line(std::string_view line) override {
    if (!tape_.read(line, line_) && tape_.read_slowly(line, line_)) return;
    const JsonView root = tape_.root();
    found += root["type"].text().size() + root["result"].text().size();
    for (const JsonView part : root["message"]["content"])
      found += part["type"].text().size() + part["text"].text().size() + part["name"].text().size();
  }
  void on_oversized_line(std::string_view) override {}

  std::uint64_t found = 0;

 private:
  const Wanted part_{{"type"}, {"text"}, {"name"}};
  const Wanted message_{{"content", &part_}};
  const Wanted line_{{"type"}, {"result"}, {"message", &message_}};
  ralph::JsonTape tape_;
};

}  // namespace

int main(int argc, char** argv) {
  return time_reading(argc, argv, 0, [](const char* text, size_t size) {
    Texts texts;
    ralph::LineSplitter lines(size);
    lines.feed({text, size}, texts);
    lines.finish(texts);
    return texts.found;
  });
}
