#include "base/time.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

using namespace std::chrono_literals;

WallTime at(long long milliseconds) {
  return WallTime(Milliseconds(milliseconds));
}

TEST(WallTimeText, IsUtcWithMilliseconds) {
  EXPECT_EQ(to_iso8601(at(1'794'774'153'123)), "2026-11-15T20:22:33.123Z");
  EXPECT_EQ(to_iso8601(at(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso8601(at(1'709'164'800'007)), "2024-02-29T00:00:00.007Z");
  EXPECT_EQ(to_iso8601(at(-1)), "1969-12-31T23:59:59.999Z");
}

TEST(WallTimeText, IsReadAsItIsWritten) {
  for (const long long time :
       {1'794'774'153'123LL, 0LL, 1'709'164'800'007LL, -1LL, 253'402'300'799'999LL, -62'135'596'800'000LL})
    EXPECT_EQ(from_iso8601(to_iso8601(at(time))), at(time)) << time;
}

TEST(WallTimeText, IsRefusedIfThereIsNoSuchTimeOrItHasAnotherForm) {
  for (const std::string_view good :
       {"2024-02-29T00:00:00.000Z", "2000-02-29T23:59:59.999Z", "2026-12-31T00:00:00.000Z"})
    EXPECT_TRUE(from_iso8601(good)) << good;
  for (const std::string_view bad : {"",
                                     "2026-99-01T00:00:00.000Z",
                                     "2026-00-01T00:00:00.000Z",
                                     "2026-01-00T00:00:00.000Z",
                                     "2026-04-31T00:00:00.000Z",
                                     "2026-02-29T00:00:00.000Z",
                                     "1900-02-29T00:00:00.000Z",
                                     "2026-01-01T24:00:00.000Z",
                                     "2026-01-01T00:60:00.000Z",
                                     "2026-06-30T23:59:60.000Z",
                                     "2026-01-01T00:00:00.000",
                                     "2026-01-01T00:00:00.000+",
                                     "2026-01-01T00:00:00Z",
                                     "2026-01-01T00:00:00.00Z",
                                     "2026-01-01T00:00:00.000ZZ",
                                     " 2026-01-01T00:00:00.00Z",
                                     "2026-01-01 00:00:00.000Z",
                                     "+026-01-01T00:00:00.000Z",
                                     "2026-1-001T00:00:00.000Z",
                                     "2026-01-01T00:00:00,000Z"})
    EXPECT_FALSE(from_iso8601(bad)) << bad;
}

TEST(WallTimeText, HasACompactForm) {
  EXPECT_EQ(to_compact_utc(at(1'794'774'153'999)), "20261115-202233");
  EXPECT_EQ(to_compact_utc(at(1'709'164'800'000)), "20240229-000000");
}

TEST(HumanDuration, ReadsWellAtEverySize) {
  struct Row {
    Milliseconds duration;
    std::string_view text;
  };
  const Row rows[] = {
      {0ms, "0.0s"},    {49ms, "0.0s"},      {50ms, "0.1s"},      {400ms, "0.4s"},    {949ms, "0.9s"},
      {950ms, "1.0s"},  {12'300ms, "12.3s"}, {59'949ms, "59.9s"}, {59'950ms, "1m0s"}, {60s, "1m0s"},
      {367s, "6m7s"},   {367'499ms, "6m7s"}, {367'500ms, "6m8s"}, {3'599s, "59m59s"}, {3'599'500ms, "1h00m"},
      {3720s, "1h02m"}, {3779s, "1h02m"},    {100h, "100h00m"},
  };
  for (const Row& row : rows) EXPECT_EQ(human_duration(row.duration), row.text) << row.duration.count();
}

TEST(ParseDuration, ReadsWhatPeopleType) {
  EXPECT_EQ(parse_duration("10ms"), Milliseconds(10));
  EXPECT_EQ(parse_duration("5s"), Milliseconds(5000));
  EXPECT_EQ(parse_duration("10m"), Milliseconds(600000));
  EXPECT_EQ(parse_duration("1.5h"), Milliseconds(5400000));
  EXPECT_EQ(parse_duration("1m30s"), Milliseconds(90000));
  EXPECT_EQ(parse_duration("0s"), Milliseconds(0));
}

TEST(ParseDuration, RefusesAllElse) {
  for (const char* text : {"", "5", "s", "-1s", "+1s", "1x", "1 s", "s1", "1e3s", "nans", "99999999999h", "1s2", ".5s"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

}  // namespace
}  // namespace ralph
