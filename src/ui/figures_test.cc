#include "ui/figures.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(Figures, CountsAreShort) {
  struct Row {
    std::int64_t count;
    const char* text;
  };
  const Row rows[] = {{-5, "0"},
                      {0, "0"},
                      {999, "999"},
                      {1000, "1K"},
                      {1049, "1K"},
                      {1234, "1.2K"},
                      {9949, "9.9K"},
                      {9950, "10K"},
                      {45'000, "45K"},
                      {850'400, "850K"},
                      {999'499, "999K"},
                      {999'500, "1M"},
                      {1'200'000, "1.2M"},
                      {12'345'678, "12M"},
                      {3'000'000'000, "3B"},
                      {4'000'000'000'000, "4000B"}};
  for (const Row& row : rows) EXPECT_EQ(human_count(row.count), row.text) << row.count;
  EXPECT_EQ(human_count(std::numeric_limits<std::int64_t>::max()), "9223372037B");
}

TEST(Figures, AMomentOfAnotherDayHasItsDate) {
  ::setenv("TZ", "UTC-2", 1);  // two hours east
  ::tzset();
  const WallTime now(Milliseconds(1'794'774'153'000));  // 2026-11-15T20:22:33Z
  EXPECT_EQ(time_of_day(now), "22:22:33");
  EXPECT_EQ(moment(now + std::chrono::minutes(90), now), "23:52");
  EXPECT_EQ(moment(now + std::chrono::minutes(100), now), "2026-11-16 00:02");
  EXPECT_EQ(moment(now + std::chrono::years(1), now), "2027-11-16 04:11");
  ::unsetenv("TZ");
  ::tzset();
}

}  // namespace
}  // namespace ralph
