#include "policy/shell/lexer.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "policy/known_output.h"

namespace ralph {
namespace {

const ShellSetting kSetting = {"/home/dev", "/srv", {{"USER", "dev"}}};

// Every command with words, each word in [..]; other tests cover bare assignments and redirections.
std::string seen(std::string_view text) {
  std::string all;
  for (const ShellCommand& command : read_shell(text, kSetting).commands) {
    if (command.words.empty()) continue;
    if (!all.empty()) all += " ; ";
    for (const ShellWord& word : command.words) all += "[" + readable(word.text) + "]";
  }
  return all;
}

struct Case {
  const char* text;
  const char* seen;
};

class Reads : public testing::TestWithParam<Case> {};

TEST_P(Reads, AsAShellWould) {
  EXPECT_EQ(seen(GetParam().text), GetParam().seen) << GetParam().text;
}

const Case kCases[] = {
    // words and quotes
    {"", ""},
    {"   \t ", ""},
    {"ls", "[ls]"},
    {"ls -l  a", "[ls][-l][a]"},
    {"echo 'a b'", "[echo][a b]"},
    {"echo \"a b\"", "[echo][a b]"},
    {"echo a\\ b", "[echo][a b]"},
    {"echo a'b'\"c\"d", "[echo][abcd]"},
    {"echo ''", "[echo][]"},
    {"echo \"\"x", "[echo][x]"},
    {"echo 'a\\b'", "[echo][a\\b]"},
    {"echo \"a\\\"b\"", "[echo][a\"b]"},
    {"echo \"a\\nb\"", "[echo][a\\nb]"},
    {"echo \"\\$x\"", "[echo][$x]"},
    {"echo \\$x", "[echo][$x]"},
    {"echo '$x'", "[echo][$x]"},
    {"echo $'a\\tb'", "[echo][a b]"},
    {"echo $'\\x41\\102\\u0043'", "[echo][ABC]"},
    {"echo $'it\\'s'", "[echo][it's]"},
    {"echo a\\\nb", "[echo][ab]"},
    {"echo \\\n a", "[echo][a]"},
    {"echo 'unclosed", "[echo][unclosed]"},
    {"echo \"unclosed", "[echo][unclosed]"},
    {"echo a\\", "[echo][a]"},
    {"echo $", "[echo][$]"},
    {"echo a$", "[echo][a$]"},
    {"echo é ü", "[echo][é][ü]"},
    {"\\ls", "[ls]"},
    {"l\"\"s", "[ls]"},
    // operators
    {"a; b", "[a] ; [b]"},
    {"a;b", "[a] ; [b]"},
    {"a && b || c", "[a] ; [b] ; [c]"},
    {"a & b", "[a] ; [b]"},
    {"a | b |& c", "[a] ; [b] ; [c]"},
    {"a\nb", "[a] ; [b]"},
    {"a;;b", "[a] ; [b]"},
    {"! a", "[a]"},
    {"time a", "[a]"},
    {"time -p a", "[a]"},
    {"a &&\n b", "[a] ; [b]"},
    {"a |\n b", "[a] ; [b]"},
    {"a ) b", "[a] ; [b]"},
    // comments
    {"a # b", "[a]"},
    {"a#b", "[a#b]"},
    {"# x\na", "[a]"},
    {"a '#' b", "[a][#][b]"},
    {"a; # x; y\nb", "[a] ; [b]"},
    // compound commands
    {"(a; b)", "[a] ; [b]"},
    {"{ a; b; }", "[a] ; [b]"},
    {"((a); b)", "[a] ; [b]"},
    {"if a; then b; elif c; then d; else e; fi", "[a] ; [b] ; [c] ; [d] ; [e]"},
    {"if a\nthen\nb\nfi", "[a] ; [b]"},
    {"while a; do b; done", "[a] ; [b]"},
    {"until a; do b; done", "[a] ; [b]"},
    {"for x in 1 2; do a $x; done", "[a][1][2]"},
    {"for x in 1 2\ndo a \"$x\"b\ndone", "[a][1b][2b]"},
    {"for x; do a $x; done", "[a][…]"},
    {"for ((i=0; i<3; i++)); do a; done", "[((][i=0; i<3; i++] ; [a]"},
    {"select x in a b; do c $x; done", "[c][a][b]"},
    {"case $x in a) b ;; c|d) e ;; *) f;; esac", "[b] ; [e] ; [f]"},
    {"case x in (a) b;; esac; c", "[b] ; [c]"},
    {"case x in\n a)\n b\n ;;\nesac", "[b]"},
    {"f() { a; }; b", "[a] ; [b]"},
    {"f() { a $1; }; f x", "[a][…] ; [f][x] ; [a][x]"},
    {"function f { a \"$@\"; }; f x y", "[a][…] ; [f][x][y] ; [a][x][y]"},
    {"f() (a); b", "[a] ; [b]"},
    {"f() { f; }; f", "[f] ; [f] ; [f]"},
    {"[[ a == b ]] && c", "[c]"},
    {"[[ -n $(a) ]]", "[a]"},
    {"[ a = b ] && c", "[[][a][=][b][]] ; [c]"},
    {"((1+2)) && a", "[((][1+2] ; [a]"},
    {"echo if then fi", "[echo][if][then][fi]"},
    {"echo {", "[echo][{]"},
    {"fi; a", "[a]"},
    {"if a; then b", "[a] ; [b]"},
    // variables
    {"echo $x", "[echo][…]"},
    {"echo a$x", "[echo][a…]"},
    {"echo \"$x\"", "[echo][…]"},
    {"x=1; echo $x", "[echo][1]"},
    {"x='a b'; echo $x", "[echo][a][b]"},
    {"x='a b'; echo \"$x\"", "[echo][a b]"},
    {"x='a b' y=$x; echo \"$y\"", "[echo][…]"},
    {"x=1; y=${x}2; echo $y", "[echo][12]"},
    {"x=1 echo $x", "[echo][…]"},
    {"x=1; x+=2; echo $x", "[echo][12]"},
    {"x=; echo $x a", "[echo][a]"},
    {"x=; echo \"$x\" a", "[echo][][a]"},
    {"x=(a 'b c'); echo \"${x[@]}\"", "[echo][a][b c]"},
    {"x=(a b); echo $x", "[echo][a]"},
    {"x=ab; echo ${#x}", "[echo][…]"},
    {"echo ${x:-d}", "[echo][d]"},
    {"echo ${x-d e}", "[echo][d][e]"},
    {"echo \"${x:-d e}\"", "[echo][d e]"},
    {"x=v; echo ${x:-d}", "[echo][v]"},
    {"x=v; echo ${x:+d}", "[echo][d]"},
    {"echo ${x:=d}; echo $x", "[echo][d] ; [echo][d]"},
    {"x=abc; echo ${x%c} ${x#a} ${x/b/X} ${x//b/} ${x^^} ${x:1} ${x:0:2}", "[echo][ab][bc][aXc][ac][ABC][bc][ab]"},
    {"x=/a/b.c; echo ${x%/*} ${x##*/} ${x%.*} ${x#*/}", "[echo][/a][b.c][/a/b][a/b.c]"},
    {"x=a1; echo ${x/[0-9]/}", "[echo][…]"},
    {"n=x; x=1; echo ${!n}", "[echo][1]"},
    {"echo $HOME ~ ~/a ~root a~ '~'", "[echo][/home/dev][/home/dev][/home/dev/a][/root][a~][~]"},
    {"x=~/a; echo $x", "[echo][/home/dev/a]"},
    {"echo $PWD; cd a; echo $PWD", "[echo][/srv] ; [cd][a] ; [echo][/srv/a]"},
    {"(cd a); echo $PWD", "[cd][a] ; [echo][/srv]"},
    {"(x=1); echo $x", "[echo][…]"},
    {"x=1; unset x; echo $x", "[unset][x] ; [echo][…]"},
    {"export x=1; echo $x", "[export][x=1] ; [echo][1]"},
    {"a${IFS}b", "[a][b]"},
    {"IFS=:; x=a:b; c $x", "[c][a][b]"},
    {"set -- a b; c $2 $1", "[set][--][a][b] ; [c][b][a]"},
    {"set -- a b; shift; c \"$@\"", "[set][--][a][b] ; [shift] ; [c][b]"},
    {"read x <<< 'a b'; c $x", "[read][x] ; [c][a][b]"},
    {"if a; then x=1; else x=2; fi; b $x", "[a] ; [b][2][1]"},
    {"echo $$ $? $!", "[echo][…][…][…]"},
    // braces
    {"echo {a,b}", "[echo][a][b]"},
    {"echo x{a,b}y", "[echo][xay][xby]"},
    {"echo {a,b}{1,2}", "[echo][a1][a2][b1][b2]"},
    {"echo {a,{b,c}}", "[echo][a][b][c]"},
    {"echo {1..9}", "[echo][1][9]"},
    {"echo {a} {} '{a,b}' \"{a,b}\" \\{a,b\\}", "[echo][{a}][{}][{a,b}][{a,b}][{a,b}]"},
    {"{a,b}", "[a][b]"},
    {"echo {a,b", "[echo][{a,b]"},
    {"echo {~,x}", "[echo][/home/dev][x]"},
    // substitution
    {"echo $(a)", "[a] ; [echo][…]"},
    {"echo `a`", "[a] ; [echo][…]"},
    {"echo \"$(a \"b c\")\"", "[a][b c] ; [echo][…]"},
    {"echo $(a $(b))", "[b] ; [a][…] ; [echo][…]"},
    {"echo `a \\`b\\``", "[b] ; [a][…] ; [echo][…]"},
    {"echo $(echo a b)", "[echo][a][b] ; [echo][a][b]"},
    {"echo \"$(printf '%s-%s' a b)\"", "[printf][%s-%s][a][b] ; [echo][a-b]"},
    {"echo $(echo aGk= | base64 -d)", "[echo][aGk=] ; [base64][-d] ; [echo][hi]"},
    {"echo '$(a)'", "[echo][$(a)]"},
    {"echo $((1+2)) $((7))", "[echo][…][7]"},
    {"echo $((1 + $(a)))", "[a] ; [echo][…]"},
    {"echo $( (a) )", "[a] ; [echo][…]"},
    {"a <(b) >(c)", "[b] ; [c] ; [a][/dev/fd/63][/dev/fd/63]"},
    {"x=$(a); b", "[a] ; [b]"},
    {"echo ${x:-$(a)}", "[a] ; [echo][…]"},
    // here-documents
    {"a <<E\n$(b)\nE", "[b] ; [a]"},
    {"a <<'E'\n$(b)\nE\nc", "[a] ; [c]"},
    {"a <<-E\n\tx\n\tE\nb", "[a] ; [b]"},
    {"a <<A; b <<B\n1\nA\n2\nB\nc", "[a] ; [b] ; [c]"},
    {"a <<E | b\nx\nE\nc", "[a] ; [b] ; [c]"},
    {"x=$(a <<E\n)\nE\n); b", "[a] ; [b]"},
    {"a <<E\nno end", "[a]"},
    // commands run by other commands
    {"sh -c 'a b'", "[sh][-c][a b] ; [a][b]"},
    {"sh -c 'a $1' x y", "[sh][-c][a $1][x][y] ; [a][y]"},
    {"eval 'a b'", "[eval][a b] ; [a][b]"},
    {"eval x=1; a $x", "[eval][x=1] ; [a][1]"},
    {"sudo -u x env A=1 a b", "[sudo][-u][x][env][A=1][a][b] ; [env][A=1][a][b] ; [a][b]"},
    {"timeout -k 1 5 a", "[timeout][-k][1][5][a] ; [a]"},
    {"echo 'a b' | sh", "[echo][a b] ; [sh] ; [a][b]"},
    {"sh <<E\na b\nE", "[sh] ; [a][b]"},
    {"echo 1 2 | xargs a", "[echo][1][2] ; [xargs][a] ; [a][1][2]"},
    {"echo 1 | xargs -I% a x% y", "[echo][1] ; [xargs][-I%][a][x%][y] ; [a][x1][y]"},
    {"b | xargs a", "[b] ; [xargs][a] ; [a][…]"},
    {"find d -name '*.o' -exec a {} +", "[find][d][-name][*.o][-exec][a][{}][+] ; [a][d/*.o]"},
    {"find d -delete", "[find][d][-delete] ; [rm][-rf][--][d]"},
    {"python3 -c 'import os; os.system(\"a b\")'", "[python3][-c][import os; os.system(\"a b\")] ; [a][b]"},
    {"trap 'a b' EXIT", "[trap][a b][EXIT] ; [a][b]"},
};
INSTANTIATE_TEST_SUITE_P(Lines, Reads, testing::ValuesIn(kCases));

TEST(ShellLexer, RecordsRedirections) {
  const ShellReading reading = read_shell("a >x 2>&1 <y >>'z w' &>both 3<>n <<<'text' <<E\nbody $USER\nE", kSetting);
  ASSERT_EQ(reading.commands.size(), 1U);
  std::string all;
  for (const ShellRedirection& one : reading.commands[0].redirections) {
    all += fmt::format("{}{}({}) ", one.fd < 0 ? "" : std::to_string(one.fd), one.op, one.target.text);
  }
  EXPECT_EQ(all, ">(x) 2>&(1) <(y) >>(z w) &>(both) 3<>(n) <<<(text) <<(body dev\n) ");
}

TEST(ShellLexer, RecordsTheRedirectionsOfCompoundCommands) {
  const ShellReading reading = read_shell("{ a; b; } > x", kSetting);
  ASSERT_EQ(reading.commands.size(), 3U);
  EXPECT_TRUE(reading.commands[2].words.empty());
  EXPECT_EQ(reading.commands[2].redirections[0].target.text, "x");
}

TEST(ShellLexer, RecordsPipesAndSubstitutions) {
  const ShellReading reading = read_shell("{ a; b; } | c $(d)", kSetting);
  ASSERT_EQ(reading.commands.size(), 4U);
  const ShellCommand& c = reading.commands[3];
  EXPECT_EQ(c.word(0), "c");
  EXPECT_EQ(c.input.first, 0);
  EXPECT_EQ(c.input.last, 2);
  EXPECT_EQ(reading.commands[2].level, 1);
  ASSERT_EQ(c.words[1].sources.size(), 1U);
  EXPECT_EQ(c.words[1].sources[0].first, 2);
}

TEST(ShellLexer, RecordsWhereCommandsRun) {
  const ShellReading reading = read_shell("cd a && b; cd \"$x\"; c; cd /; d; (cd e; f); g", kSetting);
  std::string all;
  for (const ShellCommand& command : reading.commands) {
    if (command.word(0) != "cd") all += command.word(0) + "=" + readable(command.cwd.str()) + " ";
  }
  EXPECT_EQ(all, "b=/srv/a c=… d=/ f=/e g=/ ");
}

TEST(ShellLexer, KnowsBombsAndEndlessLoops) {
  const auto any = [](std::string_view text, bool ShellCommand::* what) {
    for (const ShellCommand& command : read_shell(text, kSetting).commands) {
      if (command.*what) return true;
    }
    return false;
  };
  EXPECT_TRUE(any(":(){ :|:& };:", &ShellCommand::calls_itself));
  EXPECT_FALSE(any("f() { f; }", &ShellCommand::calls_itself));
  EXPECT_TRUE(any("while :; do a & done", &ShellCommand::spawned_forever));
  EXPECT_TRUE(any("for ((;;)); do (a; b) & done", &ShellCommand::spawned_forever));
  EXPECT_FALSE(any("while :; do a; done &", &ShellCommand::spawned_forever));
  EXPECT_FALSE(any("while :; do a & sleep 1; done", &ShellCommand::spawned_forever));
  EXPECT_FALSE(any("while b; do a & done", &ShellCommand::spawned_forever));
}

TEST(ShellLexer, DecodesTextOnTheCommandLine) {
  const auto output = [](std::string_view text) {
    const ShellReading reading = read_shell(text, kSetting);
    return known_output(reading, {0, static_cast<int>(reading.commands.size()), 0}).value_or("unknown");
  };
  EXPECT_EQ(output("echo -n a b"), "a b");
  EXPECT_EQ(output("echo -e 'a\\x41'"), "aA\n");
  EXPECT_EQ(output("printf '%s,' a b"), "a,b,");
  EXPECT_EQ(output("echo 6869 | xxd -r -p"), "hi");
  EXPECT_EQ(output("echo abc | rev"), "cba\n");
  EXPECT_EQ(output("echo uv | tr a-z n-za-m"), "hi\n");
  EXPECT_EQ(output("echo a-b | tr -d -- x"), "unknown");
  EXPECT_EQ(output("date"), "unknown");
  EXPECT_EQ(output("cat file"), "unknown");
}

TEST(ShellLexer, GivesUpIfTooDeepOrTooLarge) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "$(";
  EXPECT_TRUE(read_shell(deep, kSetting).cut_short);
  EXPECT_TRUE(read_shell(std::string(100000, '('), kSetting).cut_short);
  std::string doubling = "x=aaaaaaaaaaaaaaaa;";
  for (int i = 0; i < 200; ++i) doubling += "x=$x$x;";
  read_shell(doubling + "echo $x", kSetting);
  std::string braces = "echo ";
  for (int i = 0; i < 40; ++i) braces += "{a,b}";
  EXPECT_TRUE(read_shell(braces, kSetting).cut_short);
  EXPECT_FALSE(read_shell("echo {1..1000000}", kSetting).cut_short);
  read_shell("f() { g; g; }; g() { f; f; }; f", kSetting);
  read_shell("a='eval \"$a$a\"'; eval \"$a\"", kSetting);
}

// A quadratic algorithm would take minutes.
TEST(ShellLexer, TakesLinearTime) {
  for (const std::string_view part : {"a;",
                                      "'",
                                      "\"",
                                      "$((x) ",
                                      "`",
                                      "{",
                                      "{a,",
                                      "$x",
                                      "a<<E ",
                                      "(",
                                      "\\",
                                      "${",
                                      "a|",
                                      "if a; ",
                                      "\n",
                                      "a=1;(b);",
                                      "f(){ a;};f;",
                                      "x=$x$x;echo $x;",
                                      "[[ ",
                                      "$(echo ",
                                      "<(",
                                      "case x in ",
                                      "a && ",
                                      "a & ",
                                      "cat|",
                                      "xargs|",
                                      "sh|",
                                      "eval \"",
                                      "for i in a; do "}) {
    std::string text;
    while (text.size() < 40000) text += part;
    const auto begin = std::chrono::steady_clock::now();
    read_shell(text, kSetting);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << part;
  }
}

}  // namespace
}  // namespace ralph
