#include "ui/json_lines.h"

#include "base/utf8.h"
#include "os/files.h"

namespace ralph {

JsonLines::JsonLines(std::string journal) : journal_(std::move(journal)) {
  out_.when_empty([this] { catch_up(); });
}

void JsonLines::on_record(const record::Record& record, const Progress&) {
  if (std::holds_alternative<record::SignalReceived>(record.body)) out_.hurry();
  const std::string line = record::to_line(record) + "\n";
  if (behind_ > 0 || !out_.offer(line)) behind_ += line.size();
}

void JsonLines::on_trouble(std::string_view line) {
  static_cast<void>(write_all(STDERR_FILENO, printable_lines(fmt::format("ralph: {}\n", line)), "standard error"));
}

void JsonLines::catch_up() {
  constexpr size_t kPiece = 256 * 1024;
  while (behind_ > 0 && out_.pending_stdin_fd() < 0) {
    const auto piece = read_before_end(journal_, behind_, kPiece);
    if (!piece || piece->empty() || !out_.offer(*piece)) return;
    behind_ -= piece->size();
  }
}

}  // namespace ralph
