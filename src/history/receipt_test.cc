#include "history/receipt.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

Receipt receipt_of(std::initializer_list<record::Body> bodies) {
  Receipt receipt;
  std::int64_t sequence = 0;
  for (const record::Body& body : bodies) receipt.add({++sequence, WallTime(Milliseconds(sequence * 1000)), body});
  return receipt;
}

record::RunStarted run_started(std::string commit = "") {
  record::RunStarted start;
  start.run_id = "20261115-202233-7f3a";
  start.way = WayIn::kPrompt;
  start.prompt = "a | table\n# and a heading";
  start.ralph_version = "1";
  start.commit = std::move(commit);
  return start;
}

record::RunEnded complete() {
  record::RunEnded end;
  end.status = StopStatus::kComplete;
  end.commit = "bbb";
  return end;
}

TEST(Receipt, HasTheCommitsOfBothEnds) {
  const json::value receipt = receipt_of({run_started("aaa"), complete()}).to_json("hash");
  EXPECT_EQ(to_compact_json(receipt.at("commits")), R"({"before":"aaa","after":"bbb"})");
  EXPECT_EQ(to_compact_json(receipt.at("journal")), R"({"records":2,"sha256":"hash"})");
}

TEST(Receipt, OfARunThatGoesOnHasNoEnd) {
  record::RunResumed resumed;
  resumed.ralph_version = "2";
  EXPECT_TRUE(receipt_of({run_started(), complete()}).has_end());
  EXPECT_FALSE(receipt_of({run_started(), complete(), resumed}).has_end());
  const json::value both = receipt_of({run_started(), complete(), resumed, complete()}).to_json("");
  EXPECT_EQ(to_compact_json(both.at("versions").at("ralph")), R"(["1","2"])");
}

TEST(Receipt, UnknownCountsAreMissingNotZero) {
  record::GuardrailEnded known, unknown;
  known.tests_passed = 0;
  const json::value receipt = receipt_of({run_started(), known, unknown, complete()}).to_json("");
  const json::array& checks = receipt.at("checks").as_array();
  EXPECT_EQ(checks.at(0).at("testsPassed").as_int64(), 0);
  EXPECT_FALSE(checks.at(1).as_object().contains("testsPassed"));
}

TEST(Receipt, IsTheSameForTheSameRecords) {
  const auto once = to_pretty_json(receipt_of({run_started(), complete()}).to_json("x"));
  EXPECT_EQ(once, to_pretty_json(receipt_of({run_started(), complete()}).to_json("x")));
}

TEST(ReceiptPage, ShowsWhatAnAgentWroteAsPlainText) {
  const std::string page = receipt_page(receipt_of({run_started(), complete()}).to_json(""));
  EXPECT_NE(page.find("a \\| table \\# and a heading"), std::string::npos) << page;
  EXPECT_EQ(page.find("\n# and a heading"), std::string::npos);
}

}  // namespace
}  // namespace ralph
