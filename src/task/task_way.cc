#include "task/task_way.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/prompt.h"
#include "engine/reasons.h"
#include "engine/rules.h"
#include "engine/trigger_places.h"
#include "os/files.h"
#include "settings/ralph_folder.h"
#include "task/dependencies.h"

namespace ralph {
namespace {

std::string last_attempt_of(const TaskPlace& place) {
  std::string last;
  for (const RunInfo& info : run_infos_of(place))
    if (info.parent_run_id.empty() || !file_exists(join_path(place.runs(), info.parent_run_id))) last = info.run_id;
  return last;
}

// Identifies a folder independently of its name; zeros if it does not exist.
std::pair<std::uint64_t, std::uint64_t> id_of(const std::string& folder) {
  struct stat info{};
  if (::lstat(folder.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

RunInfo common_info(const Run& run, const TaskPlace& place, std::string parent) {
  RunInfo info;
  info.run_id = last_attempt_of(place);  // the last attempt of earlier processes
  info.ralph_run_id = run.id;
  info.parent_run_id = std::move(parent);
  return info;
}

}  // namespace

Result<std::string> instructions_of(const TaskRequest& request) {
  if (request.prompt) return *request.prompt;
  const std::string path = request.prompt_file.empty() ? request.place.instructions() : request.prompt_file;
  if (request.prompt_file.empty() && request.is_command && !path_exists(path)) return std::string();
  if (!file_exists(path))
    return fail(ErrorKind::kInput, "{} is missing; write the task into it, or give --prompt or --prompt-file", path);
  TRY_VALUE(const std::string text, read_within(path, request.reach));
  if (const size_t bad = find_invalid_utf8(text); bad != std::string::npos)
    return fail(ErrorKind::kInput, "{} is not UTF-8 (byte {})", path, bad + 1);
  if (trim(text).empty() && !request.is_command) return fail(ErrorKind::kInput, "{} is blank", path);
  return text;
}

std::string attempt_prompt(const TaskPlace& place, const std::string& instructions, int attempt,
                           const std::string& previous) {
  if (attempt <= 1) return instructions;
  std::string text = fmt::format("This continues earlier attempts at this task (this is attempt {}).", attempt);
  if (!previous.empty())
    text += fmt::format(" The last one left its output in {}; all are in {}.",
                        join_path(join_path(place.runs(), previous), "output.md"), place.runs());
  text += " Look at what is done, go on from there, and create the file DONE in the task's folder when all is done.";
  return instructions.empty() ? text : text + "\n\n" + instructions;
}

TaskWay::TaskWay(Run& run, const TaskRequest& request, Agents agents, bool events, Children* children,
                 std::vector<std::pair<std::string, std::string>> environment, std::string parent)
    : run_(run),
      request_(request),
      place_(request.place),
      agents_(agents),
      events_(events),
      children_(children),
      environment_(std::move(environment)),
      attempt_(place_, common_info(run, place_, std::move(parent)), place_.folder(), run.clock, run.redactor),
      bus_(place_.bus()),
      folder_(id_of(place_.folder())) {
  attempt_.on_begin([this] { post(bus_type::kRunStart, fmt::format("attempt {}", number_)); });
}

Result<std::optional<Agents>> TaskWay::begin() {
  TRY(bus_.skip_to_end());  // requests from before this process no longer count
  // An existing DONE must be checked too.
  return has_done_to_check() ? std::optional(agents_) : std::nullopt;
}

bool TaskWay::has_done_to_check() const {
  return (!request_.checks.empty() || run_.policy.has_criteria()) && is_done(place_).value_or(false);
}

Result<IterationChecks> TaskWay::checks() {
  IterationChecks checks;
  if (!has_done_to_check()) return checks;
  for (const std::string& command : request_.checks) checks.guardrails.emplace_back().command = command;
  return checks;
}

// Removes a DONE that does not count, because its checks fail or a protected file was changed: neither the next attempt
// nor a waiting task may see it.
Status TaskWay::after_checks(const Decision& decision) {
  if (decision.stops() || !is_done(place_).value_or(false)) return {};
  const Progress& progress = run_.progress();
  const bool ran = progress.guardrails_passed + static_cast<int>(progress.guardrails_failed.size()) > 0;
  proved_ = ran && progress.checks_hold();
  const bool fails = has_done_to_check() && ran && !(progress.guardrails_failed.empty() && progress.tests_lost.empty());
  if (!fails && progress.watch.held.empty()) return {};
  refusal_ = fails ? "ralph has run the checks itself, and they don't pass:" : "it does not count:";
  if (::unlink(place_.done().c_str()) != 0 && errno != ENOENT)
    return fail(ErrorKind::kIo, "cannot take back {}, which does not count: {}", place_.done(), errno_text(errno));
  post(bus_type::kWarning,
       fmt::format("DONE was removed: {}", progress.guardrails_failed.empty()
                                               ? what_is_held(progress)
                                               : join(progress.guardrails_failed, ", ") + " failed"));
  return {};
}

bool TaskWay::watches_triggers() const {
  return is_project(run_.project);
}

Result<NextTurn> TaskWay::next() {
  TRY_VALUE(const std::string instructions, instructions_of(request_));
  if (instructions.empty()) attempt_.give_no_prompt();
  NextTurn next;
  // The folder was removed, and perhaps recreated: the files of the new one are not watched yet.
  if (const auto id = id_of(place_.folder()); id != folder_) {
    TRY(make_task_folder(place_));
    TRY(run_.await_files(files(), [this] { return file_arrived(); }));
    folder_ = id_of(place_.folder());
  }
  // A turn that a killed supervisor left unfinished is repeated within its iteration.
  number_ = std::max(run_.progress().iteration, run_.progress().totals.turns + 1);
  std::string prompt = attempt_prompt(place_, instructions, number_, attempt_.info().run_id);
  if (!refusal_.empty()) prompt += fmt::format("\n\nThe file DONE existed, but {}", refusal_);
  next.prompt = compose_prompt(prompt, run_.progress().feedback);
  proved_ = false;
  refusal_ = {};
  next.agents = agents_;
  next.events = events_;
  next.environment = environment_;
  next.recorder = &attempt_;
  return next;
}

Status TaskWay::after_turn(const Decision&) {
  if (!attempt_.last_end()) return {};  // the turn belongs to an earlier process
  const RunInfo& info = attempt_.info();
  const bool good = info.status == AttemptStatus::kCompleted;
  const std::string code = fmt::format("exit code {}", info.exit_code);
  const bool said = contains(info.error_summary, code) || info.exit_code < 0;
  post(good ? bus_type::kRunStop : bus_type::kRunCrash, good   ? "exit code 0"
                                                        : said ? info.error_summary
                                                               : fmt::format("{} ({})", info.error_summary, code));
  return {};
}

Result<Observation> TaskWay::observe() {
  return Observation{Moment::kAfterChecks};
}

std::vector<std::string> TaskWay::files() const {
  std::vector<std::string> files = {place_.done(), place_.stop_request(), place_.wait_request()};
  for (const std::string& name : request_.depends) files.push_back(TaskPlace{place_.root, place_.project, name}.done());
  return files;
}

bool TaskWay::file_arrived() const {
  return path_exists(place_.done()) || path_exists(place_.stop_request());
}

// The agent's statement that it waits for a person; empty if it made none.
std::string TaskWay::waits() const {
  if (path_exists(place_.wait_request()))
    return fmt::format("the agent waits for a person ({})", place_.wait_request());
  const auto messages = bus_.read_on();
  for (const BusMessage& message : messages.value_or(std::vector<BusMessage>()))
    if (message.type == bus_type::kWaitWithoutRestart)
      asked_on_bus_ = fmt::format("the agent waits for a person: {}", fit_to_width(message.body, 200));
  return asked_on_bus_;
}

void TaskWay::look(Observation& now) const {
  Observation::Task task;
  const auto done = is_done(place_);
  task.unproved = !refusal_.empty();
  task.done = done && *done && (request_.checks.empty() || proved_ || now.moment == Moment::kDuringTurn);
  if (!done) task.unusable = done.error().message;
  task.stop_asked = path_exists(place_.stop_request());
  task.children = children_ ? children_->alive() : 0;
  const MonotonicTime time = run_.clock.monotonic();
  if (!task.done) done_since_.reset();
  if (task.done && !done_since_) done_since_ = time;
  if (done_since_) task.since_done = time - *done_since_;
  if (now.moment != Moment::kDuringTurn) {
    task.waits = waits();
    if (task.done && !awaiting_since_) awaiting_since_ = time;
    for (const std::string& name : request_.depends) {
      const auto other = is_done({place_.root, place_.project, name});
      if (!other || !*other) task.open.push_back(name);
    }
  }
  if (!task.done || now.moment == Moment::kDuringTurn) awaiting_since_.reset();
  if (awaiting_since_) task.since_awaiting = time - *awaiting_since_;
  if (const auto ended = attempt_.last_end()) task.since_attempt = time - *ended;
  now.task = std::move(task);
}

Status TaskWay::handle_event(const Event& event) {
  if (!children_) return {};
  if (const std::string& id = attempt_.info().run_id; !id.empty()) children_->add_root(id);
  children_->handle_event(event);
  return {};
}

std::string TaskWay::resume_command() const {
  // Without a state folder for the registry of roots, `ralph runs` does not find the task.
  if (!state_folder(run_.environment).empty()) return "ralph runs resume " + run_.id;
  std::vector<std::string> words = {"--root", place_.root, "--project", place_.project, "--task", place_.task};
  for (const std::string& check : request_.checks) words.insert(words.end(), {"--check", check});
  return "ralph task run " + quote_shell_words(words);
}

Status TaskWay::finish(const Decision& decision) {
  const std::vector<std::string> ended = children_ ? children_->end_all() : std::vector<std::string>();
  if (!ended.empty())
    post(bus_type::kWarning, fmt::format("{} did not end and {} ended: {}", count_of(ended.size(), "child run"),
                                         ended.size() == 1 ? "was" : "were", join(ended, ", ")));
  if (decision.status == StopStatus::kWaiting) TRY(attempt_.mark_stopped());
  switch (decision.status) {
    case StopStatus::kComplete: {
      if (request_.was_complete && !attempt_.last_end()) break;  // already posted
      const std::string fact = fmt::format("task completed ({})", decision.reason);
      post(bus_type::kFact, fact);
      post(bus_type::kFact, fmt::format("{}: {}", place_.task, fact), place_.project_bus());
      break;
    }
    case StopStatus::kWaiting:
    case StopStatus::kInterrupted:
      post(bus_type::kInfo, fmt::format("task stopped: {}", decision.reason));
      break;
    default:
      post(bus_type::kError,
           fmt::format("{}{}", decision.rule == rules::kRestartsSpent ? "max restarts exceeded: " : "",
                       decision.reason));
  }
  return {};
}

// The bus is only informational: a failure to write it does not end the task.
void TaskWay::post(std::string_view type, const std::string& body, const std::string& bus) {
  BusMessage message;
  message.type = type;
  message.project = place_.project;
  message.task = place_.task;
  message.run = attempt_.info().run_id;
  message.body = run_.redactor.redact(body);
  const auto posted = post_message(bus.empty() ? place_.bus() : bus, std::move(message));
  if (!posted) run_.listener.on_trouble(posted.error().message);
}

}  // namespace ralph
