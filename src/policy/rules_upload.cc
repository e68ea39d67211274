// Rules that rows can't express, about data that leaves the machine.
#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/http_call.h"
#include "policy/known_output.h"
#include "policy/rules.h"

namespace ralph {
namespace {

// The destination of data, as far as the command line reveals it.
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
    if (is_local_host(address)) continue;
    const std::string_view rest = std::string_view(address).substr(has_scheme ? scheme + 3 : 0);
    // $BASE_URL/x, https://$HOST:8080/x; but $NAME.example.com is a foreign host.
    if (rest.substr(0, rest.find_first_of(":/?")) != std::string_view(&kUnknownPart, 1)) return Goal::kElsewhere;
    goal = Goal::kUnknown;
  }
  return goal;
}

// Whether it is host:path, and not C:\x or ./a:b.
bool is_remote_path(const std::string& word) {
  if (contains(word, "://")) return !word.starts_with("file://");
  const size_t colon = word.find(':');
  return colon != std::string::npos && colon > 1 && word.find('/') > colon;
}

// Whether the input comes from files or the environment, not from the command line itself.
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

// Whether a command of the span reads the environment or a file named like a secret.
bool span_reads_secrets(const Subject& subject, ShellSpan span) {
  if (subject.span_has(span, "env printenv")) return true;
  for (int i = span.first; i < span.last; ++i) {
    if (holds_secret(subject, Subject(subject.reading, static_cast<size_t>(i), subject.place).read())) return true;
  }
  return false;
}

// Whether the input comes from such a file: < .env, cat .env |, $(cat .env).
bool takes_in_secrets(const Subject& subject) {
  for (const ShellRedirection& one : subject.command.redirections) {
    if (one.op == "<" && is_secret_file(subject, one.target.text)) return true;
  }
  return std::ranges::any_of(subject.origins(),
                             [&](const ShellSpan& span) { return span_reads_secrets(subject, span); });
}

// Whether the input contains sftp commands that send: put, mput, reput.
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

// Whether ssh gets input from a file or another command. A script for the remote shell is a command, not data.
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

}  // namespace

Finding uploads_by_http(const Subject& subject) {
  const HttpCall call = http_call(subject);
  const Goal goal = goal_of(call);
  if (goal == Goal::kHere) return std::nullopt;
  // An unknown host alone is no reason to deny. Sending it a secret is.
  const bool elsewhere = goal == Goal::kElsewhere;
  const std::string_view where = elsewhere ? "to another machine" : "to a machine known only at run time";
  for (const HttpOption& option : call.options) {
    const Upload upload = upload_of(subject, option);
    if (upload.what == Upload::What::kFile && (elsewhere || is_secret_file(subject, upload.file)))
      return fmt::format("it sends the file {} {}", upload.file, where);
    if (upload.what == Upload::What::kInput && carries_data(subject) && (elsewhere || takes_in_secrets(subject)))
      return fmt::format("it sends its input {}", where);
  }
  if (words_carry_files(subject) && (elsewhere || takes_in_secrets(subject)))
    return fmt::format("it sends the contents of a file or of the environment {}", where);
  return std::nullopt;
}

Finding sends_files(const Subject& subject) {
  if (subject.program == "sftp") return sftp_puts(subject) ? "it sends files to another machine" : Finding();
  if (subject.program == "croc" && subject.operand(0) == "send") return "it sends files to another machine";
  const std::string last = subject.operands.empty() ? "" : subject.operands.back();
  if (subject.operands.size() > 1 && is_remote_path(last) && !is_local_host(last))
    return fmt::format("it sends files to {}", last);
  return std::nullopt;
}

Finding copies_to_bucket(const Subject& subject) {
  const std::string last = subject.operands.empty() ? "" : subject.operands.back();
  const bool copies = subject.has("cp sync mv put");
  const bool to_bucket = last.starts_with("s3://") || last.starts_with("gs://");
  const bool from_here = subject.operands.size() > 1 && !contains(subject.operands[subject.operands.size() - 2], "://");
  return copies && to_bucket && from_here ? Finding(fmt::format("it sends files to {}", last)) : Finding();
}

Finding sends_to_socket(const Subject& subject) {
  const bool is_client = subject.program != "openssl" || subject.operand(0) == "s_client";
  const bool listens = subject.flag('l') || subject.flag('z');
  const bool is_here = std::ranges::any_of(subject.operands, [](const std::string& one) { return is_local_host(one); });
  const bool sends = is_client && !listens && !is_here && carries_data(subject);
  return sends ? "it sends what it reads to another machine" : Finding();
}

Finding sends_by_ssh(const Subject& subject) {
  return ssh_sends(subject) ? "it sends what it reads to another machine" : Finding();
}

Finding looks_up_data(const Subject& subject) {
  return words_carry_files(subject) ? "a name that is looked up carries data" : Finding();
}

Finding mails_data(const Subject& subject) {
  return carries_data(subject) || subject.flag('a') || subject.flag('A') ? "it mails data" : Finding();
}

Finding writes_to_network(const Subject& subject) {
  bool local = false;
  return goes_to_socket(subject, local) && !local ? "it sends data to a network address" : Finding();
}

}  // namespace ralph
