// Codex: `codex exec`, prompt on standard input (its `e FILE` form takes the path for the prompt).
#include "agents/adapter.h"
#include "base/text.h"

namespace ralph {
namespace {

TurnArguments arguments(const TurnWishes& wishes, const HasFlag& has_flag) {
  TurnArguments result;
  result.before = {"exec"};
  if (wishes.events) result.before.emplace_back("--json");
  // The default sandbox of `exec` may not write. --full-auto was the way out until newer versions dropped it.
  const bool sandbox_chosen = wishes.user_says(
      {"-s", "--sandbox", "--full-auto", "--yolo", "--approve-for-me", "--dangerously-bypass-approvals-and-sandbox"});
  if (!sandbox_chosen && has_flag("exec --help", "--full-auto")) {
    result.before.emplace_back("--full-auto");
  } else if (!sandbox_chosen) {
    result.before.insert(result.before.end(), {"--sandbox", "workspace-write"});
  }
  // codex refuses an option that stands twice.
  if (!wishes.user_says({"--skip-git-repo-check"})) result.before.emplace_back("--skip-git-repo-check");
  if (!wishes.model.empty()) result.before.insert(result.before.end(), {"--model", wishes.model});
  // Behind the flags: `resume` itself knows few of them, and without --sandbox a resumed session may not write.
  if (!wishes.resume.empty()) result.after = {"resume", wishes.resume};
  result.after.emplace_back("-");
  return result;
}

void prepare(Environment&) {}

StartFailure start_failure(int exit_code, std::string_view error) {
  if (error.find("Not inside a trusted directory") != std::string_view::npos) {
    return {FailureKind::kPermissionDenied,
            "codex does not trust this folder; make it a git repository, or add --skip-git-repo-check to agent.flags"};
  }
  if (error.find("no rollout found for thread id") != std::string_view::npos) {
    return {FailureKind::kOther, "codex does not know the session to resume"};
  }
  // Its parser of arguments ends with 2 and says in its first line what is wrong.
  if (const size_t at = error.find("error: "); exit_code == 2 && at != std::string_view::npos) {
    return {FailureKind::kPermissionDenied,
            fmt::format("codex did not start: {}; correct agent.flags", first_line(error.substr(at)))};
  }
  return {};
}

}  // namespace

const Adapter kCodex = {"codex", "codex", PromptPath::kStdin, false, true, true, arguments, prepare, start_failure, ""};

}  // namespace ralph
