// No line makes the reader crash, and every accepted record is written as a line with the same meaning.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "journal/records.h"
#include "ui/run_text.h"
#include "ui/run_view.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Each line of the input is a line of one journal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  ralph::ShownRun run{"20261115-202233-7f3a", ".ralph/runs/20261115-202233-7f3a", {}, false, {}};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto record = ralph::record::from_line(line);
    if (!record) continue;
    run.view.add(*record);
    const std::string written = ralph::record::to_line(*record);
    require(written.find('\n') == std::string::npos);
    require(ralph::find_invalid_utf8(written) == std::string::npos);
    const auto again = ralph::record::from_line(written);
    require(again.has_value());
    require(ralph::record::type_of(again->body) == ralph::record::type_of(record->body));
    require(again->sequence == record->sequence && again->time == record->time);
  }
  for (const char c : ralph::run_text(run, ralph::Style{})) {
    const auto byte = static_cast<unsigned char>(c);
    require(byte == '\n' || (byte >= 0x20 && byte != 0x7f));
  }
  return 0;
}
