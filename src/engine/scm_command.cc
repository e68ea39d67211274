#include "engine/scm_command.h"

#include "base/text.h"
#include "journal/raw_file.h"

namespace ralph {
namespace {

Argv words_of(const std::string& text) {
  auto words = split_shell_words(text);
  return words ? *words : Argv{text};  // settings were checked; an unsplittable task is passed as one word
}

}  // namespace

bool is_commit(std::string_view task) {
  const Argv words = words_of(std::string(task));
  return !words.empty() && words[0] == "commit";
}

std::optional<Argv> words_of_push(std::string_view task) {
  const Argv words = words_of(std::string(task));
  if (words.empty() || words[0] != "push") return std::nullopt;
  return Argv(words.begin() + 1, words.end());
}

std::vector<Argv> scm_commands(const std::string& scm, const std::string& task, const std::string& message,
                               bool add_all) {
  const Argv base = words_of(scm);
  Argv command = base;
  const Argv words = words_of(task);
  command.insert(command.end(), words.begin(), words.end());
  if (!is_commit(task)) return {command};
  command.insert(command.end(), {"-am", message});
  if (!add_all) return {command};
  Argv add = base;
  add.insert(add.end(), {"add", "-A"});
  return {add, command};
}

bool says_nothing_to_commit(std::string_view output) {
  const std::string text = to_lower(output);
  return text.find("nothing to commit") != std::string::npos ||
         text.find("nothing added to commit") != std::string::npos ||
         text.find("no changes added to commit") != std::string::npos ||
         text.find("nothing changed") != std::string::npos;
}

namespace {

constexpr size_t kKept = 16 * 1024;            // of output for display
constexpr Milliseconds kOwnCall{10 * 60'000};  // an agent can block git forever by replacing a file with a pipe
constexpr size_t kLogged = 64 * 1024;          // of an answer, such as a list of all files in the project

Result<RawFile> open_log(Run& run, const Argv& argv) {
  TRY_VALUE(RawFile log, RawFile::append_to(join_path(run.folder, "scm.log")));
  TRY(log.append(fmt::format("$ {}\n", run.redactor.redact(quote_shell_words(argv)))));
  return log;
}

StepRequest step_for(const Run& run, const Argv& argv) {
  StepRequest step;
  step.launch.argv = argv;
  step.launch.environment = run.environment;
  step.launch.environment.set("RALPH_ITERATION", std::to_string(run.progress().iteration));
  // ralph parses the messages, so they must be English; and there is nobody to type a password.
  step.launch.environment.set("LC_ALL", "C");
  step.launch.environment.set("GIT_TERMINAL_PROMPT", "0");
  step.launch.folder = run.project;
  step.launch.may_clean_up = true;
  step.kind = StepKind::kScm;
  return step;
}

// True: the text was truncated.
bool keep_output(std::string& text, std::string_view bytes, size_t most) {
  const size_t room = most - text.size();
  text += bytes.substr(0, room);
  return bytes.size() > room;
}

}  // namespace

void find_scm_program(Run& run) {
  const std::string& command = run.policy.scm_command;
  const auto words = split_shell_words(command);
  const std::string program = words && !words->empty() ? words->front() : command;
  if (program.empty()) return;
  run.scm_program =
      (program == "git" ? git_program() : resolve_program(program, run.environment, run.project)).value_or("");
}

Result<ScmCommandEnd> run_scm_command(Run& run, const Argv& argv) {
  ScmCommandEnd result;
  TRY_VALUE(RawFile log, open_log(run, argv));
  StepRequest step = step_for(run, argv);
  if (!run.scm_program.empty()) step.launch.argv[0] = run.scm_program;
  step.launch.merge_streams = true;
  step.on_output = [&](StreamName, std::string_view bytes) -> Status {
    keep_output(result.output, bytes, kKept);
    return log.append(bytes);
  };
  TRY_VALUE(result.end, run_step(run, step));
  return result;
}

Result<ScmAnswer> ask_scm(Run& run, const ScmQuestion& question) {
  ScmAnswer answer;
  TRY_VALUE(RawFile log, open_log(run, question.argv));
  StepRequest step = step_for(run, question.argv);
  if (!question.folder.empty()) step.launch.folder = question.folder;
  for (const auto& [name, value] : question.environment) step.launch.environment.set(name, value);
  step.limit = question.limit;
  step.moment = Moment::kDuringLook;
  size_t logged = 0, left_out = 0;
  step.on_output = [&](StreamName stream, std::string_view bytes) -> Status {
    if (stream == StreamName::kErr) {
      keep_output(answer.errors, bytes, kKept);
    } else {
      answer.cut = keep_output(answer.output, bytes, question.kept_output) || answer.cut;
    }
    const std::string_view shown = bytes.substr(0, kLogged - logged);
    logged += shown.size();
    left_out += bytes.size() - shown.size();
    return log.append(shown);
  };
  TRY_VALUE(answer.end, run_step(run, step));
  if (left_out > 0) TRY(log.append(fmt::format("\n[{} more]\n", human_bytes(left_out))));
  return answer;
}

Git contained_git(Run& run, GitPlace place, std::vector<std::pair<std::string, std::string>> environment) {
  return [&run, place = std::move(place),
          environment = std::move(environment)](const std::vector<std::string>& words) -> Result<GitEnd> {
    TRY_VALUE(GitCommand command, own_call(place, words));
    command.environment.insert(command.environment.end(), environment.begin(), environment.end());
    const ScmQuestion question{std::move(command.argv), std::move(command.environment), kGitOutput, place.folder,
                               kOwnCall};
    TRY_VALUE(ScmAnswer answer, ask_scm(run, question));
    if (answer.end.cause == EndCause::kInterrupted)
      return fail(ErrorKind::kInterrupted, "git {} in {}: {}", words[0], place.folder, answer.end.reason);
    if (answer.end.cause == EndCause::kTimedOut)
      return fail(ErrorKind::kIo, "git {} in {} took more than {}", words[0], place.folder, human_duration(kOwnCall));
    return GitEnd{answer.end.status.code, std::move(answer.output), std::move(answer.errors), answer.cut};
  };
}

Git contained_git(Run& run, const std::string& program, const std::string& work_tree) {
  return contained_git(run, GitPlace{run.project, work_tree, program}, {});
}

}  // namespace ralph
