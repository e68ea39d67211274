// Suggests guardrail commands for a project. Only reads files; runs nothing.
#pragma once

#include <string>
#include <vector>

namespace ralph {

// The purpose of a suggested command. A task runner (make, just) with a command for a purpose hides the language tools'
// own: it has the right flags, and nothing should run twice.
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

// The command that installs what a new checkout of the project needs: "npm ci". Empty: nothing is recognised.
std::string suggest_setup(const std::string& project);

}  // namespace ralph
