#include "checks/guardrail.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kMaxSlug = 50;

}  // namespace

std::string slug_of(std::string_view command) {
  std::string slug;
  for (char c : command) {
    if (is_alphanumeric(c)) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '_') {
      slug += '_';
    }
  }
  slug.resize(std::min(slug.size(), kMaxSlug));
  while (slug.ends_with('_')) slug.pop_back();
  return slug.empty() ? "guardrail" : slug;
}

std::string log_name(int iteration, std::string_view command, std::set<std::string>& taken) {
  const std::string stem = fmt::format("guardrail_{}_{}", iteration, slug_of(command));
  std::string name = stem + ".log";
  for (int n = 1; !taken.insert(name).second; ++n) name = fmt::format("{}_{}.log", stem, n);
  return name;
}

Launch guardrail_launch(const std::string& command, const Environment& environment, const std::string& folder) {
  Launch launch;
  launch.argv = {"/bin/sh", "-c", command};
  launch.environment = environment;
  launch.folder = folder;
  launch.merge_streams = true;
  return launch;
}

std::string failure_message(const GuardrailFailure& failure) {
  std::string message = failure.why.empty() ? fmt::format("Guardrail \"{}\" failed with exit code {}.", failure.command,
                                                          failure.exit_code)
                                            : fmt::format("Guardrail \"{}\" {}.", failure.command, failure.why);
  if (!failure.hint.empty()) message += fmt::format("\nHint: {}", failure.hint);
  message += fmt::format("\nOutput file: {}\nOutput (truncated):\n{}", failure.log_file, failure.output);
  if (failure.truncated) message += "... [truncated]";
  return message;
}

std::string lost_tests_message(std::string_view command, std::string_view lost, std::string_view log_file) {
  return fmt::format(
      "Guardrail \"{}\" passed, but it {}.\nBring back the tests that are gone or skipped: the work is not complete "
      "before they run again.\nOutput file: {}",
      command, lost, log_file);
}

void OutputExcerpt::feed(std::string_view bytes) {
  const size_t room = limit_ * 4 - std::min(limit_ * 4, kept_.size());
  kept_ += bytes.substr(0, room);
  if (bytes.size() > room) dropped_ = true;
}

std::string OutputExcerpt::text() const {
  return to_valid_utf8(prefix_of_characters(kept_, limit_));
}

bool OutputExcerpt::truncated() const {
  return dropped_ || prefix_of_characters(kept_, limit_).size() < kept_.size();
}

}  // namespace ralph
