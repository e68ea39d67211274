// Every recording of a real agent, as events. The expected events are in tests/fixtures/events and were reviewed by a
// person. RALPH_UPDATE_EVENTS=1 rewrites them; review them again before committing.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"

namespace ralph {
namespace {

class RecordingsTest : public testing::Test {
 protected:
  RecordingsTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST_F(RecordingsTest, AreThere) {
  EXPECT_GE(all_recordings().size(), 83U);
}

TEST_F(RecordingsTest, GiveTheReviewedEvents) {
  const bool update = std::getenv("RALPH_UPDATE_EVENTS") != nullptr;
  for (const Recording& recording : all_recordings()) {
    const auto path = fixtures_folder() / "events" / recording.agent / (recording.name + ".jsonl");
    const EventLines events = events_of(recording.agent, recording.text);
    if (update) {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << events.text;
    } else {
      EXPECT_EQ(events.text, read_whole(path)) << recording.agent << "/" << recording.name;
    }
  }
}

TEST_F(RecordingsTest, LeaveNothingUnexplained) {
  for (const Recording& recording : all_recordings()) {
    EXPECT_EQ(events_of(recording.agent, recording.text).unknown, 0) << recording.agent << "/" << recording.name;
  }
}

TEST_F(RecordingsTest, SpentAddsUpToTheLastResult) {
  for (const Recording& recording : all_recordings()) {
    const EventLines events = events_of(recording.agent, recording.text);
    if (events.result_tokens == Tokens()) continue;  // no result, or failed before it began
    EXPECT_EQ(events.tokens, events.result_tokens) << recording.agent << "/" << recording.name;
    if (events.result_cost_usd) {
      EXPECT_NEAR(events.cost_usd, *events.result_cost_usd, 1e-9) << recording.agent << "/" << recording.name;
    }
  }
}

TEST_F(RecordingsTest, GiveTheSameEventsInPiecesOfAnySize) {
  for (const Recording& recording : all_recordings()) {
    const std::string whole = events_of(recording.agent, recording.text).text;
    for (const size_t piece : {1, 2, 7, 64, 1000, 4096}) {
      EXPECT_EQ(events_of(recording.agent, recording.text, piece).text, whole)
          << recording.agent << "/" << recording.name << " in pieces of " << piece;
    }
  }
}

TEST_F(RecordingsTest, GiveTheSameEventsWithWindowsLineEndsAndAByteOrderMark) {
  for (const Recording& recording : all_recordings()) {
    std::string text = "\xEF\xBB\xBF";
    for (const char c : recording.text) text += c == '\n' ? std::string("\r\n\r\n") : std::string(1, c);
    EXPECT_EQ(events_of(recording.agent, text).text, events_of(recording.agent, recording.text).text)
        << recording.agent << "/" << recording.name;
  }
}

// The fast parser and the library give the same events.
TEST_F(RecordingsTest, GiveTheSameEventsWhenTheLibraryReadsThem) {
  for (const Recording& recording : all_recordings()) {
    std::string text = recording.text;
    // The fast parser does not handle keys with escapes.
    for (size_t at = text.find("\"type\":"); at != std::string::npos; at = text.find("\"type\":", at + 1)) {
      text.replace(at, 7, "\"\\u0074ype\":");
    }
    EXPECT_EQ(events_of(recording.agent, text).text, events_of(recording.agent, recording.text).text)
        << recording.agent << "/" << recording.name;
  }
}

}  // namespace
}  // namespace ralph
