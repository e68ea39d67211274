#include "engine/diagnostics_setup.h"

#include "base/text.h"
#include "checks/diagnostics/pattern.h"
#include "journal/redactor.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

bool is_collector(const DiagnosticsSettings& settings, const std::string& name) {
  if (diagnostics::collector_named(name)) return true;
  return std::any_of(settings.collectors.begin(), settings.collectors.end(),
                     [&](const CollectorSettings& own) { return own.name == name; });
}

Status check_own(const DiagnosticsSettings& settings, size_t index) {
  const CollectorSettings& own = settings.collectors[index];
  const std::string where = fmt::format("settings: diagnostics.collectors[{}]", index);
  if (diagnostics::collector_named(own.name))
    return fail(ErrorKind::kInput, "{}.name is '{}', which is a collector of ralph's own; choose another name", where,
                own.name);
  for (size_t i = 0; i < index; ++i) {
    if (settings.collectors[i].name == own.name)
      return fail(ErrorKind::kInput, "{}.name is '{}', which another one already has; names must differ", where,
                  own.name);
  }
  if (own.format == "sarif" && !own.pattern.empty())
    return fail(ErrorKind::kInput, "{} has a pattern, but its format is \"sarif\"; set \"format\": \"pattern\"", where);
  if (own.format != "pattern") return {};
  if (own.pattern.empty())
    return fail(ErrorKind::kInput, "{} has the format \"pattern\" and no pattern; add \"pattern\"", where);
  if (const auto pattern = diagnostics::LinePattern::compile(own.pattern); !pattern)
    return fail(ErrorKind::kInput, "{}.pattern '{}': {}", where, own.pattern, pattern.error().message);
  return {};
}

// The collector whose name is one edit away from `name`, if nothing in the project has that name; empty: none.
std::string_view mistyped_collector(const DiagnosticsSettings& settings, const std::string& name,
                                    const std::string& project) {
  if (name.find_first_of("/*?.") != std::string::npos || path_exists(join_path(project, name))) return {};
  std::vector<std::string_view> known;
  for (const diagnostics::Collector& collector : diagnostics::all_collectors()) known.push_back(collector.name);
  for (const CollectorSettings& own : settings.collectors) known.push_back(own.name);
  const auto found = std::find_if(known.begin(), known.end(), [&](std::string_view one) {
    return one.size() > 3 && edit_distance(name, one) == 1;
  });
  return found == known.end() ? std::string_view() : *found;
}

Status check_exclude(const DiagnosticsSettings& settings, const std::string& project) {
  for (size_t i = 0; i < settings.exclude.size(); ++i) {
    const std::string& entry = settings.exclude[i];
    const std::string where = fmt::format("settings: diagnostics.exclude[{}] is \"{}\"", i, entry);
    if (is_collector(settings, entry)) continue;
    if (entry.starts_with('/'))
      return fail(ErrorKind::kInput,
                  "{}, which matches nothing: patterns begin at the project's folder, without a slash", where);
    if (is_one_of(std::string(".."), split(entry, '/')))
      return fail(ErrorKind::kInput, "{}, which leaves the project and matches nothing; name paths in it, without ..",
                  where);
    if (const std::string_view near = mistyped_collector(settings, entry, project); !near.empty())
      return fail(ErrorKind::kInput, "{}: no collector or file here has that name; did you mean \"{}\"?", where, near);
  }
  return {};
}

Milliseconds milliseconds(double seconds) {
  return Milliseconds(static_cast<long long>(seconds * 1000));
}

}  // namespace

Result<diagnostics::CollectRequest> collect_request(const DiagnosticsSettings& settings, const std::string& project) {
  TRY(check_exclude(settings, project));
  diagnostics::CollectRequest request;
  request.limit = milliseconds(settings.timeout_seconds);
  for (const std::string& name : settings.exclude) {
    if (is_collector(settings, name)) request.without.push_back(name);
  }
  request.servers = settings.language_servers;
  for (size_t i = 0; i < settings.collectors.size(); ++i) {
    TRY(check_own(settings, i));
    const CollectorSettings& own = settings.collectors[i];
    request.own.push_back(
        {own.name, own.command, own.format == "pattern" ? own.pattern : "", milliseconds(own.timeout_seconds)});
  }
  return request;
}

std::vector<std::string> excluded_paths(const DiagnosticsSettings& settings) {
  std::vector<std::string> paths;
  for (const std::string& entry : settings.exclude) {
    if (!is_collector(settings, entry)) paths.push_back(entry);
  }
  return paths;
}

std::string warm_socket(const Environment& environment, const std::string& project) {
  const std::string folder = project_state_folder(environment, project);
  return folder.empty() ? "" : join_path(folder, "lsp.sock");
}

std::string warm_lock(const Environment& environment, const std::string& project) {
  const std::string folder = project_state_folder(environment, project);
  return folder.empty() ? "" : join_path(folder, "lsp.lock");
}

void mask_secrets(diagnostics::Report& report, const Settings& settings, const Environment& environment) {
  const Redactor redactor(environment.as_lines(), secret_candidates(settings));
  for (diagnostics::Finding& finding : report.findings) finding.message = redactor.redact(finding.message);
  for (diagnostics::CollectorResult& one : report.collectors) one.reason = redactor.redact(one.reason);
}

diagnostics::Criteria criteria_from(const CriteriaSettings& settings) {
  return {settings.zero_errors, settings.zero_warnings, settings.zero_security, settings.tests_pass,
          settings.stagnation_limit};
}

}  // namespace ralph
