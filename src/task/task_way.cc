#include "task/task_way.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "os/files.h"
#include "task/dependencies.h"

namespace ralph {
namespace {

std::string last_attempt_of(const TaskPlace& place) {
  std::string last;
  for (const RunInfo& info : run_infos_of(place))
    if (info.parent_run_id.empty() || !file_exists(join_path(place.runs(), info.parent_run_id))) last = info.run_id;
  return last;
}

RunInfo common_info(const Run& run, const TaskPlace& place, std::string parent) {
  RunInfo info;
  info.run_id = last_attempt_of(place);  // the one before the first of this process
  info.ralph_run_id = run.id;
  info.parent_run_id = std::move(parent);
  return info;
}

}  // namespace

Result<std::string> instructions_of(const TaskRequest& request) {
  if (request.prompt) return *request.prompt;
  const std::string path = request.prompt_file.empty() ? request.place.instructions() : request.prompt_file;
  if (request.prompt_file.empty() && request.is_command && !is_there(path)) return std::string();
  if (!file_exists(path))
    return fail(ErrorKind::kInput, "{} is missing; write the task into it, or give --prompt or --prompt-file", path);
  TRY_VALUE(const std::string text, read_file(path));
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
      bus_(place_.bus()) {}

Result<std::optional<Agents>> TaskWay::begin() {
  TRY(bus_.skip_to_end());  // what was asked for before this process began is over
  return std::optional<Agents>();
}

Result<NextTurn> TaskWay::next() {
  TRY_VALUE(const std::string instructions, instructions_of(request_));
  if (instructions.empty()) attempt_.give_no_prompt();
  NextTurn next;
  // A turn that a killed supervisor left is taken again within its iteration.
  const int attempt = std::max(run_.progress().iteration, run_.progress().totals.turns + 1);
  next.prompt = attempt_prompt(place_, instructions, attempt, attempt_.info().run_id);
  next.agents = agents_;
  next.events = events_;
  next.environment = environment_;
  next.recorder = &attempt_;
  return next;
}

Status TaskWay::after_turn(const Decision&) {
  if (!attempt_.last_end()) return {};  // the turn was that of an earlier process
  const RunInfo& info = attempt_.info();
  const bool good = info.status == AttemptStatus::kCompleted;
  post(good ? bus_type::kRunStop : bus_type::kRunCrash,
       good ? "exit code 0" : fmt::format("{} (exit code {})", info.error_summary, info.exit_code));
  return {};
}

Result<Observation> TaskWay::observe() {
  return Observation{Moment::kAfterChecks};
}

std::vector<std::string> TaskWay::files() const {
  std::vector<std::string> files = {place_.done(), place_.stop_request(), place_.wait_marker()};
  for (const std::string& name : request_.depends) files.push_back(TaskPlace{place_.root, place_.project, name}.done());
  return files;
}

bool TaskWay::file_arrived() const {
  return is_there(place_.done()) || is_there(place_.stop_request());
}

// How the agent said that it waits for a person.
std::string TaskWay::waits() const {
  if (is_there(place_.wait_marker())) return fmt::format("the agent waits for a person ({})", place_.wait_marker());
  const auto messages = bus_.read_on();
  for (const BusMessage& message : messages.value_or(std::vector<BusMessage>()))
    if (message.type == bus_type::kWaitWithoutRestart)
      asked_on_bus_ = fmt::format("the agent waits for a person: {}", fit_to_width(message.body, 200));
  return asked_on_bus_;
}

void TaskWay::look(Observation& now) const {
  Observation::Task task;
  const auto done = is_done(place_);
  task.done = done && *done;
  if (!done) task.unusable = done.error().message;
  task.stop_asked = is_there(place_.stop_request());
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

Status TaskWay::heed(const Event& event) {
  if (!children_) return {};
  if (const std::string& id = attempt_.info().run_id; !id.empty()) children_->add_root(id);
  children_->heed(event);
  return {};
}

std::string TaskWay::resume_command() const {
  return "ralph task run " + quote_shell_words(std::vector<std::string>{"--root", place_.root, "--project",
                                                                        place_.project, "--task", place_.task});
}

Status TaskWay::finish(const Decision& decision) {
  const std::vector<std::string> ended = children_ ? children_->end_all() : std::vector<std::string>();
  if (!ended.empty())
    post(bus_type::kWarning, fmt::format("{} did not end and {} ended: {}", count_of(ended.size(), "child run"),
                                         ended.size() == 1 ? "was" : "were", join(ended, ", ")));
  if (decision.status == StopStatus::kWaiting) TRY(attempt_.mark_stopped());
  switch (decision.status) {
    case StopStatus::kComplete: {
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
           fmt::format("{}{}", decision.rule == "restarts_spent" ? "max restarts exceeded: " : "", decision.reason));
  }
  return {};
}

// The bus is for people and agents: that it can't be written ends no task.
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
