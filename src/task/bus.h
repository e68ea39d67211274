// The message bus: a file that many processes append messages to. A body may contain any bytes; the message's header
// has its length and hash. An unfinished message does not affect any other. Specified in docs/formats/bus.md.
//
//   TRY_VALUE(const BusMessage posted, post_message(path, {.type = "FACT", .body = "tests pass"}));
//   BusReader reader(path);
//   TRY_VALUE(const auto messages, reader.read_on());   // those since the last call
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace ralph {

inline constexpr size_t kMaxBusBody = 16 << 20;
inline constexpr std::string_view kTaskBus = "TASK-MESSAGE-BUS.md", kProjectBus = "PROJECT-MESSAGE-BUS.md";

// Types that ralph posts or reacts to. Agents may use any other word.
namespace bus_type {
inline constexpr std::string_view kFact = "FACT", kError = "ERROR", kInfo = "INFO", kWarning = "WARNING",
                                  kRunStart = "RUN_START", kRunStop = "RUN_STOP", kRunCrash = "RUN_CRASH",
                                  kWaitWithoutRestart = "wait_without_restart";
}  // namespace bus_type

struct BusMessage {
  std::string id{}, time{};  // set by post_message()
  std::string type{}, project{}, task{}, run{};
  std::vector<std::string> parents{};  // ids of the messages that it replies to
  std::string body{};
  bool operator==(const BusMessage&) const = default;
  template <class V>
  void fields(V&& v) {
    v("id", id), v("time", time), v("type", type), v("project", project), v("task", task), v("run", run);
    v("parents", parents), v("body", body);
  }
};

// {"id", "time", "type", "project", "task", "run", "parents", "body"}; invalid UTF-8 becomes U+FFFD.
json::object to_json(const BusMessage& message);

// Letters, digits, '_', '-' and '.', at most 64 of them.
bool is_bus_type(std::string_view type);

// Appends the message and returns it with its id and time. Waits for other writers. Refuses a symlink and anything else
// that is not a plain file. After an error, nothing of the message remains.
Result<BusMessage> post_message(const std::string& path, BusMessage message);

// Synchronizes two buses: returns the messages after `offset`, appends `more`, and moves `offset` past both, while the
// bus is locked. Passes only complete messages, in both directions.
Result<std::string> exchange_messages(const std::string& path, std::uint64_t& offset, std::string_view more);

class BusReader {
 public:
  explicit BusReader(std::string path) : path_(std::move(path)) {}

  // Skips all messages that are on the bus now.
  Status skip_to_end();

  // The messages since the last call, in order. A bus that does not exist yet has none.
  Result<std::vector<BusMessage>> read_on();

  // Bytes so far that are not part of a message: left by a killed writer, or typed by somebody.
  std::uint64_t skipped() const { return skipped_; }

 private:
  std::string path_;
  std::uint64_t offset_ = 0, skipped_ = 0;
};

// The messages in `text`. `final`: nobody is writing, so an incomplete message stays incomplete. Pure, for BusReader
// and tests.
struct BusText {
  std::vector<BusMessage> messages;
  size_t consumed = 0;  // the rest may become a message
  size_t skipped = 0;   // consumed bytes that are not part of a message
};
BusText parse_bus(std::string_view text, bool final);

// The message as written to the file.
std::string to_bus_text(const BusMessage& message);

}  // namespace ralph
