// Any bytes from a language server, raw and as the bodies of messages: they must not crash the reader, and reading them
// in two parts must give the same result as reading them at once.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "checks/lsp/conversation.h"

namespace {

using ralph::lsp::Conversation;

struct Outcome {
  std::string said, broken;
  bool answered = false;
  bool operator==(const Outcome&) const = default;
};

Outcome play(const ralph::lsp::ServerRow& row, std::string_view begin, std::string_view end) {
  Conversation talk(row, "/p", 1);
  Outcome outcome;
  talk.receive("Content-Length: 49\r\n\r\n{\"id\": 1, \"result\": {\"capabilities\": {}, \"x\": 1}}");
  const std::string path = "/p/a" + std::string(row.languages.front().ending);
  const auto question = talk.ask(path, "text");
  talk.receive(begin);
  talk.receive(end);
  outcome.said = talk.take_output();
  outcome.broken = talk.broken();
  outcome.answered = talk.take_answer(question).has_value();
  talk.end();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Lines become bodies, so the contents of messages are reached too.
  std::string framed;
  for (size_t from = 0; from < size;) {
    const size_t end = std::min(bytes.find('\n', from), size);
    framed += "Content-Length: " + std::to_string(end - from) + "\r\n\r\n";
    framed += bytes.substr(from, end - from);
    from = end + 1;
  }
  for (const ralph::lsp::ServerRow& row : ralph::lsp::all_servers()) {
    for (const std::string_view stream : {bytes, std::string_view(framed)}) {
      const size_t half = stream.size() / 2;
      if (!(play(row, stream, "") == play(row, stream.substr(0, half), stream.substr(half)))) std::abort();
    }
  }
  return 0;
}
