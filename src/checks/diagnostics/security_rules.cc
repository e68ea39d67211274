#include "checks/diagnostics/security_rules.h"

#include <vector>

#include "base/text.h"
#include "embedded_rules.h"

namespace ralph::diagnostics {

namespace {

// The same rules for another language with the same syntax.
std::string for_language(std::string_view rules, std::string_view from, std::string_view to) {
  const auto [from_id, from_language] = std::pair(from.substr(0, from.find(' ')), from.substr(from.find(' ') + 1));
  const auto [to_id, to_language] = std::pair(to.substr(0, to.find(' ')), to.substr(to.find(' ') + 1));
  const std::string renamed = replace_all(rules, fmt::format("id: {}-", from_id), fmt::format("id: {}-", to_id));
  return replace_all(renamed, fmt::format("language: {}\n", from_language), fmt::format("language: {}\n", to_language));
}

}  // namespace

const std::string& security_rules() {
  static const std::string kAll =
      join(std::vector<std::string>{std::string(embedded::python_yml), std::string(embedded::javascript_yml),
                                    for_language(embedded::javascript_yml, "js JavaScript", "ts TypeScript"),
                                    for_language(embedded::javascript_yml, "js JavaScript", "tsx Tsx"),
                                    std::string(embedded::go_yml), std::string(embedded::rust_yml),
                                    std::string(embedded::c_yml), for_language(embedded::c_yml, "c C", "cpp Cpp"),
                                    std::string(embedded::cpp_yml)},
           "---\n");
  return kAll;
}

}  // namespace ralph::diagnostics
