#include "cli/masked_settings.h"

#include <string>
#include <vector>

#include "journal/redactor.h"
#include "journal/secret_variables.h"

namespace ralph::cli {
namespace {

bool is_secret(std::string_view name, const json::value& value) {
  const json::string* text = value.if_string();
  if (!text) return true;
  const std::string shown(text->data(), text->size());
  // MAX_OUTPUT_TOKENS is a count, not a secret.
  const bool number = !shown.empty() && shown.find_first_not_of("0123456789") == std::string::npos;
  if (is_secret_name(name) && !number) return true;
  const Redactor redactor(std::vector<std::string>{}, {{std::string(name), shown}});
  return redactor.redact(shown) != shown;
}

void mask_environment(json::value* agent) {
  json::value* env = agent && agent->is_object() ? agent->get_object().if_contains("env") : nullptr;
  if (!env || !env->is_object()) return;
  for (auto& variable : env->get_object()) {
    if (is_secret(variable.key(), variable.value())) variable.value() = "***";
  }
}

}  // namespace

json::value masked_settings(const json::value& settings) {
  json::value masked = settings;
  json::object* root = masked.if_object();
  if (!root) return masked;
  mask_environment(root->if_contains("agent"));
  if (json::value* agents = root->if_contains("agents"); agents && agents->is_object()) {
    for (auto& agent : agents->get_object()) mask_environment(&agent.value());
  }
  return masked;
}

}  // namespace ralph::cli
