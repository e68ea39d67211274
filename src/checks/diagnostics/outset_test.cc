#include "checks/diagnostics/outset.h"

#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"

namespace ralph::diagnostics {
namespace {

class OutsetTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text, unsigned mode = 0644) const {
    ASSERT_TRUE(make_directories(parent_path(join_path(root_, path))));
    ASSERT_TRUE(replace_file(join_path(root_, path), text, mode));
  }
  ProjectView view(const Outset& outset = {}) const { return {root_, Environment(), {}, outset.trusted()}; }
  std::vector<PlannedCollector> planned(const ProjectView& project) const {
    CollectRequest request;
    request.only = {"ruff"};
    return plan_collectors(project, request);
  }
  Outset take() const {
    const ProjectView project = view();
    return outset_of(project, planned(project));
  }
  // "path: what"
  std::vector<std::string> changes(Outset& outset) const {
    const ProjectView project = view(outset);
    std::vector<PlannedCollector> now = planned(project);
    std::vector<std::string> found;
    for (const SuspectFile& file : compare_with_outset(outset, project, now, "run").changed)
      found.push_back(fmt::format("{}: {}", file.path, file.what));
    return found;
  }
  std::string missing(Outset& outset) const {
    const ProjectView project = view(outset);
    std::vector<PlannedCollector> now = planned(project);
    compare_with_outset(outset, project, now, "run");
    return now.empty() ? "" : now.front().plan.missing;
  }

  const std::string root_ =
      testing::TempDir() + "outset_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

using Lines = std::vector<std::string>;

TEST_F(OutsetTest, NothingHasChanged) {
  write("a.py", "x = 1\n");
  write("ruff.toml", "");
  write(".venv/bin/ruff", "#!/bin/sh\n", 0755);
  Outset outset = take();
  EXPECT_EQ(changes(outset), Lines{});
  EXPECT_EQ(missing(outset), "");
}

TEST_F(OutsetTest, ConfigurationIsToldOncePerVersionAndFound) {
  write("a.py", "x = 1\n");
  write("setup.cfg", "");  // ruff does not read it
  Outset outset = take();
  write("deep/down/.ruff.toml", "exclude = []\n");
  write("setup.cfg", "[mypy]\n");
  write(".ruff_cache/.gitignore", "*\n");
  EXPECT_EQ(changes(outset), Lines{"deep/down/.ruff.toml: created"});
  EXPECT_EQ(changes(outset), Lines{});
  write("deep/down/.ruff.toml", "exclude = ['a.py']\n");
  write(".gitignore", "a.py\n");
  EXPECT_EQ(changes(outset), (Lines{".gitignore: created", "deep/down/.ruff.toml: created"}));
}

TEST_F(OutsetTest, ConfigurationAboveTheProjectIsToldToo) {
  write("below/a.py", "x = 1\n");
  write("pyproject.toml", "");
  const auto changes_below = [&](Outset* outset) {
    const ProjectView project(join_path(root_, "below"), Environment(), {});
    std::vector<PlannedCollector> now = planned(project);
    if (!outset->taken) *outset = outset_of(project, now);
    Lines found;
    for (const SuspectFile& file : compare_with_outset(*outset, project, now, "run").changed)
      found.push_back(fmt::format("{}: {}", file.path, file.what));
    return found;
  };
  Outset outset;
  EXPECT_EQ(changes_below(&outset), Lines{});
  write("ruff.toml", "exclude = ['a.py']\n");
  std::filesystem::remove(join_path(root_, "pyproject.toml"));
  EXPECT_EQ(changes_below(&outset), (Lines{"../ruff.toml: created", "../pyproject.toml: deleted"}));
}

TEST_F(OutsetTest, OnlyFilesThatSaidGeneratedBeforeAreLeftOut) {
  write("a.py", "x = 1\n");
  write("old.py", "# @generated\n");
  Outset outset = take();
  write("a.py", "# @generated\n");
  write("new.py", "# @generated\n");
  EXPECT_EQ(changes(outset), (Lines{"a.py: marked as generated", "new.py: marked as generated"}));
  EXPECT_FALSE(view(outset).leaves_out("a.py"));
  EXPECT_FALSE(view(outset).leaves_out("new.py"));
  EXPECT_TRUE(view(outset).leaves_out("old.py"));
  EXPECT_TRUE(view().leaves_out("new.py")) << "where nothing is known of before";
}

TEST_F(OutsetTest, AProgramOfTheProjectHasToBeTheOneThatWasThere) {
  write("a.py", "x = 1\n");
  write(".venv/bin/ruff", "#!/bin/sh\necho '[]'\n", 0755);
  Outset outset = take();
  write(".venv/bin/ruff", "#!/bin/sh\necho '[]'\n", 0755);  // reinstalled
  EXPECT_EQ(missing(outset), "");
  write(".venv/bin/ruff", "#!/bin/sh\necho '[] '\n", 0755);
  EXPECT_NE(missing(outset).find("is not the program that was there when the run began"), std::string::npos);
}

TEST_F(OutsetTest, AProgramThatIsNewIsNotBelieved) {
  write("a.py", "x = 1\n");
  Outset outset = take();
  write("node_modules/.bin/ruff", "#!/bin/sh\necho '[]'\n", 0755);
  EXPECT_NE(missing(outset).find("node_modules/.bin/ruff is not the program"), std::string::npos);
}

TEST_F(OutsetTest, AToolIsMissedIfWhatMadeItApplyIsGoneAndItsSourcesAreNot) {
  write("a.py", "x = 1\n");
  write("mypy.ini", "[mypy]\n");
  const auto all = [&](const ProjectView& project) {
    CollectRequest request;
    request.tests = request.security = false;
    return plan_collectors(project, request);
  };
  const ProjectView before = view();
  const Outset outset = outset_of(before, all(before));
  const auto missed = [&](bool room) {
    Outset known = outset;
    const ProjectView project = view(known);
    std::vector<PlannedCollector> now = all(project);
    Lines why;
    for (const Unjudged& one : compare_with_outset(known, project, now, "run", room).unjudged) why.push_back(one.why);
    return why;
  };
  EXPECT_EQ(missed(false), Lines{});
  std::filesystem::remove(join_path(root_, "mypy.ini"));
  EXPECT_EQ(missed(false),
            Lines{"mypy: it was asked when the run began, and does not apply now: mypy.ini was deleted"});
  EXPECT_EQ(missed(true), Lines{}) << "a checkout has only what was committed";
  std::filesystem::remove(join_path(root_, "a.py"));
  EXPECT_EQ(missed(false), Lines{});
}

TEST_F(OutsetTest, FewerTestsThanAtFirstAreTold) {
  const auto report = [](std::optional<TestCounts> counts, CollectorStatus status = CollectorStatus::kClean) {
    Report made;
    CollectorResult result;
    result.name = "pytest", result.kind = Kind::kTests, result.status = status, result.tests = counts;
    made.add(result, {});
    return made;
  };
  const auto passed = [](int number) {
    TestCounts counts;
    counts.passed = number;
    return counts;
  };
  Outset outset;
  EXPECT_FALSE(fewer_tests(outset, report(passed(1)), "run"));
  remember_found(outset, report(std::nullopt));
  EXPECT_EQ(outset.tests, 0) << "a runner that does not count";
  remember_found(outset, report(passed(1), CollectorStatus::kTimedOut));
  EXPECT_EQ(outset.tests, 0) << "and one that did not finish";
  remember_found(outset, report(passed(3)));
  remember_found(outset, report(passed(5)));
  EXPECT_FALSE(fewer_tests(outset, report(passed(3)), "run"));
  EXPECT_EQ(fewer_tests(outset, report(passed(2)), "run").value().why,
            "fewer tests: 2 ran, and 3 did when the run began");
  EXPECT_FALSE(fewer_tests(outset, report(std::nullopt), "run"));
}

class SetBackTest : public OutsetTest {
 protected:
  void SetUp() override {
    OutsetTest::SetUp();
    write("Cargo.toml", "[package]\n");
    write("src/lib.rs", "fn good() {}\n");
    write(".venv/bin/cargo", "#!/bin/sh\n", 0755);
    const ProjectView before = view();
    outset_ = outset_of(before, plan_collectors(before, request_));
  }

  void set_time(const std::string& path, time_t seconds) const {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, join_path(root_, path).c_str(), times, 0), 0);
  }

  // Called before the tools run and after they have run.
  Lines unjudged() {
    const ProjectView project = view(outset_);
    std::vector<PlannedCollector> now = plan_collectors(project, request_);
    Lines found;
    for (const Unjudged& one : compare_with_outset(outset_, project, now, "run").unjudged) found.push_back(one.why);
    remember_times(outset_, project, now);
    return found;
  }

  const Lines kSetBack{
      "src/lib.rs: it was changed, but its time says that it was not, and cargo-check goes by that; touch it"};
  const time_t kLongAgo = 1'000'000'000, kLater = ::time(nullptr) + 60;
  CollectRequest request_{.only = {"cargo-check"}};
  Outset outset_;
};

TEST_F(SetBackTest, ANewTextWithAnOldTimeIsNotJudgedUntilItIsTouched) {
  write("src/lib.rs", "fn bad( {}\n");
  set_time("src/lib.rs", kLongAgo);
  EXPECT_EQ(unjudged(), kSetBack);
  EXPECT_EQ(unjudged(), kSetBack) << "the tool has looked at it, and has not looked";
  set_time("src/lib.rs", kLater);
  EXPECT_EQ(unjudged(), Lines{});
  EXPECT_EQ(unjudged(), Lines{});
}

TEST_F(SetBackTest, TheTimeCountsFromTheLastCheckNotFromTheFirst) {
  outset_.times.looked -= 60'000;  // the loop has been running for a minute
  const time_t between = ::time(nullptr) - 30;
  write("src/lib.rs", "fn better() {}\n");
  EXPECT_EQ(unjudged(), Lines{});
  write("src/lib.rs", "fn bad( {}\n");
  set_time("src/lib.rs", between);
  EXPECT_EQ(unjudged(), kSetBack) << "after the loop began, but before the last check";
}

TEST_F(SetBackTest, AnOldTextMayHaveAnOldTime) {
  set_time("src/lib.rs", kLongAgo);
  ASSERT_EQ(::chmod(join_path(root_, "src/lib.rs").c_str(), 0755), 0);
  EXPECT_EQ(unjudged(), Lines{});
}

TEST_F(SetBackTest, ATextThatIsPutBackIsWhatTheToolSaw) {
  write("src/lib.rs", "fn bad( {}\n");
  set_time("src/lib.rs", kLongAgo);
  EXPECT_EQ(unjudged(), kSetBack);
  write("src/lib.rs", "fn good() {}\n");
  set_time("src/lib.rs", kLongAgo);
  EXPECT_EQ(unjudged(), Lines{});
}

// A ralph program starts the server: what counts is the server's program in the project.
TEST_F(OutsetTest, ALanguageServersProgramIsTheOneThatWasThere) {
  write("a.c", "int x;\n");
  write(".venv/bin/clangd", "#!/bin/sh\n", 0755);
  CollectRequest request;
  request.servers = {"clangd"};
  request.security = request.tests = false;
  const ProjectView before = view();
  Outset outset = outset_of(before, plan_collectors(before, request));
  const auto missing_now = [&] {
    const ProjectView project = view(outset);
    std::vector<PlannedCollector> now = plan_collectors(project, request);
    compare_with_outset(outset, project, now, "run");
    return now.empty() ? "nothing is planned" : now.front().plan.missing;
  };
  EXPECT_EQ(missing_now(), "");
  write(".venv/bin/clangd", "#!/bin/sh\nexit 0\n", 0755);
  EXPECT_NE(missing_now().find("clangd is not the program that was there"), std::string::npos) << missing_now();
}

}  // namespace
}  // namespace ralph::diagnostics
