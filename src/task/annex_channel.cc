#include "task/annex_channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

#include "json/value.h"
#include "os/unix_socket.h"

namespace ralph {
namespace {

constexpr std::array<std::string_view, 8> kFrameWords = {"put", "gone",   "grown", "bus",
                                                         "job", "answer", "left",  "level"};
constexpr size_t kMostHead = 64 * 1024, kReadAtOnce = 256 * 1024;

}  // namespace

AnnexChannel::AnnexChannel(Fd in, Fd out) : in_(std::move(in)), out_(std::move(out)) {
  static_cast<void>(set_nonblocking(in_.get()));
  static_cast<void>(set_nonblocking(out_.get()));
}

// A frame is a line of JSON, followed by the bytes.
void AnnexChannel::send(const AnnexFrame& frame) {
  if (!is_open()) return;
  unwritten_ += to_compact_json(json::object{{"word", kFrameWords[static_cast<size_t>(frame.word)]},
                                             {"path", to_json_string(frame.path)},
                                             {"number", frame.number},
                                             {"bytes", frame.bytes.size()}});
  unwritten_ += '\n';
  unwritten_ += frame.bytes;
  static_cast<void>(write_on());
}

bool AnnexChannel::write_on() {
  size_t done = 0;
  while (done < unwritten_.size()) {
    const ssize_t n = ::write(out_.get(), unwritten_.data() + done, unwritten_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return false;
    if (n < 0) break;
    done += static_cast<size_t>(n);
  }
  unwritten_.erase(0, done);
  return true;
}

void AnnexChannel::add_to(std::vector<pollfd>& fds) const {
  fds.push_back({in_.get(), POLLIN, 0});
  fds.push_back({unwritten_.empty() ? -1 : out_.get(), POLLOUT, 0});
}

bool AnnexChannel::go_on() {
  if (!is_open() || bad_ || !write_on()) return false;
  read_.erase(0, at_);
  at_ = 0;
  for (int rounds = 0; rounds < 16; ++rounds) {
    const size_t before = read_.size();
    read_.resize(before + kReadAtOnce);
    const ssize_t n = ::read(in_.get(), read_.data() + before, kReadAtOnce);
    read_.resize(before + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
  }
  return true;
}

std::optional<AnnexFrame> AnnexChannel::take() {
  const std::string_view rest = std::string_view(read_).substr(at_);
  const size_t end = rest.substr(0, kMostHead).find('\n');
  if (end == std::string_view::npos) {
    bad_ = bad_ || rest.size() >= kMostHead;
    return std::nullopt;
  }
  const auto head = parse_json(rest.substr(0, end), "a frame");
  const auto word = head ? find_string(*head, "word") : std::nullopt;
  const auto known = std::ranges::find(kFrameWords, word.value_or(""));
  const auto size = head ? find_integer(*head, "bytes") : std::nullopt;
  if (known == kFrameWords.end() || !size || *size < 0 || static_cast<size_t>(*size) > kMostAnnexBytes) {
    bad_ = true;
    return std::nullopt;
  }
  if (rest.size() < end + 1 + static_cast<size_t>(*size)) return std::nullopt;
  AnnexFrame frame;
  frame.word = static_cast<AnnexWord>(known - kFrameWords.begin());
  frame.path = find_string(*head, "path").value_or("");
  frame.number = find_integer(*head, "number").value_or(0);
  frame.bytes = rest.substr(end + 1, static_cast<size_t>(*size));
  at_ += end + 1 + static_cast<size_t>(*size);
  return frame;
}

}  // namespace ralph
