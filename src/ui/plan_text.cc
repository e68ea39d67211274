#include "ui/plan_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOutcomes = {{
    {"submitted", "is implemented and awaits its review"},
    {"resubmitted", "is fixed and awaits its next review"},
    {"approved", "is approved"},
    {"auto_approved", "is approved because the review cap is reached; see its reviewFeedback"},
    {"changes_requested", "needs changes"},
    {"sent_back", "goes back: the checks that ralph ran fail"},
    {"passed", "passes"},
}};

}  // namespace

std::string plan_work_text(const record::PlanWork& work) {
  std::string text = fmt::format("{} {}: {}", work.mode, work.story, work.title);
  if (work.mode == "review") text += fmt::format(" (review {} of at most {})", work.reviews + 1, work.review_cap);
  return text;
}

std::string plan_outcome_text(const record::PlanChecked& checked) {
  const std::string done =
      fmt::format("{} of {} done", checked.done, count_of(static_cast<unsigned long long>(checked.stories), "story"));
  const auto* const known = std::find_if(kOutcomes.begin(), kOutcomes.end(),
                                         [&](const auto& outcome) { return outcome.first == checked.outcome; });
  if (known == kOutcomes.end()) return checked.iteration > 0 ? fmt::format("no story moved; {}", done) : done;
  return fmt::format("{} {}; {}", checked.story, known->second, done);
}

}  // namespace ralph
