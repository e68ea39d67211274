// The security rules that ralph ships for ast-grep: share/rules, embedded in the program.
#pragma once

#include <string>

namespace ralph::diagnostics {

const std::string& security_rules();  // YAML documents, for --inline-rules

}  // namespace ralph::diagnostics
