// Looks at a project and proposes commands that could guard it. Only reads files; runs nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

// What a suggested command is for. A task runner (make, just) that offers one of these hides the language tools' own:
// people put the right flags there, and nothing should run twice.
enum class CheckPurpose { kLint, kTypes, kBuild, kTest, kCheck };

struct GuardrailSuggestion {
  std::string command;  // "npm run lint"
  std::string why;      // "package.json has the script lint"
  CheckPurpose purpose = CheckPurpose::kCheck;

  bool operator==(const GuardrailSuggestion&) const = default;
};

// Quick checks (lint, types) come before slow ones (build, tests). Empty if nothing is recognised; files that cannot be
// read or understood are passed over, because a suggestion is no promise.
std::vector<GuardrailSuggestion> suggest_guardrails(const std::string& project);

}  // namespace ralph
