// Converts the `output` settings to options of the formatter and the console.
#pragma once

#include "settings/settings.h"
#include "ui/event_formatter.h"
#include "ui/style.h"

namespace ralph::cli {

// The settings take precedence over the terminal and the environment.
Style with_output_settings(Style style, const OutputSettings& output);

FormatOptions format_options(const OutputSettings& output, const Style& style);

}  // namespace ralph::cli
