// SARIF 2.1, from any tool.
#pragma once

#include "checks/diagnostics/collector.h"

namespace ralph::diagnostics {

// The document is on standard output. Results of kind "pass" (or any but "fail" and none) and suppressed ones don't
// count; a missing level is the rule's default, else warning; URIs are decoded.
ParsedOutput parse_sarif(const ToolOutput& output);

// A URI of a file as a path: "file:///a%20b.c" is "/a b.c", "src/a.c" stays.
std::string path_of_uri(std::string_view uri);

}  // namespace ralph::diagnostics
