#include "policy/command_files.h"

#include <array>

#include "base/text.h"
#include "embedded_plugin.h"

namespace ralph {
namespace {

// A comment in the front matter, which the model does not see.
constexpr std::string_view kFrontMatter = "---\n";
constexpr std::string_view kMark =
    "# Written by 'ralph hooks install', replaced by it, removed by 'ralph hooks uninstall'.\n";

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFiles = {{
    {"ralph-loop.md", embedded::loop_md},
    {"ulw-loop.md", embedded::ulw_loop_md},
    {"cancel-ralph.md", embedded::cancel_md},
    {"ralph-status.md", embedded::status_md},
    {"ralph-plan.md", embedded::SKILL_md},
}};

}  // namespace

std::vector<CommandFile> command_files(std::string_view program) {
  const std::string quoted = quote_shell_words(std::array{std::string(program)});
  std::vector<CommandFile> files;
  for (const auto& [name, source] : kFiles) {
    std::string text = fmt::format("{}{}{}", kFrontMatter, kMark, source.substr(kFrontMatter.size()));
    text = replace_all(text, "\nname: plan\n", "\n");  // a command is named after its file
    text = replace_all(text, "!`ralph ", fmt::format("!`{} ", quoted));
    text = replace_all(text, "Bash(ralph ", fmt::format("Bash({} ", quoted));
    files.push_back({name, std::move(text)});
  }
  return files;
}

bool is_ralphs_command_file(std::string_view text) {
  return text.starts_with(kFrontMatter) && text.substr(kFrontMatter.size()).starts_with(kMark);
}

}  // namespace ralph
