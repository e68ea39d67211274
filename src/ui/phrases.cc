#include "ui/phrases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "base/text.h"
#include "journal/plan_notes.h"

namespace ralph {
namespace {

std::tm local_parts(WallTime time) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

std::string human_count(std::int64_t count) {
  if (count < 1000) return fmt::format("{}", std::max<std::int64_t>(count, 0));
  double value = static_cast<double>(count);
  for (const char unit : {'K', 'M', 'B'}) {
    value /= 1000;
    const double tenths = std::round(value * 10);
    if (tenths < 100) {
      const auto whole = static_cast<int>(tenths);
      return whole % 10 == 0 ? fmt::format("{}{}", whole / 10, unit)
                             : fmt::format("{}.{}{}", whole / 10, whole % 10, unit);
    }
    // 999,999 is 1M, not 1000K, so the unit is chosen after rounding.
    if (std::round(value) < 1000 || unit == 'B') return fmt::format("{:.0f}{}", std::round(value), unit);
  }
  return {};
}

std::string time_of_day(WallTime time) {
  const std::tm t = local_parts(time);
  return fmt::format("{:02}:{:02}:{:02}", t.tm_hour, t.tm_min, t.tm_sec);
}

std::string moment(WallTime time, WallTime today) {
  const std::tm t = local_parts(time), now = local_parts(today);
  const std::string hour = fmt::format("{:02}:{:02}", t.tm_hour, t.tm_min);
  if (t.tm_year == now.tm_year && t.tm_yday == now.tm_yday) return hour;
  return fmt::format("{:04}-{:02}-{:02} {}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, hour);
}

std::string check_facts(const record::GuardrailEnded& ended) {
  std::vector<std::string> facts;
  if (ended.tests_passed) {
    std::vector<std::string> counts = {count_of(*ended.tests_passed, "test")};
    if (ended.tests_failed.value_or(0) > 0) counts.push_back(fmt::format("{} failed", *ended.tests_failed));
    if (ended.tests_skipped.value_or(0) > 0) counts.push_back(fmt::format("{} skipped", *ended.tests_skipped));
    facts.push_back(join(counts, ", "));
  }
  if (ended.tries > 1 && ended.outcome == CheckOutcome::kPassed)
    facts.push_back(fmt::format("flaky: it failed before it passed on try {}", ended.tries));
  if (ended.tries > 1 && ended.outcome != CheckOutcome::kPassed) facts.push_back(fmt::format("{} tries", ended.tries));
  if (!ended.tests_lost.empty()) facts.push_back("but it " + ended.tests_lost);
  return join(facts, ", ");
}

namespace {

// Indexed by StoryStep.
constexpr std::array<std::string_view, 8> kOutcomes = {
    "",
    "is implemented and awaits its review",
    "is fixed and awaits its next review",
    "is approved",
    "is approved because the review cap is reached; see its reviewFeedback",
    "needs changes",
    "goes back: the checks that ralph ran fail",
    "passes",
};

}  // namespace

std::string plan_work_text(const record::PlanWork& work) {
  std::string text = fmt::format("{} {}: {}", to_string(work.mode), work.story, work.title);
  if (work.mode == Mode::kReview) text += fmt::format(" (review {} of at most {})", work.reviews + 1, work.review_cap);
  if (!work.room.empty()) text += fmt::format(", in the clean checkout {}", work.room);
  return text;
}

std::string plan_outcome_text(const record::PlanChecked& checked) {
  const std::string done = fmt::format("{} of {} done", checked.done, count_of(checked.stories, "story"));
  const std::string_view outcome = kOutcomes[static_cast<size_t>(checked.outcome)];
  if (outcome.empty() && checked.pending)
    return fmt::format("{} moved, but was not checked before the stop; {}", checked.pending->story, done);
  if (checked.outcome == StoryStep::kSentBack &&
      std::ranges::any_of(checked.notes, [](const std::string& note) { return note.starts_with(kObjection); }))
    return fmt::format("{} goes back, though its checks pass; {}", checked.story, done);
  if (outcome.empty()) return checked.iteration > 0 ? fmt::format("no story moved; {}", done) : done;
  return fmt::format("{} {}; {}", checked.story, outcome, done);
}

}  // namespace ralph
