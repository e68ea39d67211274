#include "engine/program_parts.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

TEST(PackageFolder, IsTheOneBelowTheLastFolderOfModules) {
  EXPECT_EQ(package_folder("/p/node_modules/x/bin/run.js"), "/p/node_modules/x");
  EXPECT_EQ(package_folder("/p/node_modules/@s/x/run.js"), "/p/node_modules/@s/x");
  EXPECT_EQ(package_folder("/p/node_modules/.pnpm/x@1/node_modules/x/run.js"),
            "/p/node_modules/.pnpm/x@1/node_modules/x");
  EXPECT_EQ(package_folder("/p/node_modules/.bin/x"), "");
  EXPECT_EQ(package_folder("/p/tools/x"), "");
}

TEST(PackageParts, AreWhatItDependsOnInTheProject) {
  const ScratchFolder scratch;
  const std::string project = real_path(scratch.path());
  const auto package = [&](const std::string& path, const std::string& json) {
    const std::string folder = join_path(project, "node_modules/" + path);
    EXPECT_TRUE(make_directories(folder));
    EXPECT_TRUE(replace_file(join_path(folder, "package.json"), json));
    return folder;
  };
  const std::string agent = package(
      "agent", R"({"dependencies": {"a": "1", "own": "1"}, "optionalDependencies": {"@s/b": "1", "absent": "1"}})");
  package("agent/node_modules/own", R"({"dependencies": {"c": "1"}})");
  const std::string a = package("a", R"({"dependencies": {"agent": "1"}})");  // a dependency cycle
  const std::string b = package("@s/b", "no JSON"), c = package("c", "{}");
  package("unused", "{}");
  EXPECT_EQ(package_parts(agent, project), (std::vector<std::string>{agent, a, b, c}));
}

}  // namespace
}  // namespace ralph
