#include "git/push_target.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace ralph {
namespace {

// The target for these settings, each "name=value", in order.
PushTarget target(std::vector<std::string> settings) {
  std::string listed;
  for (std::string& setting : settings) {
    setting[setting.find('=')] = '\n';
    listed += setting + '\0';
  }
  return push_target([&](const auto&) { return GitEnd{0, listed}; }).value();
}

using Words = std::vector<std::string>;

const std::vector<std::string> kUsers = {"user.name=T", "remote.origin.url=a", "remote.origin.fetch=+x:y",
                                         "branch.main.remote=origin", "branch.main.merge=refs/heads/main"};

std::vector<std::string> users_and(std::vector<std::string> more) {
  more.insert(more.begin(), kUsers.begin(), kUsers.end());
  return more;
}

TEST(PushTarget, WhatDoesNotRedirectAPushIsFine) {
  const PushTarget then = target(kUsers);
  for (const char* more : {"user.name=E", "remote.new.url=b", "branch.other.remote=new", "branch.other.merge=x",
                           "remote.origin.fetch=+z", "remote.origin.promisor=true", "alias.x=y", "core.editor=x"})
    EXPECT_EQ(why_redirected(then, target(users_and({more})), "main", {}), "") << more;
  EXPECT_EQ(why_redirected(target({"remote.origin.url=a"}), target(kUsers), "main", {}), "")
      << "an upstream that a push has set";
  EXPECT_EQ(why_redirected(then, target(users_and({"remote.b.url=x"})), "main", {"https://typed"}), "");
  EXPECT_EQ(why_redirected({}, target(kUsers), "main", {}), "") << "nothing is known about the start";
}

TEST(PushTarget, EverySettingThatRedirectsIsNamed) {
  const PushTarget then = target(kUsers);
  for (const char* more : {"remote.origin.url=b", "remote.origin.pushurl=b", "remote.origin.push=x",
                           "url.b.insteadof=a", "url.b.pushinsteadof=a", "http.proxy=x", "push.default=matching",
                           "core.sshcommand=x", "credential.helper=x", "branch.main.merge=refs/heads/evil"}) {
    const std::string why = why_redirected(then, target(users_and({more})), "main", {});
    const std::string name = std::string(more).substr(0, std::string(more).find('='));
    EXPECT_EQ(why, name + " changed since the run began, and it might go elsewhere");
  }
  EXPECT_NE(why_redirected(then, target({"branch.main.remote=origin"}), "main", {}), "") << "its remote is gone";
}

TEST(PushTarget, AnotherRemoteIsNamed) {
  const PushTarget then = target(kUsers);
  for (const char* more : {"branch.main.remote=evil", "branch.main.pushremote=evil", "remote.pushdefault=evil"})
    EXPECT_EQ(why_redirected(then, target(users_and({"remote.evil.url=b", more})), "main", {}),
              "it would go to the remote evil, and when the run began it would have gone to origin")
        << more;
  EXPECT_EQ(why_redirected(then, target(users_and({"remote.evil.url=b", "branch.work.remote=evil"})), "work", {"-u"}),
            "it would go to the remote evil, and when the run began it would have gone to origin")
      << "for a new branch";
  for (const std::vector<std::string>& words :
       {Words{"backup"}, Words{"-o", "x", "backup"}, Words{"--repo", "backup"}, Words{"--repo=backup"}})
    EXPECT_EQ(why_redirected(then, target(users_and({"remote.backup.url=b"})), "main", words),
              "it would go to the remote backup, which was not there when the run began");
  EXPECT_EQ(why_redirected(target({"user.name=T"}), target({"remote.origin.url=b"}), "main", {}),
            "it would go to the remote origin, which was not there when the run began");
}

}  // namespace
}  // namespace ralph
