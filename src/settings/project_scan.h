// Suggests guardrail commands for a project. Only reads files; runs nothing.
#pragma once

#include <string>
#include <vector>

namespace ralph {

// The purpose of a suggested command. If a task runner (make, just) has a command for a purpose, the language tools'
// own are not suggested: the runner knows the right flags, and nothing should run twice.
enum class CheckPurpose { kLint, kTypes, kBuild, kTest, kCheck };

struct GuardrailSuggestion {
  std::string command;  // "npm run lint"
  std::string why;      // "package.json has the script lint"
  CheckPurpose purpose = CheckPurpose::kCheck;

  bool operator==(const GuardrailSuggestion&) const = default;
};

// Quick checks (lint, types) come before slow ones (build, tests). Empty if nothing is recognised; unreadable or
// malformed files are skipped.
std::vector<GuardrailSuggestion> suggest_guardrails(const std::string& project);

// The command that installs the dependencies of a new checkout: "npm ci". Empty if nothing is recognised.
std::string suggest_setup(const std::string& project);

}  // namespace ralph
