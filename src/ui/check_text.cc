#include "ui/check_text.h"

#include "base/text.h"

namespace ralph {

std::string check_facts(const record::GuardrailEnded& ended) {
  std::vector<std::string> facts;
  if (ended.tests_passed) {
    std::vector<std::string> counts = {count_of(*ended.tests_passed, "test")};
    if (ended.tests_failed.value_or(0) > 0) counts.push_back(fmt::format("{} failed", *ended.tests_failed));
    if (ended.tests_skipped.value_or(0) > 0) counts.push_back(fmt::format("{} skipped", *ended.tests_skipped));
    facts.push_back(join(counts, ", "));
  }
  if (ended.tries > 1 && ended.outcome == CheckOutcome::kPassed)
    facts.push_back(fmt::format("flaky: it failed before it passed at try {}", ended.tries));
  if (ended.tries > 1 && ended.outcome != CheckOutcome::kPassed) facts.push_back(fmt::format("{} tries", ended.tries));
  if (!ended.tests_lost.empty()) facts.push_back("but it " + ended.tests_lost);
  return join(facts, ", ");
}

}  // namespace ralph
