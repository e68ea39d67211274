#include "cli/agent_options.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

Status set_text(const Arguments& arguments, std::string_view option, const std::string& pointer, std::string_view what,
                Overrides& overrides) {
  const auto value = arguments.value(option);
  if (!value) return {};
  if (trim(*value).empty()) return fail(ErrorKind::kUsage, "--{} is blank; name {}", option, what);
  overrides.set(pointer, json::string(*value), fmt::format("--{}", option));
  return {};
}

}  // namespace

Status set_agent(const Arguments& arguments, const std::string& typed_in, Overrides& overrides) {
  TRY(set_text(arguments, "agent", "/agent/command", "an agent", overrides));
  const auto value = arguments.value("agent");
  if (!value || value->find('/') == std::string_view::npos || value->starts_with('/')) return {};
  const std::string program = absolute_path(*value, typed_in);
  if (is_executable_file(program)) overrides.set("/agent/command", to_json_string(program), "--agent");
  return {};
}

Status set_model(const Arguments& arguments, Overrides& overrides) {
  return set_text(arguments, "model", "/agent/model", "a model", overrides);
}

}  // namespace ralph::cli
