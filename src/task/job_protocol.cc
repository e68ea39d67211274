#include "task/job_protocol.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "json/value.h"
#include "os/launch.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr size_t kMaxRequest = 32 << 20;

std::vector<std::string> strings_in(const json::value& value, std::string_view key) {
  std::vector<std::string> strings;
  const json::value* list = find(value, key);
  if (!list || !list->is_array()) return strings;
  for (const json::value& one : list->get_array())
    if (one.is_string()) strings.emplace_back(one.get_string());
  return strings;
}

// A folder of this user alone.
Status make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorKind::kIo, "cannot create the folder {}: {}", path, errno_text(errno));
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::getuid() ||
      (info.st_mode & 077) != 0)
    return fail(ErrorKind::kIo, "{} is no folder of this user alone; remove it", path);
  return {};
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() > kMaxSocketPath) return fail(ErrorKind::kIo, "{} is too long for a socket", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<Fd> new_socket() {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return fail(ErrorKind::kIo, "cannot make a socket: {}", errno_text(errno));
  return socket;
}

}  // namespace

Status send_request(int socket, const ChildRequest& request) {
  json::object object;
  object["v"] = 1;
  object["parent"] = to_json_string(request.parent);
  object["words"] = to_json_array(request.words);
  object["agent"] = to_json_string(request.agent);
  object["prompt"] = to_json_string(request.prompt);
  object["folder"] = to_json_string(request.folder);
  object["environment"] = to_json_array(request.environment);
  const std::string text = to_compact_json(object);
  if (text.size() > kMaxRequest)
    return fail(ErrorKind::kUsage, "prompt, arguments and environment together are too large for a job");
  TRY_VALUE(const Fd file, file_of(text));
  const int descriptors[] = {file.get()};
  return send_packet(socket, "job 1", descriptors);
}

Result<ChildRequest> receive_request(const Packet& packet) {
  if (packet.bytes != "job 1" || packet.descriptors.size() != 1)
    return fail(ErrorKind::kInput, "this is no request for a job that this version of ralph understands");
  struct stat info{};
  const int fd = packet.descriptors[0].get();
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || static_cast<size_t>(info.st_size) > kMaxRequest)
    return fail(ErrorKind::kInput, "the request for a job can't be read");
  std::string text(static_cast<size_t>(info.st_size), '\0');
  if (::pread(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail(ErrorKind::kInput, "the request for a job can't be read");
  TRY_VALUE(const json::value value, parse_json(text, "the request for a job"));
  ChildRequest request;
  const auto text_of = [&](std::string_view key) { return std::string(find_string(value, key).value_or("")); };
  request.parent = text_of("parent");
  request.words = strings_in(value, "words");
  request.agent = text_of("agent");
  request.prompt = text_of("prompt");
  request.folder = text_of("folder");
  request.environment = strings_in(value, "environment");
  return request;
}

std::string encode(const ChildStarted& started) {
  json::object object;
  object["id"] = to_json_string(started.id);
  object["folder"] = to_json_string(started.folder);
  object["error"] = to_json_string(started.error);
  return to_compact_json(object);
}

std::string encode(const ChildEnded& ended) {
  json::object object;
  object["exitCode"] = ended.exit_code;
  return to_compact_json(object);
}

Result<ChildStarted> decode_started(std::string_view bytes) {
  TRY_VALUE(const json::value value, parse_json(bytes, "the supervisor's answer"));
  const auto text_of = [&](std::string_view key) { return std::string(find_string(value, key).value_or("")); };
  return ChildStarted{text_of("id"), text_of("folder"), text_of("error")};
}

Result<ChildEnded> decode_ended(std::string_view bytes) {
  TRY_VALUE(const json::value value, parse_json(bytes, "the supervisor's answer"));
  const auto code = find_integer(value, "exitCode");
  if (!code) return fail(ErrorKind::kIo, "the supervisor's answer can't be read");
  return ChildEnded{static_cast<int>(*code)};
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

Result<Fd> listen_for_jobs(const std::string& path) {
  TRY_VALUE(const sockaddr_un address, address_of(path));
  TRY_VALUE(Fd socket, new_socket());
  ::unlink(path.c_str());  // of a supervisor that was killed: this one holds the task's lock
  const mode_t before = ::umask(0177);
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0 || ::listen(socket.get(), 64) != 0)
    return fail(ErrorKind::kIo, "cannot listen at {}: {}", path, errno_text(bound != 0 ? error : errno));
  return socket;
}

Result<Fd> connect_to_jobs(const std::string& path) {
  TRY_VALUE(const sockaddr_un address, address_of(path));
  TRY_VALUE(Fd socket, new_socket());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(ErrorKind::kNotFound, "{}: {}", path, errno_text(errno));
  return socket;
}

}  // namespace ralph
