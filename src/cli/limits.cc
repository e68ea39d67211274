#include "cli/limits.h"

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace ralph::cli {
namespace {

constexpr long kMostCount = 1000000;

Result<double> positive_number(std::string_view option, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number) || number <= 0)
    return fail(ErrorKind::kUsage, "--{}: \"{}\" is not a number above 0", option, text);
  return number;
}

}  // namespace

Status set_limits(const Arguments& arguments, Overrides& overrides) {
  if (const auto cost = arguments.value("max-cost")) {
    TRY_VALUE(const double usd, positive_number("max-cost", *cost));
    overrides.set("/budget/maxCostUsd", usd, "--max-cost");
  }
  if (const auto tokens = arguments.value("max-tokens")) {
    const auto count = parse_count(*tokens);
    if (!count) return fail(ErrorKind::kUsage, "--max-tokens: \"{}\" is not a whole number of at least 1", *tokens);
    overrides.set("/budget/maxTokens", *count, "--max-tokens");
  }
  if (const auto minutes = arguments.value("max-minutes")) {
    TRY_VALUE(const double number, positive_number("max-minutes", *minutes));
    overrides.set("/budget/maxMinutes", number, "--max-minutes");
  }
  return {};
}

Status set_count(const Arguments& arguments, std::string_view option, const std::string& pointer,
                 Overrides& overrides) {
  const auto text = arguments.value(option);
  if (!text) return {};
  const auto number = parse_count(*text);
  if (!number || *number > kMostCount)
    return fail(ErrorKind::kUsage, "--{}: \"{}\" is not a whole number from 1 to {}", option, *text, kMostCount);
  overrides.set(pointer, *number, fmt::format("--{}", option));
  return {};
}

}  // namespace ralph::cli
