#include "sandbox/docker.h"

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"
#include "sandbox/docker_machine.h"
#include "sandbox/guarded_copy.h"

namespace ralph {
namespace {

SandboxRequest machine_request(const std::string& project) {
  SandboxRequest request;
  request.project = project;
  request.home = "/home/me";
  request.helper = "/usr/bin/ralph";
  request.network = Network::kAllowlist;
  request.hosts = {"api.example.com", "*.example.org"};
  AgentPlace agent;
  agent.name = agent.machine = "agent";
  agent.kept = {".agent", ".agent.json"};
  agent.machine_runs = true;
  request.agents = {agent};
  return request;
}

const DockerCli kDocker{{"/bin/docker", "sandbox"}};
const DockerCli kSbx{{"/bin/sbx"}};

TEST(DockerPlan, IsNamedAfterTheProject) {
  EXPECT_EQ(plan_machine(machine_request("/home/me/my shop"), kDocker)->name, "ralph-_home_me_my_shop");
  EXPECT_EQ(plan_machine(machine_request("/a.b-c_d/é"), kDocker)->name, "ralph-_a.b-c_d___");
  SandboxRequest check = machine_request("/p");
  check.secrets = false;
  const auto plan = plan_machine(check, kDocker);
  EXPECT_EQ(plan->name, "ralph-_p-checks");
  EXPECT_EQ(plan->state, "");
}

TEST(DockerPlan, HasNamesForSbxThatTellProjectsApart) {
  const std::string name = plan_machine(machine_request("/home/me/my_shop"), kSbx)->name;
  EXPECT_TRUE(name.starts_with("ralph-my-shop-"));
  EXPECT_EQ(name.find('_'), std::string::npos);
  EXPECT_NE(name, plan_machine(machine_request("/home/me/my-shop"), kSbx)->name);
  EXPECT_LT(plan_machine(machine_request("/" + std::string(300, 'x')), kSbx)->name.size(), 63U);
}

TEST(DockerPlan, GivesAnAgentThatIsStartedByExecAMachineOfItsOwn) {
  SandboxRequest request = machine_request("/p");
  request.agents[0].machine_runs = false;
  const auto plan = plan_machine(request, kDocker);
  EXPECT_EQ(plan->name, "ralph-_p-agent");
  const Words words = machine_start(kDocker, *plan, {"-w", "/p"}, {"agent", "do $(it)"});
  EXPECT_EQ((Words{words.begin(), words.begin() + 6}),
            (Words{"/bin/docker", "sandbox", "exec", "-w", "/p", "ralph-_p-agent"}));
  EXPECT_EQ((Words{words.end() - 2, words.end()}), (Words{"agent", "do $(it)"}));
}

TEST(DockerPlan, ATaskHasAMachineOfItsOwnAndACommandOneOfAnyTemplate) {
  SandboxRequest request = machine_request("/p");
  request.task = "shop/cart";
  EXPECT_EQ(plan_machine(request, kDocker)->name, "ralph-_p-task-shop_cart");
  const std::string one = plan_machine(request, kSbx)->name;
  request.task = "shop/till";
  EXPECT_NE(plan_machine(request, kSbx)->name, one);
  AgentPlace command;
  command.name = "sh";
  command.any_machine = true;
  request.agents.insert(request.agents.begin(), command);
  EXPECT_EQ(plan_machine(request, kDocker)->name, "ralph-_p-task-shop_till-agent");
  EXPECT_FALSE(plan_machine(request, kDocker)->runs);
  request.agents.pop_back();
  EXPECT_EQ(plan_machine(request, kDocker)->from, "shell");
  request.agents[0].any_machine = false;
  EXPECT_FALSE(plan_machine(request, kDocker));
}

TEST(DockerPlan, KnowsWhetherAMachineThatIsThereMayReachTooMuch) {
  const MachinePlan plan = *plan_machine(machine_request("/p"), kDocker);
  EXPECT_EQ(fit_of(plan, record_text(plan)), Fit::kAsItIs);
  MachinePlan other = plan;
  other.hosts.pop_back();
  EXPECT_EQ(fit_of(plan, record_text(other)), Fit::kAsItIs) << "more can be added";
  EXPECT_EQ(fit_of(other, record_text(plan)), Fit::kRecreate) << "nothing can be taken back";
  other = plan;
  other.network = Network::kOpen;
  EXPECT_EQ(fit_of(plan, record_text(other)), Fit::kRecreate);
  other.network = Network::kNone;
  other.hosts.clear();
  EXPECT_EQ(fit_of(plan, record_text(other)), Fit::kRecreate);
  other = plan;
  other.project = "/q";
  EXPECT_EQ(fit_of(plan, record_text(other)), Fit::kNotOurs);
  other = plan;
  other.from = "another";
  EXPECT_EQ(fit_of(plan, record_text(other)), Fit::kNotOurs);
  for (const char* text : {"", "[]", "{}", "nonsense"}) EXPECT_EQ(fit_of(plan, text), Fit::kNotOurs) << text;
}

TEST(DockerPlan, IsMadeForAgentsOfOneTemplateOnly) {
  SandboxRequest request = machine_request("/p");
  request.agents.push_back({"other", {}, {}, {}, {}, "other", {}, false});
  EXPECT_EQ(plan_machine(request, kDocker).error().kind, ErrorKind::kNotFound);
  request.agents[1].machine.clear();
  EXPECT_EQ(plan_machine(request, kDocker).error().kind, ErrorKind::kNotFound);
  request.agents.clear();
  EXPECT_EQ(plan_machine(request, kDocker).error().kind, ErrorKind::kNotFound);
  request = machine_request("/p");
  request.writable = {"/x"};
  EXPECT_EQ(plan_machine(request, kDocker).error().kind, ErrorKind::kInput);
}

TEST(DockerCommands, AreWordsAndNeverAShellMadeOfData) {
  const MachinePlan plan = *plan_machine(machine_request("/p/$(x) y"), kDocker);
  const Words create = {"/bin/docker", "sandbox", "create",    "--name",
                        plan.name,     "agent",   "/p/$(x) y", "/home/me/.dclaude_state"};
  EXPECT_EQ(machine_create(kDocker, plan), create);
  std::string prompt = "x; y";
  EXPECT_EQ(machine_run(kSbx, plan, {"-p", "--dangerously-skip-permissions", "--model", "m"}, prompt),
            (Words{"/bin/sbx", "run", plan.name, "--", "-p", "x; y", "--model", "m"}));
  EXPECT_EQ(prompt, "");
  std::string large(200'000, 'x');
  EXPECT_EQ(machine_run(kSbx, plan, {"-p"}, large), (Words{"/bin/sbx", "run", plan.name, "--", "-p"}));
  EXPECT_EQ(large.size(), 200'000U);
  const Words write = machine_write(kDocker, plan, "/p/$(x) y/f", true, true);
  EXPECT_EQ(write[write.size() - 2], "/p/$(x) y/f");
  for (const Words& step : machine_setup(kDocker, plan)) {
    for (const std::string& word : step) EXPECT_TRUE(word.find("$(x)") == std::string::npos || word == plan.project);
  }
  EXPECT_EQ(environment_script({{"A", "it's $x"}}), "# written by ralph before each turn\nexport A='it'\\''s $x'\n");
}

TEST(DockerCommands, DenyByDefault) {
  MachinePlan plan = *plan_machine(machine_request("/p"), kDocker);
  EXPECT_EQ(machine_policy(kDocker, plan),
            (Words{"/bin/docker", "sandbox", "network", "proxy", "ralph-_p", "--policy", "deny", "--allow-host",
                   "api.example.com", "--allow-host", "*.example.org"}));
  EXPECT_EQ(machine_policy(kSbx, plan), (Words{"/bin/sbx", "policy", "allow", "network", "--sandbox", "ralph-_p",
                                               "api.example.com,*.example.org"}));
  plan.network = Network::kNone;
  plan.hosts.clear();
  EXPECT_EQ(machine_policy(kDocker, plan),
            (Words{"/bin/docker", "sandbox", "network", "proxy", "ralph-_p", "--policy", "deny"}));
  EXPECT_EQ(machine_policy(kSbx, plan),
            (Words{"/bin/sbx", "policy", "deny", "network", "--sandbox", "ralph-_p", "**"}));
  plan.network = Network::kOpen;
  EXPECT_EQ(machine_policy(kDocker, plan).back(), "allow");
}

TEST(DockerCommands, AskSbxWhetherItsOwnRulesLetTooMuchThrough) {
  MachinePlan plan = *plan_machine(machine_request("/p"), kSbx);
  EXPECT_EQ(hosts_to_be_refused(kSbx, plan), (std::vector<std::string>{"ralph-probe.invalid", "github.com"}));
  EXPECT_EQ(machine_policy_check(kSbx, plan, "x.invalid"),
            (Words{"/bin/sbx", "policy", "check", "network", "--sandbox", plan.name, "--json", "x.invalid:443"}));
  plan.hosts = {"github.com"};
  EXPECT_EQ(hosts_to_be_refused(kSbx, plan), (std::vector<std::string>{"ralph-probe.invalid"}));
  EXPECT_TRUE(hosts_to_be_refused(kDocker, plan).empty());
  plan.network = Network::kOpen;
  EXPECT_TRUE(hosts_to_be_refused(kSbx, plan).empty());
  EXPECT_EQ(reach_in(R"({"allowed": false, "deny_kind": "implicit"})"), Reach::kRefused);
  EXPECT_EQ(reach_in(R"({"allowed": true})"), Reach::kAllowed);
  for (const char* text : {"", "Denied", "{}", "[]", R"({"allowed": "no"})"})
    EXPECT_EQ(reach_in(text), Reach::kUnknown) << text;
}

TEST(DockerCommands, FindAMachineByItsWholeName) {
  EXPECT_TRUE(lists_machine("NAME  STATUS\nralph-_p  running\n", "ralph-_p"));
  EXPECT_FALSE(lists_machine("NAME  STATUS\nralph-_p-checks  running\n", "ralph-_p"));
  EXPECT_FALSE(lists_machine("", "ralph-_p"));
}

TEST(FileStamps, TellWhatWasChangedNewOrRemoved) {
  const ScratchFolder folder;
  for (const char* name : {"same", "changed", "gone"}) ScratchFolder::write(folder / name, "x");
  const FileStamps before = stamps_below(folder.path());
  ScratchFolder::write(folder / "changed", "longer");
  ScratchFolder::write(folder / "new", "x");
  ASSERT_EQ(::unlink((folder / "gone").c_str()), 0);
  EXPECT_EQ(changed_between(before, stamps_below(folder.path())),
            (std::vector<std::string>{folder / "changed", folder / "new", folder / "gone"}));
}

TEST(GuardedCopy, PutsBackEvenWhatALinkHasReplaced) {
  const ScratchFolder folder, outside;
  ASSERT_TRUE(make_directories(folder / ".git/hooks"));
  ASSERT_TRUE(make_directories(folder / ".ralph"));
  ScratchFolder::write(folder / ".git/config", "good");
  ScratchFolder::write(outside / "config", "of another");
  SandboxPlan plan;
  plan.folder = folder.path();
  for (const char* name : {".git/config", ".git/hooks"})
    plan.mounts.push_back({MountKind::kReadOnly, folder / name, folder / name, ""});
  plan.forbidden = {folder / ".mcp.json"};
  const GuardedCopy copy = GuardedCopy::of(plan);
  EXPECT_TRUE(copy.put_back("t")->empty());
  ASSERT_EQ(::rename((folder / ".git").c_str(), (folder / "moved").c_str()), 0);
  ASSERT_EQ(::symlink(outside.path().c_str(), (folder / ".git").c_str()), 0);
  ScratchFolder::write(folder / ".mcp.json", "{}");
  const auto lines = copy.put_back("t");
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(lines->size(), 3U);
  EXPECT_TRUE(is_real_folder(folder / ".git"));
  EXPECT_EQ(read_file(folder / ".git/config"), "good");
  EXPECT_EQ(read_file(outside / "config"), "of another");
  EXPECT_FALSE(path_exists(folder / ".mcp.json"));
}

}  // namespace
}  // namespace ralph
