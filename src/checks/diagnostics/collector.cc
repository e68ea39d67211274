#include "checks/diagnostics/collector.h"

#include <algorithm>

#include "checks/diagnostics/collectors.h"

namespace ralph::diagnostics {

std::span<const Collector> all_collectors() {
  static const Collector kAll[] = {
      kRuff,
      kMypy,
      kPyright,
      kTsc,
      kEslint,
      kBiome,
      kGoVet,
      kCargoCheck,
      kClippy,
      kGcc,
      kClang,
      kClangTidy,
      kShellcheck,
      kAstGrep,
      kClangd,
      kPyrightServer,
      kGopls,
      kRustAnalyzer,
      kTypescriptServer,
      kPytest,
      kVitest,
      kJest,
      kNpmTest,
      kGoTest,
      kCargoTest,
      kCtest,
  };
  return kAll;
}

const Collector* collector_named(std::string_view name) {
  const auto all = all_collectors();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Collector& c) { return c.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace ralph::diagnostics
