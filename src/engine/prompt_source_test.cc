#include "engine/prompt_source.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

std::string error_of(const PromptSource& source) {
  const auto prompt = source.read();
  if (prompt) return "no error";
  EXPECT_EQ(prompt.error().kind, ErrorKind::kInput);
  return prompt.error().message;
}

TEST(PromptSource, FromTheCommandLineIsUsedVerbatim) {
  const PromptSource source = PromptSource::text(" Do it.\n\n");
  EXPECT_EQ(source.read(), " Do it.\n\n");
  EXPECT_EQ(source.describe(), "the command line");
}

TEST(PromptSource, AFileIsRereadEachTime) {
  const ScratchFolder folder;
  const PromptSource source = PromptSource::file(folder / "PROMPT.md");
  ScratchFolder::write(folder / "PROMPT.md", "one\n");
  EXPECT_EQ(source.read(), "one\n");
  ScratchFolder::write(folder / "PROMPT.md", "two\n");
  EXPECT_EQ(source.read(), "two\n");
  EXPECT_EQ(source.describe(), folder / "PROMPT.md");
}

TEST(PromptSource, RefusesWhatNoAgentCanUse) {
  struct Row {
    const char* situation;
    std::string prompt;
    std::string_view error;
  };
  const Row rows[] = {
      {"nothing", "", "the prompt from the command line is empty; say what the agent is to do"},
      {"blanks", " \n\t", "the prompt from the command line is empty; say what the agent is to do"},
      {"no UTF-8", "one\ntwo \xE4 three",
       "the prompt from the command line is not UTF-8: byte 0xe4 at line 2, column 5; save it as UTF-8"},
      {"UTF-8 that is cut", "\xC3",
       "the prompt from the command line is not UTF-8: byte 0xc3 at line 1, column 1; save it "
       "as UTF-8"},
      {"a NUL byte", std::string("one\ntwo\0", 8),
       "the prompt from the command line has a NUL byte at line 2, column 4; remove it"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(PromptSource::text(row.prompt)), row.error) << row.situation;
}

TEST(PromptSource, RefusesAFileThatIsMissingBlankOrNotPlain) {
  const ScratchFolder folder;
  const std::string missing = folder / "missing", pipe = folder / "pipe", blank = folder / "blank";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ScratchFolder::write(blank, "\n");
  EXPECT_EQ(error_of(PromptSource::file(missing)),
            "the prompt file: cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(error_of(PromptSource::file(folder.path())),
            "the prompt file: cannot read " + folder.path() + ": Is a directory");
  EXPECT_EQ(error_of(PromptSource::file(blank)), "the prompt from " + blank + " is empty; say what the agent is to do");
  EXPECT_EQ(error_of(PromptSource::file(pipe)),
            "the prompt file " + pipe + " is not a plain file but a pipe or a device; save the prompt to a file");
}

}  // namespace
}  // namespace ralph
