#include "session/loop_command.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

struct Name {
  std::string_view word;
  LoopVerb verb;
  bool ultrawork;
};

constexpr std::array kNames = {
    Name{"/ralph:loop", LoopVerb::kStart, false},    Name{"/ralph:ulw-loop", LoopVerb::kStart, true},
    Name{"/ralph:cancel", LoopVerb::kCancel, false}, Name{"/ralph:status", LoopVerb::kStatus, false},
    Name{"/ralph-loop", LoopVerb::kStart, false},    Name{"/ulw-loop", LoopVerb::kStart, true},
    Name{"/cancel-ralph", LoopVerb::kCancel, false}, Name{"/ralph-status", LoopVerb::kStatus, false},
};

constexpr std::array<std::string_view, 12> kOptions = {
    "max-iterations", "completion-promise", "min-tool-calls", "stagnation-limit", "on-promise-no-work", "ultrawork",
    "check",          "no-promise",         "zero-errors",    "zero-warnings",    "zero-security",      "tests-pass"};
constexpr std::string_view kCancel = "cancel";  // not a property of a loop

// Options without a value.
constexpr std::array<std::string_view, 6> kSwitches = {"ultrawork",     "no-promise",    "zero-errors",
                                                       "zero-warnings", "zero-security", "tests-pass"};

// Editors and phones turn two dashes into these.
constexpr std::array<std::string_view, 3> kSmartDashes = {"\u2014", "\u2013", "\u2015"};

constexpr std::string_view kQuoteIt = "(If it belongs to the task, put the task in quotes.)";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<signed char>(c) < 0;
}

// The position of the quote that closes the one at `at`, at the end of a word: "don't" closes nothing. npos if none.
size_t closing_quote(std::string_view text, size_t at) {
  size_t end = text.find(text[at], at + 1);
  while (end != std::string_view::npos &&
         (text[end - 1] == '\\' || (end + 1 < text.size() && is_letter(text[end + 1]))))
    end = text.find(text[at], end + 1);
  return end;
}

// The option meant by a mistyped or shortened name: --max-iteration, --promise. Empty: none.
std::string_view closest_option(std::string_view name) {
  if (const std::string_view near = nearest(name, kOptions); !near.empty()) return near;
  const auto* const part = std::find_if(kOptions.begin(), kOptions.end(), [&](std::string_view option) {
    return name.size() >= 3 && option.ends_with(fmt::format("-{}", name));
  });
  return part == kOptions.end() ? std::string_view() : *part;
}

// The value of an option: up to the next blank, or the quoted text. Moves `at` past it.
Result<std::string> take_value(std::string_view text, size_t& at, std::string_view name) {
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    const size_t end = closing_quote(text, at);
    if (end == std::string_view::npos) return fail(ErrorKind::kUsage, "--{}: its quote is not closed", name);
    std::string value(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return value;
  }
  const size_t from = at;
  while (at < text.size() && !is_blank(text[at])) ++at;
  return std::string(text.substr(from, at - from));
}

class LineReader {
 public:
  LineReader(std::string_view text, LoopRequest& request) : text_(text), request_(request) {}

  Status read() {
    while (at_ < text_.size()) {
      if (at_word_start() && at_ >= quoted_until_) {
        TRY(check_smart_dash());
        if (text_.substr(at_).starts_with("--")) {
          TRY_VALUE(const bool taken, take_option());
          if (taken) continue;
        }
        if (take_path()) continue;
        track_quote(text_[at_]);
      }
      task_ += text_[at_++];
    }
    request_.task = without_quotes(trim(task_));
    return {};
  }

  bool cancels() const { return cancels_; }

 private:
  bool at_word_start() const { return at_ == 0 || is_blank(text_[at_ - 1]); }

  // "@src/services/ fix it": paths come only before the task's own words.
  bool take_path() {
    if (text_[at_] != '@' || !trim(task_).empty()) return false;
    size_t end = at_ + 1;
    while (end < text_.size() && !is_blank(text_[end])) ++end;
    if (end == at_ + 1) return false;
    request_.paths.emplace_back(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end;
    return true;
  }

  // Quotes count only at the start and the end of a word: "don't" opens nothing.
  void track_quote(char c) {
    if ((c != '"' && c != '\'') || never_closed_.find(c) != std::string::npos) return;
    const size_t end = closing_quote(text_, at_);
    if (end == std::string_view::npos) {
      never_closed_ += c;  // no later one is closed either
    } else {
      quoted_until_ = end + 1;
    }
  }

  // An option with a wrong dash would silently become part of the task.
  Status check_smart_dash() const {
    std::string_view rest = text_.substr(at_);
    const auto* const dash = std::find_if(kSmartDashes.begin(), kSmartDashes.end(),
                                          [&](std::string_view one) { return rest.starts_with(one); });
    if (dash == kSmartDashes.end()) return {};
    rest.remove_prefix(dash->size());
    if (rest.starts_with('-')) rest.remove_prefix(1);
    const auto* const option = std::find_if(kOptions.begin(), kOptions.end(), [&](std::string_view one) {
      return rest.starts_with(one) &&
             (rest.size() == one.size() || is_blank(rest[one.size()]) || rest[one.size()] == '=');
    });
    if (option == kOptions.end()) return {};
    return fail(ErrorKind::kUsage, "{}{} begins with a long dash; write it with two short ones: --{} {}", *dash,
                *option, *option, kQuoteIt);
  }

  Result<bool> take_option() {
    size_t end = at_ + 2;
    while (end < text_.size() && !is_blank(text_[end]) && text_[end] != '=') ++end;
    const std::string name(text_.substr(at_ + 2, end - at_ - 2));
    if (name.empty()) {
      // After a lone -- before the task, the rest is the task. Inside the task, it is just a dash.
      if (!trim(task_).empty() || (end < text_.size() && !is_blank(text_[end]))) return false;
      task_ += text_.substr(end);
      at_ = text_.size();
      return true;
    }
    const bool known = name == kCancel || std::find(kOptions.begin(), kOptions.end(), name) != kOptions.end();
    if (!known) {
      const std::string_view near = closest_option(name);
      // An unknown option belongs to the task ("use ls --color"), unless it resembles one of ours: that is a typo.
      if (near.empty()) return false;
      return fail(ErrorKind::kUsage, "--{} is not a loop option; did you mean --{}? {}", name, near, kQuoteIt);
    }
    at_ = end;
    if (name == kCancel || std::find(kSwitches.begin(), kSwitches.end(), name) != kSwitches.end()) {
      if (at_ < text_.size() && text_[at_] == '=') return fail(ErrorKind::kUsage, "--{} takes no value", name);
      if (name == kCancel) cancels_ = true;
      TRY(set_loop_option(request_, name, ""));
      return true;
    }
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
    } else {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    TRY_VALUE(const std::string value, take_value(text_, at_, name));
    TRY(set_loop_option(request_, name, value));
    return true;
  }

  static std::string without_quotes(std::string_view task) {
    const bool quoted =
        task.size() >= 2 && (task[0] == '"' || task[0] == '\'') && closing_quote(task, 0) == task.size() - 1;
    return std::string(quoted ? task.substr(1, task.size() - 2) : task);
  }

  std::string_view text_;
  LoopRequest& request_;
  size_t at_ = 0;
  size_t quoted_until_ = 0;  // no options before this
  std::string never_closed_;
  std::string task_;
  bool cancels_ = false;
};

Result<int> number_from(std::string_view name, std::string_view value, int least) {
  const auto number = value == "0" ? std::optional<long>(0) : parse_count(value);
  if (!number || *number < least || *number > 1000000)
    return fail(ErrorKind::kUsage, "--{}: \"{}\" is not a whole number from {} to 1000000", name, value, least);
  return static_cast<int>(*number);
}

}  // namespace

Status set_loop_option(LoopRequest& request, std::string_view name, std::string_view value) {
  if (name == "max-iterations") {
    TRY_VALUE(request.max_iterations, number_from(name, value, 1));
  } else if (name == "min-tool-calls") {
    TRY_VALUE(request.min_tool_calls, number_from(name, value, 0));
  } else if (name == "stagnation-limit") {
    TRY_VALUE(request.stagnation_limit, number_from(name, value, 0));
  } else if (name == "completion-promise") {
    request.promise = value;
  } else if (name == "on-promise-no-work") {
    const auto policy = from_word<PromiseWithoutWork>(value);
    if (!policy) return fail(ErrorKind::kUsage, "--{}: \"{}\" is not one of reject, warn, accept", name, value);
    request.on_promise_no_work = *policy;
  } else if (name == "ultrawork") {
    request.ultrawork = true;
  } else if (name == "no-promise") {
    request.no_promise = true;
  } else if (name == "zero-errors") {
    request.zero_errors = true;
  } else if (name == "zero-warnings") {
    request.zero_warnings = true;
  } else if (name == "zero-security") {
    request.zero_security = true;
  } else if (name == "tests-pass") {
    request.tests_pass = true;
  } else if (name == "check") {
    if (trim(value).empty())
      return fail(ErrorKind::kUsage, "--check is blank; give a command that exits with 0 when the work is done");
    request.checks.emplace_back(value);
  }
  return {};
}

void take_targets(LoopRequest& request) {
  std::string_view rest = trim(request.task);
  while (rest.size() > 1 && rest[0] == '@' && !is_blank(rest[1])) {
    size_t end = 1;
    while (end < rest.size() && !is_blank(rest[end])) ++end;
    request.paths.emplace_back(rest.substr(1, end - 1));
    rest = trim(rest.substr(end));
  }
  if (!request.paths.empty()) request.task = std::string(rest);
}

Status settle_targets(LoopRequest& request, const std::string& folder, const std::string& project) {
  const std::string root = real_path(project);
  for (std::string& path : request.paths) {
    const std::string full = real_path(absolute_path(path, folder));
    if (!path_exists(full)) return fail(ErrorKind::kUsage, "@{} does not exist in {}. {}", path, folder, kQuoteIt);
    if (full != root && !full.starts_with(root == "/" ? root : root + "/"))
      return fail(ErrorKind::kUsage, "@{} is outside of the project ({}); name a file or folder in it", path, project);
    const std::string end = path.ends_with('/') ? "/" : "";
    path = full == root ? "." : full.substr(root == "/" ? 1 : root.size() + 1) + end;
  }
  return {};
}

Status check_request(const LoopRequest& request) {
  if (trim(request.task).empty())
    return fail(ErrorKind::kUsage, "what is to be done? Give the task: /ralph:loop \"fix the failing tests\"");
  if (request.no_promise && request.checks_in_all() == 0)
    return fail(
        ErrorKind::kUsage,
        "--no-promise: what ends the loop then? Give a check (--check 'make test') or a criterion (--zero-errors)");
  const std::string& promise = request.promise;
  if (trim(promise).empty() || trim(promise) != promise)
    return fail(ErrorKind::kUsage, "--completion-promise: \"{}\" is blank or has blanks around it", promise);
  if (promise.find_first_of("<>\n\r") != std::string::npos || promise.size() > 200)
    return fail(ErrorKind::kUsage, "--completion-promise: a promise is one short line without < and >");
  return {};
}

Result<std::optional<LoopCommand>> loop_command_from(std::string_view line) {
  const std::string_view text = trim(line);
  size_t end = 0;
  while (end < text.size() && !is_blank(text[end])) ++end;
  const auto* const known =
      std::find_if(kNames.begin(), kNames.end(), [&](const Name& name) { return name.word == text.substr(0, end); });
  if (known == kNames.end()) return std::optional<LoopCommand>();
  LoopCommand command;
  command.verb = known->verb;
  if (known->verb != LoopVerb::kStart) return std::optional(command);
  command.request.ultrawork = known->ultrawork;
  LineReader reader(trim(text.substr(end)), command.request);
  TRY(reader.read());
  if (reader.cancels()) {
    if (!command.request.task.empty())
      return fail(ErrorKind::kUsage, "--cancel ends the loop of this session and takes no task. {}", kQuoteIt);
    command.verb = LoopVerb::kCancel;
    return std::optional(command);
  }
  TRY(check_request(command.request));
  return std::optional(command);
}

}  // namespace ralph
