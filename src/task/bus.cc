#include "task/bus.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/fields.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/poll.h"
#include "task/yaml_lines.h"

namespace ralph {
namespace {

// Begins with a newline, so it starts a new line even after an unfinished message.
constexpr std::string_view kFrameStart = "\n---\nid: ";
constexpr std::string_view kHeaderStart = "\n---\n", kHeaderEnd = "\n---\n";
constexpr size_t kMaxHeader = 64 << 10;
constexpr size_t kCheckDigits = 16;
constexpr std::uint64_t kMostExchanged = 32 << 20;  // per call; a message is smaller
constexpr Milliseconds kPostPatience{10'000}, kReadPatience{2'000};

std::string check_of(std::string_view body) {
  return sha256_hex(body).substr(0, kCheckDigits);
}

// Unique across processes and machines: time, process id, and a random number.
std::string new_message_id(WallTime now) {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  std::uint32_t chance = 0;
  static std::uint32_t count = 0;
  if (::getrandom(&chance, sizeof chance, GRND_NONBLOCK) != sizeof chance) chance = 0;
  return fmt::format("MSG-{}-{:09d}-{}-{:08x}{:04x}", to_compact_utc(now), time.tv_nsec, ::getpid(), chance,
                     ++count & 0xffff);
}

bool lock_within(int fd, int how, Milliseconds patience) {
  const SystemClock clock;
  const MonotonicTime deadline = clock.monotonic() + patience;
  while (::flock(fd, how | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || clock.monotonic() >= deadline) return false;
    sleep_for(Milliseconds(1));
  }
  return true;
}

std::optional<BusMessage> message_from(const json::object& header) {
  BusMessage message;
  const json::value value(header);
  const auto text = [&](std::string_view key, std::string& to) {
    if (const auto found = find_string(value, key)) to = *found;
  };
  text("id", message.id), text("time", message.time), text("type", message.type), text("project", message.project);
  text("task", message.task), text("run", message.run);
  message.parents = strings_of(find(value, "parents"));
  if (message.id.empty() || message.type.empty()) return std::nullopt;
  return message;
}

// The message at the beginning of a text, and its size there.
struct Frame {
  enum { kWhole, kIncomplete, kBroken } state = kBroken;
  BusMessage message{};
  size_t bytes = 0;
};

Frame frame_in(std::string_view text) {
  const std::string_view head = text.substr(0, kMaxHeader);
  if (head.size() < kFrameStart.size()) return {kFrameStart.starts_with(head) ? Frame::kIncomplete : Frame::kBroken};
  if (!head.starts_with(kFrameStart)) return {Frame::kBroken};
  const size_t end = head.find(kHeaderEnd, kHeaderStart.size());
  if (end == std::string_view::npos) return {text.size() < kMaxHeader ? Frame::kIncomplete : Frame::kBroken};
  const auto header = parse_yaml_lines(head.substr(kHeaderStart.size(), end - kHeaderStart.size()), "header");
  if (!header) return {Frame::kBroken};
  auto message = message_from(*header);
  const json::value value(*header);
  const auto length = find_integer(value, "length");
  const json::value* check = find(value, "check");
  if (!message || !length || *length < 0 || !check || !check->is_string()) return {Frame::kBroken};
  const size_t body = end + kHeaderEnd.size();
  const auto size = static_cast<size_t>(*length);
  if (size > kMaxBusBody) return {Frame::kBroken};
  if (text.size() < body + size + 1) return {Frame::kIncomplete};
  message->body = text.substr(body, size);
  if (text[body + size] != '\n' || std::string_view(check->get_string()) != check_of(message->body))
    return {Frame::kBroken};
  // If only its final newline is missing, this newline belongs to the next message.
  const bool shared = text.substr(body + size).starts_with(kFrameStart);
  return {Frame::kWhole, *std::move(message), body + size + (shared ? 0 : 1)};
}

// Opens the bus for appending and locks it. Makes sure that it is still the file at its path.
Result<Fd> lock_bus(const std::string& path) {
  for (int tries = 0; tries < 100; ++tries) {
    TRY_VALUE(Fd bus, open_for_append(path));
    if (!lock_within(bus.get(), LOCK_EX, kPostPatience))
      return fail(ErrorKind::kBusy, "cannot post to {}: another process has locked it for {} s", path,
                  kPostPatience.count() / 1000);
    struct stat locked{}, there{};
    if (::fstat(bus.get(), &locked) == 0 && ::lstat(path.c_str(), &there) == 0 && locked.st_ino == there.st_ino &&
        locked.st_dev == there.st_dev)
      return bus;
  }
  return fail(ErrorKind::kIo, "cannot post to {}: it keeps being replaced", path);
}

// A part of the bus. `final`: it was read while nobody was writing.
struct BusPart {
  std::string bytes;
  bool final = false;
};

Result<std::optional<BusPart>> read_part(const std::string& path, std::uint64_t& offset) {
  const Fd bus(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  if (!bus && errno == ENOENT) return std::nullopt;
  if (!bus && errno == ELOOP) return fail(ErrorKind::kInput, "{} is a symbolic link; a bus must be a plain file", path);
  struct stat info{};
  if (!bus || ::fstat(bus.get(), &info) != 0)
    return fail(ErrorKind::kIo, "cannot read {}: {}", path, errno_text(errno));
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::kInput, "{} is not a plain file; a bus must be one", path);
  BusPart part;
  part.final = lock_within(bus.get(), LOCK_SH, kReadPatience);
  if (::fstat(bus.get(), &info) != 0) return fail(ErrorKind::kIo, "cannot read {}: {}", path, errno_text(errno));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size < offset) offset = 0;  // somebody has truncated it
  part.bytes.resize(size - offset);
  size_t got = 0;
  while (got < part.bytes.size()) {
    const ssize_t n =
        ::pread(bus.get(), part.bytes.data() + got, part.bytes.size() - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(ErrorKind::kIo, "cannot read {}: {}", path, errno_text(errno));
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  part.bytes.resize(got);
  return part;
}

}  // namespace

bool is_bus_type(std::string_view type) {
  if (type.empty() || type.size() > 64) return false;
  for (const char c : type)
    if (!is_alphanumeric(c) && c != '_' && c != '-' && c != '.') return false;
  return true;
}

json::object to_json(const BusMessage& message) {
  return json_from(message);
}

std::string to_bus_text(const BusMessage& message) {
  YamlLines header;
  header.plain("id", message.id);
  header.plain("time", message.time);
  header.text("type", message.type);
  header.text("project", message.project);
  header.text("task", message.task);
  header.text("run", message.run);
  header.list("parents", message.parents);
  header.number("length", static_cast<std::int64_t>(message.body.size()));
  header.plain("check", fmt::format("\"{}\"", check_of(message.body)));
  return fmt::format("\n---\n{}---\n{}\n", header.str(), message.body);
}

Result<BusMessage> post_message(const std::string& path, BusMessage message) {
  if (!is_bus_type(message.type))
    return fail(ErrorKind::kUsage,
                "\"{}\" is not a message type: use up to 64 letters, digits, '_', '-' and '.', as in FACT",
                message.type);
  if (message.body.size() > kMaxBusBody)
    return fail(ErrorKind::kUsage,
                "a message of {} is too large: a body has at most {}; put it into a file and name it",
                human_bytes(message.body.size()), human_bytes(kMaxBusBody));
  TRY_VALUE(const Fd bus, lock_bus(path));
  const WallTime now = SystemClock().wall();
  message.id = new_message_id(now);
  message.time = to_iso8601(now);
  struct stat before{};
  if (::fstat(bus.get(), &before) != 0) return fail(ErrorKind::kIo, "cannot read {}: {}", path, errno_text(errno));
  Status written = write_all(bus.get(), to_bus_text(message), path);
  if (!written) {
    // Nobody else is writing, so everything after the old end is ours. If this fails too, readers skip it.
    static_cast<void>(::ftruncate(bus.get(), before.st_size) == 0);
    return tl::unexpected(std::move(written).error());
  }
  return message;
}

BusText parse_bus(std::string_view text, bool final) {
  BusText result;
  size_t at = 0;
  while (at < text.size()) {
    const Frame frame = frame_in(text.substr(at));
    if (frame.state == Frame::kWhole) {
      result.messages.push_back(frame.message);
      at += frame.bytes;
      continue;
    }
    if (frame.state == Frame::kIncomplete && !final) break;
    // Not a message: the next one may begin anywhere after this.
    size_t next = text.find(kFrameStart, at + 1);
    if (next == std::string_view::npos && !final) {
      // The text may end with the beginning of the next message.
      const size_t kept = kFrameStart.size() - 1;
      next = std::max(at + 1, text.size() - std::min(text.size(), kept));
    }
    next = std::min(next, text.size());
    result.skipped += next - at;
    at = next;
  }
  result.consumed = at;
  return result;
}

Result<std::string> exchange_messages(const std::string& path, std::uint64_t& offset, std::string_view more) {
  TRY_VALUE(const Fd bus, lock_bus(path));
  const Fd reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!reader || ::fstat(reader.get(), &info) != 0)
    return fail(ErrorKind::kIo, "cannot read {}: {}", path, errno_text(errno));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  offset = std::min(offset, size);  // the file was truncated; what is gone had been passed on
  std::string fresh(std::min<std::uint64_t>(size - offset, kMostExchanged), '\0');
  const ssize_t got = ::pread(reader.get(), fresh.data(), fresh.size(), static_cast<off_t>(offset));
  fresh.resize(got > 0 ? static_cast<size_t>(got) : 0);
  const bool all = offset + fresh.size() == size;
  const BusText text = parse_bus(fresh, all);
  offset += text.consumed;
  const auto written = [](const BusText& messages) {
    std::string whole;
    for (const BusMessage& message : messages.messages) whole += to_bus_text(message);
    return whole;
  };
  const std::string added = written(parse_bus(more, true));
  TRY(write_all(bus.get(), added, path));
  if (all) offset += added.size();  // else `more` is returned later with the rest, which is better than losing the rest
  return written(text);
}

Status BusReader::skip_to_end() {
  TRY_VALUE(const auto part, read_part(path_, offset_));
  if (!part) return {};
  offset_ += parse_bus(part->bytes, part->final).consumed;
  skipped_ = 0;
  return {};
}

Result<std::vector<BusMessage>> BusReader::read_on() {
  TRY_VALUE(const auto part, read_part(path_, offset_));
  if (!part) return std::vector<BusMessage>{};
  BusText text = parse_bus(part->bytes, part->final);
  offset_ += text.consumed;
  skipped_ += text.skipped;
  return std::move(text.messages);
}

}  // namespace ralph
