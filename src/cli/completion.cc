// ralph completion: shell scripts, generated from the commands' entries.
#include <array>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "cli/registry.h"

namespace ralph::cli {
namespace {

std::vector<const Command*> visible_commands() {
  std::vector<const Command*> commands;
  for (const Command* command : all_commands()) {
    if (!command->hidden) commands.push_back(command);
  }
  return commands;
}

std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  for (const Option& option : command.options) {
    words.push_back(fmt::format("--{}", option.name));
    if (option.negatable) words.push_back(fmt::format("--no-{}", option.name));
    if (option.letter) words.push_back(fmt::format("-{}", option.letter));
  }
  words.emplace_back("--help");
  for (const Positional& positional : command.positionals) {
    if (positional.choices.empty()) continue;
    for (std::string& choice : split(positional.choices, '|')) words.push_back(std::move(choice));
  }
  return words;
}

// The first words of all commands, and for groups ("runs") their second words.
std::map<std::string, std::vector<std::string>> first_words() {
  std::map<std::string, std::vector<std::string>> firsts;
  for (const Command* command : visible_commands()) {
    const std::vector<std::string> parts = split(command->name, ' ');
    auto& seconds = firsts[parts[0]];
    if (parts.size() > 1) seconds.push_back(parts[1]);
  }
  return firsts;
}

std::string keys_of(const std::map<std::string, std::vector<std::string>>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return join(keys, " ");
}

// "-f|--prompt-file": how an option can be typed.
std::string spellings(const Option& option) {
  return option.letter ? fmt::format("-{}|--{}", option.letter, option.name) : fmt::format("--{}", option.name);
}

// Completes the value of an option: a file, one of its choices, or nothing.
std::string bash_values() {
  std::map<std::string, std::string> cases;  // one entry per option, even if several commands have it
  for (const Command* command : visible_commands()) {
    for (const Option& option : command->options) {
      if (option.value.empty()) continue;
      std::string reply = "return";
      if (option.value == "FILE")
        reply = "local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\")); return";
      if (!option.choices.empty()) {
        reply = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\")); return",
                            replace_all(option.choices, "|", " "));
      }
      if (option.suggestions)
        reply = fmt::format(
            "local head=; [[ $current == *,* ]] && head=${{current%,*}},; "
            "COMPREPLY=($(compgen -P \"$head\" -W '{}' -- \"${{current##*,}}\")); return",
            option.suggestions());
      // If several options share a name, the one with something to offer wins.
      if (std::string& kept = cases[spellings(option)]; kept.empty() || reply != "return") kept = std::move(reply);
    }
  }
  std::string text;
  for (const auto& [option, reply] : cases) text += fmt::format("    {}) {} ;;\n", option, reply);
  return text;
}

std::string bash_script() {
  const auto firsts = first_words();
  std::string script =
      "# bash completion for ralph; load it with: source <(ralph completion bash)\n"
      "_ralph() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  COMPREPLY=()\n"
      "  case $previous in\n" +
      bash_values() +
      "    -C) local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$current\")); return "
      ";;\n"
      "  esac\n"
      "  local first=1\n"
      "  [[ ${COMP_WORDS[1]} == -C ]] && first=3\n"
      "  if ((COMP_CWORD == first)); then\n";
  script +=
      fmt::format("    words='{} --help --version -C'\n  else\n    case ${{COMP_WORDS[first]}} in\n", keys_of(firsts));
  for (const auto& [word, seconds] : firsts) {
    if (seconds.empty()) continue;
    script +=
        fmt::format("      {}) if ((COMP_CWORD == first + 1)); then words='{}'; fi ;;\n", word, join(seconds, " "));
  }
  script += "    esac\n    case \"${COMP_WORDS[first]} ${COMP_WORDS[first+1]}\" in\n";
  for (const Command* command : visible_commands()) {
    const bool group = command->name.find(' ') != std::string_view::npos;
    script += fmt::format("      '{}'{}) words+=' {}' ;;\n", command->name, group ? "" : "' '*",
                          join(words_of(*command), " "));
  }
  script += "    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\ncomplete -F _ralph ralph\n";
  return script;
}

std::string zsh_script() {
  return "#compdef ralph\n# zsh completion for ralph; load it with: source <(ralph completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_script();
}

std::string fish_quoted(std::string_view text) {
  return "'" + replace_all(replace_all(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_script() {
  std::string script =
      "# fish completion for ralph; load it with: ralph completion fish | source\ncomplete -c ralph -f\n";
  script +=
      "complete -c ralph -n __fish_use_subcommand -s C -r -a '(__fish_complete_directories)' -d 'Work in a folder'\n";
  script += "complete -c ralph -n __fish_use_subcommand -s v -l version -d 'Print the version'\n";
  for (const Command* command : visible_commands()) {
    const std::vector<std::string> parts = split(command->name, ' ');
    std::string seen = fmt::format("__fish_seen_subcommand_from {}", parts[0]);
    if (parts.size() == 1) {
      script += fmt::format("complete -c ralph -n __fish_use_subcommand -a {} -d {}\n", parts[0],
                            fish_quoted(command->summary));
    } else {
      script += fmt::format("complete -c ralph -n __fish_use_subcommand -a {}\n", parts[0]);
      script += fmt::format("complete -c ralph -n '{}; and not __fish_seen_subcommand_from {}' -a {} -d {}\n", seen,
                            parts[1], parts[1], fish_quoted(command->summary));
      seen += fmt::format("; and __fish_seen_subcommand_from {}", parts[1]);
    }
    for (const Option& option : command->options) {
      script += fmt::format("complete -c ralph -n '{}' -l {}{}{} -d {}\n", seen, option.name,
                            option.letter ? fmt::format(" -s {}", option.letter) : "",
                            option.value == "FILE" ? " -r -F"
                            : option.value.empty() ? ""
                                                   : " -x",
                            fish_quoted(option.help));
      if (!option.choices.empty()) {
        script += fmt::format("complete -c ralph -n '{}' -l {} -x -a '{}'\n", seen, option.name,
                              replace_all(option.choices, "|", " "));
      }
      if (option.suggestions)
        script += fmt::format("complete -c ralph -n '{}' -l {} -x -a '(__fish_append , {})'\n", seen, option.name,
                              option.suggestions());
      if (option.negatable) script += fmt::format("complete -c ralph -n '{}' -l no-{}\n", seen, option.name);
    }
    for (const Positional& positional : command->positionals) {
      if (!positional.choices.empty()) {
        script += fmt::format("complete -c ralph -n '{}' -a '{}'\n", seen, replace_all(positional.choices, "|", " "));
      }
    }
  }
  return script;
}

constexpr std::array kPositionals = {Positional{"SHELL", "bash, zsh or fish.", true, false, "bash|zsh|fish"}};

}  // namespace

const Command kCompletion = {
    "completion",
    "Print a completion script for bash, zsh or fish.",
    "",
    "source <(ralph completion bash)\nsource <(ralph completion zsh)\nralph completion fish | source",
    {},
    kPositionals,
    [](const Arguments& arguments) -> Result<int> {
      const std::string shell = to_lower(arguments.positionals()[0]);
      const std::string script = shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script();
      std::fwrite(script.data(), 1, script.size(), stdout);
      return 0;
    },
};

}  // namespace ralph::cli
