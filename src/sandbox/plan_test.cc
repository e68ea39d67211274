#include "sandbox/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "git/git_places.h"
#include "os/files.h"
#include "sandbox/bubblewrap.h"
#include "sandbox/plan_text.h"
#include "sandbox/seccomp.h"

namespace ralph {
namespace {

using Kind = MachineView::Kind;

// A fictional machine: paths that end with '/' are folders, "a -> b" are links.
class Machine {
 public:
  using Files = std::map<std::string, std::string>;
  explicit Machine(std::initializer_list<Files::value_type> files) : files_(files) {
    for (const char* folder : {"/usr/", "/etc/", "/opt/", "/home/me/"}) files_[folder] = "";
    files_["/bin"] = "-> usr/bin";
    files_["/etc/shadow"] = "x";
    files_["/etc/ssh/"] = "";
    files_["/proc/sys/"] = "";
  }
  MachineView view() const {
    MachineView view;
    view.kind = [this](const std::string& path) {
      if (files_.contains(path + "/")) return Kind::kFolder;
      const auto found = files_.find(path);
      if (found == files_.end()) return Kind::kNothing;
      return found->second.starts_with("-> ") ? Kind::kLink : Kind::kFile;
    };
    view.link = [this](const std::string& path) { return files_.at(path).substr(3); };
    view.real = [this](const std::string& path) {
      const auto found = files_.find(path);
      const bool link = found != files_.end() && found->second.starts_with("-> ");
      return link ? absolute_path(found->second.substr(3), parent_path(path)) : path;
    };
    view.text = [this](const std::string& path) -> std::optional<std::string> {
      const auto found = files_.find(path);
      return found == files_.end() ? std::nullopt : std::optional(found->second);
    };
    return view;
  }

 private:
  Files files_;
};

SandboxRequest request_for(const std::string& project) {
  SandboxRequest request;
  request.project = project;
  request.home = "/home/me";
  request.private_home = "/state/home";
  request.helper = "/usr/bin/ralph";
  request.path = "/usr/bin:/bin";
  request.uid = request.gid = 1001;
  return request;
}

// The kind of the last mount at exactly this path.
std::optional<MountKind> mounted(const SandboxPlan& plan, std::string_view at) {
  std::optional<MountKind> kind;
  for (const Mount& mount : plan.mounts) {
    if (mount.at == at) kind = mount.kind;
  }
  return kind;
}

TEST(SandboxPlan, ShowsTheSystemAndHidesItsSecretsAndTheHome) {
  const Machine machine{{"/p/", ""}};
  const auto plan = plan_sandbox(request_for("/p"), machine.view());
  ASSERT_TRUE(plan);
  EXPECT_EQ(mounted(*plan, "/usr"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*plan, "/bin"), MountKind::kLink);
  EXPECT_EQ(mounted(*plan, "/etc/shadow"), MountKind::kHidden);
  EXPECT_EQ(mounted(*plan, "/etc/ssh"), MountKind::kTmpfs);
  EXPECT_EQ(mounted(*plan, "/proc/sys"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*plan, "/home/me"), MountKind::kWritable);
  EXPECT_EQ(mounted(*plan, "/p"), MountKind::kWritable);
  EXPECT_EQ(mounted(*plan, "/home"), std::nullopt);
  EXPECT_EQ(plan->uid, 1001);
  for (const Mount& mount : plan->mounts) {
    if (mount.at == "/home/me") {
      EXPECT_EQ(mount.from, "/state/home");
    }
  }
}

TEST(SandboxPlan, RootIsSomebodyElseInside) {
  SandboxRequest request = request_for("/p");
  request.uid = request.gid = 0;
  EXPECT_EQ(plan_sandbox(request, Machine{{"/p/", ""}}.view())->uid, 1000);
}

// Even without capabilities, it still owns root's files.
TEST(SandboxPlan, WhatOnlyRootMayReadOrWriteIsHiddenFromRoot) {
  const Machine machine{{"/p/", ""}, {"/proc/irq/", ""}, {"/proc/kcore", ""}, {"/etc/app/", ""}, {"/etc/key", ""}};
  MachineView view = machine.view();
  view.closed_below = [](const std::string& folder) {
    return folder == "/etc" ? std::vector<std::string>{"/etc/app", "/etc/key", "/etc/shadow"}
                            : std::vector<std::string>();
  };
  SandboxRequest request = request_for("/p");
  const auto plan = plan_sandbox(request, view);
  EXPECT_EQ(mounted(*plan, "/proc/sys"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*plan, "/proc/irq"), std::nullopt);
  EXPECT_EQ(mounted(*plan, "/etc/key"), std::nullopt);
  request.uid = request.gid = 0;
  const auto for_root = plan_sandbox(request, view);
  EXPECT_EQ(mounted(*for_root, "/proc/irq"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*for_root, "/proc/kcore"), MountKind::kHidden);
  EXPECT_EQ(mounted(*for_root, "/etc/key"), MountKind::kHidden);
  EXPECT_EQ(mounted(*for_root, "/etc/app"), MountKind::kTmpfs);
  EXPECT_EQ(std::ranges::count(for_root->mounts, "/etc/shadow", &Mount::at), 1);
}

// Files in memory do not count as memory of a process.
TEST(SandboxPlan, FoldersInMemoryTogetherAreSmallerThanTheLimit) {
  SandboxRequest request = request_for("/p");
  request.limits.memory_bytes = 1 << 30;
  const auto plan = plan_sandbox(request, Machine{{"/p/", ""}}.view());
  std::vector<std::string> files;
  const std::vector<std::string> words = bubblewrap_options(*plan, 5, files);
  long long sum = 0;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--size") sum += std::stoll(words[i + 1]);
    if (words[i] == "--tmpfs") {
      EXPECT_EQ(words[i - 4], "--size") << words[i + 1];
    }
  }
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, request.limits.memory_bytes);
}

TEST(SandboxPlan, AProjectWithTheHomeInItIsRefused) {
  const Machine machine(std::initializer_list<Machine::Files::value_type>{});
  for (const char* project : {"/", "/home", "/home/me"}) {
    EXPECT_FALSE(plan_sandbox(request_for(project), machine.view())) << project;
  }
}

TEST(SandboxPlan, WhatTheHostObeysIsReadOnlyOrMustNotAppear) {
  const Machine machine{{"/p/", ""},
                        {"/p/.git/", ""},
                        {"/p/.git/HEAD", "ref: refs/heads/main\n"},
                        {"/p/.git/config", "x"},
                        {"/p/.git/hooks/", ""},
                        {"/p/.ralph/", ""},
                        {"/p/.claude/", ""},
                        {"/p/check.sh", "x"}};
  SandboxRequest request = request_for("/p");
  request.guarded = {"/p/check.sh"};
  const auto plan = plan_sandbox(request, machine.view());
  ASSERT_TRUE(plan);
  EXPECT_EQ(mounted(*plan, "/p/.git"), MountKind::kWritable);  // a mount point can't be renamed
  for (const char* path : {"/p/.git/hooks", "/p/.git/config", "/p/.ralph", "/p/.claude", "/p/check.sh"})
    EXPECT_EQ(mounted(*plan, path), MountKind::kReadOnly) << path;
  const std::set<std::string> forbidden(plan->forbidden.begin(), plan->forbidden.end());
  for (const char* path : {"/p/.git/commondir", "/p/.git/config.worktree", "/p/.mcp.json", "/p/.codex"})
    EXPECT_TRUE(forbidden.contains(path)) << path;
  EXPECT_FALSE(forbidden.contains("/p/.claude"));
}

TEST(SandboxPlan, AWorkTreeMayWriteItsOwnPartOfTheRepositoryOnly) {
  const Machine machine{{"/p/", ""},
                        {"/p/.git", "gitdir: /r/.git/worktrees/p\n"},
                        {"/r/.git/worktrees/p/", ""},
                        {"/r/.git/worktrees/p/HEAD", "ref: refs/heads/ralph/p\n"},
                        {"/r/.git/worktrees/p/commondir", "../..\n"},
                        {"/r/.git/worktrees/p/gitdir", "/p/.git\n"},
                        {"/r/.git/objects/", ""},
                        {"/r/.git/refs/heads/ralph/", ""}};
  const auto plan = plan_sandbox(request_for("/p"), machine.view());
  ASSERT_TRUE(plan);
  EXPECT_EQ(mounted(*plan, "/r/.git"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*plan, "/r/.git/objects"), MountKind::kWritable);
  EXPECT_EQ(mounted(*plan, "/r/.git/refs/heads/ralph"), MountKind::kWritable);
  EXPECT_EQ(mounted(*plan, "/r/.git/refs/heads"), std::nullopt);
  EXPECT_EQ(mounted(*plan, "/r/.git/worktrees/p"), MountKind::kWritable);
  for (const char* path : {"/r/.git/worktrees/p/commondir", "/r/.git/worktrees/p/gitdir", "/p/.git"})
    EXPECT_EQ(mounted(*plan, path), MountKind::kReadOnly) << path;
}

TEST(SandboxPlan, ASharedCloneSeesTheObjectsThatItShares) {
  const Machine machine{{"/p/", ""},
                        {"/p/.git/", ""},
                        {"/p/.git/objects/info/alternates", "/r/.git/objects\n/home/me/.ssh\n/q/objects\n"},
                        {"/home/me/.ssh/", ""},
                        {"/q/objects/", ""},
                        {"/r/.git/objects/", ""},
                        {"/r/.git/objects/pack/", ""}};
  const auto plan = plan_sandbox(request_for("/p"), machine.view());
  EXPECT_EQ(mounted(*plan, "/r/.git/objects"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*plan, "/p/.git/objects/info/alternates"), MountKind::kReadOnly);
  for (const char* path : {"/home/me/.ssh", "/q/objects"})
    EXPECT_EQ(mounted(*plan, path), std::nullopt) << path << " has no objects";
}

TEST(SandboxPlan, ARepositoryElsewhereMustNameTheProject) {
  const auto plan = [](const char* back, const char* config) {
    return plan_sandbox(request_for("/p"), Machine{{"/p/", ""},
                                                   {"/p/.git", "gitdir: /r/.git\n"},
                                                   {"/r/.git/", ""},
                                                   {"/r/.git/gitdir", back},
                                                   {"/r/.git/config", config}}
                                               .view());
  };
  EXPECT_FALSE(plan("", "[core]\n\tbare = false\n"));
  EXPECT_FALSE(plan("/q/.git\n", "[core]\n\tworktree = /q\n"));
  EXPECT_TRUE(plan("/p/.git\n", ""));
  EXPECT_TRUE(plan("", "[core]\n\tworktree = /p\n"));
  const Machine planted{{"/p/", ""}, {"/p/.git/", ""}, {"/p/.git/commondir", "/r/.git\n"}, {"/r/.git/", ""}};
  EXPECT_FALSE(plan_sandbox(request_for("/p"), planted.view()));
}

TEST(SandboxPlan, TheFolderOfACheckCanNotBeRenamedAndStaysWritable) {
  SandboxRequest request = request_for("/p");
  request.guarded = {"/p/a/b/check.sh", "/p/.ralph/check.sh"};
  const Machine machine{{"/p/", ""},
                        {"/p/a/", ""},
                        {"/p/a/b/", ""},
                        {"/p/.ralph/", ""},
                        {"/p/a/b/check.sh", "x"},
                        {"/p/.ralph/check.sh", "x"}};
  const auto plan = plan_sandbox(request, machine.view());
  for (const char* path : {"/p/a", "/p/a/b"}) EXPECT_EQ(mounted(*plan, path), MountKind::kWritable) << path;
  for (const char* path : {"/p/a/b/check.sh", "/p/.ralph"}) EXPECT_EQ(mounted(*plan, path), MountKind::kReadOnly);
}

TEST(SandboxPlan, AProjectWithinARepositorySeesTheWholeWorkTree) {
  const Machine machine{{"/r/", ""}, {"/r/.git/", ""}, {"/r/p/", ""}};
  const auto plan = plan_sandbox(request_for("/r/p"), machine.view());
  EXPECT_EQ(mounted(*plan, "/r"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*plan, "/r/p"), MountKind::kWritable);
  EXPECT_EQ(mounted(*plan, "/r/.git"), MountKind::kWritable);
}

TEST(SandboxPlan, ALinkForARepositoryIsRefused) {
  const auto plan = plan_sandbox(request_for("/p"), Machine{{"/p/", ""}, {"/p/.git", "-> /r/.git"}}.view());
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("symbolic link"), std::string::npos);
}

TEST(SandboxPlan, AgentsGetWhatTheyNeedAndChecksDoNot) {
  const Machine machine{{"/p/", ""},
                        {"/home/me/.claude/settings.json", "{}"},
                        {"/home/me/n/node_modules/.bin/claude", "-> ../claude/cli.js"},
                        {"/home/me/n/node_modules/claude/cli.js", "x"},
                        {"/home/me/n/node_modules/", ""}};
  SandboxRequest request = request_for("/p");
  request.agents = {
      {"claude", {"/home/me/n/node_modules/.bin/claude"}, {"ANTHROPIC_*"}, {}, {".claude/settings.json"}}};
  const auto agent = plan_sandbox(request, machine.view());
  request.secrets = false;
  const auto check = plan_sandbox(request, machine.view());
  EXPECT_EQ(mounted(*agent, "/home/me/n/node_modules"), MountKind::kReadOnly);
  EXPECT_EQ(mounted(*agent, "/home/me/.claude/settings.json"), MountKind::kReadOnly);
  EXPECT_TRUE(is_listed(agent->variables, "ANTHROPIC_API_KEY"));
  EXPECT_EQ(mounted(*check, "/home/me/.claude/settings.json"), std::nullopt);
  EXPECT_FALSE(is_listed(check->variables, "ANTHROPIC_API_KEY"));
}

TEST(SandboxPlan, LoginsThatAnEarlierProgramLeftInThePrivateHomeAreCovered) {
  const Machine machine{{"/p/", ""}, {"/state/home/.codex/auth.json", "x"}, {"/state/home/.codex/", ""}};
  SandboxRequest request = request_for("/p");
  request.concealed = {".codex", ".never-used"};
  const auto plan = plan_sandbox(request, machine.view());
  EXPECT_EQ(mounted(*plan, "/home/me/.codex"), MountKind::kTmpfs);
  EXPECT_EQ(mounted(*plan, "/home/me/.never-used"), std::nullopt);
}

TEST(SandboxPlan, WhatTheSettingsAddMustBeThereAndOutsideOfTheProject) {
  const Machine machine{{"/p/", ""}, {"/data/", ""}};
  SandboxRequest request = request_for("/p");
  request.writable = {"/data"};
  EXPECT_EQ(mounted(*plan_sandbox(request, machine.view()), "/data"), MountKind::kWritable);
  for (const char* bad : {"/p/.git", "/nowhere", "/"}) {
    request.writable = {bad};
    EXPECT_FALSE(plan_sandbox(request, machine.view())) << bad;
  }
}

TEST(SandboxPlan, VariablesPassByNameOrByTheirBeginning) {
  const std::vector<std::string> patterns = {"LANG", "LC_*"};
  EXPECT_TRUE(is_listed(patterns, "LANG"));
  EXPECT_TRUE(is_listed(patterns, "LC_ALL"));
  EXPECT_FALSE(is_listed(patterns, "LANGUAGE"));
  EXPECT_FALSE(is_listed(patterns, "XLC_ALL"));
}

TEST(Bubblewrap, TheLaunchGoesInsideWithAClearedEnvironment) {
  const Machine machine{{"/p/", ""}};
  const auto plan = plan_sandbox(request_for("/p"), machine.view());
  Launch launch;
  launch.argv = {"agent", "prompt"};
  launch.environment.set("LANG", "C");
  launch.environment.set("AWS_SECRET_ACCESS_KEY", "x");
  launch.folder = "/p";
  const Launch inside = in_bubblewrap(*plan, {"/usr/bin/bwrap", "filter", {"/cg/cgroup.procs"}, {50, 0}}, launch);
  EXPECT_EQ(inside.argv.front(), "/usr/bin/bwrap");
  EXPECT_EQ(inside.argv.back(), "prompt");
  EXPECT_FALSE(inside.environment.get("AWS_SECRET_ACCESS_KEY"));
  EXPECT_EQ(inside.environment.get("LANG"), "C");
  EXPECT_EQ(inside.environment.get("HOME"), "/home/me");
  EXPECT_TRUE(inside.blocks_signals);
  EXPECT_EQ(inside.groups, std::vector<std::string>{"/cg/cgroup.procs"});
  ASSERT_GE(inside.files.size(), 4U);
  EXPECT_EQ(inside.files[1], "filter");
  const std::string options = inside.files[0];
  for (const char* word : {"--unshare-net", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"})
    EXPECT_NE(options.find(std::string(word) + '\0'), std::string::npos) << word;
}

TEST(Bubblewrap, AnOpenNetworkIsTheOnlyNamespaceLess) {
  SandboxRequest request = request_for("/p");
  request.network = Network::kOpen;
  std::vector<std::string> files;
  const auto words = bubblewrap_options(*plan_sandbox(request, Machine{{"/p/", ""}}.view()), 5, files);
  EXPECT_EQ(std::ranges::find(words, "--unshare-net"), words.end());
  EXPECT_NE(std::ranges::find(words, "--unshare-pid"), words.end());
}

TEST(Seccomp, TheFilterIsAProgramOfTheKernel) {
  const auto program = seccomp_program();
  ASSERT_TRUE(program);
  EXPECT_GT(program->size(), 100U);
  EXPECT_EQ(program->size() % 8, 0U);  // eight bytes per instruction
}

}  // namespace
}  // namespace ralph
