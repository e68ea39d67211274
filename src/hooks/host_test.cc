#include "hooks/host.h"

#include <set>

#include <gtest/gtest.h>

#include "base/text.h"
#include "policy/command_policy.h"

namespace ralph {
namespace {

TEST(Hosts, EveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const Host& host : kHosts) {
    EXPECT_TRUE(names.insert(host.name).second) << host.name << " has two rows";
    EXPECT_EQ(find_host(host.name), &host);
    for (const std::string_view field : {host.name, host.title, host.folder, host.file, host.folder_variable})
      EXPECT_FALSE(field.empty()) << host.name;
    EXPECT_EQ(host.trust.empty(), host.trust_fix.empty()) << host.name;
    EXPECT_EQ(protocol_from(host.name), host.protocol) << host.name;
    EXPECT_NE(host.protocol, Protocol::kExit) << host.name << ": no row needs it";
  }
}

TEST(Hosts, EveryHostCallsEveryHook) {
  for (const Host& host : kHosts) {
    for (const std::string_view hook :
         {"session-start", "user-prompt", "pre-tool", "post-tool", "stop", "session-end"}) {
      const auto calls = [&](const HookWire& wire) { return wire.hook == hook; };
      EXPECT_TRUE(std::any_of(host.wires.begin(), host.wires.end(), calls)) << host.name << " " << hook;
    }
    for (const HookWire& wire : host.wires) {
      EXPECT_EQ(timeout_of(host, wire), wire.seconds * host.timeout_unit) << host.name;
      const auto found = ralph_hook_in(group_of(host, wire, "ralph").at("hooks").as_array().at(0));
      ASSERT_TRUE(found) << host.name << " " << wire.event;
      EXPECT_EQ(found->hook, wire.hook) << host.name << " " << wire.event;
    }
  }
}

TEST(Hosts, TheChoicesOfOptionsAreTheNamesOfItsRows) {
  std::vector<std::string> names;
  for (const Host& host : kHosts) names.emplace_back(host.name);
  EXPECT_EQ(kHostChoices, join(names, "|"));
  EXPECT_EQ(kProtocolChoices, join(names, "|") + "|exit");
}

TEST(Hosts, ThePolicyProtectsEachFromTheModel) {
  const PolicyPlace place{.project = "/srv/app",
                          .home = "/home/dev",
                          .state_folder = "/home/dev/.local/state/ralph",
                          .hosts = policy_hosts()};
  ShellSetting setting;
  setting.home = place.home;
  setting.cwd = place.project;
  const auto is_denied = [&](const std::string& command) {
    return judge_command(command, {}, place, setting).first.has_value();
  };
  for (const Host& host : kHosts) {
    EXPECT_TRUE(is_denied(fmt::format("rm {}/{}", host.folder, host.file))) << host.name;
    EXPECT_TRUE(is_denied(fmt::format("rm ~/{}/{}", host.folder, host.file))) << host.name;
    EXPECT_TRUE(host.home_folder.empty() || is_denied(fmt::format("rm ~/{}/{}", host.home_folder, host.file)));
    EXPECT_TRUE(is_denied(fmt::format("pkill {}", host.name))) << host.name;
    EXPECT_TRUE(host.local_file.empty() || is_denied(fmt::format("rm {}/{}", host.folder, host.local_file)));
    EXPECT_TRUE(host.block_cap_variable.empty() || is_denied(fmt::format("unset {}", host.block_cap_variable)));
  }
}

}  // namespace
}  // namespace ralph
