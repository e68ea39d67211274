#include "plan/assignment.h"

#include <array>
#include <utility>

#include "base/template.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kPlace = "{{RALPH_ASSIGNMENT}}";

std::string quoted(std::string_view text) {
  std::string lines;
  for (const std::string& line : split(trim(text), '\n')) lines += fmt::format("> {}\n", line);
  return lines;
}

std::string list_of(const std::vector<std::string>& items, std::string_view mark) {
  std::string lines;
  for (const std::string& item : items) lines += fmt::format("{} {}\n", mark, item);
  return lines;
}

// By Mode.
constexpr std::array<std::string_view, 3> kHeadings = {"IMPLEMENT this story",
                                                       "REVIEW this story, which an earlier iteration implemented",
                                                       "FIX what the review of this story asked for"};

std::string_view assignment_heading(Mode mode, bool skip_review) {
  return skip_review ? "IMPLEMENT this story (reviews are switched off for this run)"
                     : kHeadings[static_cast<size_t>(mode)];
}

std::string how_to_implement(const Assignment& a) {
  if (a.skip_review) {
    return fmt::format(
        "When every criterion is met and the verify commands succeed, set `passes` of {0} to true in {1}/tasks.json "
        "and\n"
        "say in its `notes` what was done. Leave reviewStatus, reviewCount and reviewFeedback alone. Commit as\n"
        "`feat: [{0}] - {2}`.\n",
        a.story->id, a.files_at, a.story->title);
  }
  return fmt::format(
      "When every criterion is met and the verify commands succeed, set `reviewStatus` of {0} to \"needs_review\" in\n"
      "{1}/tasks.json and say in its `notes` what was done. Leave passes, reviewCount and reviewFeedback alone: only "
      "a\n"
      "review may change them. Commit as `feat: [{0}] - {2}`.\n",
      a.story->id, a.files_at, a.story->title);
}

std::string how_to_review(const Assignment& a) {
  const std::int64_t next = a.story->review.count + 1;
  std::string text = fmt::format(
      "You did not write this code in this session: read it as someone else's work. This is review {0} of at most "
      "{1}.\n"
      "Judge each criterion by itself, find the code that meets it, try it, look at edge cases. Do not fix anything.\n"
      "Then in {2}/tasks.json, for {3} and no other story:\n"
      "- always: `reviewCount` becomes {0};\n"
      "- all criteria met: `reviewStatus` \"approved\" and `passes` true, `notes` not empty; commit as\n"
      "  `review: [{3}] - approved`;\n",
      next, a.review_cap, a.files_at, a.story->id);
  if (next < a.review_cap) {
    text += fmt::format(
        "- otherwise: `reviewStatus` \"changes_requested\" and in `reviewFeedback` exactly what has to be fixed and "
        "where;\n"
        "  commit as `review: [{}] - changes requested`.\n",
        a.story->id);
  } else {
    text += fmt::format(
        "- otherwise, as long as the verify commands succeed: this is the last review, so approve it all the same and "
        "write\n"
        "  what remains into `reviewFeedback`, beginning with `[AUTO-APPROVED AT CAP]`; commit as\n"
        "  `review: [{0}] - approved`;\n"
        "- a verify command fails: `reviewStatus` \"changes_requested\" with what fails in `reviewFeedback`; commit "
        "as\n"
        "  `review: [{0}] - changes requested`.\n",
        a.story->id);
  }
  if (!a.reviewed.empty()) {
    text += fmt::format(
        "You work in a clean checkout of commit {}. ralph carries back what you write into tasks.json and "
        "progress.txt\n"
        "of {}, and into CLAUDE.md, AGENTS.md, GEMINI.md and .claude/rules; every other change is dropped.\n",
        a.reviewed.substr(0, 12), a.files_at);
  }
  // Neither tag begins a line here: an agent that repeats the assignment must not give a verdict by that.
  text += fmt::format(
      "Then end your last message with the verdict in words; what tasks.json says counts only if you say it too:\n"
      "write `<review story=\"{0}\">approved</review>` at the beginning of a line, in no code block, or instead of it\n"
      "`<review story=\"{0}\">changes_requested`, a newline, the reasons, and `</review>`.{1}\n",
      a.story->id,
      next < a.review_cap ? ""
                          : " If something remains, say changes_requested with the reasons:\nthis is the last review, "
                            "and ralph approves the story with them if all checks pass.");
  if (!a.tests.empty()) {
    text += "\nThe iterations of this story removed tests. Find out whether that was right:\n" + list_of(a.tests, "-");
  }
  if (!a.changed_checks.empty()) {
    text += "\nThe iterations of this story changed what the checks prove. Judge each of these changes by itself:\n" +
            list_of(a.changed_checks, "-");
    if (!a.changed_checks_diff.empty()) text += "\nThe diff:\n\n" + a.changed_checks_diff;
  }
  if (!a.tampered.empty()) {
    text += "\nFiles that make other programs run code were changed. Find out why, and do not run what they name:\n" +
            list_of(a.tampered, "-");
  }
  return text;
}

std::string how_to_fix(const Assignment& a) {
  return fmt::format(
      "The review said:\n\n{3}\n"
      "Address every point of it. When all are done and the verify commands succeed, set `reviewStatus` of {0} to\n"
      "\"needs_review\" and `reviewFeedback` to \"\" in {1}/tasks.json. Leave passes and reviewCount alone. Commit as\n"
      "`fix: [{0}] - address review feedback`. {2}\n",
      a.story->id, a.files_at, "Another iteration reviews it afresh.", quoted(a.story->review.feedback));
}

std::string how_to(const Assignment& a) {
  if (a.skip_review || a.mode == Mode::kImplement) return how_to_implement(a);
  return a.mode == Mode::kReview ? how_to_review(a) : how_to_fix(a);
}

}  // namespace

std::string assignment_text(const Assignment& a) {
  const Story& story = *a.story;
  std::string text = fmt::format("### Your assignment: {}\n\nStory {}: {}\n", assignment_heading(a.mode, a.skip_review),
                                 story.id, story.title);
  if (!trim(story.description).empty()) text += fmt::format("\n{}\n", trim(story.description));
  text += "\nAcceptance criteria:\n" + list_of(story.criteria, "-");
  if (!a.tasks->verify_commands.empty()) {
    text += "\nVerify commands (ralph runs them itself after this iteration; a failing one outranks any approval):\n";
    for (const std::string& command : a.tasks->verify_commands)
      text += fmt::format("- {}{}\n", command,
                          is_one_of(command, a.added) ? "   (added by an agent; an iteration may remove it)" : "");
  }
  text += "\n" + how_to(a);
  text +=
      "\nralph compares tasks.json with its own copy when you are done and takes back every change of review fields,\n"
      "criteria, verify commands, titles or descriptions that this assignment does not allow.\n";
  return text;
}

std::string plan_prompt(std::string_view prompt, const Assignment& a) {
  const std::string assignment = assignment_text(a);
  const std::array<std::pair<std::string_view, std::string>, 7> values = {{
      {"RALPH_ASSIGNMENT", assignment},
      {"RALPH_DIR", a.files_at},
      {"RALPH_ITERATION", std::to_string(a.iteration)},
      {"RALPH_MAX_ITERATIONS", std::to_string(a.max_iterations)},
      {"RALPH_MODE", std::string(to_string(a.mode))},
      {"RALPH_STORY", a.story->id},
      {"RALPH_REVIEW_CAP", std::to_string(a.review_cap)},
  }};
  // Replace the plain names first, and only in the user's text: a story may mention them.
  std::string text = replace_all(prompt, "$RALPH_ITERATION", "{{RALPH_ITERATION}}");
  text = replace_all(text, "$RALPH_MAX_ITERATIONS", "{{RALPH_MAX_ITERATIONS}}");
  if (text.find(kPlace) == std::string::npos) text += fmt::format("\n\n{}\n", kPlace);
  return render_template(text, values);
}

}  // namespace ralph
