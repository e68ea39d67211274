// ralph run: the prompt loop.
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "cli/accept.h"
#include "cli/agent_options.h"
#include "cli/limits.h"
#include "cli/masked_settings.h"
#include "cli/project.h"
#include "cli/prompt_run.h"
#include "cli/protection.h"
#include "cli/registry.h"
#include "cli/resume.h"
#include "cli/tell.h"
#include "journal/redactor.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/tty.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    std::array{
        Option{"prompt", 'p', "TEXT", "What the agent should do."},
        Option{"prompt-file", 'f', "FILE",
               "A file with the prompt, reread for every iteration; - means standard input."},
        on_resume({"max-iterations", 'n', "N", "Stop after N iterations (default 10)."}),
        on_resume({"maximum-iterations", 'm', "N", "Same as --max-iterations."}),
        Option{"completion-response", 'c', "TEXT", "The answer that means done (default DONE)."},
        kAgentOption,
        kModelOptionWithoutLetter,
    },
    kLimitOptions, kSandboxOptions,
    std::array{
        kResumeOption,
        kTrustOption,
        on_resume({"stream-agent-output", 0, "", "Show the agent's output as it arrives (default on).", true}),
        kVerboseOption,
        Option{"dry-run", 0, "", "Print the command line, prompt and policy; start nothing."},
        kRecordsOption,
    });

constexpr std::array kPositionals = {Positional{"PROMPT", "What the agent should do: same as -p TEXT."}};

Result<Overrides> overrides_from(const Arguments& arguments, const std::string& typed_in) {
  Overrides overrides;
  TRY(set_count(arguments, "maximum-iterations", "/maximumIterations", overrides));
  TRY(set_count(arguments, "max-iterations", "/maximumIterations", overrides));
  TRY(set_limits(arguments, overrides));
  TRY(set_sandbox(arguments, overrides));
  TRY(set_agent(arguments, typed_in, overrides));
  TRY(set_model(arguments, overrides));
  if (const auto response = arguments.value("completion-response")) {
    if (trim(*response).empty())
      return fail(ErrorKind::kUsage, "-c, --completion-response is blank; give the answer that means done");
    overrides.set("/completionResponse", json::string(*response), "--completion-response");
  }
  if (const auto stream = arguments.flag("stream-agent-output"))
    overrides.set("/streamAgentOutput", *stream, *stream ? "--stream-agent-output" : "--no-stream-agent-output");
  return overrides;
}

constexpr std::string_view kStandardInput = "-";

Result<std::string> read_standard_input() {
  if (is_terminal(STDIN_FILENO))
    static_cast<void>(write_all(STDERR_FILENO, "Type the prompt; Ctrl-D ends it.\n", "standard error"));
  TRY_VALUE(std::string text, read_file("/dev/stdin"));
  if (trim(text).empty()) return fail(ErrorKind::kUsage, "-f -: there is no prompt on standard input");
  return text;
}

// The text of the prompt if it was typed or comes from standard input; nullopt: it is in a file. Standard input is read
// only once, so a resumed run has its text among its arguments.
Result<std::optional<std::string>> prompt_text_from(const Arguments& arguments, bool resumed) {
  const auto text = arguments.value("prompt");
  const auto file = arguments.value("prompt-file");
  const bool from_input = file == kStandardInput;
  std::vector<std::string> given;
  if (!arguments.positionals().empty()) given.emplace_back("the argument PROMPT");
  if (text && !(resumed && from_input)) given.emplace_back("-p");
  if (file) given.emplace_back("-f");
  if (given.size() > 1)
    return fail(ErrorKind::kUsage, "{} are both given; there is one prompt, a text or a file", join_for_people(given));
  if (given.empty()) {
    return fail(ErrorKind::kUsage,
                "what is the agent to do? Give the prompt as an argument, with -p TEXT, or with -f FILE\n"
                "  ralph run 'Make the tests pass, then answer <response>DONE</response>'\n"
                "  ralph --help lists all commands");
  }
  if (text) return std::string(*text);
  if (from_input) return read_standard_input();
  if (!file) return arguments.positionals()[0];
  return std::nullopt;
}

Result<PromptSource> file_prompt_from(const Arguments& arguments, const std::string& typed_in) {
  const std::string_view file = *arguments.value("prompt-file");
  if (trim(file).empty()) return fail(ErrorKind::kUsage, "-f, --prompt-file is blank; name the file with the prompt");
  return PromptSource::file(absolute_path(file, typed_in));
}

// Most agents answer in this form only if asked to; without it a run continues to its limit, at a cost.
Status note_missing_request(const PromptRun& plan) {
  TRY_VALUE(const std::string prompt, plan.prompt.read());
  if (to_lower(prompt).find("<response>") != std::string::npos) return {};
  tell(fmt::format(
      "Note: the prompt does not say how to finish, and only the agent's answer completes a run. Add to it:\n"
      "  When everything works, answer with <response>{}</response>.\n",
      plan.setup.loaded.settings.completion_response));
  return {};
}

Result<int> run(const Arguments& typed) {
  TRY_VALUE(const Project project, enter_project_for_agents());
  TRY_VALUE(const auto resumption, resumption_from(kRun, WayIn::kPrompt, typed, project.folder));
  PromptRun plan{setup_from(typed, project.folder, resumption), {}, {}};
  RunSetup& setup = plan.setup;
  setup.typed_in = resumption ? resumption->point.start.folder : project.typed_in;
  const Arguments& arguments = resumption ? resumption->arguments : typed;
  TRY_VALUE(const auto text, prompt_text_from(arguments, resumption.has_value()));
  if (text) {
    const bool from_input = typed.value("prompt-file") == kStandardInput;
    plan.prompt = PromptSource::text(*text, from_input ? "standard input" : "the command line");
    plan.prompt_text = *text;
    if (from_input) setup.arguments.push_back("--prompt=" + *text);
  } else {
    TRY_VALUE(plan.prompt, file_prompt_from(arguments, setup.typed_in));
  }
  TRY_VALUE(const Overrides overrides, overrides_from(arguments, setup.typed_in));
  TRY_VALUE(setup.loaded, load_settings(setup.project, overrides));
  if (setup.verbose) {
    std::string lines;
    for (const std::string& file : setup.loaded.files) lines += fmt::format("[ralph] Loading settings from {}\n", file);
    lines += fmt::format("[ralph] Settings: {}\n", to_compact_json(masked_settings(setup.loaded.effective)));
    const Redactor redactor(Environment::of_this_process().as_lines(), setup.loaded.settings.agent.env);
    static_cast<void>(write_all(STDERR_FILENO, redactor.redact(lines), "standard error"));
  }
  if (resumption) show_changes(*resumption, setup.loaded);
  TRY(preflight(plan));
  if (!resumption) TRY(note_missing_request(plan));
  if (arguments.has("dry-run")) {
    print_notes(setup.loaded);
    return print_dry_run(plan);
  }
  TRY_VALUE(setup.ticket, accept_project({setup.loaded, setup.project, typed.has("trust"), setup.json, !!resumption}));
  return execute(plan);
}

}  // namespace

const Command kRun = {
    "run",
    "Run the agent in a loop until the work is done (the default command).",
    R"(Each iteration starts a fresh agent, runs the guardrails from .ralph/settings.json, and feeds failures back into
the next prompt. The run is complete when every guardrail passes and the agent's own answer contains
<response>DONE</response> (or the text given with -c).

Ctrl-C lets the current step finish; a second Ctrl-C ends everything at once. --resume continues a run that ended
incomplete, for whatever reason, where it left off; limits count from the start of the run.
Exit codes: 0 complete, 1 stopped by a limit, 2 a problem with the settings or the system, 130 interrupted.)",
    R"(ralph run 'Make the tests pass, then answer <response>DONE</response>'
       ralph run -f PROMPT.md -n 25 --max-cost 5
       ./make-prompt | ralph run -f - --agent codex
       ralph run --resume -n 40
       ralph run -f PROMPT.md --dry-run)",
    kOptions,
    kPositionals,
    run,
};

}  // namespace ralph::cli
