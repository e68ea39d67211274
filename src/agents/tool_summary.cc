#include "agents/tool_summary.h"

#include <array>

#include "agents/todo_items.h"
#include "base/text.h"

namespace ralph {
namespace {

// The members that name what a tool works on; the first one present wins. A search pattern says more than the folder
// searched.
constexpr std::array<std::string_view, 20> kSubjects = {
    "command", "cmd",      "file_path", "filePath", "absolute_path", "notebook_path", "pattern",
    "path",    "dir_path", "query",     "url",      "subject",       "description",   "prompt",
    "skill",   "task_id",  "shell_id",  "bash_id",  "name",          "title",
};

constexpr size_t kLongestCommand = 64 << 10;

}  // namespace

const Wanted& wanted_of_tool_input() {
  static const Wanted nothing{};
  static const Wanted input{{"todos", &wanted_of_todo()}, {"*", &nothing}};
  return input;
}

std::string_view summary_of_input(JsonView input, std::string& scratch) {
  if (const JsonView todos = input["todos"]; todos.is(JsonKind::kArray)) {
    size_t count = 0;
    for ([[maybe_unused]] const JsonView item : todos) ++count;
    scratch = count_of(count, "item");
    return scratch;
  }
  if (const std::string_view task = input["taskId"].text(); !task.empty()) {
    scratch = fmt::format("#{} {}", task, input["status"].text());
    return trim(scratch);
  }
  for (const std::string_view key : kSubjects) {
    if (const std::string_view text = input[key].text(); !text.empty()) return text;
  }
  if (input.is(JsonKind::kString)) return input.text();
  for (const JsonView member : input) {
    if (!member.text().empty()) return member.text();
  }
  return {};
}

std::string_view command_without_shell(std::string_view command, std::string& scratch) {
  if (command.size() > kLongestCommand) return command;
  const std::string_view program = command.substr(0, command.find(' '));
  if (!program.ends_with("sh")) return command;
  auto words = split_shell_words(command);
  if (!words || words->size() != 3 || ((*words)[1] != "-lc" && (*words)[1] != "-c")) return command;
  scratch = std::move((*words)[2]);
  return scratch;
}

std::string_view text_of_content(JsonView content, std::string& scratch) {
  if (content.is(JsonKind::kString)) return content.text();
  std::string_view only;
  size_t texts = 0;
  scratch.clear();
  for (const JsonView block : content) {
    const std::string_view text = block.is(JsonKind::kString) ? block.text() : block["text"].text();
    if (text.empty()) continue;
    if (++texts == 1) {
      only = text;
      continue;
    }
    if (texts == 2) scratch = only;
    scratch += '\n';
    scratch += text;
  }
  return texts < 2 ? only : std::string_view(scratch);
}

}  // namespace ralph
