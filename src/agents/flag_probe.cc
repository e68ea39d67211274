#include "agents/flag_probe.h"

#include <sys/stat.h>

#include "base/text.h"
#include "json/value.h"
#include "os/files.h"
#include "os/run_command.h"

namespace ralph {
namespace {

constexpr Milliseconds kHelpTimeout{15000};  // some agents take seconds to start

std::string cache_path(const Environment& environment) {
  const std::string folder = user_folder(environment, "XDG_CACHE_HOME", ".cache");
  return folder.empty() ? "" : join_path(folder, "ralph/agent-flags.json");
}

// Identifies a version of a file. An update changes its time or size.
std::string identity_of(const std::string& program) {
  struct stat info{};
  if (::stat(program.c_str(), &info) != 0) return "";
  return fmt::format("{} {} {}.{:09}", program, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

json::object read_cache(const std::string& path) {
  const auto text = path.empty() ? Result<std::string>(std::string()) : read_file(path);
  if (!text || text->empty()) return {};
  auto parsed = parse_json(*text, path);  // a damaged cache counts as empty
  return parsed && parsed->is_object() ? std::move(parsed->get_object()) : json::object();
}

}  // namespace

std::set<std::string> flags_in(std::string_view help) {
  std::set<std::string> flags;
  for (size_t at = help.find("--"); at != std::string_view::npos; at = help.find("--", at + 2)) {
    size_t end = at + 2;
    while (end < help.size() && (std::isalnum(static_cast<unsigned char>(help[end])) || help[end] == '-')) ++end;
    if (end > at + 2) flags.emplace(help.substr(at, end - at));
    at = end > at + 2 ? end - 2 : at;
  }
  return flags;
}

FlagProbe::FlagProbe(std::string program, Environment environment)
    : program_(std::move(program)), environment_(std::move(environment)) {}

bool FlagProbe::has(std::string_view help_command, std::string_view flag) {
  return flags_of(std::string(help_command)).contains(std::string(flag));
}

const std::set<std::string>& FlagProbe::flags_of(const std::string& help_command) {
  const auto known = known_.find(help_command);
  if (known != known_.end()) return known->second;
  std::set<std::string>& flags = known_[help_command];

  const std::string path = cache_path(environment_);
  const std::string key = identity_of(program_) + " " + help_command;
  json::object cache = read_cache(path);
  if (const json::value* cached = cache.if_contains(key); cached && cached->is_array()) {
    for (const json::value& flag : cached->get_array()) {
      if (const json::string* text = flag.if_string()) flags.emplace(text->data(), text->size());
    }
    return flags;
  }

  Launch launch;
  launch.argv = {program_};
  for (const std::string& word : split(help_command, ' ')) launch.argv.push_back(word);
  launch.environment = environment_;
  launch.folder = "/";
  const auto help = run_command(launch, kHelpTimeout);
  if (!help || help->exit_code != 0) return flags;  // not cached: the next run may get an answer
  flags = flags_in(help->output);
  if (path.empty() || !make_directories(parent_path(path))) return flags;
  cache[key] = json::array(flags.begin(), flags.end());
  static_cast<void>(write_file_atomically(path, to_compact_json(cache)));  // without a cache the next run asks again
  return flags;
}

}  // namespace ralph
