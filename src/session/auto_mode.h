// Auto mode: a session without a loop that has edited files is continued while the project's tools find errors or
// security issues. Works only in projects that this user has accepted, and only while it makes progress.
#pragma once

#include <optional>
#include <string>

#include "engine/decide.h"
#include "os/environment.h"
#include "session/edits.h"

namespace ralph {

struct AutoAnswer {
  Decision decision;
  std::string text;     // for the model, if the session continues
  std::string message;  // for the user, if it does not; may be empty
};

struct AutoRequest {
  std::string session;
  std::string words;        // the agent's last message
  Milliseconds patience{};  // how long the tools may take
};

// nullopt if auto mode does not apply.
Result<std::optional<AutoAnswer>> judge_automatically(const AutoRequest& request, const Environment& environment);

// Whether hooks may run the project's tools: this user has accepted the project, and auto mode is not switched off.
bool auto_mode_is_on(const Environment& environment, const std::string& project);

// Call when the user types a new line: forgets the earlier attempts.
void forget_attempts(const Environment& environment, const std::string& session);

// The worst findings of these kinds of tools about the edited files; empty if there are none.
enum class EditTools { kAll, kCheckers, kLinters, kSecurity };
Result<std::string> check_edit(const Environment& environment, const std::string& project,
                               const std::vector<std::string>& files, EditTools tools);

}  // namespace ralph
