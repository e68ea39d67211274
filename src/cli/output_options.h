// From the settings `output` to what the formatter and the console are told.
#pragma once

#include "settings/settings.h"
#include "ui/event_formatter.h"
#include "ui/style.h"

namespace ralph::cli {

// A choice in the settings outranks what the terminal and the environment suggest.
Style with_output_settings(Style style, const OutputSettings& output);

FormatOptions format_options(const OutputSettings& output, const Style& style);

}  // namespace ralph::cli
