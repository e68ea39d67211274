#include "plan/marker.h"

#include <limits>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"
#include "os/process_tree.h"
#include "os/scratch_folder_for_tests.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

Marker full_marker() {
  Marker marker;
  marker.timestamp = "2026-11-15T10:30:00.000Z";
  marker.pid = 12345;
  marker.pid_start = 987654;
  marker.max_iterations = 15;
  marker.run_id = "20261115-103000-1a2b";
  marker.ralph_dir = "/home/me/a \"b\"/ralph";
  marker.skip_review = true;
  marker.review_cap = 7;
  marker.iteration = 3;
  marker.iteration_mode = Mode::kReviewFix;
  marker.story = "US-2";
  marker.snapshot = before_from(list({story("US-2", rejected(2)), story("US-1", approved()), story("x y\n")}));
  return marker;
}

TEST(Marker, ComesBackAsItWasWritten) {
  const Marker marker = full_marker();
  const auto read = marker_from(to_text(marker), "m");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->timestamp, marker.timestamp);
  EXPECT_EQ(read->pid, 12345);
  EXPECT_EQ(read->pid_start, 987654U);
  EXPECT_EQ(read->max_iterations, 15);
  EXPECT_EQ(read->run_id, marker.run_id);
  EXPECT_EQ(read->ralph_dir, marker.ralph_dir);
  EXPECT_TRUE(read->skip_review);
  EXPECT_EQ(read->review_cap, 7);
  EXPECT_EQ(read->iteration, 3);
  EXPECT_EQ(read->iteration_mode, Mode::kReviewFix);
  EXPECT_EQ(read->story, "US-2");
  ASSERT_TRUE(read->snapshot);
  EXPECT_EQ(read->snapshot->order, marker.snapshot->order);
  EXPECT_EQ(read->snapshot->stories.at("US-2").review.status, ReviewStatus::kChangesRequested);
  EXPECT_EQ(read->snapshot->stories.at("US-2").review.count, 2);
  EXPECT_TRUE(read->snapshot->stories.at("US-1").review.passes);
  EXPECT_EQ(to_text(*read), to_text(marker));
}

TEST(Marker, ASnapshotKnowsWhatItDoesNotKnow) {
  const auto read = marker_from(to_text(full_marker()), "m");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->snapshot->stories.at("US-2").complete);
  EXPECT_FALSE(read->snapshot->verify_commands);
  EXPECT_FALSE(read->snapshot->branch);
}

TEST(Marker, IsWrittenInTheSeedsOwnWords) {
  Marker marker = full_marker();
  marker.snapshot = before_from(list({story("US-001"), story("US-002", approved())}));
  const json::value value = parse_json(to_text(marker), "m").value();
  for (const char* key : {"timestamp", "pid", "max_iterations", "mode", "skipReview", "reviewCap", "iterationMode",
                          "preIterationSnapshot"})
    EXPECT_NE(find(value, key), nullptr) << key;
  EXPECT_EQ(json::serialize(*find(value, "preIterationSnapshot")),
            R"({"US-001":{"passes":false,"reviewStatus":null,"reviewCount":0},)"
            R"("US-002":{"passes":true,"reviewStatus":"approved","reviewCount":1}})");
}

TEST(Marker, TheSeedsOwnIsRead) {
  const auto marker = marker_from(R"({
    "timestamp": "2025-06-15T10:30:00Z",
    "pid": 12345,
    "max_iterations": 15,
    "mode": "sandbox",
    "skipReview": false,
    "reviewCap": 5,
    "iterationMode": "implement",
    "preIterationSnapshot": {
      "US-001": { "passes": false, "reviewStatus": null, "reviewCount": 0 },
      "US-002": { "passes": true, "reviewStatus": "approved", "reviewCount": 1 }
    }
  })",
                                  "m");
  ASSERT_TRUE(marker) << marker.error().message;
  EXPECT_EQ(marker->pid, 12345);
  EXPECT_EQ(marker->pid_start, 0U);
  EXPECT_EQ(marker->run_id, "");
  EXPECT_EQ(marker->iteration_mode, Mode::kImplement);
  EXPECT_FALSE(marker->skip_review);
  ASSERT_TRUE(marker->snapshot);
  EXPECT_EQ(marker->snapshot->order, (std::vector<std::string>{"US-001", "US-002"}));
  EXPECT_EQ(marker->snapshot->stories.at("US-001").review, Review{});
  EXPECT_EQ(marker->snapshot->stories.at("US-002").review, approved());
}

TEST(Marker, BeforeTheFirstIterationItHasNoSnapshot) {
  Marker marker;
  const auto read = marker_from(to_text(marker), "m");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->snapshot);
  EXPECT_FALSE(read->iteration_mode);
}

TEST(Marker, OddValuesAreNotBelieved) {
  const auto marker = marker_from(R"({"pid": "1", "pidStart": -5, "reviewCap": null, "skipReview": "true",
    "iterationMode": "approve everything", "timestamp": 7, "preIterationSnapshot": {"A": null, "B": {"passes": 1,
    "reviewStatus": "done", "reviewCount": -9}, "C": {"reviewCount": 9223372036854775807, "reviewStatus": "needs_review"}}})",
                                  "m");
  ASSERT_TRUE(marker) << marker.error().message;
  EXPECT_EQ(marker->pid, 0);
  EXPECT_EQ(marker->review_cap, 5);
  EXPECT_FALSE(marker->skip_review);
  EXPECT_FALSE(marker->iteration_mode);
  EXPECT_EQ(marker->snapshot->stories.at("A").review, Review{});
  EXPECT_EQ(marker->snapshot->stories.at("B").review, Review{});
  EXPECT_EQ(marker->snapshot->stories.at("C").review, waiting(1'000'000)) << "far from any overflow";
  EXPECT_FALSE(marker_from(R"({"preIterationSnapshot": [1]})", "m")->snapshot);
}

TEST(Marker, AnythingElseIsRefusedWithAdvice) {
  for (const char* text : {"", "x", "{", "[]", "null", "12345", R"({"pid": 1, "pid": 2})", "\xff"}) {
    const auto marker = marker_from(text, "/p/.ralph-active");
    ASSERT_FALSE(marker) << text;
    EXPECT_EQ(marker.error().kind, ErrorKind::kInput);
    EXPECT_TRUE(says(marker.error().message, "/p/.ralph-active")) << marker.error().message;
    EXPECT_TRUE(says(marker.error().message, "remove it if no plan run is under way")) << marker.error().message;
  }
}

// The pid of a reaped process. The kernel does not reuse it for a while.
int pid_of_the_dead() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return child;
}

Marker of_process(std::int64_t pid, unsigned long long start) {
  Marker marker;
  marker.pid = pid;
  marker.pid_start = start;
  return marker;
}

TEST(IsLive, GoesByThePidAndWhenItsProcessStarted) {
  const int self = ::getpid();
  const unsigned long long start = start_time_of(self);
  ASSERT_NE(start, 0U);
  EXPECT_TRUE(is_live(of_process(self, start)));
  EXPECT_TRUE(is_live(of_process(self, 0))) << "the seed's marker tells no start time";
  EXPECT_FALSE(is_live(of_process(self, start + 1))) << "another process has this pid now";
  EXPECT_FALSE(is_live(of_process(pid_of_the_dead(), 0)));
  EXPECT_FALSE(is_live(of_process(pid_of_the_dead(), start)));
  EXPECT_FALSE(is_live(of_process(0, 0))) << "it is nobody's";
  EXPECT_FALSE(is_live(of_process(4'294'967'296 + self, 0))) << "no pid is that large";
  EXPECT_FALSE(is_live(of_process(std::numeric_limits<std::int64_t>::max(), 0)));
}

class MarkerFileTest : public testing::Test {
 protected:
  std::string path() const { return folder_ / kMarkerFile; }
  ScratchFolder folder_;
};

TEST_F(MarkerFileTest, IsReadWhereItLies) {
  EXPECT_FALSE(read_marker(folder_.path()).value());
  EXPECT_FALSE(live_marker(folder_.path()).value());
  ScratchFolder::write(path(), to_text(of_process(::getpid(), 0)));
  EXPECT_EQ(read_marker(folder_.path()).value()->pid, ::getpid());
  EXPECT_EQ(live_marker(folder_.path()).value()->pid, ::getpid());
}

TEST_F(MarkerFileTest, AStaleOneIsThereButNotLive) {
  ScratchFolder::write(path(), to_text(of_process(::getpid(), 1)));
  EXPECT_TRUE(read_marker(folder_.path()).value());
  EXPECT_FALSE(live_marker(folder_.path()).value());
}

TEST_F(MarkerFileTest, IsNotFollowedElsewhere) {
  ScratchFolder::write(folder_ / "other", to_text(of_process(::getpid(), 0)));
  ASSERT_EQ(::symlink((folder_ / "other").c_str(), path().c_str()), 0);
  const auto linked = read_marker(folder_.path());
  ASSERT_FALSE(linked);
  EXPECT_TRUE(says(linked.error().message, "is not a plain file")) << linked.error().message;
  EXPECT_FALSE(live_marker(folder_.path()));
}

TEST_F(MarkerFileTest, GarbageIsAnErrorThatNamesTheFile) {
  ScratchFolder::write(path(), "garbage");
  const auto marker = live_marker(folder_.path());
  ASSERT_FALSE(marker);
  EXPECT_TRUE(says(marker.error().message, path())) << marker.error().message;
}

TEST_F(MarkerFileTest, IsRemovedWhateverBecameOfIt) {
  ScratchFolder::write(path(), "garbage");
  remove_marker(folder_.path());
  EXPECT_FALSE(std::filesystem::exists(path()));
  remove_marker(folder_.path());
}

}  // namespace
}  // namespace ralph
