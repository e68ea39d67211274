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

std::string changed_file_text(const record::ChangedFile& file) {
  std::string text = fmt::format("{} was {}", file.path, file.what);
  if (file.action == WatchAction::kPutBack) text += " and put back";
  if (file.action == WatchAction::kFailed) text += ", which is not allowed";
  if (!file.note.empty()) text += fmt::format(": {}", file.note);
  if (!file.kept.empty()) text += fmt::format(" (the changed version is kept: {})", file.kept);
  return text;
}

}  // namespace ralph
