#include "loop/scm_tasks.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "loop/scm_command.h"
#include "loop/turn.h"
#include "scm/commit_message.h"
#include "scm/tasks.h"

namespace ralph {
namespace {

// The last line of an error says what is wrong; the first one of a success says what was done.
std::string note_from(const ScmCommandEnd& command) {
  const std::string text = to_valid_utf8(command.output);
  const std::vector<std::string> lines = split(trim(text), '\n');
  if (command.end.status.success()) return std::string(trim(lines.front()));
  const auto fatal = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("fatal:") || line.starts_with("error:");
  });
  return std::string(trim(fatal == lines.end() ? lines.back() : *fatal));
}

Status note_end(RunContext& context, const std::string& task, std::string outcome, std::string note,
                const StepEnd& end = {}) {
  record::ScmEnded ended;
  ended.iteration = context.log.progress().iteration;
  ended.task = task;
  ended.outcome = std::move(outcome);
  ended.note = std::move(note);
  ended.exit_code = end.status.code;
  ended.duration_ms = end.duration.count();
  return context.log.note(std::move(ended));
}

// With git, an unchanged tree is seen before the agent is asked: a question about nothing costs money.
Result<bool> nothing_to_commit(RunContext& context, const ScmSettings& scm) {
  if (base_name(scm.command) != "git") return false;
  Argv argv = {scm.command, "status", "--porcelain"};
  if (!scm.add_all) argv.emplace_back("--untracked-files=no");  // commit -a would leave new files out
  TRY_VALUE(const ScmCommandEnd status, run_scm_command(context, argv));
  return status.end.status.success() && trim(status.output).empty();
}

struct TaskEnd {
  bool go_on = true;
};

Result<TaskEnd> run_task(RunContext& context, const ScmSettings& scm, const std::string& task,
                         const std::string& message) {
  const std::vector<Argv> commands = scm_commands(scm.command, task, message, scm.add_all);
  for (const Argv& argv : commands) {
    record::ScmStarted started;
    started.iteration = context.log.progress().iteration;
    started.task = task;
    started.argv = argv;
    TRY(context.log.note(std::move(started)));
    TRY(context.log.sync());
    TRY_VALUE(const ScmCommandEnd command, run_scm_command(context, argv));
    if (command.end.status.success()) {
      if (&argv == &commands.back()) TRY(note_end(context, task, "done", note_from(command), command.end));
      continue;
    }
    if (is_commit(task) && says_nothing_to_commit(command.output)) {
      TRY(note_end(context, task, "nothing_to_commit", "nothing to commit", command.end));
      return TaskEnd{};
    }
    const std::string why = command.end.reason.empty() ? note_from(command) : command.end.reason;
    TRY(note_end(context, task, "failed", why, command.end));
    return TaskEnd{false};
  }
  return TaskEnd{};
}

}  // namespace

Result<Decision> run_scm_tasks(RunContext& context, const Agent& agent, const ScmPlan& plan) {
  const ScmSettings& scm = plan.scm;
  for (const std::string& task : scm.tasks) {
    std::string message;
    if (is_commit(task)) {
      TRY_VALUE(const bool unchanged, nothing_to_commit(context, scm));
      if (unchanged) {
        TRY(note_end(context, task, "nothing_to_commit", "nothing to commit"));
        continue;
      }
      TurnRequest request;
      request.prompt = kCommitMessageRequest;
      request.purpose = "commit message";
      request.events = plan.events;
      TRY_VALUE(const TurnEnd turn, run_turn(context, agent, request));
      TRY_VALUE(const Decision decision, ask(context, {Moment::kBetweenSteps}));
      if (decision.action != Action::kContinue) return decision;
      const auto answer = turn.outcome == "ok" ? commit_message_from(turn.answer, turn.response) : std::nullopt;
      if (!answer) {
        const std::string why = turn.outcome == "ok" ? "its answer has no line to use" : turn.reason;
        TRY(note_end(context, task, "failed", fmt::format("the agent gave no commit message: {}", why)));
        break;
      }
      message = *answer;
    }
    TRY_VALUE(const TaskEnd end, run_task(context, scm, task, message));
    if (!end.go_on) break;
    TRY_VALUE(const Decision decision, ask(context, {Moment::kBetweenSteps}));
    if (decision.action != Action::kContinue) return decision;
  }
  return ask(context, {Moment::kBetweenSteps});
}

}  // namespace ralph
