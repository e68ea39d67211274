#include "settings/mask.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(Mask, KnowsSecretsByNameOrShape) {
  struct Row {
    std::string_view name;
    std::string_view value;
    bool secret;
  };
  const Row rows[] = {
      {"ANTHROPIC_API_KEY", "x", true},
      {"github_token", "x", true},
      {"DB_PASSWORD", "x", true},
      {"EXTRA", "sk-ant-abc", true},
      {"EXTRA", "ghp_abc", true},
      {"DATABASE_URL", "postgres://me:pw@host/db", true},
      {"CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000", false},
      {"KEYBOARD", "us", false},
      {"ANTHROPIC_BASE_URL", "http://127.0.0.1:8080", false},
  };
  for (const Row& row : rows) EXPECT_EQ(looks_secret(row.name, row.value), row.secret) << row.name << row.value;
}

TEST(Mask, HidesSecretsOfTheAgentsEnvironmentOnly) {
  const json::value settings = {{"agent", {{"command", "a"}, {"env", {{"API_KEY", "s3cret"}, {"MODE", "fast"}}}}}};
  EXPECT_EQ(json::serialize(masked_settings(settings)),
            R"({"agent":{"command":"a","env":{"API_KEY":"***","MODE":"fast"}}})");
  EXPECT_EQ(json::serialize(masked_settings(json::object{})), "{}");
}

}  // namespace
}  // namespace ralph
