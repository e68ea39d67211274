#include "session/transcript.h"

#include <chrono>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

using Texts = std::vector<std::string>;

std::string fixture(std::string_view name) {
  return (fixtures_folder() / "hooks" / name).string();
}

std::string claude_line(std::string_view block, std::string_view more = "") {
  return fmt::format(
      R"({{"isSidechain":false,"message":{{"role":"assistant","content":[{}]}},"type":"assistant","sessionId":"s"{}}})",
      block, more);
}
std::string says(std::string_view text) {
  return claude_line(fmt::format(R"({{"type":"text","text":"{}"}})", text));
}
std::string calls(std::string_view id) {
  return claude_line(fmt::format(R"({{"type":"tool_use","id":"{}","name":"Bash","input":{{"a":[1,{{}}]}}}})", id));
}
std::string used(std::int64_t tokens, bool sub_agent = false) {
  return fmt::format(
      R"({{"isSidechain":{},"message":{{"content":[],"usage":{{"input_tokens":1,"cache_read_input_tokens":{},)"
      R"("cache_creation_input_tokens":2,"output_tokens":3}}}},"type":"assistant"}})",
      sub_agent, tokens - 6);
}
const std::string kUser = R"({"type":"user","isSidechain":false,"message":{"role":"user","content":"go on"}})";

class TranscriptTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::string path_ = folder_ / "t.jsonl";

  TranscriptNews read(std::string_view text, std::uint64_t offset = 0, std::uint64_t limit = kTranscriptLimit) {
    ScratchFolder::write(path_, text);
    return read_transcript_since(path_, offset, limit);
  }
  UsageSearch search(std::string_view text, std::uint64_t since = 0) {
    ScratchFolder::write(path_, text);
    return last_usage(path_, since);
  }
  std::int64_t tokens_in(std::string_view text, std::uint64_t since = 0) {
    const auto found = search(text, since);
    return found.use ? found.use->tokens : -1;
  }
};

TEST_F(TranscriptTest, AClaudeTranscriptHasTheAssistantsWordsAndItsToolCalls) {
  const std::string path = fixture("claude/transcript.jsonl");
  const auto news = read_transcript_since(path, 0);
  EXPECT_EQ(news.assistant_texts, (Texts{"I will write the file first.", "All done.\n\n<promise>DONE</promise>"}));
  EXPECT_EQ(news.tool_ids, (Texts{"toolu_fake000002", "toolu_fake000004", "toolu_fake000006", "toolu_fake000008"}));
  EXPECT_TRUE(news.ends_in_text);
  EXPECT_TRUE(news.readable);
  EXPECT_FALSE(news.partial);
  EXPECT_EQ(news.end_offset, transcript_size(path));
}

TEST_F(TranscriptTest, WhatAHookSaidIsNotTheAssistants) {
  const auto news = read_transcript_since(fixture("claude/transcript-blocked.jsonl"), 0);
  EXPECT_EQ(news.assistant_texts, (Texts{"First answer, not finished.", "Second answer, still not finished."}));
  EXPECT_TRUE(news.tool_ids.empty());
}

TEST_F(TranscriptTest, ASubAgentsWordsAndCallsAreNotTheSessions) {
  const auto news = read_transcript_since(fixture("claude/transcript-subagent.jsonl"), 0);
  EXPECT_TRUE(news.assistant_texts.empty());
  EXPECT_TRUE(news.tool_ids.empty());
  EXPECT_TRUE(news.readable);
}

TEST_F(TranscriptTest, ACodexRolloutHasThemToo) {
  const auto news = read_transcript_since(fixture("codex/rollout.jsonl"), 0);
  EXPECT_EQ(news.assistant_texts, (Texts{"First stop.", "Second stop.", "Third stop. <promise>DONE</promise>"}));
  EXPECT_EQ(news.tool_ids, (Texts{"call_fake000002", "call_fake000008"})) << "a hook denied the one between";
  EXPECT_TRUE(news.ends_in_text);
}

TEST_F(TranscriptTest, OnlyTextBlocksOfTheAssistantAreWords) {
  const struct {
    std::string_view what;
    std::string line;
    Texts texts;
  } rows[] = {
      {"text", says("yes"), {"yes"}},
      {"escapes", says(R"(a\n\"b\" \u00e9)"), {"a\n\"b\" é"}},
      {"a lone surrogate", says(R"(x\ud83dy)"), {"x\xEF\xBF\xBDy"}},
      {"an empty text", says(""), {}},
      {"two blocks", claude_line(R"({"type":"text","text":"1"},{"type":"text","text":"2"})"), {"1", "2"}},
      {"content as a string", R"({"type":"assistant","message":{"content":"plain"}})", {"plain"}},
      {"thinking", claude_line(R"({"type":"thinking","thinking":"no","text":"no"})"), {}},
      {"a tool's input", claude_line(R"({"type":"tool_use","id":"t","input":{"type":"text","text":"no"}})"), {}},
      {"the user", R"({"type":"user","message":{"content":[{"type":"text","text":"no"}]}})", {}},
      {"a tool's output", R"({"type":"user","message":{"content":[{"type":"tool_result","content":"no"}]}})", {}},
      {"a request's copy",
       R"({"type":"api-request-blob","sessionId":"s","message":{"role":"assistant",)"
       R"("content":[{"type":"text","text":"no"}]}})",
       {}},
      {"a sub-agent",
       R"({"isSidechain":true,"type":"assistant","message":{"content":[{"type":"text","text":"no"}]}})",
       {}},
      {"an error of the host", claude_line(R"({"type":"text","text":"no"})", R"(,"isApiErrorMessage":true)"), {}},
      {"an echo of the host",
       R"({"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"no"}]}})",
       {}},
      {"a line within a text", says(R"(a {\"type\":\"assistant\"}\n)"), {"a {\"type\":\"assistant\"}\n"}},
      {"codex: assistant",
       R"({"type":"response_item","payload":{"type":"message","role":"assistant","content":)"
       R"([{"type":"output_text","text":"yes"}]}})",
       {"yes"}},
      {"codex: user",
       R"({"type":"response_item","payload":{"type":"message","role":"user","content":)"
       R"([{"type":"input_text","text":"no"}]}})",
       {}},
      {"codex: the event beside it", R"({"type":"event_msg","payload":{"type":"agent_message","message":"no"}})", {}},
      {"codex: reasoning",
       R"({"type":"response_item","payload":{"type":"reasoning","content":)"
       R"([{"type":"reasoning_text","text":"no"}]}})",
       {}},
      {"codex: what was compacted away",
       R"({"type":"compacted","payload":{"message":"no","replacement_history":)"
       R"([{"type":"message","role":"assistant"}]}})",
       {}},
  };
  for (const auto& row : rows) {
    const auto news = read(row.line + "\n");
    EXPECT_EQ(news.assistant_texts, row.texts) << row.what;
    EXPECT_TRUE(news.readable) << row.what;
  }
}

TEST_F(TranscriptTest, EachToolCallIsToldOnceAndOneWithoutAnIdByItsPlace) {
  const auto codex = [](std::string_view item) {
    return fmt::format(R"({{"type":"response_item","payload":{{{}}}}})", item) + "\n";
  };
  EXPECT_EQ(read(calls("a") + "\n" + calls("a") + "\n" + calls("b") + "\n").tool_ids, (Texts{"a", "b"}));
  EXPECT_EQ(read(claude_line(R"({"type":"server_tool_use","id":"srv"})")).tool_ids, (Texts{"srv"}));
  EXPECT_EQ(read(codex(R"("type":"local_shell_call","call_id":null,"id":"x")") +
                 codex(R"("type":"web_search_call","action":{})") + codex(R"("type":"function_call_output")"))
                .tool_ids,
            (Texts{"x", "@87.0"}));
}

TEST_F(TranscriptTest, ACallThatWasRefusedIsNone) {
  // A recording from the host: a hook denied three of four calls.
  const auto recorded = (fixtures_folder() / "recordings/claude/stream-pretooluse-deny.ndjson").string();
  EXPECT_EQ(read_transcript_since(recorded, 0).tool_ids, Texts{"toolu_fake000006"});

  const auto result = [](std::string_view id, std::string_view text, bool failed, std::string_view more = "") {
    return fmt::format(
        R"({{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{}",)"
        R"("content":"{}","is_error":{}}}]}}{}}})",
        id, text, failed, more);
  };
  const std::string rejected = R"(,"permissionDecision":{"decision":"reject"})";
  const TranscriptNews news = read(calls("a") + "\n" + calls("b") + "\n" + calls("c") + "\n" + calls("d") + "\n" +
                                   result("a", "PreToolUse:Bash hook error: no", true) + "\n" +
                                   result("b", "PreToolUse:Bash hook error: cat says so", false) + "\n" +
                                   result("c", "not granted", true, rejected) + "\n" +
                                   result("d", "Exit code 1", true, R"(,"permissionDecision":{"decision":"accept"})") +
                                   "\n" + result("old", "PreToolUse:Bash hook error: no", true) + "\n");
  EXPECT_EQ(news.tool_ids, (Texts{"b", "d"}));
  EXPECT_EQ(news.refused_ids, Texts{"old"});

  const TranscriptNews codex =
      read(R"({"type":"response_item","payload":{"type":"function_call","call_id":"a"}})"
           "\n"
           R"({"type":"response_item","payload":{"type":"custom_tool_call","call_id":"b"}})"
           "\n"
           R"({"type":"response_item","payload":{"type":"function_call_output","call_id":"a",)"
           R"("output":"Command blocked by PreToolUse hook: no. Command: x"}})"
           "\n"
           R"({"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"b",)"
           R"("output":"{\"output\":\"ok\"}"}})"
           "\n");
  EXPECT_EQ(codex.tool_ids, Texts{"b"});
}

TEST_F(TranscriptTest, OnlyWhatIsNewIsReadAndNothingTwice) {
  const std::string old = says("old") + "\n", fresh = says("new") + "\n";
  auto news = read(old + fresh, old.size());
  EXPECT_EQ(news.assistant_texts, Texts{"new"});
  EXPECT_EQ(news.end_offset, old.size() + fresh.size());
  news = read_transcript_since(path_, news.end_offset);
  EXPECT_TRUE(news.assistant_texts.empty());
  EXPECT_TRUE(news.readable);
  EXPECT_EQ(news.end_offset, old.size() + fresh.size());
}

TEST_F(TranscriptTest, ALineThatBeganBeforeTheOffsetIsNotNew) {
  const std::string old = says("old") + "\n", fresh = says("new") + "\n";
  for (size_t offset = 1; offset < old.size(); ++offset) {
    EXPECT_EQ(read(old + fresh, offset).assistant_texts, Texts{"new"}) << offset;
  }
}

TEST_F(TranscriptTest, ATornLineIsReadWhenItIsWhole) {
  const std::string first = says("one") + "\n", second = says("two");
  for (size_t have = 0; have < second.size(); ++have) {
    const auto news = read(first + second.substr(0, have));
    EXPECT_EQ(news.assistant_texts, Texts{"one"}) << have;
    EXPECT_EQ(news.end_offset, first.size()) << have;
    EXPECT_EQ(read(first + second + "\n", news.end_offset).assistant_texts, Texts{"two"});
  }
  // Complete except for its newline.
  const auto news = read(first + second);
  EXPECT_EQ(news.assistant_texts, (Texts{"one", "two"}));
  EXPECT_EQ(read(first + second + "\n" + says("three") + "\n", news.end_offset).assistant_texts, Texts{"three"});
}

TEST_F(TranscriptTest, BadLinesAreLeftOutAndTheOthersRead) {
  using namespace std::string_literals;
  for (const std::string& bad : {"{"s, "}"s, "[]"s, "{}"s, "null"s, "\0\0\0"s, "\xff\xfe"s, std::string(100'000, '['),
                                 "{\"type\":\"assistant\",\"message\":"s, "{\"type\":[]}"s}) {
    const auto news = read(bad + "\n" + says("good") + "\n" + bad + "\n");
    EXPECT_EQ(news.assistant_texts, Texts{"good"}) << bad.substr(0, 20);
    EXPECT_TRUE(news.readable);
    EXPECT_EQ(news.end_offset, transcript_size(path_));
  }
  EXPECT_EQ(read(says("a") + "\r\n\r\n" + says("b") + "\r\n").assistant_texts, (Texts{"a", "b"}));
  EXPECT_EQ(read("\0\0\0"s + says("after a crash") + "\n").assistant_texts, Texts{"after a crash"});
  EXPECT_EQ(read(says("a\0b\x01"s) + "\n").assistant_texts.size(), 1U);
}

TEST_F(TranscriptTest, WhatIsNoTranscriptOfAKnownHostIsNotReadable) {
  for (const std::string_view text : {"hello\nworld\n", "{\"role\":\"assistant\",\"content\":\"hi\"}\n"}) {
    EXPECT_FALSE(read(text).readable) << text;
  }
  EXPECT_FALSE(read_transcript_since(path_ + "-missing", 0).readable);
  EXPECT_FALSE(read_transcript_since("", 0).readable);
  EXPECT_FALSE(read_transcript_since("/tmp", 0).readable);
  EXPECT_FALSE(read_transcript_since("/dev/zero", 0).readable);
  const std::string pipe = path_ + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(read_transcript_since(pipe, 0).readable);
  EXPECT_EQ(transcript_size(pipe), 0U);
}

TEST_F(TranscriptTest, AFileThatShrankHasNoNews) {
  const auto news = read(says("old") + "\n", 1'000'000);
  EXPECT_TRUE(news.assistant_texts.empty());
  EXPECT_FALSE(news.readable);
  EXPECT_EQ(news.end_offset, transcript_size(path_));
}

TEST_F(TranscriptTest, OnlyTheEndOfALongPartIsRead) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += says(std::to_string(i)) + "\n";
  const auto news = read(text, 10, 2000);
  EXPECT_TRUE(news.partial);
  ASSERT_FALSE(news.assistant_texts.empty());
  EXPECT_LT(news.assistant_texts.size(), 30U);
  EXPECT_EQ(news.assistant_texts.back(), "999");
  EXPECT_EQ(news.end_offset, text.size());
}

TEST_F(TranscriptTest, AHugeLineIsPassedOver) {
  std::string text = says("before") + "\n" + R"({"type":"user","message":{"content":")";
  text.append(20'000'000, 'x');
  const size_t torn = text.size();
  auto news = read(text);
  EXPECT_TRUE(news.partial);
  EXPECT_TRUE(news.assistant_texts.empty());
  EXPECT_EQ(news.end_offset, torn - kTranscriptLimit);
  EXPECT_FALSE(last_usage(path_).use);
  text += "\"}}\n" + says("after") + "\n";
  news = read(text, news.end_offset);
  EXPECT_EQ(news.assistant_texts, Texts{"after"});
  EXPECT_EQ(news.end_offset, text.size());
}

TEST_F(TranscriptTest, TheLastWordIsTheOneAfterTheLastToolCall) {
  const struct {
    std::string_view what;
    std::string text;
    bool ends;
  } rows[] = {
      {"text", says("a"), true},
      {"text, then a call", says("a") + "\n" + calls("t"), false},
      {"text, then its result", says("a") + "\n" + kUser, false},
      {"call, then text", calls("t") + "\n" + says("a"), true},
      {"both in one line", claude_line(R"({"type":"text","text":"a"},{"type":"tool_use","id":"t"})"), false},
      {"what is no step changes nothing", says("a") + "\n" + R"({"type":"last-prompt","sessionId":"s"})", true},
  };
  for (const auto& row : rows) EXPECT_EQ(read(row.text + "\n").ends_in_text, row.ends) << row.what;
}

TEST_F(TranscriptTest, ALateTextIsWaitedForAndNotForEver) {
  ScratchFolder::write(path_, says("I begin") + "\n" + calls("t") + "\n" + kUser + "\n");
  const std::uint64_t size = transcript_size(path_);
  EXPECT_FALSE(await_assistant_text(path_, 0, Milliseconds(10)).ends_in_text);
  std::jthread host([this] {
    std::this_thread::sleep_for(Milliseconds(20));
    std::ofstream file(path_, std::ios::app);
    file << says("late").substr(0, 30) << std::flush;
    std::this_thread::sleep_for(Milliseconds(20));
    file << says("late").substr(30) << "\n";
  });
  const auto news = await_assistant_text(path_, size, Milliseconds(20'000));
  EXPECT_EQ(news.assistant_texts, Texts{"late"});
  EXPECT_FALSE(await_assistant_text(path_ + "-missing", 0, Milliseconds(10)).readable);
}

// ---- how full the context is ----------------------------------------------------------------------------------------

TEST_F(TranscriptTest, TheLastRecordOfUsageCounts) {
  EXPECT_EQ(last_usage(fixture("claude/transcript.jsonl")).use->tokens, 1512);
  EXPECT_EQ(last_usage(fixture("claude/transcript.jsonl")).use->window, 0);
  EXPECT_EQ(last_usage(fixture("codex/rollout.jsonl")).use->tokens, 120);
  EXPECT_EQ(last_usage(fixture("codex/rollout.jsonl")).use->window, 258400);
  EXPECT_FALSE(last_usage(fixture("claude/transcript-subagent.jsonl")).use);
  EXPECT_FALSE(last_usage("/nonexistent").use);

  const std::string boundary =
      R"({"type":"system","subtype":"compact_boundary","sessionId":"s","compactMetadata":{"preTokens":9}})";
  const std::string codex_null = R"({"type":"event_msg","payload":{"type":"token_count","info":null}})";
  const struct {
    std::string_view what;
    std::string text;
    std::int64_t tokens;
  } rows[] = {
      {"the last of two", used(1000) + "\n" + used(2000) + "\n", 2000},
      {"without a line end", used(1000) + "\n" + used(2000), 2000},
      {"a torn one is not there", used(1000) + "\n" + used(2000).substr(0, 140), 1000},
      {"other lines behind it", used(1000) + "\n" + kUser + "\n{bad\n\n" + says("x") + "\n", 1000},
      {"a sub-agent's", used(1000) + "\n" + used(2000, true) + "\n", 1000},
      {"none at all", kUser + "\n", -1},
      {"a message that no model wrote", used(1000) + "\n" + claude_line("") + "\n", 1000},
      {"before a compaction", used(1000) + "\n" + boundary + "\n", 0},
      {"after a compaction", used(1000) + "\n" + boundary + "\n" + used(300) + "\n", 300},
      {"codex says nothing yet", used(70) + "\n" + codex_null + "\n", 70},
      {"codex compacted", used(70) + "\n" + R"({"type":"compacted","payload":{"message":""}})" + "\n", 0},
      {"absurd numbers", used(1000) + "\n" + used(std::int64_t{1} << 60) + "\n", 6},
  };
  for (const auto& row : rows) EXPECT_EQ(tokens_in(row.text), row.tokens) << row.what;
}

TEST_F(TranscriptTest, RecordsBeforeTheBeginningOfTheContextDoNotCount) {
  const std::string old = used(1000) + "\n";
  EXPECT_EQ(tokens_in(old + kUser + "\n", old.size()), -1);
  EXPECT_EQ(tokens_in(old + used(50) + "\n", old.size()), 50);
  EXPECT_EQ(tokens_in(old, old.size() + 100), 1000);  // the file was rewritten
}

TEST_F(TranscriptTest, TheRecordIsFoundWhereverItLiesWithinReach) {
  // Around the boundaries of the chunks that are read.
  const std::string record = used(4321) + "\n";
  for (const size_t border : {64U << 10, 512U << 10, 4U << 20}) {
    for (const size_t behind : {border - record.size() - 300, border - record.size() - 90, border - 300, border - 90}) {
      const std::string line = R"({"type":"user","sessionId":"s","x":")" + std::string(behind - 38, 'x') + "\"}\n";
      const std::string text = kUser + "\n" + record + line;
      const auto found = search(text);
      const bool within = record.size() + line.size() < (4U << 20);
      EXPECT_EQ(found.use.has_value(), within) << behind;
      EXPECT_EQ(found.out_of_reach, !within) << behind;
    }
  }
  const auto foreign = search(std::string(5'000'000, 'x'));
  EXPECT_FALSE(foreign.use);
  EXPECT_FALSE(foreign.out_of_reach);
}

TEST_F(TranscriptTest, AChatOfGeminiHasItsWordsAndItsToolCalls) {
  // The host writes a message again after its calls have ended, and a tool's answer as a user message.
  const std::string head = R"({"sessionId":"s","projectHash":"h","startTime":"t","kind":"main"})"
                           "\n";
  const std::string asked = R"({"id":"u","timestamp":"t","type":"user","content":[{"text":"<promise>DONE</promise>"}]})"
                            "\n";
  const std::string words = R"({"id":"g","timestamp":"t","type":"gemini","content":"I work","tokens":{"total":120})";
  const std::string set = R"({"$set":{"lastUpdated":"t"}})"
                          "\n";
  const std::string calls = words + R"(,"toolCalls":[{"id":"c1","result":[{"x":{"id":"no","output":"<promise>"}}]}]})"
                                    "\n";
  TranscriptNews news = read(head + asked + set + words + "}\n" + set);
  EXPECT_EQ(news.assistant_texts, Texts{"I work"});
  EXPECT_TRUE(news.tool_ids.empty());
  EXPECT_TRUE(news.ends_in_text);
  news = read(head + asked + words + "}\n" + calls + set + asked + set);
  EXPECT_EQ(news.tool_ids, Texts{"c1"});
  EXPECT_FALSE(news.ends_in_text);
  EXPECT_TRUE(news.readable);
  const auto found = search(head + asked + calls + set);
  ASSERT_TRUE(found.use);
  EXPECT_EQ(found.use->tokens, 120);
  EXPECT_EQ(found.use->window, 1'048'576);
}

}  // namespace
}  // namespace ralph
