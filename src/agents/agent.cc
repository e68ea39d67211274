#include "agents/agent.h"

#include <sys/stat.h>
#include <unistd.h>

#include "agents/hook_settings.h"
#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

// The words of a command. If the whole string, blanks included, names a program, it is one word.
Result<std::vector<std::string>> command_words(const std::string& command, const Environment& environment,
                                               const std::string& folder) {
  if (resolve_program(command, environment, folder)) return std::vector<std::string>{command};
  auto words = split_shell_words(command);
  if (!words) return tl::unexpected(words.error());
  if (words->empty()) return fail(ErrorKind::kInput, "agent.command is blank; name a program, such as claude");
  return words;
}

// "./tools/agent.py --fast" is called "agent.py --fast".
std::string name_of_command(std::vector<std::string> words) {
  words[0] = base_name(words[0]);
  return join(words, " ");
}

// The path of a file, percent-encoded for a URL.
std::string url_path(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// The first folder from `path` upwards that users other than root can write to; empty: none.
std::string folder_writable_by_others(std::string path) {
  for (;; path = parent_path(path)) {
    struct stat info{};
    const bool there = ::stat(path.c_str(), &info) == 0;
    if (there && (info.st_uid != 0 || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)) return path;
    if (path == "/" || !path.starts_with('/')) return "";
  }
}

// Whether the kernel accepts one more argument of `size` bytes. It limits each argument, and the sum of all arguments
// and the environment, pointers included.
bool fits_as_argument(size_t size, const Launch& launch) {
  if (size > kMaxArgumentBytes) return false;
  const long limit = ::sysconf(_SC_ARG_MAX);
  size_t total = 4096 + size + launch.folder.size() + launch.environment.bytes();
  for (const std::string& word : launch.argv) total += word.size() + 1 + sizeof(char*);
  return limit <= 0 || total < static_cast<size_t>(limit);
}

}  // namespace

// A program in the project, where agents can write, is used only if no other program has its name.
Result<Agent> Agent::make(const Setup& setup, const Environment& environment, const std::string& folder) {
  Agent agent;
  agent.environment_ = environment;
  agent.folder_ = folder;
  remove_child_variables(agent.environment_);
  for (const auto& [name, value] : setup.env) agent.environment_.set(name, value);

  const bool demo = setup.command == kDemoAgentCommand;
  if (demo) {
    TRY_VALUE(const std::string self, path_of_this_program());
    agent.words_ = {self, "demo-agent"};
  } else {
    TRY_VALUE(agent.words_, command_words(setup.command, agent.environment_, folder));
  }
  TRY_VALUE(agent.program_, resolve_program(agent.words_[0], with_project_last(agent.environment_, folder), folder));

  const std::string kind = setup.kind.empty() ? base_name(agent.words_[0]) : setup.kind;
  const Adapter* known = demo ? nullptr : find_adapter(kind);
  agent.adapter_ = known ? known : &custom_adapter();
  agent.name_ = !setup.name.empty() ? setup.name
                : demo              ? "demo"
                : known             ? std::string(known->name)
                                    : name_of_command(agent.words_);
  agent.prompt_ = setup.prompt.value_or(demo ? PromptPath::kStdin : agent.adapter_->prompt);
  agent.stream_ = setup.stream.empty() ? known : find_adapter(setup.stream);
  agent.model_ = setup.model;
  if (!setup.model.empty() && !agent.adapter_->takes_model) {
    return fail(ErrorKind::kInput,
                "agent.model is \"{}\", but {} has no flag for a model that ralph knows; put it into agent.flags",
                setup.model, agent.name_);
  }
  for (const std::string& flag : setup.flags) {
    TRY_VALUE(const auto parts, split_shell_words(flag));
    agent.flags_.insert(agent.flags_.end(), parts.begin(), parts.end());
  }
  for (const EnvironmentVariable& one : agent.adapter_->environment) agent.environment_.set(one.name, one.value);
  agent.probe_ = std::make_shared<FlagProbe>(agent.program_, agent.environment_);
  return agent;
}

std::string Agent::why_no_hooks() const {
  const HookDelivery& by = adapter_->hooks;
  TurnOptions options;
  options.user_flags = flags_;
  if (!by.any()) return fmt::format("{} takes no hooks for a single run", name_);
  if (!by.flag.empty() && options.user_sets({by.flag})) return fmt::format("agent.flags has a {} of its own", by.flag);
  if (!by.variable.empty() && environment_.get(std::string(by.variable))) return fmt::format("{} is set", by.variable);
  if (!by.hides_file.empty() && file_exists(std::string(by.hides_file))) return fmt::format("{} exists", by.hides_file);
  if (by.by_root && ::geteuid() != 0) return "it reads hooks for a single run only from a file of root";
  if (const std::string open = by.by_root ? folder_writable_by_others(join_path(folder_, ".ralph/runs")) : "";
      !open.empty())
    return fmt::format("it reads hooks for a single run only where nobody but root can write, unlike {}", open);
  return "";
}

bool Agent::use_hooks(std::vector<AgentHook> hooks, std::string plugin) {
  if (!why_no_hooks().empty()) return false;
  if (!adapter_->hooks.variable.empty()) hooks_text_ = plugin.empty() ? hook_settings(hooks) : std::move(plugin);
  hooks_ = std::move(hooks);
  return true;
}

std::string Agent::foreseen_refusal() const {
  TurnOptions options;
  options.user_flags = flags_;
  options.skip_permissions = skip_permissions_;
  return std::string(adapter_->foreseen_refusal(options, environment_, ::geteuid() == 0));
}

Launch Agent::launch(const std::string& prompt, TurnOptions options,
                     const std::map<std::string, std::string>& extra) const {
  options.model = model_;
  options.user_flags = flags_;
  options.skip_permissions = skip_permissions_;
  options.hooks = hooks_;
  options.events = prints_events(options.events);
  const TurnArguments arguments = adapter_->arguments(
      options, [this](std::string_view help, std::string_view flag) { return probe_->has(help, flag); });
  Launch launch;
  launch.argv = words_;
  launch.argv[0] = program_;
  for (const std::vector<std::string>* part : {&arguments.before, &flags_, &arguments.after}) {
    launch.argv.insert(launch.argv.end(), part->begin(), part->end());
  }
  launch.environment = environment_;
  if (!options.hooks_file.empty())
    launch.environment.set(std::string(adapter_->hooks.variable),
                           replace_all(adapter_->hooks.value, "{}",
                                       adapter_->hooks.is_url ? url_path(options.hooks_file) : options.hooks_file));
  for (const auto& [name, value] : extra) launch.environment.set(name, value);
  launch.folder = folder_;
  const bool fits = fits_as_argument(prompt.size(), launch) && !contains(prompt, '\0');
  if (prompt_ == PromptPath::kArgument && fits) {
    // An unknown program may not understand "--". With a leading blank, no program parses the prompt as an option.
    const bool like_option = adapter_ == &custom_adapter() && prompt.starts_with('-');
    launch.argv.push_back(like_option ? " " + prompt : prompt);
  } else {
    launch.input = prompt;
    if (prompt_ == PromptPath::kFile) launch.argv.emplace_back("/dev/stdin");
  }
  return launch;
}

Result<Launch> Agent::interactive(const std::string& prompt) const {
  if (!adapter_->interactive) {
    return fail(ErrorKind::kInput, "{} can't start an interactive session with a first prompt", name_);
  }
  Launch launch;
  launch.argv = words_;
  launch.argv[0] = program_;
  if (adapter_ == &custom_adapter()) launch.argv.insert(launch.argv.end(), flags_.begin(), flags_.end());
  if (!model_.empty()) launch.argv.insert(launch.argv.end(), {"--model", model_});
  if (!adapter_->interactive->empty()) launch.argv.emplace_back(*adapter_->interactive);
  launch.argv.push_back(prompt);
  launch.environment = environment_;
  launch.folder = folder_;
  return launch;
}

std::unique_ptr<AgentStream> Agent::make_stream(bool events, const UsedBefore& before) const {
  return prints_events(events) ? make_json_stream(make_line_parser(stream_->name, before)) : make_text_stream();
}

}  // namespace ralph
