// What `ralph check` prints for people: a line per collector, the worst findings, a summary.
#pragma once

#include <string>
#include <string_view>

#include "checks/diagnostics/report.h"
#include "ui/style.h"

namespace ralph::cli {

// `instead` explains why nothing ran; empty: no known tool applies here.
std::string check_text(const diagnostics::Report& report, const Style& style, std::string_view instead);

}  // namespace ralph::cli
