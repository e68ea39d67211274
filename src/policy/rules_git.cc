// Rules about git: shared history and uncommitted work.
#include <algorithm>

#include "policy/git_call.h"
#include "policy/rules.h"

namespace ralph {
namespace {

bool means_everything(const Subject& subject, const std::string& path) {
  if (path == ":/" || path == "*" || path == ":(top)" || path == ":/*") return true;
  for (const std::string& one : subject.paths(path)) {
    if (is_within(subject.place.project, one)) return true;
  }
  return false;
}

}  // namespace

Finding rewrites_history(const Subject& subject) {
  if (subject.is("bfg git-filter-repo git-filter-branch")) return "it rewrites the whole history";
  if (subject.program != "git") return std::nullopt;
  const GitCall call = git_call(subject);
  const std::string first = call.words.empty() ? "" : call.words[0];
  if (call.verb == "push") {
    if (call.option("--dry-run") || call.flag('n')) return std::nullopt;
    if (call.flag('f') || call.option("--force") || call.option("--force-with-lease"))
      return "a forced push replaces commits that others may have";
    if (call.option("--mirror") || call.option("--prune")) return "it removes branches of the remote";
    if (call.option("--delete") || call.flag('d')) return "it deletes a branch or tag of the remote";
    const auto operands = call.operands();
    for (size_t i = 1; i < operands.size(); ++i) {
      if (operands[i].starts_with('+')) return "a + before the branch forces the push";
      if (operands[i].starts_with(':')) return "it deletes a branch or tag of the remote";
    }
  }
  if (call.verb == "filter-branch" || call.verb == "filter-repo") return "it rewrites the whole history";
  if (call.verb == "reflog" && (first == "expire" || first == "delete"))
    return "the reflog is the way back from mistakes";
  if ((call.verb == "gc" || call.verb == "prune") &&
      (call.verb == "prune" || std::ranges::any_of(call.words, [](const std::string& word) {
         return word == "--prune=now" || word == "--prune=all" || word == "--prune=0";
       }))) {
    return "it deletes commits that could still be brought back";
  }
  if (call.verb == "update-ref" && (call.flag('d') || call.option("--stdin"))) return "it deletes references";
  if (call.verb == "replace" && !call.words.empty() && first != "-l" && first != "--list") return "it replaces commits";
  if (call.verb == "symbolic-ref" && call.flag('d')) return "it deletes references";
  return std::nullopt;
}

Finding discards_work(const Subject& subject) {
  if (subject.program != "git") return std::nullopt;
  const GitCall call = git_call(subject);
  const std::string first = call.words.empty() ? "" : call.words[0];
  if (call.verb == "clean") {
    if (call.flag('n') || call.option("--dry-run") || (!call.flag('f') && !call.option("--force"))) return std::nullopt;
    const auto operands = call.operands();
    const bool is_limited = !operands.empty() && std::ranges::none_of(operands, [&](const std::string& one) {
      return means_everything(subject, one);
    });
    // -e PATTERN excludes files; it does not limit the command to a path.
    if (is_limited && !call.flag('e')) return std::nullopt;
    return "it deletes files that git does not know, and nothing brings them back";
  }
  if (call.verb == "checkout" || call.verb == "restore") {
    if (call.verb == "restore" && (call.option("--staged") || call.flag('S')) && !call.flag('W') &&
        !call.option("--worktree"))
      return std::nullopt;
    const bool creates = call.flag('b') || call.flag('B') || call.option("--orphan");
    for (const std::string& operand : call.operands()) {
      if (!creates && means_everything(subject, operand)) return "it throws away every change that is not committed";
    }
    if (call.verb == "checkout" && (call.option("--force") || call.flag('f')))
      return "it throws away every change that is not committed";
  }
  if (call.verb == "stash" && first == "clear") return "it deletes all stashes";
  if (call.verb == "switch" && (call.option("--discard-changes") || call.flag('f') || call.option("--force")))
    return "it throws away every change that is not committed";
  if (call.verb == "checkout-index" && call.flag('f') && call.flag('a'))
    return "it throws away every change that is not committed";
  return std::nullopt;
}

}  // namespace ralph
