// The plugin's commands as separate files, for hooks installed without the plugin: /ralph-loop, /ulw-loop,
// /cancel-ralph, /ralph-status and /ralph-plan. The texts are the plugin's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct CommandFile {
  std::string_view name;  // "ralph-loop.md"
  std::string text;
};

// `program` is how they call ralph: a name or a path.
std::vector<CommandFile> command_files(std::string_view program);

// Whether the text has the mark that command_files() of any ralph version puts on each file.
bool is_ralphs_command_file(std::string_view text);

}  // namespace ralph
