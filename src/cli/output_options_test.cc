#include "cli/output_options.h"

#include <gtest/gtest.h>

namespace ralph::cli {
namespace {

TEST(OutputOptions, TheTerminalDecidesUnlessTheSettingsDo) {
  Style style;
  style.unicode = style.color = true;
  OutputSettings output;
  EXPECT_TRUE(with_output_settings(style, output).color);
  EXPECT_TRUE(format_options(output, style).emoji);
  EXPECT_FALSE(format_options(output, Style{}).emoji);
  output.color = output.emoji = false;
  EXPECT_FALSE(with_output_settings(style, output).color);
  EXPECT_FALSE(with_output_settings(style, output).unicode);
  EXPECT_FALSE(format_options(output, style).emoji);
}

TEST(OutputOptions, TheDefaultsOfTheFormatterAreThoseOfTheSettings) {
  const FormatOptions plain, from_settings = format_options(OutputSettings{}, Style{});
  EXPECT_EQ(plain.timestamps, from_settings.timestamps);
  EXPECT_EQ(plain.max_output_lines, from_settings.max_output_lines);
  EXPECT_EQ(plain.max_output_chars, from_settings.max_output_chars);
  EXPECT_EQ(plain.thinking, from_settings.thinking);
}

}  // namespace
}  // namespace ralph::cli
