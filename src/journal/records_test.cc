#include "journal/records.h"

#include <random>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "journal/words_for_tests.h"

namespace ralph::record {
namespace {

const WallTime kNow{Milliseconds(1'794'774'153'123)};  // 2026-11-15T20:22:33.123Z

std::string line_of(Body body) {
  return to_line(Record{7, kNow, std::move(body)});
}

template <class T>
T read_back(const std::string& line) {
  Result<Record> record = from_line(line);
  EXPECT_TRUE(record) << line;
  return std::get<T>(record->body);
}

TEST(Records, AreOneLineWithTheEnvelopeFirstAndTheFieldsInTheirOrder) {
  EXPECT_EQ(
      line_of(IterationEnded{3, 1500}),
      R"({"v":2,"seq":7,"time":"2026-11-15T20:22:33.123Z","type":"iteration_ended","iteration":3,"durationMs":1500})");
}

TEST(Records, SayWhatTheRunHasSpentIfThatIsKnown) {
  Record record{7, kNow, SignalReceived{"SIGINT", 1}};
  record.run_time = Milliseconds(1500);
  const std::string line = to_line(record);
  EXPECT_EQ(line, R"({"v":2,"seq":7,"time":"2026-11-15T20:22:33.123Z","runMs":1500,"type":"signal_received",)"
                  R"("signal":"SIGINT","count":1})");
  EXPECT_EQ(from_line(line)->run_time, Milliseconds(1500));
  for (const char* wrong : {"-1", "\"1\"", "1.5", "1e300", "null"}) {
    const auto read = from_line(fmt::format(R"({{"type":"party","runMs":{}}})", wrong));
    EXPECT_EQ(read->run_time, std::nullopt) << wrong;
  }
}

TEST(Records, AWordOfANewerVersionInAListIsUnknown) {
  const auto resumed = read_back<RunResumed>(R"({"type":"run_resumed","disbelieved":["ended","tomorrow",7]})");
  EXPECT_EQ(resumed.disbelieved, (std::vector{Claim::kEnded, Claim::kUnknown}));
}

TEST(Records, LeaveOutAnOptionalThatHasNoValue) {
  AgentEnded ended;
  EXPECT_EQ(line_of(ended).find("response"), std::string::npos);
  ended.response = "DONE";
  EXPECT_NE(line_of(ended).find(R"("response":"DONE")"), std::string::npos);
  EXPECT_EQ(read_back<AgentEnded>(line_of(ended)).response, "DONE");
}

TEST(Records, MakeInvalidUtf8Valid) {
  SignalReceived body;
  body.signal = "a\xff\xc3";
  EXPECT_EQ(find_invalid_utf8(line_of(body)), std::string::npos);
  EXPECT_EQ(read_back<SignalReceived>(line_of(body)).signal, "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Records, NeverHoldAByteThatATerminalObeys) {
  Decided body;
  body.reason =
      "\x1b[2J \x7f \xc2\x9b"
      "31m \n\r\a caf\xc3\xa9 \xc2\xa0";
  const std::string line = line_of(body);
  for (size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    EXPECT_TRUE(c >= 0x20 && c != 0x7f) << i;
    EXPECT_TRUE(c != 0xc2 || static_cast<unsigned char>(line.at(i + 1)) >= 0xa0) << i;
  }
  EXPECT_EQ(read_back<Decided>(line).reason, body.reason);
}

TEST(Records, KeepSettingsAsTheyAre) {
  RunStarted body;
  body.settings = json::value{{"agent", {{"command", "claude"}, {"flags", {"-p", "x"}}}}, {"maximumIterations", 10}};
  EXPECT_EQ(read_back<RunStarted>(line_of(body)).settings, body.settings);
}

TEST(Records, KeepWhatTheyDoNotKnow) {
  const std::string line =
      R"({"v":9,"seq":4,"time":"2026-11-15T20:22:33.123Z","type":"party","guests":[1,{"a":null}]})";
  const Result<Record> record = from_line(line);
  ASSERT_TRUE(record);
  EXPECT_EQ(type_of(record->body), "party");
  EXPECT_EQ(record->sequence, 4);
  EXPECT_EQ(std::get<Unknown>(record->body).fields_as_written.size(), 1u);
  EXPECT_EQ(to_line(*record),
            R"({"v":2,"seq":4,"time":"2026-11-15T20:22:33.123Z","type":"party","guests":[1,{"a":null}]})");
}

TEST(Records, CanAlwaysBeWrittenAgain) {
  const Result<Record> record = from_line(R"({"type":"party","size":[{"n":1e999}]})");
  if (!record) return;  // the parser may reject it
  EXPECT_TRUE(from_line(to_line(*record))) << to_line(*record);
}

TEST(Records, IgnoreFieldsTheyDoNotKnow) {
  EXPECT_EQ(read_back<IterationStarted>(R"({"v":2,"type":"iteration_started","iteration":5,"mood":"good"})").iteration,
            5);
}

TEST(Records, LeaveAFieldOfTheWrongTypeAtItsDefault) {
  for (const char* value :
       {"\"5\"", "5.5", "1e400", "99999999999999999999999999", "18446744073709551615", "null", "[]", "{}", "true"}) {
    const Result<Record> record =
        from_line(fmt::format(R"({{"type":"iteration_ended","iteration":{},"durationMs":8}})", value));
    if (!record) continue;  // the parser rejects the number
    EXPECT_EQ(std::get<IterationEnded>(record->body).iteration, 0) << value;
    EXPECT_EQ(std::get<IterationEnded>(record->body).duration_ms, 8) << value;
  }
  const auto swept =
      read_back<ProcessesSwept>(R"({"type":"processes_swept","after":1,"ended":["a",2,"b"],"survivors":"x"})");
  EXPECT_EQ(swept.after, "");
  EXPECT_EQ(swept.ended, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(swept.survivors.empty());
  EXPECT_FALSE(read_back<AgentEnded>(R"({"type":"agent_ended","response":7})").response);
}

TEST(Records, RefuseWhatIsNoRecord) {
  for (std::string_view line :
       {"", " ", "{", "[]", "null", "7", "\"x\"", "{}", R"({"type":5})", R"({"type":"a")", "\xff"}) {
    EXPECT_FALSE(from_line(line)) << line;
  }
}

TEST(Records, SurviveADepthBomb) {
  EXPECT_FALSE(from_line(R"({"type":"party","x":)" + std::string(1'000'000, '[')));
  EXPECT_FALSE(from_line(std::string(1'000'000, '{')));
}

TEST(Records, ReadATimeOnlyInTheFormTheyWrite) {
  const auto time_of = [](std::string_view text) {
    return from_line(fmt::format(R"({{"type":"x","time":"{}"}})", text))->time;
  };
  EXPECT_EQ(time_of("2026-11-15T20:22:33.123Z"), kNow);
  for (std::string_view text : {"", "2026-13-15T20:22:33.123Z", "2026-11-15 20:22:33.123Z", "2026-02-30T20:22:33.123Z",
                                "2026-11-15T20:22:33.123+", "2026-11-15T2x:22:33.123Z", "2026-11-15T24:22:33.123Z"}) {
    EXPECT_EQ(time_of(text), WallTime{}) << text;
  }
}

// Fills every field of a record with a random value, through the record's own list.
struct Randomiser {
  std::mt19937& random;
  std::string text() const {
    static constexpr std::string_view kPieces[] = {"a",  "\"",   "\\",       "\n",   "\x01", "é",
                                                   "😀", "\x7f", "\xc2\x85", "</x>", "\t",   "0"};
    std::string result;
    for (unsigned i = random() % 12; i > 0; --i) result += kPieces[random() % std::size(kPieces)];
    return result;
  }
  void operator()(std::string_view, std::string& value) const { value = text(); }
  void operator()(std::string_view, double& value) const { value = static_cast<double>(random() % 1000) / 8; }
  void operator()(std::string_view, std::int64_t& value) const {
    value = static_cast<std::int64_t>((std::uint64_t{random()} << 32 | random()) >> random() % 64);
  }
  void operator()(std::string_view, json::value& value) const { value = json::object{{text(), text()}, {"n", 5}}; }
  void operator()(std::string_view, std::vector<std::string>& value) const {
    for (unsigned i = random() % 4; i > 0; --i) value.push_back(text());
  }
  template <class T>
  void operator()(std::string_view key, std::optional<T>& value) const {
    if (random() % 2) (*this)(key, value.emplace());
  }
  void operator()(std::string_view, std::map<std::string, std::string>& value) const { value[text()] = text(); }
  template <std::integral T>
  void operator()(std::string_view, T& value) const {
    value = static_cast<T>(random() % 2);
  }
  template <Worded E>
  void operator()(std::string_view, E& value) const {
    value = static_cast<E>(random() % kWords<E>.size());
  }
  template <class T>
    requires Listed<T> || Worded<T>
  void operator()(std::string_view key, std::vector<T>& value) const {
    for (unsigned i = random() % 4; i > 0; --i) (*this)(key, value.emplace_back());
  }
  template <Listed T>
  void operator()(std::string_view, T& value) const {
    value.fields(*this);
  }
};

template <size_t I>
void expect_round_trips(std::mt19937& random) {
  std::variant_alternative_t<I, AnyBody> body;
  body.fields(Randomiser{random});
  const std::string line = line_of(body);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Result<Record> record = from_line(line);
  ASSERT_TRUE(record) << line;
  EXPECT_EQ(record->body.index(), I);
  EXPECT_EQ(record->sequence, 7);
  EXPECT_EQ(record->time, kNow);
  EXPECT_EQ(to_line(*record), line);
  if constexpr (I + 2 < std::variant_size_v<AnyBody>) expect_round_trips<I + 1>(random);
}

TEST(Records, OfEveryTypeComeBackAsTheyWereWritten) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) expect_round_trips<0>(random);
}

}  // namespace
}  // namespace ralph::record
