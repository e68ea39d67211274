#include "session/edits.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

using Files = std::vector<std::string>;

Files files_of(std::string_view tool, std::string_view input) {
  return edited_files(tool, parse_json(input, "").value());
}

TEST(Edits, ToolsThatWriteNameTheirFile) {
  EXPECT_EQ(files_of("Write", R"({"file_path": "/p/a.py", "content": "x"})"), Files{"/p/a.py"});
  EXPECT_EQ(files_of("MultiEdit", R"({"file_path": "a.py", "edits": []})"), Files{"a.py"});
  EXPECT_EQ(files_of("NotebookEdit", R"({"notebook_path": "a.ipynb"})"), Files{"a.ipynb"});
  EXPECT_EQ(files_of("write", R"({"filePath": "a.py", "content": "x"})"), Files{"a.py"});
  EXPECT_EQ(files_of("replace", R"({"file_path": "a.py"})"), Files{"a.py"});
}

TEST(Edits, APatchNamesAllItsFiles) {
  const std::string_view patch =
      R"("*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b/c.py\n+z\n*** Delete File: d.py\n*** End Patch\n")";
  EXPECT_EQ(files_of("apply_patch", fmt::format(R"({{"input": {}}})", patch)), (Files{"a.py", "b/c.py"}));
  EXPECT_EQ(files_of("apply_patch", fmt::format(R"({{"command": ["apply_patch", {}]}})", patch)),
            (Files{"a.py", "b/c.py"}));
}

TEST(Edits, APatchThatMovesAFileNamesItsNewPlace) {
  EXPECT_EQ(
      files_of(
          "apply_patch",
          R"({"input": "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch\n"})"),
      (Files{"a.py", "b.py"}));
}

TEST(Edits, OtherToolsEditNothing) {
  EXPECT_EQ(files_of("Bash", R"({"command": "cat a.py"})"), Files{});
  EXPECT_EQ(files_of("Read", R"({"file_path": "a.py"})"), Files{});
  EXPECT_EQ(files_of("Write", R"({})"), Files{});
  EXPECT_EQ(edited_files("Write", json::value()), Files{});
}

TEST(Edits, PathsAreThoseOfTheProject) {
  const ScratchFolder folder;
  const std::string project = join_path(folder.path(), "p");
  ASSERT_TRUE(make_directories(join_path(project, "src")));
  EXPECT_EQ(path_in(project, project, "a.py"), "a.py");
  EXPECT_EQ(path_in(project, join_path(project, "src"), "../src/a.py"), "src/a.py");
  EXPECT_EQ(path_in(project, project, join_path(project, "src/a.py")), "src/a.py");
  EXPECT_EQ(path_in(project, project, "../q/a.py"), "");
  EXPECT_EQ(path_in(project, project, project + "q"), "");
}

TEST(Edits, ASessionRemembersTheProjectThatItEditedLast) {
  const ScratchFolder folder;
  Environment environment;
  environment.set("XDG_STATE_HOME", folder.path());
  EXPECT_FALSE(edits_of(environment, "s"));
  note_edits(environment, "s", "/p", {"a", "b"});
  note_edits(environment, "s", "/p", {"a"});
  EXPECT_EQ(edits_of(environment, "s")->files, (Files{"a", "b"}));
  note_edits(environment, "s", "/q", {"c"});
  EXPECT_EQ(edits_of(environment, "s")->project, "/q");
  EXPECT_EQ(edits_of(environment, "s")->files, Files{"c"});
  EXPECT_FALSE(edits_of(environment, "other"));
  EXPECT_FALSE(edits_of(environment, ""));
  forget_edits(environment, "s");
  EXPECT_FALSE(edits_of(environment, "s"));
}

}  // namespace
}  // namespace ralph
