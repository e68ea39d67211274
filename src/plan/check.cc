#include "plan/check.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

constexpr size_t kFilesNamed = 10;

// Only for agents, whose iteration ends with this commit; a user knows what to do.
constexpr std::string_view kBeforeYouStop =
    "Before you stop: (1) update progress.txt with what was accomplished and learned, (2) consider if any lasting "
    "patterns belong in CLAUDE.md, AGENTS.md or .claude/rules/, (3) commit ALL changes including progress.txt and "
    "tasks.json.";

void append(std::vector<PlanProblem>& to, std::vector<PlanProblem> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void check_transitions(const CheckRequest& request, CheckReport& report) {
  if (!request.before || !request.rules) {
    if (!request.no_before.empty()) report.warnings.push_back(request.no_before);
    return;
  }
  report.performed.push_back(Check::kTransitions);
  append(report.problems, judge_transitions(*request.before, *report.tasks, *request.rules).problems);
  append(report.problems, judge_pins(*request.before, *report.tasks));
}

PlanProblem uncommitted_work(const std::vector<std::string>& lines) {
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(lines.size(), kFilesNamed); ++i)
    named.push_back(lines[i].substr(std::min<size_t>(3, lines[i].size())));  // without git's two letters
  if (lines.size() > kFilesNamed) named.push_back(fmt::format("and {} more", lines.size() - kFilesNamed));
  return {Check::kUncommitted, {}, fmt::format("There are uncommitted changes ({}).", join(named, ", "))};
}

}  // namespace

CheckReport check_plan(const CheckRequest& request) {
  CheckReport report;
  StoryReading reading = read_tasks(request.text, request.where);
  report.performed.push_back(Check::kSchema);
  report.problems = std::move(reading.problems);
  report.tasks = std::move(reading.tasks);
  if (report.tasks && !request.skip_review) {
    report.performed.push_back(Check::kInvariants);
    append(report.problems,
           judge_invariants(*report.tasks, request.review_cap, request.before ? &*request.before : nullptr));
    check_transitions(request, report);
  }
  if (request.uncommitted) {
    report.performed.push_back(Check::kUncommitted);
    if (!request.uncommitted->empty()) report.problems.push_back(uncommitted_work(*request.uncommitted));
  }
  return report;
}

std::string advice_from(const CheckReport& report) {
  std::string text = "You can't stop yet:";
  for (const PlanProblem& problem : report.problems) {
    text += "\n- " + problem.message;
    if (problem.check == Check::kUncommitted) text += fmt::format(" {}", kBeforeYouStop);
  }
  return text;
}

json::object to_json(const CheckReport& report) {
  json::object object;
  object["ok"] = report.passed();
  json::array made, problems;
  for (const Check check : report.performed) made.emplace_back(to_string(check));
  for (const PlanProblem& problem : report.problems) {
    json::object one;
    one["check"] = to_string(problem.check);
    if (!problem.story.empty()) one["story"] = to_json_string(problem.story);
    one["message"] = to_json_string(problem.message);
    problems.push_back(std::move(one));
  }
  object["checks"] = std::move(made);
  object["problems"] = std::move(problems);
  object["warnings"] = to_json_array(report.warnings);
  return object;
}

}  // namespace ralph
