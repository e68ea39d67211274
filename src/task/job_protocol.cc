#include "task/job_protocol.h"

#include <cerrno>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "json/fields.h"
#include "os/launch.h"
#include "sandbox/request_text.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr size_t kMaxRequest = 32 << 20;

template <Listed T>
Result<T> decoded(std::string_view bytes, std::string_view what) {
  TRY_VALUE(const json::value value, parse_json(bytes, what));
  return from_json<T>(value);
}

// Creates a folder that only this user can access.
Status make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorKind::kIo, "cannot create the folder {}: {}", path, errno_text(errno));
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::getuid() ||
      (info.st_mode & 077) != 0)
    return fail(ErrorKind::kIo, "{} is not a private folder of this user; remove it", path);
  return {};
}

}  // namespace

std::string encode(const ChildRequest& request) {
  return to_compact_json(json_from(request));
}

Result<ChildRequest> decode_child_request(std::string_view text) {
  return decoded<ChildRequest>(text, "the request for a job");
}

Status send_request(int socket, const ChildRequest& request) {
  const std::string text = encode(request);
  if (text.size() > kMaxRequest)
    return fail(ErrorKind::kUsage, "prompt, arguments and environment together are too large for a job");
  TRY_VALUE(const Fd file, file_of(text));
  const int descriptors[] = {file.get()};
  return send_packet(socket, "job 1", descriptors);
}

Result<ChildRequest> receive_request(const Packet& packet) {
  if (packet.bytes != "job 1" || packet.descriptors.size() != 1)
    return fail(ErrorKind::kInput, "this version of ralph does not understand the request for a job");
  struct stat info{};
  const int fd = packet.descriptors[0].get();
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || static_cast<size_t>(info.st_size) > kMaxRequest)
    return fail(ErrorKind::kInput, "the request for a job can't be read");
  std::string text(static_cast<size_t>(info.st_size), '\0');
  if (::pread(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail(ErrorKind::kInput, "the request for a job can't be read");
  return decode_child_request(text);
}

std::string encode(const ChildOrder& order) {
  json::object object = json_from(order);
  if (order.sandbox) object["sandbox"] = to_json(*order.sandbox);
  return to_compact_json(object);
}

Result<ChildOrder> decode_child_order(std::string_view text) {
  TRY_VALUE(const json::value value, parse_json(text, "the supervisor's order"));
  ChildOrder order = from_json<ChildOrder>(value);
  if (const json::value* sandbox = find(value, "sandbox")) {
    TRY_VALUE(order.sandbox, sandbox_request_from(*sandbox));
  }
  return order;
}

std::string encode(const ChildStarted& started) {
  return to_compact_json(json_from(started));
}

std::string encode(const ChildEnded& ended) {
  return to_compact_json(json_from(ended));
}

Result<ChildStarted> decode_started(std::string_view bytes) {
  return decoded<ChildStarted>(bytes, "the supervisor's answer");
}

Result<ChildEnded> decode_ended(std::string_view bytes) {
  TRY_VALUE(const ChildEnded ended, decoded<ChildEnded>(bytes, "the supervisor's answer"));
  if (!ended.exit_code) return fail(ErrorKind::kIo, "the supervisor's answer can't be read");
  return ended;
}

Result<std::string> job_socket_path(const TaskPlace& place, const Environment& environment) {
  std::string path = place.file("jobs.sock");
  if (path.size() <= kMaxSocketPath) return path;
  std::string runtime = environment.get("XDG_RUNTIME_DIR").value_or("");
  if (runtime.empty() || !is_directory(runtime))
    runtime = fmt::format("/tmp/ralph-{}", ::getuid());
  else
    runtime = join_path(runtime, "ralph");
  TRY(make_private_folder(runtime));
  return join_path(runtime, state_name(place.task, place.folder()).substr(0, 60) + ".sock");
}

}  // namespace ralph
