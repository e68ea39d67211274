#include "cli/command.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/utf8.h"

namespace ralph::cli {
namespace {

using Words = std::vector<std::string>;

Result<int> do_nothing(const Arguments&) {
  return 0;
}

constexpr Option kOptions[] = {
    {"prompt", 'p', "TEXT", "What the agent is to do."},
    {"max", 'm', "N", "At most so many."},
    {"flag", 0, "WORD", "May be repeated.", false, true},
    {"action", 'a', "ACTION", "What to do.", false, false, "APPEND|PREPEND"},
    {"stream", 's', "", "Show it.", true},
    {"json", 'j', "", "As JSON."},
};
constexpr Positional kRun[] = {{"RUN", "Which run.", true}, {"FORM", "How to show it.", false, false, "short|long"}};
constexpr Positional kRest[] = {{"WORD", "What to complete.", false, true}};

constexpr Command kSample = {
    "sample",
    "Show what a command can say about itself",
    "\nIt has two paragraphs.\n\nThis is the second.\n",
    "\n    ralph sample last\n    ralph sample -m 3 last\n",
    kOptions,
    kRun,
    do_nothing,
};
constexpr Command kPlain = {"plain", "Take nothing", "", "", {}, {}, do_nothing};
constexpr Command kOpenEnded = {"open ended", "Take all", "", "", kOptions, kRest, do_nothing, true};

// The parsed arguments as text: "max=5 stream=true | words".
std::string understood(const Command& command, const Words& words) {
  const auto arguments = parse_arguments(command, words);
  if (!arguments) {
    EXPECT_EQ(arguments.error().kind, ErrorKind::kUsage);
    // Every error ends with a reference to the help.
    const std::string where = "\n  see ralph " + std::string(command.name) + " --help";
    EXPECT_TRUE(arguments.error().message.ends_with(where)) << arguments.error().message;
    return "error: " + arguments.error().message.substr(0, arguments.error().message.find('\n'));
  }
  Words parts;
  for (const Option& option : command.options) {
    EXPECT_EQ(arguments->has(option.name), !arguments->values(option.name).empty());
    for (const std::string& value : arguments->values(option.name)) {
      parts.push_back(std::string(option.name) + "=" + value);
    }
  }
  const Words positionals(arguments->positionals().begin(), arguments->positionals().end());
  return join(parts, " ") + "|" + join(positionals, " ");
}

TEST(ParseArguments, FollowsItsTable) {
  struct Row {
    const char* situation;
    Words words;
    std::string_view understood;
  };
  const Row rows[] = {
      {"a positional alone", {"last"}, "|last"},
      {"a value after its option", {"--max", "5", "last"}, "max=5|last"},
      {"a value after an equals sign", {"--max=5", "last"}, "max=5|last"},
      {"an empty value", {"--prompt=", "last"}, "prompt=|last"},
      {"a value with an equals sign", {"--prompt=a=b", "last"}, "prompt=a=b|last"},
      {"a letter", {"-m", "5", "last"}, "max=5|last"},
      {"a letter with its value", {"-m5", "last"}, "max=5|last"},
      {"a letter, an equals sign and its value", {"-m=5", "last"}, "max=5|last"},
      {"a letter with a value that has an equals sign", {"-pa=b", "last"}, "prompt=a=b|last"},
      {"a value that looks like an option", {"--prompt", "--json", "last"}, "prompt=--json|last"},
      {"a value of blanks and lines", {"-p", " a\n b ", "last"}, "prompt= a\n b |last"},
      {"options after positionals", {"last", "-m", "5"}, "max=5|last"},
      {"a switch", {"--json", "last"}, "json=true|last"},
      {"a switch negated", {"--no-stream", "last"}, "stream=false|last"},
      {"letters together", {"-sj", "last"}, "stream=true json=true|last"},
      {"a switch twice is a switch", {"--json", "-j", "last"}, "json=true json=true|last"},
      {"what may be repeated", {"--flag", "a", "--flag=b", "last"}, "flag=a flag=b|last"},
      {"a choice in any case", {"--action", "prepend", "last"}, "action=prepend|last"},
      {"a dash alone is a word", {"-"}, "|-"},
      {"nothing is an option after two dashes", {"--", "--json"}, "|--json"},
      {"a choice of a positional", {"last", "long"}, "|last long"},

      {"an unknown option", {"--frobnicate"}, "error: unknown option --frobnicate"},
      {"a mistyped option", {"--promt", "x"}, "error: unknown option --promt; did you mean --prompt?"},
      {"a mistyped option with a value", {"--promt=x"}, "error: unknown option --promt; did you mean --prompt?"},
      {"a mistyped negation", {"--no-steam"}, "error: unknown option --no-steam; did you mean --no-stream?"},
      {"mistyped help", {"--hlep"}, "error: unknown option --hlep; did you mean --help?"},
      {"what can't be negated", {"--no-json"}, "error: unknown option --no-json; did you mean --json?"},
      {"an unknown letter", {"-z"}, "error: unknown option -z"},
      {"an unknown letter among others", {"-jz"}, "error: unknown option -jz"},
      {"a letter with a value among others", {"-jm"}, "error: unknown option -jm"},
      {"an option is not guessed from its beginning",
       {"--pro", "x"},
       "error: unknown option --pro; did you mean --prompt?"},
      {"a value for a switch", {"--json=yes"}, "error: --json takes no value"},
      {"a value for a negated switch", {"--no-stream=x"}, "error: --no-stream takes no value"},
      {"a missing value", {"--max"}, "error: --max needs a number"},
      {"a missing value of a letter", {"last", "-m"}, "error: -m needs a number"},
      {"a missing text", {"--prompt"}, "error: --prompt needs a text"},
      {"a missing choice", {"--action"}, "error: --action needs one of APPEND|PREPEND"},
      {"given twice", {"--max", "1", "-m", "2"}, "error: -m is given twice"},
      {"given twice, the value in the same word", {"-pone", "-ptwo = 2"}, "error: -p is given twice"},
      {"another choice",
       {"--action", "apend"},
       "error: --action: \"apend\" is not one of APPEND|PREPEND; did you mean APPEND?"},
      {"another choice, by letter", {"-axyz"}, "error: -a: \"xyz\" is not one of APPEND|PREPEND"},
      {"another choice of a positional",
       {"last", "lnog"},
       "error: FORM: \"lnog\" is not one of short|long; did you mean long?"},
      {"a missing positional", {}, "error: RUN is missing: Which run."},
      {"a positional too many", {"last", "long", "extra"}, "error: unexpected word \"extra\""},
  };
  for (const Row& row : rows) EXPECT_EQ(understood(kSample, row.words), row.understood) << row.situation;
}

TEST(ParseArguments, ACommandThatTakesNothingTakesNothing) {
  EXPECT_EQ(understood(kPlain, {}), "|");
  EXPECT_EQ(understood(kPlain, {"x"}), "error: unexpected word \"x\"");
  EXPECT_EQ(understood(kPlain, {"-x"}), "error: unknown option -x");
  EXPECT_EQ(understood(kPlain, {"--hepl"}), "error: unknown option --hepl; did you mean --help?");
}

TEST(ParseArguments, TheRestIsTakenAsItIsFromItsFirstWordOn) {
  EXPECT_EQ(understood(kOpenEnded, {}), "|");
  EXPECT_EQ(understood(kOpenEnded, {"--json", "run", "--json", "--", "-z", "--max"}),
            "json=true|run --json -- -z --max");
  EXPECT_EQ(understood(kOpenEnded, {"--", "--json", "--"}), "|--json --");
}

TEST(Arguments, AreAskedByName) {
  const auto arguments =
      parse_arguments(kSample, Words{"--flag=a", "--flag=b", "--json", "--stream", "--no-stream", "x"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->value("flag"), "b");
  EXPECT_EQ(arguments->value("prompt"), std::nullopt);
  EXPECT_EQ(arguments->flag("json"), true);
  EXPECT_EQ(arguments->flag("stream"), false) << "the last one counts";
  EXPECT_EQ(arguments->flag("action"), std::nullopt);
  EXPECT_TRUE(arguments->has("stream"));
  EXPECT_FALSE(arguments->has("max"));
}

TEST(HelpOf, SaysEverythingAboutACommand) {
  EXPECT_EQ(help_of(kSample), R"(Show what a command can say about itself

Usage: ralph sample [options] RUN [FORM]

It has two paragraphs.

This is the second.

Arguments:
  RUN                  Which run.
  FORM                 How to show it. One of short, long.

Options:
  -p, --prompt TEXT    What the agent is to do.
  -m, --max N          At most so many.
      --flag WORD      May be repeated. Repeatable.
  -a, --action ACTION  What to do. One of APPEND, PREPEND.
  -s, --[no-]stream    Show it.
  -j, --json           As JSON.
  -h, --help           Show this help.

Examples:
  ralph sample last
  ralph sample -m 3 last
)");
}

TEST(HelpOf, LeavesOutWhatACommandDoesNotHave) {
  EXPECT_EQ(help_of(kPlain), R"(Take nothing

Usage: ralph plain

Options:
  -h, --help  Show this help.
)");
  constexpr Positional kCommand[] = {{"COMMAND", "What to run.", true, true}};
  const Command kRunner = {"runner", "Run", "", "", {}, kCommand, do_nothing};
  EXPECT_NE(help_of(kRunner).find("Usage: ralph runner -- COMMAND...\n"), std::string::npos);
  EXPECT_NE(help_of(kOpenEnded).find("Usage: ralph open ended [options] [WORD...]\n"), std::string::npos);
}

TEST(HelpOf, FitsEightyColumnsForEveryCommand) {
  const auto widest = [](const std::string& text) {
    size_t width = 0;
    for (const std::string& line : split(text, '\n')) width = std::max(width, display_width(line));
    return width;
  };
  EXPECT_LE(widest(overview(all_commands())), 80u);
  for (const Command* command : all_commands()) EXPECT_LE(widest(help_of(*command)), 80u) << command->name;
}

TEST(HelpOf, BreaksLinesBetweenWordsAndExamplesOutsideOfQuotes) {
  const Option kLong[] = {
      {"a-name-that-is-longer-than-others", 0, "VALUE", "One word after another, until the line is full."}};
  const Command kWide = {
      "wide",
      "Take much",
      "A paragraph whose lines are\nbroken\nanywhere is one paragraph all the same, as wide as it may be.",
      "ralph wide --task 'a text in quotes, which a shell must not find broken' --json --more",
      kLong,
      {},
      do_nothing};
  EXPECT_EQ(help_of(kWide), R"(Take much

Usage: ralph wide [options]

A paragraph whose lines are broken anywhere is one paragraph all the same, as
wide as it may be.

Options:
      --a-name-that-is-longer-than-others VALUE
                                  One word after another, until the line is
                                  full.
  -h, --help                      Show this help.

Examples:
  ralph wide --task 'a text in quotes, which a shell must not find broken' \
      --json --more
)");
}

TEST(Overview, ListsCommandsInOrderButNoHiddenOnes) {
  const Command* const commands[] = {&kSample, &kOpenEnded, &kPlain};
  const std::string text = overview(commands);
  EXPECT_NE(text.find("Tasks, runs and tools:\n"
                      "  sample  Show what a command can say about itself\n"
                      "  plain   Take nothing\n"
                      "\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("open ended"), std::string::npos);
}

TEST(AllCommands, AreCompleteAndDoNotContradictThemselves) {
  for (const Command* command : all_commands()) {
    EXPECT_FALSE(command->summary.empty()) << command->name;
    EXPECT_NE(command->run, nullptr) << command->name;
    std::string letters = "h";
    Words names = {"help"};
    for (const Option& option : command->options) {
      EXPECT_FALSE(option.help.empty()) << command->name << " --" << option.name;
      EXPECT_EQ(std::count(names.begin(), names.end(), option.name), 0) << command->name << " --" << option.name;
      names.emplace_back(option.name);
      if (option.negatable) {
        EXPECT_TRUE(option.value.empty()) << command->name << " --" << option.name;
      }
      if (option.letter == 0) continue;
      EXPECT_EQ(letters.find(option.letter), std::string::npos) << command->name << " -" << option.letter;
      letters += option.letter;
    }
    for (const Positional& positional : command->positionals) {
      const bool last = &positional == &command->positionals.back();
      EXPECT_TRUE(last || !positional.rest) << command->name;
    }
  }
}

}  // namespace
}  // namespace ralph::cli
