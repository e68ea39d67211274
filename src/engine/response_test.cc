#include "engine/response.h"

#include <random>

#include <gtest/gtest.h>

namespace ralph {
namespace {

std::optional<std::string> response_of(std::string_view prompt, std::string_view output,
                                       size_t piece = std::string::npos) {
  ResponseFinder finder(prompt);
  for (size_t at = 0; at < output.size(); at += piece) {
    finder.feed(output.substr(at, piece));
    if (piece == std::string::npos) break;
  }
  finder.finish();
  return finder.response();
}

constexpr std::string_view kPrompt =
    "Fix the build and run the tests.\n\nWhen everything works, answer with:\n<response>DONE</response>\nNothing else "
    "counts.";

struct Row {
  const char* name;
  std::string prompt;
  std::string output;
  std::optional<std::string> response;
};

const std::vector<Row>& table() {
  static const std::string kText(kPrompt);
  static const std::vector<Row> kRows = {
      {"a plain answer", "p", "text\n<response>DONE</response>\n", "DONE"},
      {"no tag at all", "p", "I am DONE. response: DONE", std::nullopt},
      {"the first tag wins", "p", "<response>NO</response> <response>DONE</response>", "NO"},
      {"the tag's case is ignored", "p", "<RESPONSE>DONE</Response>", "DONE"},
      {"an empty answer is an answer", "p", "<response></response>", ""},
      {"a tag that never closes is none", "p", "<response>DONE", std::nullopt},
      {"a tag across lines is none", "p", "<response>DO\nNE</response>", std::nullopt},
      {"an opening tag before the real one on another line", "p", "<response>\n<response>DONE</response>", "DONE"},
      {"inside other text", "p", "ok<response>DONE</response>ok", "DONE"},
      {"the prompt echoed", kText, kText, std::nullopt},
      {"the prompt echoed with words around it", kText, "You said:\n" + kText + "\nI begin now.", std::nullopt},
      {"the prompt echoed, then answered", kText, kText + "\n\nAll tests pass.\n<response>DONE</response>\n", "DONE"},
      {"answered as the prompt asks", kText, "<response>DONE</response>", "DONE"},
      {"answered after words of its own", kText, "I fixed it.\n<response>DONE</response>\n", "DONE"},
      {"the prompt quoted line by line", kText,
       "> Fix the build and run the tests.\n> \n> When everything works, answer with:\n> <response>DONE</response>\n> "
       "Nothing else counts.\n",
       std::nullopt},
      {"the prompt re-wrapped", kText,
       "Fix the build and\nrun the tests. When everything works,\nanswer with: <response>DONE</response>\nNothing else "
       "counts.",
       std::nullopt},
      {"a short prompt echoed", "Say <response>DONE</response>", "Say <response>DONE</response>\n", std::nullopt},
      {"its words inside a sentence of the agent's", "Say <response>DONE</response>",
       "They say <response>DONE</response>", "DONE"},
      {"a short prompt echoed after a label", "When done say <response>DONE</response>, please.",
       "user: When done say <response>DONE</response>, please.", std::nullopt},
      {"another answer than the prompt's", kText, "<response>BLOCKED</response>", "BLOCKED"},
      {"a prompt that is the tag and nothing else", "<response>DONE</response>", "<response>DONE</response>",
       std::nullopt},
      {"NUL bytes around", "p", std::string("\0\0<response>DONE</response>\0", 28), "DONE"},
  };
  return kRows;
}

TEST(ResponseFinder, FollowsItsTable) {
  for (const Row& row : table()) EXPECT_EQ(response_of(row.prompt, row.output), row.response) << row.name;
}

TEST(ResponseFinder, FindsTheSameHoweverTheTextIsCut) {
  for (const Row& row : table()) {
    for (size_t piece : {1, 2, 3, 7, 16, 61}) {
      EXPECT_EQ(response_of(row.prompt, row.output, piece), row.response) << row.name << " in pieces of " << piece;
    }
  }
}

TEST(ResponseFinder, FindsATagAfterMuchText) {
  std::string output(3'000'000, 'x');
  output += "\n<response>DONE</response>\n" + std::string(100'000, 'y');
  EXPECT_EQ(response_of(kPrompt, output, 65536), "DONE");
}

TEST(ResponseFinder, FindsAnEchoAfterMuchText) {
  std::string output(300'000, 'x');
  for (int i = 0; i < 2000; ++i) output += "\nline";
  output += "\n" + std::string(kPrompt);
  EXPECT_EQ(response_of(kPrompt, output, 4096), std::nullopt);
}

TEST(ResponseFinder, KnowsAnEchoThroughALongRuleOfDashes) {
  const std::string rule(3000, '-');
  const std::string before = "Fix the build and answer with\n" + rule + "\n<response>DONE</response>";
  const std::string after = "<response>DONE</response>\n" + rule + "\nis what to say when the build works.";
  for (const std::string& prompt : {before, after, before + "\n" + rule + "\nNothing else counts."}) {
    for (size_t piece : {7UL, 500UL, 5000UL, std::string::npos}) {
      const std::string filling(5000, 'x');
      EXPECT_EQ(response_of(prompt, prompt, piece), std::nullopt) << piece;
      EXPECT_EQ(response_of(prompt, filling + "\n" + prompt, piece), std::nullopt) << piece;
      EXPECT_EQ(response_of(prompt, prompt + "\nI did.\n<response>DONE</response>", piece), "DONE") << piece;
    }
  }
}

TEST(ResponseFinder, FindsAnAnswerBehindATagThatNeverClosedOnAVeryLongLine) {
  const std::string output = "<response>" + std::string(100'000, 'x') + "<response>DONE</response>";
  for (size_t piece : {10UL, 4096UL, 65536UL, std::string::npos}) {
    EXPECT_EQ(response_of("p", output, piece), "DONE") << piece;
  }
}

TEST(ResponseFinder, StaysFastOnAMillionOpeningTags) {
  std::string output;
  for (int i = 0; i < 1'000'000; ++i) output += "<response>";
  EXPECT_EQ(response_of("p", output, 65536), std::nullopt);
  output.clear();
  for (int i = 0; i < 100'000; ++i) output += "<response>";
  EXPECT_EQ(response_of("p", output + "DONE</response>").has_value(), true);
}

TEST(ResponseFinder, KnowsSilence) {
  ResponseFinder finder("p");
  finder.feed(" \n\t");
  EXPECT_FALSE(finder.said_anything());
  finder.feed("x");
  EXPECT_TRUE(finder.said_anything());
}

// ---- a promise, in its exact form

std::optional<std::string> promise_of(std::string_view prompt, std::string_view output,
                                      size_t piece = std::string::npos) {
  ResponseFinder finder(prompt, "COMPLETE");
  for (size_t at = 0; at < output.size(); at += piece) {
    finder.feed(output.substr(at, piece));
    if (piece == std::string::npos) break;
  }
  finder.finish();
  return finder.response();
}

const std::vector<Row>& promises() {
  static const std::string kText =
      "Work on one story.\n\nWhen all stories are approved, say:\n<promise>COMPLETE</promise>\nNever say it earlier.";
  static const std::vector<Row> kRows = {
      {"a plain promise", "p", "text\n<promise>COMPLETE</promise>\n", "COMPLETE"},
      {"after a sentence", "p", "All done. <promise>COMPLETE</promise>", "COMPLETE"},
      {"after a sentence without a blank", "p", "All done!<promise>COMPLETE</promise> \nBye.", "COMPLETE"},
      {"after a question", "p", "Is it done? <promise>COMPLETE</promise>\r\n", "COMPLETE"},
      {"after a colon", "p", "Here it is: <promise>COMPLETE</promise>", "COMPLETE"},
      {"in markup", "p", "- **`<promise>COMPLETE</promise>`**\n\nBye!", "COMPLETE"},
      {"after a sentence in markup", "p", "**Done.** _<promise>COMPLETE</promise>_ |", "COMPLETE"},
      {"behind code", "p", "- ```\n  x\n  ```\n```y``` is\n```\nz\n```\n<promise>COMPLETE</promise>", "COMPLETE"},
      {"as inline code", "p", "```<promise>COMPLETE</promise>```", "COMPLETE"},
      {"behind a comment", "p", "<!-- x --> Done. <promise>COMPLETE</promise>", "COMPLETE"},
      {"behind what is struck out", "p", "~~Not yet.~~ Done. <promise>COMPLETE</promise>", "COMPLETE"},
      {"after a quotation", "p", "> Is it done?\n<promise>COMPLETE</promise>", "COMPLETE"},
      {"alone, as code", "p", "\n```text\n<promise>COMPLETE</promise>\n```\nBye!", "COMPLETE"},
      {"as code that begins", "p", "```\ncat NOTES.md\n<promise>COMPLETE</promise>\n```", std::nullopt},
      {"as code", "p", "It says:\n```\n<promise>COMPLETE</promise>\n```", std::nullopt},
      {"as code of a list", "p", "It says:\n- ~~~text\n  <promise>COMPLETE</promise>\n  ~~~", std::nullopt},
      {"quoted", "p", "> <promise>COMPLETE</promise>", std::nullopt},
      {"quoted in a list", "p", "- > **<promise>COMPLETE</promise>**", std::nullopt},
      {"quoted with its sentence", "p", "> Then say: <promise>COMPLETE</promise>", std::nullopt},
      {"in a comment", "p", "<!-- <promise>COMPLETE</promise> -->", std::nullopt},
      {"in a comment of several lines", "p", "Look: <!--\n<promise>COMPLETE</promise>\n-->", std::nullopt},
      {"in a comment after a sentence", "p", "<!-- Done. <promise>COMPLETE</promise> -->", std::nullopt},
      {"struck out", "p", "~~<promise>COMPLETE</promise>~~", std::nullopt},
      {"struck out with its sentence", "p", "~~Done. <promise>COMPLETE</promise>~~", std::nullopt},
      {"quoted, then made", "p", "> <promise>COMPLETE</promise>\n\n<promise>COMPLETE</promise>", "COMPLETE"},
      {"mentioned, then made", "p", "I'll say <promise>COMPLETE</promise> now.\n<promise>COMPLETE</promise>",
       "COMPLETE"},
      {"an announcement", "p", "When they pass I will output <promise>COMPLETE</promise>", std::nullopt},
      {"an announcement with an end", "p", "When they pass I will output <promise>COMPLETE</promise>.", std::nullopt},
      {"the first words of a line", "p", "<promise>COMPLETE</promise> comes when all pass.", std::nullopt},
      {"in the middle of a sentence", "p", "Done. <promise>COMPLETE</promise> is what I would say.", std::nullopt},
      {"inside other text", "p", "ok<promise>COMPLETE</promise>ok", std::nullopt},
      {"in quotes", "p", "It wants: \"<promise>COMPLETE</promise>\"", std::nullopt},
      {"in brackets", "p", "Not yet. (<promise>COMPLETE</promise>)", std::nullopt},
      {"after a dash", "p", "Soon - <promise>COMPLETE</promise>", std::nullopt},
      {"behind a tag that never closed", "p", "<promise><promise>COMPLETE</promise>", std::nullopt},
      {"behind another promise", "p", "<promise>LATER</promise> <promise>COMPLETE</promise>", std::nullopt},
      {"several of them in lines", "p", "<promise>COMPLETE</promise>\n<promise>COMPLETE</promise>", "COMPLETE"},
      {"after more markup than anybody writes", "p", std::string(200, '*') + "<promise>COMPLETE</promise>",
       std::nullopt},
      {"no tag at all", "p", "COMPLETE. promise: COMPLETE", std::nullopt},
      {"another word", "p", "<promise>DONE</promise>", std::nullopt},
      {"another case inside", "p", "<promise>complete</promise>", std::nullopt},
      {"another case of the tag", "p", "<Promise>COMPLETE</Promise>", std::nullopt},
      {"blanks inside", "p", "<promise> COMPLETE </promise>", std::nullopt},
      {"a line break inside", "p", "<promise>\nCOMPLETE\n</promise>", std::nullopt},
      {"more words inside", "p", "<promise>NOT COMPLETE</promise>", std::nullopt},
      {"a tag that never closes", "p", "<promise>COMPLETE", std::nullopt},
      {"a tag that is cut", "p", "<promise>COMPLETE</promise", std::nullopt},
      {"an answer of a prompt loop", "p", "<response>COMPLETE</response>", std::nullopt},
      {"nothing", "p", "", std::nullopt},
      {"the prompt echoed", kText, kText, std::nullopt},
      {"the prompt quoted and re-wrapped", kText,
       "> Work on one story. When all stories are\n> approved, say: <promise>COMPLETE</promise>\n> Never say it "
       "earlier.",
       std::nullopt},
      {"the prompt echoed, then promised", kText, kText + "\n\nAll done.\n<promise>COMPLETE</promise>\n", "COMPLETE"},
      {"promised as the prompt asks", kText, "<promise>COMPLETE</promise>", "COMPLETE"},
      {"promised after words of its own", kText, "US-3 is approved.\n<promise>COMPLETE</promise>\n", "COMPLETE"},
      {"another promise in the prompt is no place of it", "say <promise>LATER</promise>",
       "say: <promise>COMPLETE</promise>", "COMPLETE"},
      {"one sentence of the prompt quoted", kText,
       "It says: \"When all stories are approved, say: <promise>COMPLETE</promise>\" but they are not.", std::nullopt},
      {"the end of a long sentence quoted",
       "You attempted to end the loop, but you did not output the completion promise <promise>COMPLETE</promise>. Go "
       "on.",
       "I read that you did not output the completion promise <promise>COMPLETE</promise>, so I go on.", std::nullopt},
      {"the prompt's words used for a promise of its own",
       "Only when you have verified it, output the completion promise, exactly: <promise>COMPLETE</promise>\nNot "
       "before.",
       "I have verified it. Here I output the completion promise, exactly: <promise>COMPLETE</promise>", "COMPLETE"},
      {"a quotation, then the promise", kText,
       "I should say \"When all stories are approved, say: <promise>COMPLETE</promise>\" and they are: "
       "<promise>COMPLETE</promise>",
       "COMPLETE"},
  };
  return kRows;
}

TEST(Promise, FollowsItsTable) {
  for (const Row& row : promises()) EXPECT_EQ(promise_of(row.prompt, row.output), row.response) << row.name;
}

TEST(Promise, IsFoundHoweverTheTextIsCut) {
  for (const Row& row : promises()) {
    for (size_t piece = 1; piece < 40; ++piece)
      EXPECT_EQ(promise_of(row.prompt, row.output, piece), row.response) << row.name << " in pieces of " << piece;
  }
}

TEST(Promise, IsFoundAfterMuchText) {
  const std::string much(3'000'000, 'x'), promise = "<promise>COMPLETE</promise>";
  const std::string prompt = "say <promise>COMPLETE</promise> when done";
  for (const std::string end : {".", ".  **", "\n"})
    EXPECT_EQ(promise_of(prompt, much + end + promise + "\n" + much, 4096), "COMPLETE") << end;
  EXPECT_EQ(promise_of(prompt, much + promise + "\n" + much, 4096), std::nullopt);
}

TEST(Promise, IsNotFoundInACodeBlockHoweverFarAwayThatBegan) {
  std::string much;
  for (int i = 0; i < 100'000; ++i) much += "a line of code\n";
  const std::string promise = "<promise>COMPLETE</promise>\n";
  EXPECT_EQ(promise_of("p", "```\n" + much + promise, 4096), std::nullopt);
  EXPECT_EQ(promise_of("p", "```\n" + much + "```\n" + much + promise, 4096), "COMPLETE");
}

TEST(Promise, ACodeBlockEndsWithItsMessage) {
  for (const size_t lines : {size_t{0}, size_t{10'000}}) {
    std::string code = "It says:\n```\n";
    for (size_t i = 0; i < lines; ++i) code += "a line of code\n";
    for (const std::string_view rest : {"<promise>COMPLETE</promise>", "Done.\n<promise>COMPLETE</promise>"}) {
      ResponseFinder finder("p", "COMPLETE");
      finder.begin_text();
      finder.feed(code + "<promise>COMPLETE</promise>");
      EXPECT_EQ(finder.response(), std::nullopt);
      finder.begin_text();
      finder.feed(rest);
      finder.finish();
      EXPECT_EQ(finder.response(), "COMPLETE");
      EXPECT_TRUE(finder.mentioned());
    }
  }
}

TEST(Promise, AMillionBeginningsOfItTakeNoTime) {
  std::string output;
  for (int i = 0; i < 1'000'000; ++i) output += "<promise>";
  EXPECT_EQ(promise_of("p", output, 4096), std::nullopt);
  EXPECT_EQ(promise_of("p", output + "\n<promise>COMPLETE</promise>", 4096), "COMPLETE");
}

TEST(Promise, AMentionIsKnownAndAnEchoIsNone) {
  const auto mentions = [](std::string_view prompt, std::string_view text) {
    ResponseFinder finder(prompt, "COMPLETE");
    finder.feed(text);
    finder.finish();
    return finder.mentioned();
  };
  EXPECT_TRUE(mentions("p", "then I will say <promise>COMPLETE</promise>"));
  EXPECT_FALSE(mentions("p", "then I will say it. <promise>COMPLETE</promise>"));
  EXPECT_FALSE(mentions("p", "nothing of the kind"));
  const std::string prompt = "When everything is done, say <promise>COMPLETE</promise> and stop there.";
  EXPECT_FALSE(mentions(prompt, "> " + prompt));
}

TEST(Promise, EchoesAreNotMentions) {
  const std::string prompt = "When everything is done, say <promise>COMPLETE</promise> and stop there.";
  ResponseFinder finder(prompt, "COMPLETE");
  finder.feed(prompt + "\n" + prompt + "\n");
  finder.finish();
  EXPECT_EQ(finder.response(), std::nullopt);
  EXPECT_FALSE(finder.mentioned());
}

}  // namespace
}  // namespace ralph
