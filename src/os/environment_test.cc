#include "os/environment.h"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

TEST(Environment, IsAValueApartFromTheProcess) {
  ::setenv("RALPH_TEST_VARIABLE", "a=b", 1);
  Environment environment = Environment::of_this_process();
  EXPECT_EQ(environment.get("RALPH_TEST_VARIABLE"), "a=b");
  environment.set("RALPH_TEST_VARIABLE", "c");
  EXPECT_STREQ(::getenv("RALPH_TEST_VARIABLE"), "a=b");
  ::unsetenv("RALPH_TEST_VARIABLE");
  EXPECT_EQ(environment.get("RALPH_TEST_VARIABLE"), "c");
}

TEST(Environment, IsListedInOrder) {
  Environment environment;
  environment.set("B", "2");
  environment.set("A", "");
  environment.set("C", "3");
  environment.unset("C");
  environment.unset("D");
  EXPECT_EQ(environment.as_lines(), (std::vector<std::string>{"A=", "B=2"}));
  EXPECT_EQ(environment.get("A"), "");
  EXPECT_EQ(environment.get("C"), std::nullopt);
}

TEST(Environment, ACopyChangesAlone) {
  Environment environment;
  environment.set("A", "1");
  Environment copy = environment;
  copy.set("A", "2");
  environment.unset("A");
  EXPECT_EQ(copy.get("A"), "2");
  EXPECT_EQ(environment.get("A"), std::nullopt);
  EXPECT_EQ(copy.bytes(), sizeof("A=2") + sizeof(char*));
}

class ResolveProgramTest : public ::testing::Test {
 protected:
  ResolveProgramTest() {
    for (const char* name : {"bin", "other", "bin/folder"}) fs::create_directory(folder_ / name);
    make("bin/tool", 0755);
    make("other/tool", 0755);
    make("bin/data", 0644);
    make("other/data", 0755);
    make("bin/only-data", 0644);
    make("local tool", 0755);
    environment_.set("PATH", folder_ / "bin" + ":" + folder_ / "other");
  }

  void make(const char* name, mode_t mode) {
    ScratchFolder::write(folder_ / name, "#!/bin/sh\n");
    ::chmod((folder_ / name).c_str(), mode);
  }

  // The path relative to the scratch folder, or the error with "@" for that folder.
  std::string resolved(const std::string& program) const {
    const auto found = resolve_program(program, environment_, folder_.path());
    std::string text = found ? *found : "error: " + found.error().message;
    if (!found) {
      EXPECT_EQ(found.error().kind, ErrorKind::kNotFound);
    }
    for (size_t at; (at = text.find(folder_.path())) != std::string::npos;)
      text.replace(at, folder_.path().size(), "@");
    return text;
  }

  ScratchFolder folder_;
  Environment environment_;
};

TEST_F(ResolveProgramTest, FollowsItsTable) {
  struct Row {
    const char* situation;
    std::string program, found;
  };
  const Row rows[] = {
      {"a bare name is looked up, the first folder wins", "tool", "@/bin/tool"},
      {"a file that is not executable is skipped", "data", "@/other/data"},
      {"and reported if nothing better is found", "only-data",
       "error: @/bin/only-data is not executable; try: chmod +x @/bin/only-data"},
      {"a folder is not a program", "folder", "error: folder was not found on PATH"},
      {"nothing of that name", "missing", "error: missing was not found on PATH"},
      {"a relative path starts from the folder", "./local tool", "@/./local tool"},
      {"a path is not looked up on PATH", "other/tool", "@/other/tool"},
      {"an absolute path stays", folder_ / "other/tool", "@/other/tool"},
      {"a path to nothing", "./missing", "error: @/./missing does not exist"},
      {"a path to a file without permission", "bin/data",
       "error: @/bin/data is not executable; try: chmod +x @/bin/data"},
      {"a path to a folder", "./bin", "error: @/./bin is not executable: it is a folder"},
      {"a name with a blank is a name", "local tool", "error: local tool was not found on PATH"},
      {"an empty name", "", "error:  was not found on PATH"},
  };
  for (const Row& row : rows) EXPECT_EQ(resolved(row.program), row.found) << row.situation;
}

TEST_F(ResolveProgramTest, ReadsPathAsAShellDoes) {
  environment_.set("PATH", "other:bin");
  EXPECT_EQ(resolved("tool"), "@/other/tool");
  environment_.set("PATH", "");
  EXPECT_EQ(resolved("local tool"), "@/./local tool");
  environment_.set("PATH", "/nonexistent::bin");
  EXPECT_EQ(resolved("tool"), "@/bin/tool");
  environment_.unset("PATH");
  EXPECT_EQ(resolved("sh").starts_with("/"), true) << resolved("sh");
}

TEST(SearchPath, FoldersOfTheProjectComeLast) {
  const ScratchFolder base;
  std::filesystem::create_directories(base / "project/bin");
  std::filesystem::create_directories(base / "tools");
  std::filesystem::create_symlink("project/bin", base / "alias");
  const std::string project = base / "project", bin = base / "project/bin", alias = base / "alias",
                    tools = base / "tools";
  EXPECT_EQ(path_with_project_last(bin + ":/usr/bin:.:" + alias + ":" + tools + "::bin", project),
            "/usr/bin:" + tools + ":" + bin + ":.:" + alias + "::bin");
  EXPECT_EQ(path_with_project_last("/usr/bin:/bin", project), "/usr/bin:/bin");
  EXPECT_EQ(path_with_project_last(project + "-other/bin:/bin", project), project + "-other/bin:/bin");
}

}  // namespace
}  // namespace ralph
