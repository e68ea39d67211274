#include "loop/scm_command.h"

#include "base/text.h"
#include "journal/raw_file.h"

namespace ralph {

Result<ScmCommandEnd> run_scm_command(RunContext& context, const Argv& argv, size_t kept_output) {
  ScmCommandEnd result;
  TRY_VALUE(RawFile log, RawFile::append_to(join_path(context.run_folder, "scm.log")));
  TRY(log.append(fmt::format("$ {}\n", context.redactor.redact(quote_shell_words(argv)))));
  StepRequest step;
  step.launch.argv = argv;
  step.launch.environment = context.environment;
  step.launch.environment.set("RALPH_ITERATION", std::to_string(context.log.progress().iteration));
  // Its words are read by ralph, so they have to be English; and nobody is there to type a password.
  step.launch.environment.set("LC_ALL", "C");
  step.launch.environment.set("GIT_TERMINAL_PROMPT", "0");
  step.launch.folder = context.project;
  step.launch.merge_streams = true;
  step.who = "scm";
  step.on_output = [&](StreamName, std::string_view bytes) -> Status {
    if (result.output.size() < kept_output) result.output += bytes.substr(0, kept_output - result.output.size());
    return log.append(bytes);
  };
  TRY_VALUE(result.end, run_step(context, step));
  return result;
}

}  // namespace ralph
