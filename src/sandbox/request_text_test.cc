#include "sandbox/request_text.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

SandboxRequest whole_request() {
  SandboxRequest request;
  request.project = "/p";
  request.home = "/h";
  request.private_home = "/s/home";
  request.helper = "/bin/ralph";
  request.path = "/usr/bin";
  request.secrets = false;
  request.agents = {
      {"claude", {"/bin/claude"}, {"ANTHROPIC_*"}, {".claude/.credentials.json"}, {".claude/settings.json"}}};
  request.variables = {"A", "B_*"};
  request.read_only = {"/ro"};
  request.writable = {"/rw"};
  request.guarded = {"/p/check.sh"};
  request.own_state = {"/s/plan"};
  request.beside = {{MountKind::kWritable, "/t", "/t", "the task"}, {MountKind::kReadOnly, "/t/runs", "/t/runs", "x"}};
  request.network = Network::kAllowlist;
  request.hosts = {"api.example.com"};
  request.socket = "/run/proxy.sock";
  request.limits = {7, 8LL << 40, 9};
  request.uid = 1000;
  request.gid = 100;
  return request;
}

TEST(SandboxRequestText, IsReadAsItWasWritten) {
  const json::object written = to_json(whole_request());
  const auto read = sandbox_request_from(written);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->beside.size(), 2U);
  EXPECT_EQ(read->beside[1].kind, MountKind::kReadOnly);
  EXPECT_EQ(read->limits.memory_bytes, 8LL << 40);
  EXPECT_FALSE(read->secrets);
}

TEST(SandboxRequestText, RefusesWhatLacksAnything) {
  const json::object written = to_json(whole_request());
  for (const auto& member : written) {
    json::object less = written;
    less.erase(member.key());
    const auto read = sandbox_request_from(less);
    ASSERT_FALSE(read) << member.key();
    EXPECT_NE(read.error().message.find(std::string(member.key())), std::string::npos);
  }
}

}  // namespace
}  // namespace ralph
