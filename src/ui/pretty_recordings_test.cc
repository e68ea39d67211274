// Formats every recording of a real agent for people. The expected texts are in tests/fixtures/pretty and were reviewed
// by a person. RALPH_UPDATE_PRETTY=1 rewrites them; review them before committing.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"
#include "agents/registry.h"
#include "ui/event_formatter.h"

namespace ralph {
namespace {

std::string pretty(const Recording& recording) {
  ::setenv("TZ", "UTC", 1);  // reset times are shown in local time
  ::tzset();
  Style style;
  style.unicode = true;
  std::string text;
  const FixedClock clock(kRecordingTime);  // recordings don't age
  EventFormatter formatter({}, style, [&](std::string_view bytes) { text += bytes; }, [&] { return clock.wall(); });
  const auto stream = make_json_stream(make_line_parser(recording.agent, {}, &clock));
  stream->feed(recording.text, formatter);
  stream->finish(formatter);
  formatter.finish();
  return text;
}

TEST(PrettyRecordings, LookAsAPersonHasReadThem) {
  const bool update = std::getenv("RALPH_UPDATE_PRETTY") != nullptr;
  for (const Recording& recording : all_recordings()) {
    const auto path = fixtures_folder() / "pretty" / recording.agent / (recording.name + ".txt");
    if (update) {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << pretty(recording);
    } else {
      EXPECT_EQ(pretty(recording), read_whole(path)) << recording.agent << "/" << recording.name;
    }
  }
}

}  // namespace
}  // namespace ralph
