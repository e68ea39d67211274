#include "ui/style.h"

#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <sys/ioctl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"

namespace ralph {
namespace {

// Both ends of a 42-column terminal.
class Terminal {
 public:
  Terminal() : outer_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    ::grantpt(outer_.get());
    ::unlockpt(outer_.get());
    char name[64] = "";
    ::ptsname_r(outer_.get(), name, sizeof name);
    inner_ = Fd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    const winsize size{24, 42, 0, 0};
    ::ioctl(outer_.get(), TIOCSWINSZ, &size);
  }
  int fd() const { return inner_.get(); }

 private:
  Fd outer_, inner_;
};

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  Environment environment;
  for (const auto& [name, value] : variables) environment.set(name, value);
  return environment;
}

TEST(StyleFor, UsesColourWhereItIsWanted) {
  struct Row {
    const char* situation;
    Variables variables;
    bool on_terminal;      // colour there
    bool elsewhere;        // colour in a file or pipe
    bool rewrites = true;  // lines may be rewritten on the terminal
  };
  const Row rows[] = {
      {"nothing is said", {}, true, false},
      {"a usual terminal", {{"TERM", "xterm-256color"}}, true, false},
      {"NO_COLOR", {{"NO_COLOR", "1"}}, false, false},
      {"NO_COLOR that is empty counts for nothing", {{"NO_COLOR", ""}}, true, false},
      {"a dumb terminal", {{"TERM", "dumb"}}, false, false, false},
      {"forced", {{"CLICOLOR_FORCE", "1"}}, true, true},
      {"forced on a dumb terminal", {{"CLICOLOR_FORCE", "1"}, {"TERM", "dumb"}}, true, true, false},
      {"NO_COLOR outranks force", {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}, false, false},
  };
  const Terminal terminal;
  ASSERT_GE(terminal.fd(), 0);
  const Fd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (const Row& row : rows) {
    const Style there = style_for(terminal.fd(), environment_of(row.variables));
    EXPECT_EQ(there.color, row.on_terminal) << row.situation;
    EXPECT_EQ(there.terminal, row.rewrites) << row.situation;
    const Style elsewhere = style_for(file.get(), environment_of(row.variables));
    EXPECT_EQ(elsewhere.color, row.elsewhere) << row.situation;
    EXPECT_FALSE(elsewhere.terminal) << row.situation;
  }
}

TEST(StyleFor, KnowsTheWidthOfATerminal) {
  const Terminal terminal;
  EXPECT_EQ(style_for(terminal.fd(), {}).width, 42U);
  EXPECT_EQ(style_for(-1, {}).width, 100U);
}

TEST(StyleFor, TakesUnicodeFromTheLocaleAsTheCLibraryDoes) {
  struct Row {
    Variables variables;
    bool unicode;
  };
  const Row rows[] = {
      {{}, false},
      {{{"LANG", "C"}}, false},
      {{{"LANG", "en_US.UTF-8"}}, true},
      {{{"LANG", "de_DE.utf8"}}, true},
      {{{"LANG", "de_DE.ISO-8859-1"}}, false},
      {{{"LC_CTYPE", "C.UTF-8"}, {"LANG", "C"}}, true},
      {{{"LC_ALL", "C"}, {"LC_CTYPE", "C.UTF-8"}, {"LANG", "C.UTF-8"}}, false},
      {{{"LC_ALL", ""}, {"LANG", "C.UTF-8"}}, true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(style_for(-1, environment_of(row.variables)).unicode, row.unicode)
        << (row.variables.empty() ? "nothing" : row.variables.begin()->second);
  }
}

TEST(Style, PaintsAndMarksOnlyWhereItMay) {
  Style style;
  EXPECT_EQ(style.red("x"), "x");
  EXPECT_EQ(style.ok(), "[OK]");
  EXPECT_EQ(style.error(), "[ERR]");
  style.color = style.unicode = true;
  EXPECT_EQ(style.red("x"), "\033[31mx\033[0m");
  EXPECT_EQ(style.bold("x"), "\033[1mx\033[0m");
  EXPECT_EQ(style.ok(), "✔");
  EXPECT_EQ(style.error(), "✘");
}

}  // namespace
}  // namespace ralph
