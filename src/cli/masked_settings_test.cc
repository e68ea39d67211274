#include "cli/masked_settings.h"

#include <gtest/gtest.h>

namespace ralph::cli {
namespace {

TEST(MaskedSettings, HideSecretsByNameOrShape) {
  struct Row {
    std::string_view name;
    std::string_view value;
    bool secret;
  };
  const Row rows[] = {
      {"ANTHROPIC_API_KEY", "x", true},
      {"github_token", "x", true},
      {"DB_PASSWORD", "x", true},
      {"EXTRA",
       "sk-ant-"
       "abcdefghijklmnopqrstuvwx",
       true},
      {"EXTRA",
       "ghp_"
       "abcdefghijklmnopqrstuvwxyz0123456789",
       true},
      {"DATABASE_URL", "postgres://me:hunter2@host/db", true},
      {"CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000", false},
      {"KEYBOARD", "us", false},
      {"ANTHROPIC_BASE_URL", "http://127.0.0.1:8080", false},
  };
  for (const Row& row : rows) {
    const json::value settings = {{"agent", {{"env", {{row.name, row.value}}}}}};
    const bool hidden = json::serialize(masked_settings(settings)).find("***") != std::string::npos;
    EXPECT_EQ(hidden, row.secret) << row.name << "=" << row.value;
  }
}

TEST(MaskedSettings, HideNothingElse) {
  const json::value settings = {{"agent", {{"command", "a"}, {"env", {{"API_KEY", "s3cret"}, {"MODE", "fast"}}}}}};
  EXPECT_EQ(json::serialize(masked_settings(settings)),
            R"({"agent":{"command":"a","env":{"API_KEY":"***","MODE":"fast"}}})");
  EXPECT_EQ(json::serialize(masked_settings(json::object{})), "{}");
}

TEST(MaskedSettings, HideTheSecretsOfEveryAgent) {
  const json::value settings = {{"agents", {{"mine", {{"env", {{"MY_TOKEN", "s3cret"}}}}}}}};
  EXPECT_EQ(json::serialize(masked_settings(settings)), R"({"agents":{"mine":{"env":{"MY_TOKEN":"***"}}}})");
}

}  // namespace
}  // namespace ralph::cli
