// ralph hooks post-tool-lsp, post-tool-ast-grep and post-tool-linter: report what the project's tools say about a file
// that the host agent has just edited.
#include "cli/edit_report.h"
#include "cli/hook_io.h"
#include "cli/registry.h"

namespace ralph::cli {

std::string edit_report(const HookCall& call, EditTools tools) {
  const HookPayload& payload = call.payload;
  const std::vector<std::string> named = edited_files(payload.tool_name, payload.tool_input);
  if (named.empty() || call.project.empty()) return {};
  const std::string& project = call.project;
  std::vector<std::string> files;
  for (const std::string& file : named) {
    if (std::string path = path_in(project, payload.cwd, file); !path.empty()) files.push_back(std::move(path));
  }
  if (files.empty()) return {};
  note_edits(call.environment, payload.session, project, files);
  // A patch may have moved a file, or another tool may have deleted it since: there is nothing to check.
  std::erase_if(files, [&](const std::string& file) { return !path_exists(join_path(project, file)); });
  if (files.empty()) return {};
  if (!auto_mode_is_on(call.environment, project)) return {};
  const auto text = check_edit(call.environment, project, files, tools);
  if (!text) call.complain(text.error().message);
  return text.value_or("");
}

namespace {

Result<int> tell_host(const Arguments& arguments, std::string_view hook, EditTools tools) {
  HookCall call(hook, arguments);
  call.read();
  if (call.is_inside_run()) return 0;
  const std::string text = edit_report(call, tools);
  return text.empty() ? 0 : call.add_context("PostToolUse", text);
}

constexpr std::string_view kDetails =
    R"(Reads the hook's JSON from standard input. After an edit, the project's tools check only the edited files, and
the model is told the few worst findings. This happens only in projects that you have accepted (`ralph trust`). `ralph
hooks post-tool`, which `ralph hooks install` sets up, does this for all kinds of tools at once. The hook always exits
with 0, within 60 seconds.)";

}  // namespace

const Command kHooksPostToolLsp = {
    "hooks post-tool-lsp",
    "For a host agent's PostToolUse hook: what type checkers and compilers say about an edit.",
    kDetails,
    R"(echo '{"tool_name":"Edit","tool_input":{"file_path":"a.py"},"cwd":"/p"}' | ralph hooks post-tool-lsp)",
    kHookOptions,
    {},
    [](const Arguments& arguments) { return tell_host(arguments, "post-tool-lsp", EditTools::kCheckers); },
};

const Command kHooksPostToolLinter = {
    "hooks post-tool-linter",
    "For a host agent's PostToolUse hook: what linters say about an edit.",
    kDetails,
    R"(echo '{"tool_name":"Edit","tool_input":{"file_path":"a.py"},"cwd":"/p"}' | ralph hooks post-tool-linter)",
    kHookOptions,
    {},
    [](const Arguments& arguments) { return tell_host(arguments, "post-tool-linter", EditTools::kLinters); },
};

const Command kHooksPostToolAstGrep = {
    "hooks post-tool-ast-grep",
    "For a host agent's PostToolUse hook: what the security rules say about an edit.",
    kDetails,
    R"(echo '{"tool_name":"Edit","tool_input":{"file_path":"a.py"},"cwd":"/p"}' | ralph hooks post-tool-ast-grep)",
    kHookOptions,
    {},
    [](const Arguments& arguments) { return tell_host(arguments, "post-tool-ast-grep", EditTools::kSecurity); },
};

}  // namespace ralph::cli
