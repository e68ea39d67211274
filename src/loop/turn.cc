#include "loop/turn.h"

#include "base/text.h"
#include "base/utf8.h"
#include "journal/raw_file.h"
#include "loop/response.h"

namespace ralph {
namespace {

constexpr size_t kAnswerBytes = 64 * 1024;

struct FileNames {
  std::string prompt, out, err;
};

FileNames names_for(const TurnRequest& request, int iteration) {
  const bool work = request.purpose == "work";
  const std::string tail = request.attempt > 1 ? fmt::format("{}_{}", iteration, request.attempt) : std::to_string(iteration);
  const std::string stem = fmt::format("{}_{}", work ? "agent" : "commit_message", tail);
  return {work ? fmt::format("prompt_{}.txt", tail) : stem + ".prompt.txt", stem + ".out", stem + ".err"};
}

std::string outcome_of(const StepEnd& end, bool said_anything) {
  if (!end.outcome.empty()) return end.outcome;
  if (!end.status.success()) return "crashed";
  return said_anything ? "ok" : "empty";
}

std::string reason_of(const StepEnd& end, std::string_view outcome) {
  if (!end.reason.empty()) return end.reason;
  if (outcome == "crashed" && end.status.signal != 0) return fmt::format("ended by {}", signal_name(end.status.signal));
  if (outcome == "crashed") return fmt::format("exit code {}", end.status.code);
  if (outcome == "empty") return "it said nothing";
  return {};
}

}  // namespace

Result<TurnEnd> run_turn(RunContext& context, const Agent& agent, const TurnRequest& request) {
  const int iteration = context.log.progress().iteration;
  const FileNames names = names_for(request, iteration);
  const auto in_run_folder = [&](const std::string& name) { return join_path(context.run_folder, name); };
  const Launch launch = agent.launch(request.prompt, {{"RALPH_ITERATION", std::to_string(iteration)}});

  TRY_VALUE(RawFile prompt_file, RawFile::create(in_run_folder(names.prompt)));
  TRY(prompt_file.append(context.redactor.redact(request.prompt)));
  TRY_VALUE(RawFile out_file, RawFile::create(in_run_folder(names.out)));
  std::optional<RawFile> err_file;  // most turns print no errors: made when the first byte comes

  record::AgentStarted started;
  started.iteration = iteration;
  started.attempt = request.attempt;
  started.purpose = request.purpose;
  started.prompt_file = names.prompt;
  started.prompt_bytes = static_cast<std::int64_t>(request.prompt.size());
  started.stdout_file = names.out;
  started.stderr_file = names.err;
  started.argv = launch.argv;
  // The prompt has a file of its own; two megabytes of it would not make the journal more readable.
  if (started.argv.back() == request.prompt) started.argv.back() = "<prompt>";
  TRY(context.log.note(started));

  context.listener.on_detail(fmt::format("Prompt ({}): {}", human_bytes(request.prompt.size()),
                                         fit_to_width(context.redactor.redact(prefix_of_characters(request.prompt, 200)), 200)));

  const bool work = request.purpose == "work";
  ResponseFinder finder(request.prompt);
  std::string answer;
  std::int64_t output_bytes = 0;
  StepRequest step;
  step.launch = launch;
  step.moment = Moment::kDuringTurn;
  step.limit = context.policy.agent_time_limit;
  step.who = "agent";
  step.on_output = [&](StreamName stream, std::string_view bytes) -> Status {
    if (stream == StreamName::kErr) {
      if (!err_file) {
        TRY_VALUE(err_file, RawFile::create(in_run_folder(names.err)));
      }
      TRY(err_file->append(bytes));
      context.listener.on_agent_error_output(bytes);
      return {};
    }
    output_bytes += static_cast<std::int64_t>(bytes.size());
    TRY(out_file.append(bytes));
    finder.feed(bytes);
    if (answer.size() < kAnswerBytes) answer += bytes.substr(0, kAnswerBytes - answer.size());
    if (work) context.listener.on_agent_output(bytes);
    return {};
  };
  TRY_VALUE(const StepEnd end, run_step(context, step));
  finder.finish();

  TurnEnd turn;
  turn.outcome = outcome_of(end, finder.said_anything());
  turn.reason = reason_of(end, turn.outcome);
  turn.response = finder.response();
  turn.answer = std::move(answer);

  record::AgentEnded ended;
  ended.iteration = iteration;
  ended.attempt = request.attempt;
  ended.purpose = request.purpose;
  ended.outcome = turn.outcome;
  ended.exit_code = end.status.code;
  ended.signal = end.status.signal;
  ended.duration_ms = end.duration.count();
  ended.output_bytes = output_bytes;
  ended.response = turn.response;
  ended.reason = turn.reason;
  TRY(context.log.note(std::move(ended)));
  return turn;
}

}  // namespace ralph
