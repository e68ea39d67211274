// Parses SARIF 2.1 from any tool.
#pragma once

#include "checks/diagnostics/collector.h"

namespace ralph::diagnostics {

// Expects the document on standard output. Results of kind "pass", "notApplicable" or "informational" and suppressed
// ones are ignored; a missing level defaults to the rule's, otherwise to warning; URIs are decoded.
ParsedOutput parse_sarif(const ToolOutput& output);

// A file URI as a path: "file:///a%20b.c" -> "/a b.c"; "src/a.c" is unchanged.
std::string path_of_uri(std::string_view uri);

}  // namespace ralph::diagnostics
