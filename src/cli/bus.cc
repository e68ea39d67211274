// ralph bus post, read and watch: the message bus of a task or a project.
#include "task/bus.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/durations.h"
#include "cli/registry.h"
#include "journal/redactor.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/file_watch.h"

namespace ralph::cli {
namespace {

constexpr Option kBusOption = {"bus", 0, "FILE", "The bus (default: $MESSAGE_BUS)."};
constexpr std::array kPostOptions = {
    kBusOption,
    Option{"type", 't', "TYPE",
           "FACT, PROGRESS, DECISION, QUESTION, ERROR, INFO, wait_without_restart or another word."},
    Option{"body", 'b', "TEXT", "The message; - reads it from standard input."},
    Option{"body-file", 'f', "FILE", "A file with the message."},
    Option{"project", 0, "ID", "The project (default: $RALPH_PROJECT_ID)."},
    Option{"task", 0, "ID", "The task (default: $RALPH_TASK_ID)."},
    Option{"run", 0, "ID", "The run (default: $RALPH_ATTEMPT_ID)."},
    Option{
        .name = "parent", .letter = 0, .value = "ID", .help = "A message that this one answers.", .repeatable = true},
    Option{"json", 0, "", "Print the message as JSON instead of its id."},
};
constexpr std::array kReadOptions = {
    kBusOption,
    Option{"type", 't', "TYPE", "Only messages of this type."},
    Option{"after", 0, "ID", "Only messages after this one."},
    Option{"limit", 'l', "N", "Only the newest N messages."},
    Option{"json", 0, "", "Print a JSON array."},
};
constexpr std::array kWatchOptions = {
    kBusOption,
    Option{"type", 't', "TYPE", "Only messages of this type."},
    Option{"after", 0, "ID", "Start after this message (default: print only new ones)."},
    Option{"count", 'n', "N", "End after N messages."},
    Option{"timeout", 0, "D", "End after this time, such as 30s or 10m, with exit code 1."},
    Option{"json", 0, "", "Print one JSON object per line."},
};

Result<std::string> bus_from(const Arguments& arguments) {
  std::string path(arguments.value("bus").value_or(""));
  if (path.empty()) path = Environment::of_this_process().get("MESSAGE_BUS").value_or("");
  if (path.empty()) return fail(ErrorKind::kUsage, "which bus? Give --bus FILE, or set MESSAGE_BUS");
  TRY_VALUE(const std::string here, current_directory());
  return absolute_path(path, here);
}

Result<std::string> read_body() {
  std::string text;
  char buffer[64 * 1024];
  for (ssize_t n = 0; (n = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kMaxBusBody) break;  // post_message() reports it
  }
  return text;
}

Result<std::string> body_from(const Arguments& arguments) {
  const auto text = arguments.value("body"), file = arguments.value("body-file");
  if (text.has_value() == file.has_value())
    return fail(ErrorKind::kUsage, "what is the message? Give one of --body TEXT, --body - and --body-file FILE");
  if (file) return read_file(std::string(*file));
  if (*text == "-") return read_body();
  return std::string(*text);
}

Result<int> post(const Arguments& arguments) {
  TRY_VALUE(const std::string path, bus_from(arguments));
  const auto type = arguments.value("type");
  if (!type) return fail(ErrorKind::kUsage, "what type of message? Give --type, such as --type FACT");
  const Environment environment = Environment::of_this_process();
  const auto given = [&](std::string_view option, const char* variable) {
    const auto value = arguments.value(option);
    return value ? std::string(*value) : environment.get(variable).value_or("");
  };
  BusMessage message;
  message.type = *type;
  message.project = given("project", "RALPH_PROJECT_ID");
  message.task = given("task", "RALPH_TASK_ID");
  message.run = given("run", "RALPH_ATTEMPT_ID");
  message.parents = arguments.values("parent");
  TRY_VALUE(const std::string body, body_from(arguments));
  const Redactor redactor(environment.as_lines());
  message.body = redactor.redact(body);
  if (!is_directory(parent_path(path)))
    return fail(ErrorKind::kUsage, "--bus {}: there is no folder {}", path, parent_path(path));
  TRY_VALUE(const BusMessage posted, post_message(path, std::move(message)));
  if (arguments.has("json")) {
    fmt::print("{}\n", to_compact_json(to_json(posted)));
  } else {
    fmt::print("{}\n", posted.id);
  }
  return 0;
}

void print_message(const BusMessage& message, bool json) {
  if (json) {
    fmt::print("{}\n", to_compact_json(to_json(message)));
    return;
  }
  std::string who = message.task.empty() ? message.project : message.task;
  if (!message.run.empty()) who += (who.empty() ? "" : " ") + message.run;
  fmt::print("{}  {}  {}\n", message.time, fit_to_width(message.type, 64), fit_to_width(who, 200));
  const std::string body = printable_lines(to_valid_utf8(message.body));
  fmt::print("{}{}\n", body, body.ends_with('\n') ? "" : "\n");
}

bool has_type(const BusMessage& message, const Arguments& arguments) {
  const auto type = arguments.value("type");
  return !type || equals_ignoring_case(message.type, *type);
}

// Keeps only the messages after the one named by --after.
Status drop_earlier(const Arguments& arguments, std::vector<BusMessage>& messages) {
  const auto after = arguments.value("after");
  if (!after) return {};
  const auto found = std::ranges::find(messages, *after, &BusMessage::id);
  if (found == messages.end()) return fail(ErrorKind::kUsage, "--after: there is no message {}", *after);
  messages.erase(messages.begin(), found + 1);
  return {};
}

void tell_skipped(const std::string& path, const BusReader& reader) {
  if (reader.skipped() == 0) return;
  std::fflush(stdout);
  fmt::print(stderr, "ralph: {}: {} are not a message (left by a killed writer, or typed by hand)\n", path,
             human_bytes(reader.skipped()));
}

Result<int> read(const Arguments& arguments) {
  TRY_VALUE(const std::string path, bus_from(arguments));
  TRY_VALUE(const auto limit, arguments.count("limit"));
  if (!file_exists(path) && !path_exists(path))
    return fail(ErrorKind::kUsage, "there is no bus {}; 'ralph bus post' creates it", path);
  BusReader reader(path);
  TRY_VALUE(std::vector<BusMessage> messages, reader.read_on());
  TRY(drop_earlier(arguments, messages));
  std::erase_if(messages, [&](const BusMessage& message) { return !has_type(message, arguments); });
  if (limit && messages.size() > static_cast<size_t>(*limit))
    messages.erase(messages.begin(), messages.end() - static_cast<std::ptrdiff_t>(*limit));
  if (arguments.has("json")) {
    json::array list;
    for (const BusMessage& message : messages) list.emplace_back(to_json(message));
    fmt::print("{}", to_pretty_json(list));
  } else {
    for (const BusMessage& message : messages) print_message(message, false);
  }
  tell_skipped(path, reader);
  return 0;
}

Result<int> watch(const Arguments& arguments) {
  TRY_VALUE(const std::string path, bus_from(arguments));
  TRY_VALUE(const auto count, arguments.count("count"));
  TRY_VALUE(const Milliseconds timeout, duration_from(arguments, "timeout", Milliseconds(0)));
  const SystemClock clock;
  const std::optional<MonotonicTime> deadline =
      arguments.has("timeout") ? std::optional(clock.monotonic() + timeout) : std::nullopt;
  if (!is_directory(parent_path(path)))
    return fail(ErrorKind::kUsage, "--bus {}: there is no folder {}", path, parent_path(path));
  FileWatch changes;
  TRY(changes.add(path, FileWatch::Growth::kWatched));
  BusReader reader(path);
  bool first = arguments.has("after");
  if (!first) TRY(reader.skip_to_end());
  for (long shown = 0;;) {
    TRY_VALUE(std::vector<BusMessage> messages, reader.read_on());
    if (std::exchange(first, false)) TRY(drop_earlier(arguments, messages));
    for (const BusMessage& message : messages) {
      if (!has_type(message, arguments)) continue;
      print_message(message, arguments.has("json"));
      if (count && ++shown == *count) return 0;
    }
    if (std::fflush(stdout) != 0) return 0;  // nobody is reading any more
    if (!changes.wait(deadline)) return 1;
  }
}

}  // namespace

const Command kBusPost = {
    "bus post",
    "Post a message to a task's bus.",
    "Appends a message and prints its id. Many processes may post at once: no message is lost or mixed with another.\n"
    "The body may be any text, including --- lines. Inside a supervised task, the bus and the ids come from the\n"
    "environment. A message of type wait_without_restart tells the supervisor that the agent is waiting for a person.",
    "ralph bus post --type FACT --body 'the parser handles nested lists'\n"
    "make test 2>&1 | ralph bus post --type ERROR --body -\n"
    "ralph bus post --bus tasks/p/t/TASK-MESSAGE-BUS.md --type QUESTION --body-file question.md",
    kPostOptions,
    {},
    post,
};

const Command kBusRead = {
    "bus read",
    "Print the messages of a bus.",
    "Prints them in the order in which they were posted. An incomplete message, left by a killed writer, is skipped\n"
    "and reported on standard error.",
    "ralph bus read --bus tasks/p/t/TASK-MESSAGE-BUS.md\n"
    "ralph bus read --type QUESTION --limit 1\n"
    "ralph bus read --json | jq -r '.[].body'",
    kReadOptions,
    {},
    read,
};

const Command kBusWatch = {
    "bus watch",
    "Print messages as they are posted.",
    "Waits for file events instead of polling. Ends with exit code 0 after --count messages, and with 1 after "
    "--timeout.",
    "ralph bus watch --bus tasks/p/PROJECT-MESSAGE-BUS.md\n"
    "ralph bus watch --type QUESTION --count 1 --timeout 10m --json",
    kWatchOptions,
    {},
    watch,
};

}  // namespace ralph::cli
