#include "journal/secret_variables.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace ralph {
namespace {

bool finds(const std::vector<SecretText>& secrets, std::string_view bytes) {
  return std::any_of(secrets.begin(), secrets.end(), [&](const SecretText& secret) { return secret.bytes == bytes; });
}

TEST(SecretVariables, AreKnownByTheWordsOfTheirNames) {
  for (std::string_view name :
       {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "token", "DB_PASSWORD", "PGPASSWORD_TOKEN", "AWS_SECRET_ACCESS_KEY",
        "apiKey", "SENTRY_DSN", "GH_PAT", "x-api-key", "DB_PASS", "GOOGLE_CREDENTIALS", "NPM_AUTH"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
  }
  for (std::string_view name :
       {"PWD", "OLDPWD", "SSH_AUTH_SOCK", "KEYBOARD", "PATH", "HOME", "MONKEY", "TOKENIZERS_PARALLELISM",
        "GIT_AUTHOR_NAME", "XAUTHORITY", "SSL_KEY_FILE", "COMPASS", "PATTERN", "", "_"}) {
    EXPECT_FALSE(is_secret_name(name)) << name;
  }
}

TEST(SecretVariables, GiveTheirValuesIfLongEnoughAndNeitherPathNorOrdinaryWord) {
  const std::vector<std::string> environment = {"A_TOKEN=12345678",
                                                "B_TOKEN=1234567",
                                                "C_KEY=/etc/ssl/key.pem",
                                                "AUTH=disabled",
                                                "D_KEY=/AbCd/EfGhIjKl",
                                                "PLAIN=visible-text",
                                                "broken",
                                                "=",
                                                "E_TOKEN=",
                                                "F_TOKEN=line-end-is-cut\n"};
  const std::vector<SecretText> secrets = secrets_of(environment, {{"G_SECRET", "from settings"}});
  for (std::string_view bytes : {"12345678", "/AbCd/EfGhIjKl", "line-end-is-cut", "from settings"}) {
    EXPECT_TRUE(finds(secrets, bytes)) << bytes;
  }
  for (std::string_view bytes : {"1234567", "/etc/ssl/key.pem", "disabled", "visible-text", ""}) {
    EXPECT_FALSE(finds(secrets, bytes)) << bytes;
  }
}

TEST(SecretVariables, GivePasswordsOfUrlsInAnyVariable) {
  const std::vector<std::string> environment = {"A=postgres://me:pw1@host/db amqp://x:long-password@h",
                                                "B=https://0123456789abcdef@host",
                                                "C=ssh://git@host:22/a:b@c",
                                                "D=http://u:@h",
                                                "E=http://",
                                                "F=://:@"};
  const std::vector<SecretText> secrets = secrets_of(environment, {});
  for (std::string_view bytes : {":pw1@", ":long-password@", "long-password", "0123456789abcdef"}) {
    EXPECT_TRUE(finds(secrets, bytes)) << bytes;
  }
  for (std::string_view bytes : {"pw1", "git", ":@", "", "22/a:b"}) EXPECT_FALSE(finds(secrets, bytes)) << bytes;
}

}  // namespace
}  // namespace ralph
