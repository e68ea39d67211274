#include "checks/diagnostics/finding.h"

#include <tuple>

#include "base/result.h"
#include "base/sha256.h"

namespace ralph::diagnostics {
namespace {

// Failing tests and errors, security, warnings, infos.
int rank(const Finding& finding) {
  if (finding.category == Category::kSecurity) return 1;
  switch (finding.severity) {
    case Severity::kError:
      return 0;
    case Severity::kWarning:
      return 2;
    case Severity::kInfo:
      return 3;
  }
  return 3;
}

}  // namespace

std::string fingerprint_of(const Finding& finding) {
  // The message of a failing test contains durations, addresses and times, so its name (the rule) identifies it.
  const bool by_name = finding.category == Category::kTest && !finding.rule.empty();
  const std::string what = fmt::format("{}\n{}\n{}\n{}", finding.file, to_string(finding.category), finding.rule,
                                       by_name ? "" : finding.message);
  return sha256_hex(what).substr(0, 16);
}

bool is_worse(const Finding& a, const Finding& b) {
  const auto order = [](const Finding& f) {
    using View = std::string_view;
    return std::tuple(rank(f), View(f.file), f.line, f.column, View(f.tool), View(f.message));
  };
  return order(a) < order(b);
}

std::string place_of(const Finding& finding) {
  if (finding.file.empty() || finding.line <= 0) return finding.file;
  if (finding.column <= 0) return fmt::format("{}:{}", finding.file, finding.line);
  return fmt::format("{}:{}:{}", finding.file, finding.line, finding.column);
}

}  // namespace ralph::diagnostics
