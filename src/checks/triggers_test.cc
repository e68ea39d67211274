#include "checks/triggers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "git/repository_mark.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

// A project with a repository folder, recorded when begin() is called.
class TriggersTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return join_path(folder_.path(), name); }
  void write(const std::string& name, const std::string& text, unsigned mode = 0644) {
    ASSERT_TRUE(make_directories(parent_path(at(name))));
    ::unlink(at(name).c_str());
    ASSERT_TRUE(replace_file(at(name), text));
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0);
  }
  std::string text(const std::string& name) const { return read_file(at(name)).value_or("(nothing)"); }

  void begin() {
    places_ = {{at("p/.git/config"), TriggerKind::kGitConfig, true, "git"},
               {at("p/.git/hooks"), TriggerKind::kFolder, true, "git"},
               {at("p/.git/modules"), TriggerKind::kGitFolders, true, "git"},
               {at("p/.a/settings.json"), TriggerKind::kJson, true, "an agent", {"hooks"}},
               {at("p/.a"), TriggerKind::kFolder, false, "an agent", {"rules"}},
               {at("p/.gitattributes"), TriggerKind::kAttributes, false, "git"}};
    triggers_.emplace(*Triggers::take(places_, {at("p")}, at("store")));
  }
  std::vector<std::string> seen() {
    std::vector<std::string> lines;
    for (const auto& change : triggers_->changes())
      lines.push_back(change.place.path.substr(at("p/").size()) + " " + change.what);
    return lines;
  }
  void put_back_all() {
    for (const auto& change : triggers_->changes()) {
      if (!change.place.put_back) continue;
      const Status done = triggers_->put_back(change, at("kept/" + change.place.path.substr(at("p/").size())));
      EXPECT_TRUE(done) << done.error().message;
    }
  }

  ScratchFolder folder_;
  std::vector<TriggerPlace> places_;
  std::optional<Triggers> triggers_;
};

using Lines = std::vector<std::string>;

TEST_F(TriggersTest, WhatDidNotChangeIsNotSeen) {
  write("p/.git/config", "[core]\n\tpager = less\n");
  write("p/.git/hooks/pre-commit", "mine", 0755);
  begin();
  EXPECT_EQ(seen(), Lines{});
  write("p/.git/config", "[core]\n\tpager = less\n[branch \"b\"]\n\tremote = o\n");
  write("p/.git/hooks/pre-push.sample", "a sample");
  write("p/.a/settings.json", R"({"model": "x"})");
  write("p/.a/rules/one.md", "learned");
  write("p/.gitattributes", "*.txt text\n");
  write("p/.git/modules/m/HEAD", "x");
  write("p/.git/modules/m/config", "[core]\n\tworktree = ../m\n");
  EXPECT_EQ(seen(), Lines{});
}

TEST_F(TriggersTest, HooksArePutBack) {
  write("p/.git/hooks/pre-commit", "mine", 0755);
  write("p/.git/hooks/pre-push", "mine too", 0755);
  begin();
  write("p/.git/hooks/pre-commit", "evil", 0755);
  ::unlink(at("p/.git/hooks/pre-push").c_str());
  write("p/.git/hooks/post-checkout", "evil", 0755);
  EXPECT_EQ(seen(), (Lines{".git/hooks/post-checkout created", ".git/hooks/pre-commit changed",
                           ".git/hooks/pre-push deleted"}));
  put_back_all();
  EXPECT_EQ(seen(), Lines{});
  EXPECT_EQ(text("p/.git/hooks/pre-commit"), "mine");
  EXPECT_EQ(text("p/.git/hooks/pre-push"), "mine too");
  EXPECT_TRUE(is_executable_file(at("p/.git/hooks/pre-push")));
  EXPECT_FALSE(path_exists(at("p/.git/hooks/post-checkout")));
  EXPECT_EQ(text("kept/.git/hooks/post-checkout"), "evil");
}

TEST_F(TriggersTest, AHookThatLostItsModeIsPutBack) {
  write("p/.git/hooks/pre-commit", "mine", 0755);
  begin();
  ASSERT_EQ(::chmod(at("p/.git/hooks/pre-commit").c_str(), 0644), 0);
  put_back_all();
  EXPECT_TRUE(is_executable_file(at("p/.git/hooks/pre-commit")));
}

TEST_F(TriggersTest, OfASharedFileOnlyWhatNamesProgramsGoesBack) {
  write("p/.git/config", "[core]\n\tbare = false\n");
  write("p/.a/settings.json", "{\n  \"hooks\": {\"Stop\": 1},\n  \"model\": \"a\"\n}\n");
  begin();
  write("p/.git/config", "[core]\n\tbare = false\n\thooksPath = evil\n[user]\n\tname = T\n");
  write("p/.a/settings.json", "{\n  \"hooks\": {\"Stop\": 2},\n  \"model\": \"b\"\n}\n");
  put_back_all();
  EXPECT_EQ(seen(), Lines{});
  EXPECT_EQ(text("p/.git/config"), "[core]\n\tbare = false\n[user]\n\tname = T\n");
  EXPECT_EQ(text("p/.a/settings.json"), "{\n  \"hooks\": {\"Stop\": 1},\n  \"model\": \"b\"\n}\n");
}

TEST_F(TriggersTest, AFileThatIsNotJsonGoesBackAsAWhole) {
  write("p/.a/settings.json", R"({"hooks": 1})");
  begin();
  write("p/.a/settings.json", R"({"hooks": 2, "hooks": 1})");
  put_back_all();
  EXPECT_EQ(text("p/.a/settings.json"), R"({"hooks": 1})");
}

TEST_F(TriggersTest, AFileThatIsOnlyAboutProgramsGoesAway) {
  begin();
  write("p/.a/settings.json", R"({"hooks": 2})");
  put_back_all();
  EXPECT_FALSE(path_exists(at("p/.a/settings.json")));
}

TEST_F(TriggersTest, AFolderThatBecameALinkIsAFolderAgain) {
  write("p/.git/hooks/pre-commit", "mine", 0755);
  write("elsewhere/pre-commit", "evil", 0755);
  begin();
  ASSERT_EQ(::rename(at("p/.git/hooks").c_str(), at("p/.git/old").c_str()), 0);
  ASSERT_EQ(::symlink(at("elsewhere").c_str(), at("p/.git/hooks").c_str()), 0);
  put_back_all();
  EXPECT_TRUE(is_real_folder(at("p/.git/hooks")));
  EXPECT_EQ(text("p/.git/hooks/pre-commit"), "mine");
  EXPECT_EQ(text("elsewhere/pre-commit"), "evil");
}

TEST_F(TriggersTest, NothingIsWrittenThroughALinkThatIsNew) {
  write("elsewhere/settings.json", R"({"hooks": 2})");
  ASSERT_TRUE(make_directories(at("p")));
  begin();
  ASSERT_EQ(::symlink(at("elsewhere").c_str(), at("p/.a").c_str()), 0);
  put_back_all();
  EXPECT_FALSE(path_exists(at("p/.a")));
  EXPECT_EQ(text("elsewhere/settings.json"), R"({"hooks": 2})");
}

TEST_F(TriggersTest, ARepositoryThatIsAnotherOneIsNotMended) {
  write("p/.git/config", "[core]\n\tbare = false\n");
  begin();
  ASSERT_EQ(::rename(at("p/.git").c_str(), at("p/old").c_str()), 0);
  write("p/.git", "gitdir: /elsewhere\n");
  const auto changes = triggers_->changes();
  ASSERT_FALSE(changes.empty());
  EXPECT_FALSE(triggers_->put_back(changes[0], at("kept/x")));
  EXPECT_EQ(text("p/.git"), "gitdir: /elsewhere\n");
}

TEST_F(TriggersTest, SubmodulesAreLookedAtToo) {
  write("p/.git/modules/a/b/HEAD", "x");
  write("p/.git/modules/a/b/config", "[core]\n\tbare = false\n");
  begin();
  write("p/.git/modules/a/b/config", "[core]\n\tbare = false\n\tfsmonitor = evil\n");
  write("p/.git/modules/a/b/hooks/pre-commit", "evil", 0755);
  EXPECT_EQ(seen(), (Lines{".git/modules/a/b/config changed", ".git/modules/a/b/hooks/pre-commit created"}));
  put_back_all();
  EXPECT_EQ(seen(), Lines{});
}

TEST_F(TriggersTest, TheSettingsThatChangedAreNamed) {
  write("p/.git/config", "[core]\n\tpager = less\n[alias]\n\tx = !one\n");
  write("p/.a/settings.json", R"({"hooks": 1})");
  begin();
  write("p/.git/config", "[core]\n\thooksPath = evil\n[alias]\n\tx = !one\n[Filter \"X\"]\n\tclean = y\n");
  write("p/.a/settings.json", R"({"hooks": 2})");
  std::vector<Lines> names;
  for (const auto& change : triggers_->changes()) names.push_back(change.names);
  EXPECT_EQ(names, (std::vector<Lines>{{"hooks"}, {"core.pager", "core.hooksPath", "Filter.X.clean"}}));
}

TEST_F(TriggersTest, SettingsThatCanNotBeReadSaySo) {
  write("p/.git/config", "[core]\n\tpager = less\n");
  begin();
  write("p/.git/config", "[core\nbroken");
  EXPECT_EQ(triggers_->changes()[0].names, Lines{"it can't be read"});
}

TEST_F(TriggersTest, AFolderThatWasALinkIsThatLinkAgain) {
  write("mine/pre-commit", "mine", 0755);
  ASSERT_TRUE(make_directories(at("p/.git")));
  ASSERT_EQ(::symlink(at("mine").c_str(), at("p/.git/hooks").c_str()), 0);
  begin();
  EXPECT_EQ(seen(), Lines{});
  ASSERT_EQ(::unlink(at("p/.git/hooks").c_str()), 0);
  write("p/.git/hooks/pre-commit", "evil", 0755);
  EXPECT_EQ(seen(), Lines{".git/hooks replaced by something else"});
  put_back_all();
  EXPECT_EQ(seen(), Lines{});
  EXPECT_EQ(text("mine/pre-commit"), "mine");
  EXPECT_EQ(text("kept/.git/hooks/pre-commit"), "evil");
}

TEST_F(TriggersTest, HooksOfASubmoduleThatBecameALinkAreFoundToo) {
  write("p/.git/modules/m/HEAD", "x");
  write("evil/pre-commit", "evil", 0755);
  begin();
  ASSERT_EQ(::symlink(at("evil").c_str(), at("p/.git/modules/m/hooks").c_str()), 0);
  EXPECT_EQ(seen(), Lines{".git/modules/m/hooks created"});
  put_back_all();
  EXPECT_FALSE(path_exists(at("p/.git/modules/m/hooks")));
}

TEST_F(TriggersTest, AProgramIsOneChangeAndGoesBackAsAWhole) {
  write("p/m/agent/run", "1", 0755);
  write("p/m/agent/lib/x", "1");
  write("p/m/helper/y", "1");
  places_ = {{at("p/m/agent/run"), TriggerKind::kProgram, true, "a program", {at("p/m/agent"), at("p/m/helper")}}};
  triggers_.emplace(*Triggers::take(places_, {at("p")}, at("store")));
  EXPECT_EQ(seen(), Lines{});
  write("p/m/agent/lib/x", "2");
  write("p/m/agent/lib/z", "2");
  ASSERT_EQ(::unlink(at("p/m/helper/y").c_str()), 0);
  EXPECT_EQ(seen(), Lines{"m/agent/run changed"});
  EXPECT_EQ(triggers_->changes()[0].others.size(), 3U);
  put_back_all();
  EXPECT_EQ(seen(), Lines{});
  EXPECT_EQ(text("p/m/agent/lib/x") + text("p/m/helper/y"), "11");
  EXPECT_FALSE(path_exists(at("p/m/agent/lib/z")));
  EXPECT_EQ(text("kept/m/agent/run/m/agent/lib/z"), "2");
}

TEST_F(TriggersTest, OfAProgramWithoutACopyNothingGoesBack) {
  write("p/m/agent/run", "1", 0755);
  write("p/m/agent/x", "1");
  places_ = {{at("p/m/agent/run"), TriggerKind::kProgram, true, "a program", {at("p/m/agent")}}};
  triggers_.emplace(*Triggers::take(places_, {at("p")}, at("store")));
  write("p/m/agent/run", "2", 0755);
  write("p/m/agent/x", "2");
  for (const std::string& name : names_in(at("store"))) ::unlink(at("store/" + name).c_str());
  EXPECT_FALSE(triggers_->put_back(triggers_->changes()[0], at("kept/x")));
  EXPECT_EQ(text("p/m/agent/run") + text("p/m/agent/x"), "22");
}

TEST_F(TriggersTest, ARepositoryThatIsGoneIsTheOnlyChangeOfIt) {
  write("p/.git/HEAD", "ref: refs/heads/main\n");
  write("p/.git/objects/x", "");
  write("p/.git/config", "[core]\n\tpager = less\n");
  const RepositoryMark mark = mark_repository({at("p"), at("p/.git"), at("p/.git"), at("p/.git")});
  places_ = {
      {at("p/.git"), TriggerKind::kRepository, true, "git", {mark.git_dir, mark.common_dir, mark.folder, mark.commit}},
      {at("p/.git/config"), TriggerKind::kGitConfig, true, "git"}};
  triggers_.emplace(*Triggers::take(places_, {at("p")}, at("store")));
  EXPECT_EQ(seen(), Lines{});
  ASSERT_EQ(::rename(at("p/.git").c_str(), at("old").c_str()), 0);
  EXPECT_EQ(seen(), Lines{".git deleted"});
  EXPECT_FALSE(triggers_->put_back(triggers_->changes()[0], at("kept/x")));
  EXPECT_FALSE(path_exists(at("p/.git")));
}

TEST_F(TriggersTest, FiltersOfATreeAreOnlyShown) {
  write("p/.gitattributes", "*.txt text\n");
  begin();
  write("p/.gitattributes", "*.txt text filter=evil\n");
  EXPECT_EQ(seen(), Lines{".gitattributes changed"});
  write("p/.gitattributes", "*.txt text ident\n");
  EXPECT_EQ(seen(), Lines{".gitattributes changed"});
  EXPECT_FALSE(triggers_->changes()[0].place.put_back);
}

TEST_F(TriggersTest, ARunThatGoesOnComparesWithItsBeginning) {
  write("p/.git/hooks/pre-commit", "mine", 0755);
  begin();
  write("p/.git/hooks/pre-commit", "evil", 0755);
  auto loaded = Triggers::load(at("store"), triggers_->manifest());
  ASSERT_TRUE(loaded) << loaded.error().message;
  triggers_.emplace(*std::move(loaded));
  EXPECT_EQ(seen(), Lines{".git/hooks/pre-commit changed"});
  put_back_all();
  EXPECT_EQ(text("p/.git/hooks/pre-commit"), "mine");
  write("store/triggers.json", "{}");
  EXPECT_FALSE(Triggers::load(at("store"), triggers_->manifest()));
}

}  // namespace
}  // namespace ralph
