// Translates settings into collector requests, for `ralph check`, runs and hooks alike.
#pragma once

#include "checks/diagnostics/collect.h"
#include "settings/settings.h"

namespace ralph {

// Fails with kInput if a user-defined collector's name is taken or its pattern is missing or invalid, or if an entry of
// `diagnostics.exclude` can match nothing; the message names the setting.
Result<diagnostics::CollectRequest> collect_request(const DiagnosticsSettings& settings, const std::string& project);

// The path patterns in `diagnostics.exclude`, for ProjectView.
std::vector<std::string> excluded_paths(const DiagnosticsSettings& settings);

// The socket of a project's warm language servers (checks/lsp/hub.h), and the lock of the process that keeps them.
// Empty if there is no state folder.
std::string warm_socket(const Environment& environment, const std::string& project);
std::string warm_lock(const Environment& environment, const std::string& project);

// Masks secrets that tools quote in their messages, before they reach a log or a model.
void mask_secrets(diagnostics::Report& report, const Settings& settings, const Environment& environment);

diagnostics::Criteria criteria_from(const CriteriaSettings& settings);

}  // namespace ralph
