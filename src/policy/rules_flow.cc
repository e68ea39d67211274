// Rules about the flow of data and code: running downloads, uploading files, opening shells.
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

bool is_local(std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://", "ftp://", "ws://", "tcp://"}) {
    if (host.starts_with(scheme)) host.remove_prefix(scheme.size());
  }
  if (const size_t at = host.substr(0, host.find('/')).find('@'); at != std::string_view::npos)
    host.remove_prefix(at + 1);
  for (const std::string_view local : {"localhost", "127.", "0.0.0.0", "[::1]", "::1", "host.docker.internal"}) {
    if (!host.starts_with(local)) continue;
    if (local.ends_with('.')) return true;
    const std::string_view rest = host.substr(local.size());
    return rest.empty() || rest[0] == ':' || rest[0] == '/' || rest[0] == '?';
  }
  return false;
}

// The destination of data, as far as the line reveals it.
enum class Goal { kHere, kElsewhere, kUnknown };

Goal goal_of(const HttpCall& call) {
  Goal goal = Goal::kHere;
  for (const HttpOption& option : call.options) {
    if (option.name == "--unix-socket" || option.name == "--abstract-unix-socket") return Goal::kHere;
  }
  for (const std::string& address : call.addresses) {
    const size_t scheme = address.find("://");
    const bool has_scheme = scheme != std::string::npos;
    const bool looks_like_host =
        has_scheme || contains(address, '.') || address.starts_with("localhost") || address.starts_with(kUnknownPart);
    if (!looks_like_host || address.starts_with('@') || address.starts_with('{')) continue;
    if (is_local(address)) continue;
    const std::string_view rest = std::string_view(address).substr(has_scheme ? scheme + 3 : 0);
    // $BASE_URL/x, https://$HOST:8080/x; but $NAME.example.com is a foreign host.
    if (rest.substr(0, rest.find_first_of(":/?")) != std::string_view(&kUnknownPart, 1)) return Goal::kElsewhere;
    goal = Goal::kUnknown;
  }
  return goal;
}

// host:path, and not C:\x or ./a:b.
bool is_remote_path(const std::string& word) {
  if (contains(word, "://")) return !word.starts_with("file://");
  const size_t colon = word.find(':');
  return colon != std::string::npos && colon > 1 && word.find('/') > colon;
}

// The input comes from files or the environment, not from the line itself.
bool carries_data(const Subject& subject) {
  if (known_input(subject.reading, subject.command)) return false;
  for (const ShellRedirection& one : subject.command.redirections) {
    if (one.op == "<") return one.target.text != "/dev/null";
  }
  for (const ShellCommand& one : subject.reading.in(subject.command.input)) {
    if (one.level != subject.command.input.level) continue;
    const std::string name = program_of(one);
    const bool makes_its_own = name == "echo" || name == "printf" || name.empty() ||
                               (name == "jq" && one.word(1).starts_with("-n")) || name == "yes" || name == "sleep";
    if (!makes_its_own) return true;
    for (const ShellWord& word : one.words) {
      for (const ShellSpan& span : word.sources) {
        if (subject.span_has(span, "cat base64 env printenv head tail xxd tar gzip")) return true;
      }
    }
  }
  return false;
}

bool words_carry_files(const Subject& subject) {
  for (const ShellWord& word : subject.command.words) {
    for (const ShellSpan& span : word.sources) {
      if (subject.span_has(span, "cat base64 env printenv head tail xxd od tar gzip hostname whoami id")) return true;
      for (const ShellCommand& one : subject.reading.in(span)) {
        if (one.words.empty() && !one.redirections.empty()) return true;  // $(<file)
      }
    }
  }
  return false;
}

bool holds_secret(const Subject& subject, const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths, [&](const std::string& path) { return is_secret(path, subject.place); });
}

bool is_secret_file(const Subject& subject, std::string_view word) {
  return holds_secret(subject, subject.paths(word));
}

// A command of the span reads a file with a secret's name, or the environment.
bool span_reads_secrets(const Subject& subject, ShellSpan span) {
  if (subject.span_has(span, "env printenv")) return true;
  for (int i = span.first; i < span.last; ++i) {
    if (holds_secret(subject, Subject(subject.reading, static_cast<size_t>(i), subject.place).read())) return true;
  }
  return false;
}

// The input comes from such a file: < .env, cat .env |, $(cat .env).
bool takes_in_secrets(const Subject& subject) {
  for (const ShellRedirection& one : subject.command.redirections) {
    if (one.op == "<" && is_secret_file(subject, one.target.text)) return true;
  }
  return std::ranges::any_of(subject.origins(),
                             [&](const ShellSpan& span) { return span_reads_secrets(subject, span); });
}

Finding upload_of_http_client(const Subject& subject) {
  const HttpCall call = http_call(subject);
  const Goal goal = goal_of(call);
  if (goal == Goal::kHere) return std::nullopt;
  // An unknown host alone is no reason to deny; a secret sent to it is.
  const bool elsewhere = goal == Goal::kElsewhere;
  const std::string_view where = elsewhere ? "to another machine" : "to a machine that only the shell knows";
  for (const HttpOption& option : call.options) {
    const Upload upload = upload_of(subject, option);
    if (upload.what == Upload::What::kFile && (elsewhere || is_secret_file(subject, upload.file)))
      return fmt::format("it sends the file {} {}", upload.file, where);
    if (upload.what == Upload::What::kInput && carries_data(subject) && (elsewhere || takes_in_secrets(subject)))
      return fmt::format("it sends what it reads {}", where);
  }
  if (words_carry_files(subject) && (elsewhere || takes_in_secrets(subject)))
    return fmt::format("it sends what a file or the environment holds {}", where);
  return std::nullopt;
}

// Commands of sftp that send: put, mput, reput.
bool sftp_puts(const Subject& subject) {
  const std::string input = known_input(subject.reading, subject.command).value_or("");
  for (const std::string& line : split(input, '\n')) {
    std::string_view command = trim(line);
    if (command.starts_with('-') || command.starts_with('@')) command.remove_prefix(1);  // ignores errors; quiet
    const std::string_view verb = command.substr(0, command.find(' '));
    if (verb == "put" || verb == "mput" || verb == "reput") return true;
  }
  return false;
}

// ssh with input from a file or another command. A script for the remote shell is a command, not data.
bool ssh_sends(const Subject& subject) {
  if (!carries_data(subject)) return false;
  const bool reads_file = std::ranges::any_of(subject.command.redirections, [](const ShellRedirection& one) {
    return one.op == "<" && one.target.text != "/dev/null";
  });
  if (!reads_file) return subject.fed_by("tar cat gzip base64 env printenv zip git dd");
  bool runs_shell = true;  // the default without a command
  for (const ShellCommand& one : subject.reading.commands) {
    if (one.via == subject.index) runs_shell = is_shell(program_of(one)) || is_interpreter(program_of(one));
  }
  return !runs_shell || takes_in_secrets(subject);
}

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

bool has_socket_path(const Subject& subject, bool& local) {
  for (const ShellRedirection& one : subject.command.redirections) {
    for (const std::string_view prefix : {"/dev/tcp/", "/dev/udp/"}) {
      if (!one.target.text.starts_with(prefix)) continue;
      local = is_local(std::string_view(one.target.text).substr(prefix.size()));
      return true;
    }
  }
  return false;
}

}  // namespace

Finding opens_reverse_shell(const Subject& subject) {
  const ShellCommand& command = subject.command;
  bool local = false;
  if (has_socket_path(subject, local)) {
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
  if (is_interpreter(subject.program)) {
    const auto text = program_text_of(command, known_input(subject.reading, command));
    if (text) {
      const auto says = [&](std::string_view what) { return contains(*text, what); };
      const std::string code = program_code_of(command, *text);
      const auto calls = [&](std::string_view what) { return contains(code, what); };
      const bool connects =
          calls("socket") || calls("fsockopen") || calls("Socket") || calls("net.connect") || calls("TCPSocket");
      const bool runs = says("/bin/sh") || says("/bin/bash") || says("pty.spawn") || says("dup2") || says("\"sh\"") ||
                        says("'sh'") || says("cmd.exe");
      if (connects && runs) return "a shell would talk to a network address";
    }
  }
  return std::nullopt;
}

Finding runs_download(const Subject& subject) {
  const ShellCommand& command = subject.command;
  const bool runs_scripts = is_shell(subject.program) || is_interpreter(subject.program) || subject.is("eval source .");
  if (runs_scripts && subject.fed_by(kDownloaders)) {
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
  if (!subject.downloaded || subject.downloaded->empty()) return std::nullopt;
  const auto is_download = [&](const std::string& word) {
    const auto paths = subject.paths(word);
    return std::ranges::any_of(paths, [&](const std::string& path) { return is_one_of(path, *subject.downloaded); });
  };
  const std::string& first = command.word(0);
  if (contains(first, '/') && is_download(first)) return fmt::format("{} was downloaded a moment ago", first);
  if (runs_scripts && !subject.operands.empty() && is_download(subject.operand(0)))
    return fmt::format("{} was downloaded a moment ago", subject.operand(0));
  for (const ShellRedirection& one : command.redirections) {
    if (runs_scripts && one.op == "<" && is_download(one.target.text))
      return fmt::format("{} was downloaded a moment ago", one.target.text);
  }
  for (const ShellCommand& one : subject.reading.in(command.input)) {
    if (runs_scripts && program_of(one) == "cat" && is_download(one.word(1)) && command.unknown_script)
      return fmt::format("{} was downloaded a moment ago", one.word(1));
  }
  return std::nullopt;
}

Finding exfiltrates(const Subject& subject) {
  if (subject.is("curl wget http https xh")) return upload_of_http_client(subject);
  if (subject.is("scp rsync sftp rclone croc")) {
    if (subject.program == "sftp" && sftp_puts(subject)) return "it sends files to another machine";
    const std::string last = subject.operands.empty() ? "" : subject.operands.back();
    if (subject.program == "croc" && subject.operand(0) == "send") return "it sends files to another machine";
    if (subject.operands.size() > 1 && is_remote_path(last) && !is_local(last) && subject.program != "sftp")
      return fmt::format("it sends files to {}", last);
    return std::nullopt;
  }
  if (subject.is("aws gsutil az gcloud mc s3cmd")) {
    const std::string last = subject.operands.empty() ? "" : subject.operands.back();
    const bool copies = subject.has("cp sync mv put");
    const bool to_bucket = last.starts_with("s3://") || last.starts_with("gs://");
    const bool from_here =
        subject.operands.size() > 1 && !contains(subject.operands[subject.operands.size() - 2], "://");
    if (copies && to_bucket && from_here) return fmt::format("it sends files to {}", last);
    return std::nullopt;
  }
  if (subject.is(kSockets)) {
    const bool is_client = subject.program != "openssl" || subject.operand(0) == "s_client";
    const bool listens = subject.flag('l') || subject.flag('z');
    const bool is_here = std::ranges::any_of(subject.operands, [](const std::string& one) { return is_local(one); });
    if (is_client && !listens && !is_here && carries_data(subject)) return "it sends what it reads to another machine";
    return std::nullopt;
  }
  if (subject.program == "ssh" && ssh_sends(subject)) return "it sends what it reads to another machine";
  if (subject.is("dig nslookup host ping") && words_carry_files(subject))
    return "a name that is looked up carries data";
  if (subject.is("mail mailx mutt sendmail") && (carries_data(subject) || subject.flag('a') || subject.flag('A')))
    return "it mails data";
  if (subject.program == "gh" && subject.operand(0) == "gist" && subject.operand(1) == "create")
    return "it publishes files as a gist";
  bool local = false;
  if (has_socket_path(subject, local) && !local) return "it sends data to a network address";
  return std::nullopt;
}

Finding is_obfuscated(const Subject& subject) {
  const ShellCommand& command = subject.command;
  if (command.in_definition) return std::nullopt;  // judged at each call, with its arguments
  const bool runs_scripts = is_shell(subject.program) || subject.is("eval source .");
  const bool unknown = command.unknown_script || subject.runs_unknown;
  if (!command.words.empty() && command.word(0)[0] == kUnknownPart && !command.word(0).empty()) {
    for (const ShellSpan& span : command.words[0].sources) {
      if (subject.span_has(span, kDecoders)) return "the program that it runs is encoded";
    }
  }
  if (runs_made_text(subject, {"b64decode", "decode_base64", "fromhex", "unhexlify", "atob(", "'base64'", "\"base64\"",
                               "decompress", "rot13"}))
    return "what it runs is encoded";
  if (!runs_scripts || !unknown) return std::nullopt;
  if (subject.fed_by(kDecoders)) return "what it runs is encoded";
  // eval "$(ssh-agent -s)" runs a program's output as intended; eval "$x" runs unknown text.
  const bool has_sources =
      std::ranges::any_of(command.words, [](const ShellWord& word) { return !word.sources.empty(); });
  if (!is_shell(subject.program)) {
    // ... and so does eval "$(echo "$x" | tr a b)".
    if (has_sources && !(command.unknown_script && subject.fed_by("echo printf"))) return std::nullopt;
    return command.unknown_script ? Finding("what it runs is not on the line") : std::nullopt;
  }
  if (command.unknown_script && !command.input.empty() && !has_sources) {
    for (int i = command.input.last - 1; i >= command.input.first; --i) {
      const ShellCommand& one = subject.reading.commands[static_cast<size_t>(i)];
      if (one.level != command.input.level || one.via >= 0) continue;
      const bool passes_file = is_listed("cat sed envsubst m4 head tail", program_of(one)) && one.words.size() > 1;
      const bool reads_file = one.words.empty() && std::ranges::any_of(one.redirections, [](const ShellRedirection& r) {
                                return r.op == "<";
                              });
      return passes_file || reads_file ? Finding() : "what it runs is made by another program and is not on the line";
    }
  }
  for (const ShellRedirection& one : command.redirections) {
    if (one.op == "<") return std::nullopt;  // a script file
    if (one.op == "<<<" || one.op == "<<") return "what it runs is not on the line";
  }
  const bool says_what = std::any_of(command.words.begin() + 1, command.words.end(),
                                     [](const ShellWord& word) { return word.unknown() && !word.text.empty(); });
  if (command.unknown_script && says_what && !has_sources) return "what it runs is not on the line";
  return std::nullopt;
}

}  // namespace ralph
