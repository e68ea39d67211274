// What rows can't say about code that comes from elsewhere: shells on the network, downloads, text that is made.
#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/http_call.h"
#include "policy/known_output.h"
#include "policy/rules.h"
#include "policy/script_view.h"

namespace ralph {
namespace {

constexpr std::string_view kDownloaders = "curl wget fetch aria2c http https xh lynx ftp httpie";
constexpr std::string_view kDecoders = "base64 base32 xxd openssl uudecode rev gunzip zcat gzip bunzip2 xz gpg basenc";
constexpr std::string_view kSockets = "nc ncat netcat nc.openbsd nc.traditional socat telnet openssl";
constexpr std::string_view kShellNames = "sh bash dash zsh ksh ash";
// Programs that make text of text, so that what they print is no script that somebody wrote.
constexpr std::string_view kTextTools =
    "sed awk gawk mawk tr cat cut xargs echo printf jq yq perl python python3 node ruby php envsubst m4 rev paste";
constexpr std::string_view kTextMakers = "sed awk gawk mawk tr cut xargs perl python python3 node ruby php m4 paste";

// A program on the line that runs (exec, eval, system) the output of one of these.
bool runs_made_text(const Subject& subject, std::initializer_list<std::string_view> makers) {
  if (!is_interpreter(subject.program)) return false;
  const auto text = program_text_of(subject.command, known_input(subject.reading, subject.command));
  if (!text) return false;
  for (const std::string_view call : {"exec(", "eval(", "system(", "popen(", "run(", "execSync("}) {
    for (size_t at = text->find(call), n = 0; at != std::string::npos && n < 64; at = text->find(call, at + 1), ++n) {
      const std::string_view after = std::string_view(*text).substr(at, 100);
      for (const std::string_view maker : makers) {
        if (after.substr(0, after.find_first_of(";\n")).find(maker) != std::string_view::npos) return true;
      }
    }
  }
  return false;
}

// The command whose output a shell reads through its pipe; nullptr if there is none.
const ShellCommand* last_feeder(const Subject& subject) {
  const ShellSpan& input = subject.command.input;
  for (int i = input.last - 1; i >= input.first; --i) {
    const ShellCommand& one = subject.reading.commands[static_cast<size_t>(i)];
    const bool is_redirection = one.words.empty() && input.last - input.first > 1;  // of a compound command
    if (one.level == input.level && one.via < input.first && !is_redirection) return &one;
  }
  return nullptr;
}

bool runs_scripts(const Subject& subject) {
  return is_shell(subject.program) || is_interpreter(subject.program) || subject.is("eval source . make gmake");
}

// The one of these files that the command runs: ./x, sh x, sh < x, cat x | sh.
std::optional<std::string> run_file_among(const Subject& subject, const std::vector<std::string>* files) {
  if (!files || files->empty()) return std::nullopt;
  const ShellCommand& command = subject.command;
  const auto is_among = [&](const std::string& word) {
    const auto paths = subject.paths(word);
    return std::ranges::any_of(paths, [&](const std::string& path) { return is_one_of(path, *files); });
  };
  if (contains(command.word(0), '/') && is_among(command.word(0))) return command.word(0);
  if (!runs_scripts(subject)) return std::nullopt;
  if (!subject.operands.empty() && is_among(subject.operand(0))) return subject.operand(0);
  for (const ShellRedirection& one : command.redirections) {
    if (one.op == "<" && is_among(one.target.text)) return one.target.text;
  }
  for (const ShellCommand& one : subject.reading.in(command.input)) {
    if (program_of(one) == "cat" && is_among(one.word(1)) && command.unknown_script) return one.word(1);
  }
  return std::nullopt;
}

// Text that a shell would run, and that neither stands on the line nor in a script.
Finding is_made_at_run_time(const Subject& subject) {
  constexpr const char *kMade = "what it runs is made by another program and is not on the line",
                       *kElsewhere = "what it runs is not on the line";
  const ShellCommand& command = subject.command;
  if (subject.is("make gmake")) return ask("its rules are not on the line");
  if (subject.is("sed gsed")) return ask("its flag e runs what a line becomes");
  if (subject.runner().ends_with("awk")) return ask("a shell would run what awk prints");
  bool has_sources = false;
  for (const ShellWord& word : command.words) {
    has_sources |= !word.sources.empty();
    for (const ShellSpan& span : word.sources) {
      // source <(kubectl completion bash) runs what that program means to be run; sed makes text of any kind.
      if (subject.span_has(span, word.text == kSubstituted ? kTextTools : kTextMakers)) return ask(kMade);
    }
  }
  if (!is_shell(subject.program)) {
    // eval "$(ssh-agent -s)" runs a program's output as intended; eval "$x" and eval "$(echo "$x" | tr a b)" do not.
    if (has_sources && !(command.unknown_script && subject.fed_by("echo printf"))) return std::nullopt;
    return command.unknown_script ? ask(kElsewhere) : Finding();
  }
  if (command.unknown_script && !command.input.empty() && !has_sources) {
    const ShellCommand* const feeder = last_feeder(subject);
    const bool passes_file = !feeder || feeder->words.empty() ||
                             (is_listed("cat head tail", program_of(*feeder)) && feeder->words.size() > 1);
    return passes_file ? Finding() : ask(kMade);
  }
  for (const ShellRedirection& one : command.redirections) {
    if (one.op == "<") return std::nullopt;  // a script file
    if (one.op == "<<<" || one.op == "<<") return ask(kElsewhere);
  }
  const bool says_what = std::any_of(command.words.begin() + 1, command.words.end(),
                                     [](const ShellWord& word) { return word.unknown() && !word.text.empty(); });
  return command.unknown_script && says_what && !has_sources ? ask(kElsewhere) : Finding();
}

}  // namespace

Finding opens_reverse_shell(const Subject& subject) {
  const ShellCommand& command = subject.command;
  bool local = false;
  if (goes_to_socket(subject, local)) {
    if (is_shell(subject.program) || subject.program == "exec") return "a shell would talk to a network address";
    if (!local) return "it talks to a network address through the shell";
  }
  if (subject.is(kSockets)) {
    const bool is_netcat = subject.program != "socat" && subject.program != "openssl" && subject.program != "telnet";
    if (is_netcat &&
        (subject.flag('e') || subject.flag('c') || subject.option("--exec") || subject.option("--sh-exec")))
      return "it gives a program to the network";
    for (const std::string& operand : subject.operands) {
      if (subject.program == "socat" && starts_with_any(to_lower(operand), {"exec:", "system:"}))
        return "it gives a program to the network";
    }
    if (subject.fed_by(kShellNames) && (subject.program != "openssl" || subject.operand(0) == "s_client"))
      return "a shell's output goes to the network";
  }
  if (is_shell(subject.program) && command.words.size() < 4 && subject.span_has(command.input, kSockets) &&
      command.unknown_script && !subject.span_has(command.input, "base64")) {
    return "a shell would take its commands from the network";
  }
  if (subject.program.ends_with("awk") &&
      contains(program_text_of(command, std::nullopt).value_or(""), "/inet/tcp/0/") &&
      contains(program_text_of(command, std::nullopt).value_or(""), "getline"))
    return "what it runs comes from a network address";
  if (is_interpreter(subject.program)) {
    const auto text = program_text_of(command, known_input(subject.reading, command));
    if (text) {
      const auto says = [&](std::string_view what) { return contains(*text, what); };
      const std::string code = program_code_of(command, *text);
      const auto calls = [&](std::string_view what) { return contains(code, what); };
      const bool connects =
          calls("socket") || calls("fsockopen") || calls("Socket") || calls("net.connect") || calls("TCPSocket");
      const bool runs = says("/bin/sh") || says("/bin/bash") || says("pty.spawn") || says("dup2") || says("\"sh\"") ||
                        says("'sh'") || says("cmd.exe") || says("IO.popen(");
      if (connects && runs) return "a shell would talk to a network address";
    }
  }
  return std::nullopt;
}

Finding runs_download(const Subject& subject) {
  const ShellCommand& command = subject.command;
  if (runs_scripts(subject) && subject.fed_by(kDownloaders)) {
    const bool from_process = std::ranges::any_of(command.words, [&](const ShellWord& word) {
      return word.text.starts_with("/dev/fd/") && !word.sources.empty() && !subject.span_has(word.sources[0], "jq");
    });
    const bool bare_interpreter = is_interpreter(subject.program) &&
                                  (subject.operands.empty() || subject.operand(0) == "-") && !subject.flag('c') &&
                                  !subject.flag('e') && !subject.flag('m') && !subject.flag('r') &&
                                  !subject.option("--eval");
    const bool unknown_text = is_interpreter(subject.program) && (subject.has(std::string(1, kUnknownPart)));
    if (command.unknown_script || subject.runs_unknown || bare_interpreter || unknown_text ||
        (from_process &&
         (is_shell(subject.program) || subject.is("source .") || subject.operand(0).starts_with("/dev/fd/")))) {
      return "what it runs comes straight from the network";
    }
  }
  if (runs_made_text(subject, {"urlopen", "requests.get", "http.get", "fetch(", "LWP"}))
    return "what it runs comes straight from the network";
  if (const auto file = run_file_among(subject, subject.downloaded))
    return fmt::format("{} was downloaded a moment ago", *file);
  return std::nullopt;
}

Finding is_obfuscated(const Subject& subject) {
  const ShellCommand& command = subject.command;
  if (command.in_definition) return std::nullopt;  // judged at each call, with its arguments
  if (!command.words.empty() && command.word(0)[0] == kUnknownPart && !command.word(0).empty()) {
    for (const ShellSpan& span : command.words[0].sources) {
      if (subject.span_has(span, kDecoders)) return "the program that it runs is encoded";
    }
  }
  if (runs_made_text(subject, {"b64decode", "decode_base64", "fromhex", "unhexlify", "atob(", "'base64'", "\"base64\"",
                               "decompress", "rot13"}))
    return "what it runs is encoded";
  if (const auto file = run_file_among(subject, subject.made))
    return ask(fmt::format("{} was made by another program a moment ago", *file));
  const bool runs_text = is_shell(subject.program) || subject.is("eval source . make gmake sed gsed");
  if (!runs_text || !(command.unknown_script || subject.runs_unknown)) return std::nullopt;
  if (subject.fed_by(kDecoders)) return "what it runs is encoded";
  return is_made_at_run_time(subject);
}

}  // namespace ralph
