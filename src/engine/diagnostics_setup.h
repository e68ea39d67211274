// From settings to what collectors are asked: one translation for `ralph check`, runs and hooks.
#pragma once

#include "checks/diagnostics/collect.h"
#include "settings/settings.h"

namespace ralph {

// Fails (kInput) on an own collector whose name is taken or whose pattern is missing or wrong; the message names the
// setting.
Result<diagnostics::CollectRequest> collect_request(const DiagnosticsSettings& settings, const std::string& project);

// The patterns of paths in `diagnostics.exclude`, for ProjectView.
std::vector<std::string> excluded_paths(const DiagnosticsSettings& settings);

// The socket of a project's warm language servers (checks/lsp/hub.h), and the lock of the process that keeps them.
// Empty: there is no state folder.
std::string warm_socket(const Environment& environment, const std::string& project);
std::string warm_lock(const Environment& environment, const std::string& project);

// Tools repeat what they find: a token in a message must not get into a log, or to a model.
void mask_secrets(diagnostics::Report& report, const Settings& settings, const Environment& environment);

diagnostics::Criteria criteria_from(const CriteriaSettings& settings);

}  // namespace ralph
