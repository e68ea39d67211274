#include "os/job_messages.h"

#include <algorithm>
#include <cstring>

namespace ralph {
namespace {

constexpr size_t kMaxMessageBytes = 4096;
constexpr size_t kMaxListed = 50;  // processes; each command is already shortened to one line
constexpr size_t kMaxCommandBytes = 400;

class Packer {
 public:
  void number(std::int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const std::string& value : values) text(value);
  }
  void processes(const std::vector<ProcessInfo>& values) {
    const size_t count = std::min(values.size(), kMaxListed);
    number(static_cast<std::int64_t>(count));
    for (size_t i = 0; i < count; ++i) {
      number(values[i].pid);
      text(values[i].command.substr(0, kMaxCommandBytes));
    }
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what a Packer wrote. After an error every read returns an empty value, and complete() is false.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  std::int64_t number() {
    std::int64_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(static_cast<std::uint64_t>(number()))); }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (auto left = count(); left > 0 && good_; --left) values.push_back(text());
    return values;
  }
  std::vector<ProcessInfo> processes() {
    std::vector<ProcessInfo> values;
    for (auto left = count(); left > 0 && good_; --left) {
      ProcessInfo& process = values.emplace_back();
      process.pid = static_cast<int>(number());
      process.command = text();
    }
    return values;
  }
  std::int64_t count() { return number(); }
  bool good() const { return good_; }
  bool complete() const { return good_ && left_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > left_.size()) {
      good_ = false;
      left_ = {};
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  std::string_view left_;
  bool good_ = true;
};

tl::unexpected<Error> unreadable(std::string_view what) {
  return fail(ErrorKind::kInternal, "{} of a job can't be read", what);
}

}  // namespace

std::string encode(const JobOrder& order) {
  return {reinterpret_cast<const char*>(&order), sizeof order};
}

Result<JobOrder> decode_order(std::string_view bytes) {
  JobOrder order{};
  if (bytes.size() != sizeof order) return unreadable("an order");
  std::memcpy(&order, bytes.data(), sizeof order);
  return order;
}

std::string encode(const JobRequest& request) {
  Packer packer;
  packer.text(request.name);
  packer.texts(request.launch.argv);
  packer.texts(request.launch.environment.as_lines());
  packer.text(request.launch.folder);
  packer.texts(request.launch.files);
  packer.texts(request.launch.groups);
  packer.number(request.launch.blocks_signals ? 1 : 0);
  packer.number(static_cast<std::int64_t>(request.stop.size()));
  for (const StopStep& step : request.stop) {
    packer.number(step.signal);
    packer.number(step.grace.count());
  }
  return packer.take();
}

Result<JobRequest> decode_request(std::string_view bytes) {
  Unpacker unpacker(bytes);
  JobRequest request;
  request.name = unpacker.text();
  request.launch.argv = unpacker.texts();
  for (const std::string& line : unpacker.texts()) request.launch.environment.set_line(line);
  request.launch.folder = unpacker.text();
  request.launch.files = unpacker.texts();
  request.launch.groups = unpacker.texts();
  request.launch.blocks_signals = unpacker.number() != 0;
  request.stop.clear();
  for (auto left = unpacker.count(); left > 0 && unpacker.good(); --left) {
    const int signal = static_cast<int>(unpacker.number());
    request.stop.push_back({signal, Milliseconds(unpacker.number())});
  }
  if (!unpacker.complete() || request.launch.argv.empty() || request.stop.empty()) return unreadable("the request");
  return request;
}

std::string encode(const JobReply& reply) {
  Packer packer;
  packer.number(static_cast<std::int64_t>(reply.index()));
  if (const auto* error = std::get_if<Error>(&reply)) {
    packer.number(static_cast<std::int64_t>(error->kind));
    packer.text(error->message.substr(0, kMaxMessageBytes));
  }
  if (const auto* ended = std::get_if<JobEnded>(&reply)) {
    packer.number(ended->status.code);
    packer.number(ended->status.signal);
    packer.processes(ended->swept.ended);
    packer.processes(ended->swept.survivors);
    packer.number(ended->swept.unseen ? 1 : 0);
  }
  return packer.take();
}

Result<JobReply> decode_reply(std::string_view bytes) {
  Unpacker unpacker(bytes);
  const auto kind = unpacker.number();
  JobReply reply;
  if (kind == 1) {
    Error error;
    error.kind = static_cast<ErrorKind>(unpacker.number());
    error.message = unpacker.text();
    reply = std::move(error);
  } else if (kind == 2) {
    JobEnded ended;
    ended.status.code = static_cast<int>(unpacker.number());
    ended.status.signal = static_cast<int>(unpacker.number());
    ended.swept.ended = unpacker.processes();
    ended.swept.survivors = unpacker.processes();
    ended.swept.unseen = unpacker.number() != 0;
    reply = std::move(ended);
  }
  if (!unpacker.complete()) return unreadable("the answer");
  return reply;
}

}  // namespace ralph
