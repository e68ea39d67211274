// Converts the `output` settings to options of the formatter and the console.
#pragma once

#include <unistd.h>

#include "os/environment.h"
#include "settings/settings.h"
#include "ui/event_formatter.h"
#include "ui/style.h"

namespace ralph::cli {

// The settings take precedence over the terminal and the environment.
inline Style with_output_settings(Style style, const OutputSettings& output) {
  style.color = output.color.value_or(style.color);
  style.unicode = output.emoji.value_or(style.unicode);
  return style;
}

inline FormatOptions format_options(const OutputSettings& output, const Style& style) {
  return {.emoji = output.emoji.value_or(style.unicode),
          .timestamps = output.timestamps,
          .max_output_lines = static_cast<size_t>(output.max_tool_lines),
          .max_output_chars = static_cast<size_t>(output.max_tool_chars),
          .thinking = output.thinking};
}

// The style of a command that only prints, from the settings in the current folder. Settings that can't be read are
// ignored here; other commands report them.
inline Style style_of_output(const Environment& environment) {
  const Style style = style_for(STDOUT_FILENO, environment);
  const auto loaded = load_settings(".");
  return loaded ? with_output_settings(style, loaded->settings.output) : style;
}

}  // namespace ralph::cli
