#include "journal/reader.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr size_t kKeptBadLines = 10;
constexpr off_t kTail = 32 << 10;  // nearly always holds the last line

tl::unexpected<Error> cannot_read(const std::string& path, int error) {
  const ErrorKind kind = error == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  return fail(kind, "cannot read {}: {}", path, errno_text(error));
}

}  // namespace

Result<JournalReader> JournalReader::open(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) return cannot_read(path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return cannot_read(path, errno);
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::kIo, "cannot read {}: it is not a plain file", path);
  return JournalReader(std::move(fd), path);
}

Result<JournalReader> JournalReader::open_at_tail(const std::string& path) {
  TRY_VALUE(JournalReader reader, open(path));
  struct stat info{};
  if (::fstat(reader.fd_.get(), &info) != 0) return cannot_read(path, errno);
  std::string tail(static_cast<size_t>(std::min<off_t>(info.st_size, kTail)), '\0');
  const off_t from = info.st_size - static_cast<off_t>(tail.size());
  if (::pread(reader.fd_.get(), tail.data(), tail.size(), from) != static_cast<ssize_t>(tail.size())) return reader;
  const size_t end = tail.rfind('\n');  // an unfinished record may follow
  const size_t before = end == std::string::npos || end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
  if (before == std::string::npos) return reader;
  const auto last = record::from_line(std::string_view(tail).substr(before + 1, end - before - 1));
  const auto* decided = last ? std::get_if<record::Decided>(&last->body) : nullptr;
  if (!decided || !decided->progress) return reader;
  reader.buffer_ = tail.substr(before + 1);
  ::lseek(reader.fd_.get(), info.st_size, SEEK_SET);
  reader.after_damage_ = true;  // the previous line was not read
  reader.block_ = 4096;         // no more data is expected; a hook should not touch 64 KB to find that out
  return reader;
}

Result<bool> JournalReader::read_more() {
  buffer_.erase(0, at_);
  searched_ -= at_;
  at_ = 0;
  const size_t before = buffer_.size();
  buffer_.resize(before + block_);
  ssize_t n = 0;
  do {
    n = ::read(fd_.get(), buffer_.data() + before, block_);
  } while (n < 0 && errno == EINTR);
  const int error = errno;
  buffer_.resize(before + (n > 0 ? static_cast<size_t>(n) : 0));
  if (n < 0) return cannot_read(path_, error);
  return n > 0;
}

void JournalReader::check_link(const record::Record& record) {
  const std::int64_t expected = last_sequence_ + 1;
  const bool in_order = last_sequence_ == 0 || record.sequence == expected;
  const bool follows = (record.version < 2 || record.prev == hash_) && in_order;
  if (!follows && !after_damage_ && breaks_.size() < kKeptBadLines) {
    std::string why;
    if (last_sequence_ > 0 && record.sequence > expected)
      why = record.sequence == expected + 1
                ? fmt::format(": record {} is missing", expected)
                : fmt::format(": records {} to {} are missing", expected, record.sequence - 1);
    if (record.sequence < expected && last_sequence_ > 0) why = fmt::format(": record {} is repeated", record.sequence);
    breaks_.push_back({line_, std::move(why)});
  }
  after_damage_ = false;
  last_sequence_ = record.sequence;
}

void JournalReader::note_bad_line(std::string reason) {
  after_damage_ = true;
  ++bad_count_;
  if (bad_.size() < kKeptBadLines) bad_.push_back({line_, std::move(reason)});
}

Result<std::optional<record::Record>> JournalReader::next() {
  for (;;) {
    const size_t end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
      unfinished_ += buffer_.size() - searched_;
      searched_ = buffer_.size();
      if (searched_ - at_ > kLongestLine) too_long_ = true;
      if (too_long_) at_ = searched_;
      TRY_VALUE(const bool more, read_more());
      if (!more) return std::nullopt;
      continue;
    }
    const std::string_view line = std::string_view(buffer_).substr(at_, end - at_);
    ++line_;
    unfinished_ = 0;
    at_ = searched_ = end + 1;
    if (std::exchange(too_long_, false)) {
      note_bad_line(fmt::format("longer than {}", human_bytes(kLongestLine)));
      continue;
    }
    auto record = record::from_line(line);
    if (record) check_link(*record);
    hash_ = sha256_hex(line);
    if (record) return std::optional(*std::move(record));
    note_bad_line(record.error().message);
  }
}

std::vector<std::string> JournalReader::problems() const {
  std::vector<std::string> problems;
  for (const BadLine& bad : bad_) problems.push_back(fmt::format("line {} is damaged: {}", bad.line, bad.reason));
  if (bad_count_ > bad_.size()) problems.push_back(fmt::format("{} more lines are damaged", bad_count_ - bad_.size()));
  for (const BadLine& broken : breaks_)
    problems.push_back(fmt::format("line {} does not follow from the line before it{}", broken.line, broken.reason));
  if (unfinished_ > 0) {
    problems.push_back(fmt::format("the last {} are a record that was not finished", count_of(unfinished_, "byte")));
  }
  return problems;
}

}  // namespace ralph
