#include "sandbox/limits.h"

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

constexpr SandboxLimits kLimits{60, 1LL << 30, 50};

TEST(ResourceGroup, SaysWhatIsLimitedByWhatAndWhatIsNot) {
  const ResourceGroup user = ResourceGroup::shared(kLimits, {}, false);
  EXPECT_EQ(user.describe(), "processes 60 (rlimit), memory 1.1 GB (rlimit, each process), cpu not limited");
  EXPECT_EQ(user.inside().processes, 60);
  const ResourceGroup root = ResourceGroup::shared(kLimits, {}, true);
  EXPECT_EQ(root.describe(), "processes not limited, memory 1.1 GB (rlimit, each process), cpu not limited")
      << "the kernel does not count root's processes";
}

TEST(ResourceGroup, OfATaskIsEnteredByItsChildRuns) {
  const ScratchFolder folder;
  ScratchFolder::write(folder / "pids.max", "60\n");
  ScratchFolder::write(folder / "memory.max", "1073741824\n");
  ScratchFolder::write(folder / "cpu.max", "max 100000\n");
  {
    const ResourceGroup group = ResourceGroup::shared(kLimits, {folder / "cgroup.procs"}, true);
    EXPECT_EQ(group.describe(),
              "processes 60 (cgroup, with its task), memory 1.1 GB (cgroup, with its task), cpu not limited");
    EXPECT_EQ(group.files(), (std::vector<std::string>{folder / "cgroup.procs"}));
    EXPECT_EQ(group.inside().processes, 0);
  }
  EXPECT_TRUE(path_exists(folder.path())) << "it is the task's";
}

}  // namespace
}  // namespace ralph
