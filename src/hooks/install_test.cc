#include "hooks/install.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "embedded_plugin.h"
#include "json/edit.h"

namespace ralph {
namespace {

constexpr std::string_view kFile = "settings.json";
constexpr const Host& kClaudeHost = *find_host("claude");
constexpr const Host& kCodexHost = *find_host("codex");
constexpr const Host& kGeminiHost = *find_host("gemini");

MergedSettings installed(std::optional<std::string_view> text, const Host& host = kClaudeHost,
                         std::string_view program = "ralph") {
  auto merged = with_hooks(text, kFile, host, program);
  EXPECT_TRUE(merged) << text.value_or("(no file)");
  return merged ? *std::move(merged) : MergedSettings{};
}

std::string uninstalled(std::string_view text, const Host& host = kClaudeHost,
                        std::optional<std::string_view> before = std::nullopt) {
  const auto merged = without_hooks(text, kFile, host, before);
  EXPECT_TRUE(merged) << text;
  return merged ? merged->text : "";
}

json::value parsed(std::string_view text) {
  const auto value = parse_json(text, kFile);
  EXPECT_TRUE(value) << text;
  return value ? *value : json::value();
}

HookSurvey surveyed(std::string_view text, const Host& host = kClaudeHost) {
  const auto survey = survey_hooks(text, kFile, host);
  EXPECT_TRUE(survey) << text;
  return survey ? *survey : HookSurvey{};
}

std::string raw(std::string_view text, std::string_view pointer) {
  const auto edits = JsonEdits::of(text, kFile);
  return std::string(edits ? edits->raw(pointer).value_or("none") : "not JSON");
}

std::string listed(const std::vector<HookChange>& changes) {
  std::string lines;
  for (const HookChange& change : changes) lines += fmt::format("{} {}: {}\n", change.sign, change.where, change.what);
  return lines;
}

// Typical files of users: (what, text). None of them contains hooks of ralph.
struct Layout {
  std::string_view what, text;
};
constexpr Layout kLayouts[] = {
    {"two blanks", "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": []\n  }\n}\n"},
    {"four blanks, no last line end", "{\n    \"model\": \"opus\"\n}"},
    {"tabs", "{\n\t\"model\": \"opus\",\n\t\"x\": [1, 2]\n}\n"},
    {"compact", R"({"model":"opus","x":[1,2]})"},
    {"one line with blanks", R"({ "model": "opus" })"},
    {"CRLF", "{\r\n  \"model\": \"opus\"\r\n}\r\n"},
    {"byte order mark", "\xEF\xBB\xBF{\n  \"model\": \"opus\"\n}\n"},
    {"blank lines around", "\n\n{\n  \"model\": \"opus\"\n}\n\n\n"},
    {"odd blanks", "{\n  \"a\" :1 ,\n\n      \"b\":   [ 1,2 ]\n  }\n"},
    {"empty", "{}"},
    {"empty, with a line end", "{}\n"},
    {"foreign hooks on the same events",
     "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": "
     "\"command\",\n"
     "            \"command\": \"say done\"\n          }\n        ]\n      }\n    ],\n    \"PreToolUse\": [\n"
     "      { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"./guard\" } ] }\n    ]\n  "
     "}\n}\n"},
    {"foreign hooks on other events",
     R"({"hooks":{"Notification":[{"hooks":[{"type":"command","command":"bell"}]}]},"z":1})"},
    {"a program with ralph in its name",
     R"({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "my-ralph hooks stop"}]}]}})"},
    {"foreign env", "{\n  \"env\": {\n    \"FOO\": \"1\"\n  }\n}\n"},
    {"a cap that is high enough", R"({"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "5000"}})"},
    {"no cap at all", R"({"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}})"},
    {"letters beyond ASCII and escapes", "{\n  \"\\u00e4\": \"ö\\/\\u0041\",\n  \"n\": 1.50e+2\n}\n"},
};

TEST(Install, APlainNewFileHasEveryWireOnce) {
  const MergedSettings merged = installed(std::nullopt);
  EXPECT_TRUE(merged.text.starts_with("{\n  \"hooks\": {\n    \"SessionStart\": [\n")) << merged.text;
  EXPECT_TRUE(merged.text.ends_with("}\n"));
  EXPECT_EQ(raw(merged.text, "/hooks/Stop/0/hooks/0/command"), R"("ralph hooks stop")");
  EXPECT_EQ(raw(merged.text, "/hooks/Stop/0/hooks/0/timeout"), "600");
  EXPECT_EQ(raw(merged.text, "/hooks/PreToolUse/0/matcher"), R"(".*")");
  EXPECT_EQ(raw(merged.text, "/env"), "none") << "the host's own settings are not touched";
  EXPECT_EQ(listed(merged.changes),
            "+ SessionStart: ralph hooks session-start\n+ UserPromptSubmit: ralph hooks user-prompt\n"
            "+ PreToolUse: ralph hooks pre-tool\n+ PostToolUse: ralph hooks post-tool\n"
            "+ PostToolUseFailure: ralph hooks post-tool\n+ Stop: ralph hooks stop\n"
            "+ SessionEnd: ralph hooks session-end\n");
}

TEST(Install, ThePluginHasTheSameWires) {
  EXPECT_EQ(*find(parsed(embedded::hooks_json), "hooks"), *find(parsed(installed(std::nullopt).text), "hooks"));
}

TEST(Install, EachHostHasItsOwnSyntax) {
  const std::string codex = installed(std::nullopt, kCodexHost).text;
  EXPECT_EQ(raw(codex, "/hooks/Stop/0/hooks/0/command"), R"("ralph hooks stop --protocol codex")");
  EXPECT_EQ(raw(codex, "/hooks/Stop/0/hooks/0/timeout"), "600");
  EXPECT_EQ(raw(codex, "/env"), "none");
  const std::string gemini = installed(std::nullopt, kGeminiHost).text;
  EXPECT_EQ(raw(gemini, "/hooks/AfterAgent/0/hooks/0/command"), R"("ralph hooks stop --protocol gemini")");
  EXPECT_EQ(raw(gemini, "/hooks/AfterAgent/0/hooks/0/timeout"), "600000");
  EXPECT_EQ(raw(gemini, "/hooks/BeforeTool/0/matcher"), R"(".*")");
  for (const std::string_view none : {"/hooks/Stop", "/env"}) EXPECT_EQ(raw(gemini, none), "none");
}

TEST(Install, GeminisSwitchesNextToTheEventsAreNotHooks) {
  const std::string_view text = R"({"hooks": {"enabled": true, "disabled": ["x"]}})";
  EXPECT_EQ(uninstalled(installed(text, kGeminiHost).text, kGeminiHost), text);
}

TEST(Install, ExistingContentKeepsItsValuesAndOrder) {
  for (const Layout& layout : kLayouts) {
    const std::string text = installed(layout.text).text;
    const json::value before = parsed(layout.text);
    const json::value after = parsed(text);
    for (const auto& [key, value] : before.get_object()) {
      if (key == "hooks" || key == "env") continue;
      EXPECT_EQ(value, *find(after, key)) << layout.what;
      EXPECT_EQ(raw(text, "/" + std::string(key)), raw(layout.text, "/" + std::string(key))) << layout.what;
    }
    EXPECT_EQ(surveyed(text).missing, std::vector<std::string>()) << layout.what;
    EXPECT_EQ(surveyed(text).faults, std::vector<std::string>()) << layout.what;
    // Every original byte is still present, in order.
    size_t at = 0;
    for (const char c : std::string(layout.text)) {
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
      at = text.find(c, at);
      ASSERT_NE(at, std::string::npos) << layout.what;
      ++at;
    }
  }
}

TEST(Install, TheSecondTimeThereIsNothingToDo) {
  for (const Layout& layout : kLayouts) {
    for (const Host& host : kHosts) {
      if (!host.own_text.empty()) continue;  // own_file_test
      const std::string once = installed(layout.text, host).text;
      const MergedSettings twice = installed(once, host);
      EXPECT_EQ(twice.text, once) << layout.what;
      EXPECT_TRUE(twice.changes.empty()) << layout.what << listed(twice.changes);
    }
  }
}

TEST(Install, UninstallRestoresTheOriginal) {
  for (const Layout& layout : kLayouts) {
    for (const Host& host : kHosts) {
      if (!host.own_text.empty()) continue;  // own_file_test
      for (const std::string_view program : {"ralph", "/opt/my tools/ralph"})
        EXPECT_EQ(uninstalled(installed(layout.text, host, program).text, host), layout.text) << layout.what;
    }
  }
}

TEST(Install, LineEndsAndIndentationAreThoseOfTheFile) {
  const std::string crlf = installed("{\r\n    \"a\": 1\r\n}\r\n").text;
  EXPECT_EQ(crlf.find('\n'), crlf.find("\r\n") + 1);
  EXPECT_EQ(replace_all(crlf, "\r\n", "").find('\n'), std::string::npos);
  EXPECT_NE(crlf.find("\r\n        \"Stop\": [\r\n            {"), std::string::npos) << crlf;
  const std::string tabs = installed("{\n\t\"a\": 1\n}\n").text;
  EXPECT_NE(tabs.find("\n\t\t\"Stop\": [\n\t\t\t{"), std::string::npos) << tabs;
  EXPECT_EQ(installed(R"({"a":1})").text.find('\n'), std::string::npos);
}

TEST(Install, AnotherRalphIsReplacedInPlaceAndTheUsersChangesStay) {
  const std::string_view text = R"({"hooks": {"Stop": [
    {"hooks": [{"type": "command", "command": "'/old place/ralph' hooks stop", "timeout": 900, "statusMessage": "hm"},
               {"type": "command", "command": "bell"}]}]}})";
  const MergedSettings merged = installed(text, kClaudeHost, "/new place/ralph");
  EXPECT_EQ(
      raw(merged.text, "/hooks/Stop/0/hooks/0"),
      R"({"type": "command", "command": "'/new place/ralph' hooks stop", "timeout": 900, "statusMessage": "hm"})");
  EXPECT_EQ(raw(merged.text, "/hooks/Stop/0/hooks/1"), R"({"type": "command", "command": "bell"})");
  EXPECT_EQ(raw(merged.text, "/hooks/Stop/1"), "none");
  EXPECT_NE(listed(merged.changes).find("~ Stop: '/new place/ralph' hooks stop\n"), std::string::npos);
}

struct OldHook {
  std::string_view what, group, now;
};

TEST(Install, OldFormsBecomeTheNewOne) {
  const OldHook rows[] = {
      {"a short time-out", R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 5}]})",
       R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 600}]})"},
      {"none", R"({"hooks": [{"type": "command", "command": "ralph hooks stop"}]})",
       R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 600}]})"},
      {"without a shell",
       R"({"hooks": [{"type": "command", "command": "/x/ralph", "args": ["hooks", "stop"], "timeout": 600}]})",
       R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 600}]})"},
      {"twice in a group",
       R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 600}, {"command": "/x/ralph hooks stop"}]})",
       R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 600}]})"},
      {"in quotes", R"({"hooks": [{"type": "command", "command": "\"ralph\" hooks 'stop'", "timeout": 600}]})",
       R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 600}]})"},
  };
  for (const OldHook& row : rows) {
    const std::string text = installed(fmt::format(R"({{"hooks": {{"Stop": [{}]}}}})", row.group)).text;
    EXPECT_EQ(raw(text, "/hooks/Stop/0"), row.now) << row.what;
    EXPECT_EQ(raw(text, "/hooks/Stop/1"), "none") << row.what;
  }
}

TEST(Install, DuplicatesInTwoGroupsBecomeOneAndTheEmptyGroupIsRemoved) {
  const std::string_view group = R"({"hooks": [{"type": "command", "command": "ralph hooks stop", "timeout": 600}]})";
  const std::string text = installed(fmt::format(R"({{"hooks": {{"Stop": [{}, {}]}}}})", group, group)).text;
  EXPECT_EQ(raw(text, "/hooks/Stop"), fmt::format("[{}]", group));
}

TEST(Install, PostToolReplacesTheFormerContextMonitor) {
  const std::string text = installed(R"({"hooks": {"PostToolUse": [
    {"matcher": ".*", "hooks": [{"type": "command", "command": "ralph hooks context-monitor", "timeout": 10}]},
    {"matcher": "Edit", "hooks": [{"type": "command", "command": "ralph hooks post-tool-linter"}]}]}})")
                               .text;
  EXPECT_EQ(raw(text, "/hooks/PostToolUse/0/hooks/0/command"), R"("ralph hooks post-tool")");
  EXPECT_EQ(raw(text, "/hooks/PostToolUse/1/hooks/0/command"), R"("ralph hooks post-tool-linter")");
  EXPECT_EQ(raw(text, "/hooks/PostToolUse/2"), "none");
}

// Settings with this cap and with ralph's hooks, as version 0.1 left them.
std::string with_cap(std::string_view cap, bool hooks = true) {
  const std::string text = fmt::format(R"({{"env": {{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": {}}}, "a": 1}})", cap);
  return hooks ? installed(text).text : text;
}

TEST(Install, ABlockCapOfTheUsersOwnIsLeftAlone) {
  for (const std::string_view cap : {"\"0\"", "\"8\"", "\"999\"", "\"5000\"", "8", "\"many\"", "null"}) {
    EXPECT_EQ(installed(with_cap(cap)).text, with_cap(cap)) << cap;
    EXPECT_EQ(uninstalled(with_cap(cap)), with_cap(cap, false)) << cap;
  }
  const std::string own = with_cap("\"1000\"", false);
  EXPECT_EQ(raw(installed(own).text, "/env/CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), "\"1000\"")
      << "without ralph's hooks, ralph did not set it";
  EXPECT_EQ(uninstalled(with_cap("\"1000\""), kClaudeHost, own), own);
}

TEST(Install, TheBlockCapThatVersion01RaisedIsRestored) {
  const std::string old = with_cap("\"1000\"");
  EXPECT_EQ(listed(installed(old).changes), "- env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: 1000\n");
  EXPECT_EQ(raw(installed(old).text, "/env"), "none");
  EXPECT_EQ(uninstalled(old), R"({"a": 1})") << "without a backup, the old value is unknown";
  EXPECT_EQ(uninstalled(old, kClaudeHost, "no JSON"), R"({"a": 1})");
  const auto again = with_hooks(old, kFile, kClaudeHost, "ralph", with_cap("\"20\"", false));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(listed(again->changes), "~ env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: 20\n");
  EXPECT_EQ(uninstalled(old, kClaudeHost, with_cap("\"20\"", false)), with_cap("\"20\"", false));
}

TEST(Install, UninstallRemovesOnlyWhatIsRalphs) {
  EXPECT_EQ(uninstalled(R"({"hooks": {
  "Stop": [
    {"hooks": [{"command": "bell"}, {"command": "/a/ralph hooks stop"}, {"command": "horn"}]},
    {"hooks": [{"command": "ralph hooks stop --protocol exit"}]}
  ],
  "SubagentStop": [{"hooks": [{"command": "ralph", "args": ["hooks", "stop"]}]}],
  "PreToolUse": [{"matcher": "x", "hooks": []}]
}})"),
            R"({"hooks": {
  "Stop": [
    {"hooks": [{"command": "bell"}, {"command": "horn"}]}
  ],
  "PreToolUse": [{"matcher": "x", "hooks": []}]
}})");
  for (const std::string_view foreign :
       {"ralph hooks explain x && my-own-thing", "ralph hooks explain x", "ralph hooks post-tool-linter",
        "ralph hooks; stop", "ralph run", "ralph", "echo ralph hooks stop", "ralph; hooks stop", "RALPH hooks stop",
        "cd x && ralph hooks stop", "ralph 'hooks stop'"}) {
    const std::string text = fmt::format(R"({{"hooks": {{"Stop": [{{"hooks": [{{"command": "{}"}}]}}]}}}})", foreign);
    EXPECT_EQ(uninstalled(text), text);
    EXPECT_FALSE(surveyed(text).has_hooks()) << foreign;
  }
}

// Commands that begin with a call of ralph and do more: (the command, the result of install).
constexpr std::pair<std::string_view, std::string_view> kInCompany[] = {
    {"ralph hooks stop 2>>/tmp/ralph.log; notify-send done",
     "/new/ralph hooks stop 2>>/tmp/ralph.log; notify-send done"},
    {"ralph hooks stop; bell", "/new/ralph hooks stop; bell"},
    {"ralph hooks stop;bell", "/new/ralph hooks stop;bell"},
    {"  '/a b/ralph' hooks stop || true", "  /new/ralph hooks stop || true"},
    {"ralph hooks stop --protocol claude|tee log", "/new/ralph hooks stop --protocol claude|tee log"},
    {"ralph hooks stop>log", "/new/ralph hooks stop>log"},
    {"ralph hooks stop # mine", "/new/ralph hooks stop # mine"},
    {"ralph hooks stop & bell $(date)", "/new/ralph hooks stop & bell $(date)"},
    {"ralph hooks stop\\nbell", "/new/ralph hooks stop\\nbell"},
};

TEST(Install, TheRestOfALineIsKept) {
  for (const auto& [line, now] : kInCompany) {
    const std::string text = fmt::format(
        R"({{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{}", "timeout": 600}}]}}]}}}})", line);
    const std::string with = installed(text, kClaudeHost, "/new/ralph").text;
    EXPECT_EQ(raw(with, "/hooks/Stop"), raw(replace_all(text, line, now), "/hooks/Stop"));
    EXPECT_EQ(installed(with, kClaudeHost, "/new/ralph").text, with) << "a second install changes nothing";
    EXPECT_EQ(uninstalled(with), replace_all(text, line, now));
    const auto merged = without_hooks(text, kFile, kClaudeHost, std::nullopt);
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->text, text);
    EXPECT_EQ(merged->left.size(), 1u) << line;
    EXPECT_FALSE(surveyed(text).is_own) << line;
  }
  EXPECT_TRUE(surveyed(R"({"hooks": {"Stop": [{"hooks": [{"command": "ralph hooks stop\n"}]}]}})").is_own);
}

TEST(Install, OfTwoTheOneThatDoesMoreIsKept) {
  const std::string text = installed(R"({"hooks": {"PostToolUse": [{"hooks": [
    {"command": "ralph hooks post-tool", "timeout": 10}, {"command": "ralph hooks context-monitor; bell", "timeout": 10}]}]}})")
                               .text;
  EXPECT_EQ(raw(text, "/hooks/PostToolUse/0/hooks/0/command"), R"("ralph hooks post-tool; bell")");
  EXPECT_EQ(raw(text, "/hooks/PostToolUse/0/hooks/1"), "none");
  EXPECT_EQ(raw(text, "/hooks/PostToolUse/1"), "none");
}

TEST(Install, SettingsThatTheHostCannotReadAreRefusedWithAPosition) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "settings.json:1:1: "},
      {"{\n  // mine\n  \"a\": 1\n}", "settings.json:2:3: "},
      {"{\"a\": 1,}", "settings.json:1:8: "},
      {"{\"a\": 1, \"a\": 2}", "settings.json:1:10: "},
      {"[]", "settings.json:1:1: expected an object"},
      {"{\n  \"hooks\": []\n}", "settings.json:2:12: expected an object"},
      {"{\"hooks\": null}", "settings.json:1:11: expected an object"},
      {"{\"env\": \"x\"}", "settings.json:1:9: expected an object"},
      {"{\"hooks\": {\n \"Stop\": {}}}", "settings.json:2:10: expected a list"},
  };
  for (const auto& [text, message] : rows) {
    for (const auto& result :
         {with_hooks(text, kFile, kClaudeHost, "ralph"), without_hooks(text, kFile, kClaudeHost, std::nullopt)}) {
      ASSERT_FALSE(result) << text;
      EXPECT_EQ(result.error().kind, ErrorKind::kInput) << text;
      EXPECT_TRUE(result.error().message.starts_with(message)) << result.error().message;
    }
  }
}

TEST(Install, OddGroupsAreLeftAlone) {
  for (const std::string_view groups :
       {"[null]", "[1, \"x\"]", "[{}]", R"([{"hooks": null}])", R"([{"hooks": [null, 1]}])",
        R"([{"hooks": [{"command": 1}]}])", R"([{"hooks": [{"command": "'"}]}])"}) {
    const std::string text = fmt::format(R"({{"hooks": {{"Stop": {}}}}})", groups);
    EXPECT_EQ(uninstalled(installed(text).text), text);
  }
}

TEST(Install, ASurveySaysWhatIsWrong) {
  const HookSurvey survey = surveyed(R"({
    "enabledPlugins": {"other@x": true, "ralph@ralph": true},
    "env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "12"},
    "hooks": {
      "Stop": [{"hooks": [{"command": "ralph hooks stop", "timeout": 5}, {"command": "/x/ralph hooks stop"}]}],
      "PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "ralph hooks pre-tool", "timeout": 10}]}],
      "PostToolUse": [{"matcher": "*", "hooks": [{"command": "ralph hooks post-tool", "timeout": 70}]}],
      "PostToolUseFailure": [{"hooks": [{"command": "ralph hooks post-tool", "timeout": 10}]}]}})");
  EXPECT_EQ(survey.programs, (std::vector<std::string>{"ralph", "/x/ralph"}));
  EXPECT_EQ(survey.missing, (std::vector<std::string>{"SessionStart", "UserPromptSubmit", "SessionEnd"}));
  EXPECT_EQ(survey.faults,
            (std::vector<std::string>{"Stop calls ralph 2 times", "the time-out of Stop is below 600 s"}));
  EXPECT_EQ(survey.choices, (std::vector<std::string>{"PreToolUse is for Bash only, not for every tool"}));
  EXPECT_EQ(survey.block_cap, "12");
  EXPECT_EQ(survey.plugin, true);
  EXPECT_EQ(surveyed("{}").plugin, std::nullopt);
  EXPECT_EQ(surveyed(R"({"enabledPlugins": {"ralph@ralph": false}})").plugin, false);
}

}  // namespace
}  // namespace ralph
