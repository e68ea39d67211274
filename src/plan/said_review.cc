#include "plan/said_review.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/quoting.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kOpening = "<review", kClosing = "</review>", kBlanks = " \t";
constexpr std::string_view kApprovedWord = to_string(ReviewStatus::kApproved);
constexpr std::string_view kChangesWord = to_string(ReviewStatus::kChangesRequested);

struct Tag {
  size_t from = 0, to = 0;    // of the whole tag; an unclosed tag extends to the end of the text
  std::string_view content;   // trimmed
  std::string_view previous;  // the nearest non-blank line before it, trimmed
  bool closed = false;
  bool quoted = false;  // it is in a code block or the like
};

constexpr size_t kCodeIndent = 4;  // columns, as in Markdown

size_t indent_of(std::string_view line) {
  const size_t blanks = std::min(line.find_first_not_of(kBlanks), line.size());
  return line.substr(0, blanks).find('\t') == std::string_view::npos ? blanks : kCodeIndent;
}

// Removes leading blanks and `token` from `text`. False, without a change, if `text` does not start with them.
bool take(std::string_view& text, std::string_view token) {
  std::string_view rest = text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
  if (!rest.starts_with(token)) return false;
  text = rest.substr(token.size());
  return true;
}

// The length of an opening tag for this story at the front of `text`; 0: there is none.
size_t opening_tag(std::string_view text, const std::string& story) {
  std::string_view rest = text;
  if (!take(rest, kOpening) || !rest.starts_with(' ') || !take(rest, "story") || !take(rest, "=")) return 0;
  const std::string_view quote = take(rest, "\"") ? "\"" : "'";
  if (quote == "'" && !take(rest, quote)) return 0;
  if (!rest.starts_with(story)) return 0;  // whatever it contains
  rest.remove_prefix(story.size());
  if (!rest.starts_with(quote)) return 0;
  rest.remove_prefix(1);
  return take(rest, ">") ? text.size() - rest.size() : 0;
}

// The end of a tag for another story that begins this line; 0 if there is none or it is not closed.
size_t end_of_other(std::string_view text, size_t line) {
  std::string_view rest = text.substr(line);
  if (!take(rest, kOpening) || !rest.starts_with(' ')) return 0;
  const size_t close = text.find(kClosing, line);
  return close == std::string_view::npos ? 0 : close + kClosing.size();
}

std::vector<Tag> tags_in(std::string_view text, const std::string& story) {
  std::vector<Tag> tags;
  std::string_view previous;
  Quoting quoting;
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    const size_t opening = opening_tag(text.substr(line), story);
    if (opening == 0) {
      // The content of a verdict on another story belongs to that verdict.
      if (const size_t other = end_of_other(text, line); other > line) {
        line = std::min(text.find('\n', other), text.size()) + 1;
        continue;
      }
      quoting.read(text.substr(line, end - line));
      const std::string_view words = trim(text.substr(line, end - line));
      if (!words.empty()) previous = words;
      line = end + 1;
      continue;
    }
    const size_t content = line + opening, close = text.find(kClosing, content);
    Tag tag{line, text.size(), {}, previous, close != std::string_view::npos};
    tag.content = trim(text.substr(content, close - content));
    if (tag.closed) tag.to = close + kClosing.size();
    tag.quoted = quoting.is_open() || indent_of(text.substr(line, end - line)) >= kCodeIndent;
    tags.push_back(tag);
    line = std::min(text.find('\n', tag.to), text.size()) + 1;
  }
  return tags;
}

bool is_echo(const Tag& tag, const std::vector<Tag>& prompt) {
  return std::any_of(prompt.begin(), prompt.end(),
                     [&](const Tag& one) { return one.content == tag.content && one.previous == tag.previous; });
}

// Whether the text after a tag closes a quotation that contains the tag. The start of the quotation may be cut off or
// ambiguous, but a code block that was opened is usually closed.
bool ends_quoting(std::string_view after) {
  Quoting quoting;
  for (size_t line = 0; line <= after.size();) {
    const size_t end = std::min(after.find('\n', line), after.size());
    quoting.read(after.substr(line, end - line));
    line = end + 1;
  }
  return quoting.in_fence() || quoting.closed_more();
}

// As in "<review …>approved</review> is what the file wants me to say": only markup or the promise may follow on the
// line.
bool is_part_of_a_sentence(std::string_view after) {
  const std::string_view rest = trim(after.substr(0, after.find('\n')));
  constexpr std::string_view kPromise = "<promise>", kPromiseEnd = "</promise>";
  if (rest.starts_with(kPromise) && rest.find(kPromiseEnd) + kPromiseEnd.size() == rest.size()) return false;
  return rest.find_first_not_of(" \t*_`#|-") != std::string_view::npos;
}

// Quotation marks on the lines around a tag quote it.
bool is_between_quotation_marks(const Tag& tag, std::string_view after) {
  const std::string_view next = trim(after);
  const auto ends = [&](std::string_view mark) { return tag.previous.ends_with(mark); };
  const auto begins = [&](std::string_view mark) { return next.starts_with(mark); };
  constexpr std::array kOpen = {"\"", "'", "“", "„", "‘", "«", "「"}, kClose = {"\"", "'", "”", "“", "’", "»", "」"};
  return std::ranges::any_of(kOpen, ends) && std::ranges::any_of(kClose, begins);
}

bool is_last_line(std::string_view after) {
  return trim(after.substr(std::min(after.find('\n'), after.size()))).empty();
}

SaidReview verdict_in(const Tag& tag) {
  if (tag.content == kApprovedWord && tag.closed) return {StoryStep::kApproved};
  if (!tag.content.starts_with(kChangesWord)) return {};
  const std::string reasons(trim(tag.content.substr(kChangesWord.size())));
  return {StoryStep::kChangesRequested, reasons.empty() ? "The review gave no reasons." : reasons};
}

// Combines what one review wrote with what it said.
class Hearing {
 public:
  Hearing(Enforcement& enforced, const StoryFile& before, const ReviewRules& rules, const SaidReview& said)
      : enforced_(enforced), rules_(rules), said_(said), before_(before), was_(before.tasks.find(rules.story)) {}

  void hear() {
    if (!was_ || was_->review.status != ReviewStatus::kNeedsReview || was_->review.passes) return;
    const bool other = !enforced_.moved.empty() && enforced_.moved != rules_.story;
    if (said_.step == StoryStep::kNone) return hear_nothing();
    if (other) take_back(fmt::format("A review may only modify the story that it was given, {}.", rules_.story));
    if (said_.step == StoryStep::kChangesRequested) return hear_changes();
    if (enforced_.step == StoryStep::kChangesRequested) enforced_.disagreed = true;
    if (enforced_.step == StoryStep::kNone) hear_approval();
  }

 private:
  // A written request for changes counts without a spoken one, except in the last review, after which ralph would
  // approve the story.
  void hear_nothing() {
    const Story* const story = enforced_.moved.empty() ? nullptr : enforced_.file.tasks.find(enforced_.moved);
    if (!story) return;
    const bool last = story->review.count >= rules_.review_cap;
    if (enforced_.step == StoryStep::kChangesRequested && !last) return;
    enforced_.unsaid = true;
    take_back(fmt::format(
        "The review wrote a verdict on {} into tasks.json, but its last message does not give one. A verdict counts "
        "only if the last message has it at the beginning of a line, outside of code blocks: {}, or the same with "
        "changes_requested, a newline "
        "and the reasons.",
        story->id, approving_tag(rules_.story)));
  }

  // Feedback in the file is kept, as it may say more. If the file says approved, only the message has reasons.
  void hear_changes() {
    if (enforced_.step == StoryStep::kChangesRequested) return;
    if (enforced_.step == StoryStep::kApproved) enforced_.disagreed = true;
    write({false, ReviewStatus::kChangesRequested, was_->review.count + 1, said_.reasons},
          StoryStep::kChangesRequested);
  }

  // Ignored if the file had an illegal change to the story: the next review decides again.
  void hear_approval() {
    if (enforced_.refused || enforced_.replaced) return;
    const Story* const story = enforced_.file.tasks.find(rules_.story);
    const bool no_notes = !story || trim(story->notes).empty();
    write({true, ReviewStatus::kApproved, was_->review.count + 1, was_->review.feedback}, StoryStep::kApproved,
          no_notes ? "Approved by a review, which left no notes." : "");
  }

  void write(const Review& review, StoryStep step, std::string_view notes = {}) {
    enforced_.file = with_review(enforced_.file, rules_.story, review, notes);
    enforced_.moved = rules_.story;
    enforced_.step = step;
    enforced_.heard = true;
    enforced_.no_verdict = false;
  }

  void take_back(std::string why) {
    const Story* const was = before_.tasks.find(enforced_.moved);
    if (was) enforced_.file = with_review(enforced_.file, was->id, was->review);
    enforced_.violations.push_back({Check::kTransitions, enforced_.moved, std::move(why)});
    enforced_.moved.clear();
    enforced_.step = StoryStep::kNone;
  }

  Enforcement& enforced_;
  const ReviewRules& rules_;
  const SaidReview& said_;
  const StoryFile& before_;
  const Story* const was_;
};

}  // namespace

SaidReview review_said(std::string_view words, const std::string& story, std::string_view prompt) {
  const std::vector<Tag> prompted = tags_in(prompt, story), said = tags_in(words, story);
  SaidReview approval;   // counts unless a request for changes precedes it
  bool settled = false;  // an approval was seen, even one that does not count
  for (auto tag = said.rbegin(); tag != said.rend(); ++tag) {
    if (is_echo(*tag, prompted)) continue;
    const SaidReview verdict = verdict_in(*tag);
    const bool changes = verdict.step == StoryStep::kChangesRequested;
    if (changes && (!settled || !tag->quoted)) return verdict;
    if (settled || tag->quoted) continue;
    if (verdict.step == StoryStep::kNone) return {};
    const std::string_view after = words.substr(tag->to);
    settled = true;
    if (is_part_of_a_sentence(after) || ends_quoting(after) || is_between_quotation_marks(*tag, after)) continue;
    if (is_last_line(after)) return verdict;
    approval = verdict;
  }
  return approval;
}

std::string approving_tag(const std::string& story) {
  return fmt::format("<review story=\"{}\">{}</review>", story, kApprovedWord);
}

void apply_said_review(Enforcement& enforced, const StoryFile& before, const ReviewRules& rules,
                       const SaidReview& said) {
  if (rules.mode == Mode::kReview && !rules.frozen && !rules.skip_review) Hearing(enforced, before, rules, said).hear();
}

}  // namespace ralph
