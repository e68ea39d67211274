#include "agents/version.h"

#include "base/text.h"
#include "base/utf8.h"
#include "json/value.h"
#include "os/files.h"
#include "os/run_command.h"

namespace ralph {
namespace {

constexpr Milliseconds kPatience{2'000};
constexpr size_t kLongest = 60;
constexpr int kFoldersAbove = 4;

// "1.2.3 (Claude Code)", "codex-cli 0.40.0": the first word that begins with a digit, or with v and a digit.
std::string version_in(std::string_view text) {
  for (const std::string& word : split(first_line(trim(text)), ' ')) {
    const std::string_view number = std::string_view(word).substr(word.starts_with('v') ? 1 : 0);
    if (!number.empty() && number[0] >= '0' && number[0] <= '9' && number.find('.') != std::string_view::npos)
      return fit_to_width(number, kLongest);
  }
  return {};
}

// The version of the npm package that installed the program.
std::string version_of_package(const std::string& program) {
  std::string folder = parent_path(program);
  for (int above = 0; above < kFoldersAbove && folder != "/" && !folder.empty(); ++above) {
    const std::string path = join_path(folder, "package.json");
    if (is_regular_file(path)) {
      const auto text = read_file(path);
      const auto package = text ? parse_json(*text, path) : Result<json::value>(json::value());
      if (!package || !find(*package, "bin")) return {};
      return version_in(find_string(*package, "version").value_or(""));
    }
    if (base_name(folder) == "node_modules") return {};
    folder = parent_path(folder);
  }
  return {};
}

bool is_native(const std::string& program) {
  const auto head = read_before_end(program, static_cast<size_t>(-1), 4);
  return head && head->starts_with(
                     "\x7f"
                     "ELF");
}

}  // namespace

std::string version_of(const Agent& agent, const Environment& environment, const std::string& project) {
  if (agent.adapter().version_flag.empty()) return {};
  const std::string program = real_path(agent.program());
  if (std::string version = version_of_package(program); !version.empty()) return version;
  // A user's own script might do anything if called in an unusual way.
  if (!is_native(program) || program.starts_with(project + "/")) return {};
  Launch launch;
  launch.argv = {agent.program(), std::string(agent.adapter().version_flag)};
  launch.environment = environment;
  launch.folder = "/";
  const auto end = run_command(std::move(launch), kPatience);
  return end && end->exit_code == 0 ? version_in(end->output) : std::string();
}

}  // namespace ralph
