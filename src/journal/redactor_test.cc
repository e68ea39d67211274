#include "journal/redactor.h"

#include <random>

#include <gtest/gtest.h>

#include "base/text.h"
#include "json/value.h"

namespace ralph {
namespace {

const std::vector<std::string> kEnvironment = {
    "HOME=/home/me",
    "ANTHROPIC_API_KEY=Zk4-horse/battery",
    "DB_PASSWORD=pa\"ss\\wo\nrd",
    "DATABASE_URL=postgres://me:hunter2@db.example/app",
    "SHORT_TOKEN=abc1234",
    "NESTED_SECRET=horse/battery-staple",
};

const Redactor& redactor() {
  static const Redactor kRedactor(kEnvironment, {{"EXTRA_TOKEN", "from-the-settings"}});
  return kRedactor;
}

std::string stars(size_t n) {
  return std::string(n, '*');
}
std::string letters(size_t n) {
  return replace_all(std::string(n / 4 + 1, '#'), "#", "7vK9").substr(0, n);
}

std::string in_pieces(std::string_view text, const std::function<size_t()>& size) {
  Redactor::Stream stream(redactor());
  std::string out;
  while (!text.empty()) {
    const size_t n = std::min(size(), text.size());
    out += stream.feed(text.substr(0, n));
    text.remove_prefix(n);
  }
  return out += stream.finish();
}

TEST(Redactor, MasksValuesOfSecretVariablesAndKeepsTheLength) {
  EXPECT_EQ(redactor().redact("key=Zk4-horse/battery."), "key=" + stars(17) + ".");
  EXPECT_EQ(redactor().redact("from-the-settings"), stars(17));
}

TEST(Redactor, LeavesOrdinaryTextAlone) {
  for (std::string_view text : {
           "",
           "/home/me/task-force",
           "abc1234",
           "sk-",
           "npm_config_registry",
           "a risk-management-system-overview-of-it",
           "disk-0123456789abcdef0123456789abcdef",
           "Bearer tokens are tokens",
           "eyJ is how they begin",
           "AKIA",
           "the hf_ prefix",
           "xoxb- and ghp_ and github_pat_",
           "MAKIABCDEFGHIJKLMNOPQ",
           "ya29. is",
           "sk-learn-contrib",
           "-----BEGIN "
           "CERTIFICATE-----\nMIIBaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
           "-----BEGIN PRIVATE KEY----- begins one.",
           "AES-256-CBC, for example",
           "hunter2",
           "postgres://me:other@db",
       }) {
    EXPECT_EQ(redactor().redact(text), text);
  }
}

TEST(Redactor, MasksTokensOfKnownShape) {
  for (const TokenShape& shape : token_shapes()) {
    if (!shape.then.empty()) continue;
    const std::string body =
        shape.letters == Letters::kUpper ? std::string(shape.at_least, 'Q') : letters(shape.at_least);
    const std::string shown = shape.show_prefix ? std::string(shape.prefix) : stars(shape.prefix.size());
    const std::string token = std::string(shape.prefix) + body;
    EXPECT_EQ(redactor().redact("(" + token + ")"), "(" + shown + stars(body.size()) + ")");
    EXPECT_EQ(redactor().redact(token), shown + stars(body.size())) << "at the end of the text";
    const std::string too_short = "(" + token.substr(0, token.size() - 1) + ")";
    EXPECT_EQ(redactor().redact(too_short), too_short);
  }
}

TEST(Redactor, MasksTokensWhereverAWordCanBegin) {
  const std::string token = "sk-" + letters(24);
  for (std::string_view before : {"", " ", "=", "\"", "\n", "\\n", "\\t", "\\u003c", "%3D", "\x1b[31m",
                                  "\\u001b[38;5;208m", "_", "/", "@", "\\\""}) {
    EXPECT_EQ(redactor().redact(std::string(before) + token), std::string(before) + stars(token.size())) << before;
  }
  EXPECT_EQ(redactor().redact("ta" + token), "ta" + token);
  EXPECT_EQ(redactor().redact("\\npm_" + letters(40)), "\\npm_" + letters(40)) << "a line end of JSON and \"pm_\"";
}

TEST(Redactor, MasksJsonWebTokens) {
  const std::string token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
  EXPECT_EQ(redactor().redact("\"" + token + "\""), "\"" + stars(token.size()) + "\"");
  EXPECT_EQ(redactor().redact("eyJhbGciOiJIUzI1NiJ9.notatoken"), "eyJhbGciOiJIUzI1NiJ9.notatoken");
  const std::string long_data = "eyJ" + letters(600) + ".eyJ" + letters(20);
  EXPECT_EQ(redactor().redact(long_data), long_data) << "no token has such a header";
}

TEST(Redactor, MasksPrivateKeysAndKeepsTheirLines) {
  const std::string body = letters(64) + "\n" + letters(64) + "=\n";
  const std::string begin = "-----BEGIN RSA PRIVATE KEY-----", end = "-----END RSA PRIVATE KEY-----";
  EXPECT_EQ(redactor().redact(begin + "\n" + body + end + " and prose"),
            begin + "\n" + stars(64) + "\n" + stars(65) + "\n" + end + " and prose");
  for (std::string_view line_end : {"\\n", "\\r\\n", "\\\\n"}) {
    const std::string json = replace_all("{\"key\":\"" + begin + "\n" + body + end + "\"}", "\n", line_end);
    const std::string redacted = redactor().redact(json);
    EXPECT_EQ(redacted.find("7vK9"), std::string::npos) << redacted;
    EXPECT_TRUE(redacted.ends_with(end + "\"}")) << redacted;
    EXPECT_TRUE(parse_json(redacted, "x")) << redacted;
  }
  const std::string old = "DEK-Info: AES-128-CBC,0123456789ABCDEF\n\n" + body;
  EXPECT_EQ(redactor().redact(old).find("7vK9"), std::string::npos);
}

TEST(Redactor, MasksPasswordsOfUrlsAndNothingAroundThem) {
  EXPECT_EQ(redactor().redact("dial postgres://me:hunter2@db.example: refused"),
            "dial postgres://me:*******@db.example: refused");
}

TEST(Redactor, MasksEveryFormInWhichAValueIsPrinted) {
  const std::string value = "pa\"ss\\wo\nrd";
  const std::string json = json::serialize(json::string(value));
  EXPECT_EQ(redactor().redact(json), "\"" + stars(json.size() - 2) + "\"");
  const std::string twice = json::serialize(json::string(json));
  EXPECT_EQ(redactor().redact(twice).find("rd"), std::string::npos) << redactor().redact(twice);
  EXPECT_EQ(redactor().redact("pa%22ss%5Cwo%0Ard"), stars(17));
  EXPECT_EQ(redactor().redact("Zk4-horse%2Fbattery"), stars(19));
  EXPECT_EQ(redactor().redact("Zk4-horse\\/battery"), stars(18));
  EXPECT_EQ(redactor().redact("Wms0LWhvcnNlL2JhdHRlcnk="), stars(22) + "k=") << "base64 of the value";
  EXPECT_EQ(redactor().redact("bWU6Wms0LWhvcnNlL2JhdHRlcnk="), "bWU6" + stars(22) + "k=") << "base64 of me:value";
  EXPECT_EQ(redactor().redact("eDpaazQtaG9yc2UvYmF0dGVyeQ==").find("aazQtaG9yc2UvYmF0dGVye"), std::string::npos);
}

TEST(Redactor, MasksSecretsThatOverlap) {
  EXPECT_EQ(redactor().redact("Zk4-horse/battery-staple"), stars(24));
}

TEST(Redactor, MasksASecretThatTheTextCutsOff) {
  EXPECT_EQ(redactor().redact("key: Zk4-horse/b"), "key: " + stars(11));
  EXPECT_EQ(redactor().redact("key: Zk4-"), "key: Zk4-") << "too little of it to be sure";
}

TEST(Redactor, KeepsJsonValid) {
  const json::value value = {{"text", "pa\"ss\\wo\nrd\n sk-ant-" + letters(30) + "\n\"quoted\" Bearer " + letters(30)}};
  const std::string redacted = redactor().redact(json::serialize(value));
  EXPECT_TRUE(parse_json(redacted, "x")) << redacted;
  EXPECT_EQ(redacted.find("7vK9"), std::string::npos);
}

TEST(RedactorStream, HoldsBackOnlyWhatMayBeASecret) {
  struct {
    std::string_view chunk, given;
  } const kRows[] = {
      {"Working on the task\n", "Working on the task\n"},
      {"Proceed? [y/n] ", "Proceed? [y/n] "},
      {"a line without an end;", "a line without an end;"},
      {"key: Zk4-hor", "key: "},
      {"say ghp_abc", "say "},
      {"see sk-ant-a 7", "see sk-ant-a 7"},
  };
  for (const auto& row : kRows) {
    Redactor::Stream stream(redactor());
    EXPECT_EQ(stream.feed(row.chunk), row.given);
    EXPECT_EQ(stream.finish(), row.chunk.substr(row.given.size()));
  }
}

TEST(RedactorStream, GivesOutALongTokenAsItComes) {
  Redactor::Stream stream(redactor());
  EXPECT_EQ(stream.feed("sk-ant-" + letters(30)), stars(37));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(stream.feed(letters(1000)), stars(1000));
  EXPECT_EQ(stream.feed(letters(5) + " done"), stars(5) + " done");
}

TEST(RedactorStream, CanBeReusedAfterItsEnd) {
  Redactor::Stream stream(redactor());
  const auto all_of = [&](std::string_view text) {
    std::string out(stream.feed(text));
    return out += stream.finish();
  };
  EXPECT_EQ(all_of("sk-ant-" + letters(30)), stars(37));
  EXPECT_EQ(all_of("7vK9 Zk4-horse"), "7vK9 " + stars(9));
  EXPECT_EQ(all_of("plain"), "plain");
  EXPECT_EQ(stream.finish(), "");
}

TEST(RedactorStream, DoesNotDependOnHowTheTextIsCut) {
  const std::string pieces[] = {
      "Zk4-horse/battery",
      "Zk4-hor",
      "-staple",
      "pa\\\"ss\\\\wo\\nrd",
      "pa\"ss\\wo\nrd",
      ":hunter2@",
      "sk-",
      "sk-ant-",
      "ghp_",
      letters(11),
      letters(40),
      letters(300),
      "-----BEGIN PRIVATE KEY-----",
      "\\n",
      "\\",
      "\\\\",
      "\n",
      " ",
      "n",
      "eyJ",
      ".eyJ",
      ".",
      "Bearer ",
      "\x1b[31m",
      "-CBC,",
      "AKIA",
      "QQQQQQQQQQQQQQQQ",
      "\"",
      "horse/battery-staple",
      "Wms0LWhvcnNl",
      "é",
      "npm_",
  };
  std::mt19937 random(7);
  static_cast<void>(redactor().redact(std::string(100'000, ' ')));  // builds its tables
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    for (unsigned i = random() % 14; i > 0; --i) {
      const std::string& piece = pieces[random() % std::size(pieces)];
      text += random() % 4 == 0 ? piece.substr(0, random() % (piece.size() + 1)) : piece;
    }
    const std::string whole = redactor().redact(text);
    ASSERT_EQ(whole.size(), text.size());
    ASSERT_EQ(in_pieces(text, [] { return size_t{1}; }), whole) << text;
    ASSERT_EQ(in_pieces(text, [&] { return 1 + random() % 20; }), whole) << text;
    ASSERT_EQ(in_pieces(text, [] { return size_t{7}; }), whole) << text;
    // A redactor that has scanned little has no tables yet.
    if (text.size() < 2000) {
      ASSERT_EQ(Redactor(kEnvironment, {{"EXTRA_TOKEN", "from-the-settings"}}).redact(text), whole) << text;
    }
  }
}

TEST(RedactorStream, IsNotSlowedDownByTextMadeToSlowIt) {
  // Each would take minutes if every apparent beginning were followed to the end.
  for (std::string_view unit : {"sk-ant-", "eyJ", "Bearer ", "-----BEGIN PRIVATE KEY-----", "\\", "Zk4-"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    EXPECT_EQ(in_pieces(text, [] { return size_t{65536}; }).size(), text.size());
  }
}

}  // namespace
}  // namespace ralph
