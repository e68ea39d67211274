#include "git/program_settings.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kOrdinary =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = T\n[remote \"origin\"]\n\turl = "
    "https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";

std::vector<std::string> setting_names_in(std::string_view text) {
  std::vector<std::string> names;
  const auto settings = program_settings(text);
  for (const GitSetting& setting : *settings) names.push_back(setting.name + "=" + setting.value);
  return names;
}

TEST(ProgramSettings, what_git_writes_by_itself_names_no_program) {
  EXPECT_EQ(setting_names_in(kOrdinary), std::vector<std::string>{});
  for (const char* name : {"branch.main.merge", "remote.origin.fetch", "user.signingkey", "commit.gpgsign",
                           "core.worktree", "submodule.x.active", "extensions.worktreeconfig", "pull.rebase"})
    EXPECT_FALSE(names_program(name, "x")) << name;
  EXPECT_FALSE(names_program("remote.origin.url", "git@example.com:x.git"));
  EXPECT_FALSE(names_program("alias.co", "checkout"));
  EXPECT_FALSE(names_program("submodule.x.update", "rebase"));
}

TEST(ProgramSettings, what_makes_git_run_a_program_or_read_more_is_found) {
  for (const char* name : {"core.hookspath",
                           "core.fsmonitor",
                           "core.sshcommand",
                           "core.pager",
                           "core.editor",
                           "core.attributesfile",
                           "credential.helper",
                           "credential.https://x.y.helper",
                           "filter.a.clean",
                           "filter.a.b.smudge",
                           "filter.a.process",
                           "diff.external",
                           "diff.a.command",
                           "diff.a.textconv",
                           "merge.a.driver",
                           "gpg.program",
                           "gpg.ssh.program",
                           "include.path",
                           "includeif.gitdir:~/x/.path",
                           "url.ext::sh.insteadof",
                           "remote.origin.vcs",
                           "remote.origin.uploadpack",
                           "remote.origin.receivepack",
                           "protocol.ext.allow",
                           "pager.log",
                           "sequence.editor",
                           "mergetool.x.cmd",
                           "trailer.x.command",
                           "hook.a.command",
                           "annex.x-command",
                           "lfs.customtransfer.a.path"})
    EXPECT_TRUE(names_program(name, "x")) << name;
  EXPECT_TRUE(names_program("alias.co", "!sh"));
  EXPECT_TRUE(names_program("remote.origin.url", "ext::sh -c evil"));
  EXPECT_TRUE(names_program("submodule.x.update", "!sh"));
}

TEST(ProgramSettings, a_text_is_read_as_git_reads_it) {
  EXPECT_EQ(setting_names_in("[CORE] HooksPath=x ; why\n"), std::vector<std::string>{"core.hookspath=x"});
  EXPECT_EQ(setting_names_in("[filter.A]\nclean = a\\\n b # no\n"), std::vector<std::string>{"filter.a.clean=a b"});
  EXPECT_EQ(setting_names_in("[filter \"A \\\"b\"]\n\tclean = \"a # \\\"b\\\"\"\n"),
            std::vector<std::string>{"filter.A \"b.clean=a # \"b\""});
  EXPECT_EQ(setting_names_in("[remote \"o\"]\n\turl = \"ext:\"\":sh\"\n"),
            std::vector<std::string>{"remote.o.url=ext::sh"});
  EXPECT_EQ(setting_names_in("# [core]\n; hooksPath = x\n[core]\r\n\tpager\r\n"),
            std::vector<std::string>{"core.pager="});
  for (const char* broken : {"[core\nx = y\n", "[core]\nhooksPath x\n", "[core]\nhooksPath = \"x\n", "[core]\n=x\n",
                             "[core]\nhooksPath = \\q\n", "[a \"b\nc\"]\n"})
    EXPECT_FALSE(program_settings(broken)) << broken;
}

TEST(ProgramSettings, what_was_added_is_taken_out_and_all_other_settings_stay) {
  const std::string before = std::string(kOrdinary) + "[core]\n\tpager = less\n";
  const std::string now =
      "[core] hooksPath = evil\n" + before + "[branch \"b\"]\n\tremote = origin\n\n[core]\n\tfsmonitor\n";
  EXPECT_EQ(with_program_settings_of(before, now), before + "[branch \"b\"]\n\tremote = origin\n\n");
}

TEST(ProgramSettings, what_was_changed_or_removed_comes_back) {
  const std::string before = "[core]\n\thooksPath = mine\n\tbare = false\n[credential]\n\thelper = \"a \\\"b\\\\\"\n";
  EXPECT_EQ(with_program_settings_of(before, "[core]\n\thooksPath = evil\n\tbare = false\n"), before);
  const std::string now = "[core]\n\tbare = true\n\thooksPath = evil";
  const std::string mended = with_program_settings_of(before, now);
  EXPECT_EQ(program_settings(mended), program_settings(before));
  EXPECT_TRUE(mended.starts_with("[core]\n\tbare = true\n")) << mended;
}

TEST(ProgramSettings, of_a_repository_its_shape_and_where_it_pushes_are_found_too) {
  const SettingsScope own{true, {"origin"}};
  const auto names = [&](std::string_view text) {
    std::vector<std::string> found;
    const auto settings = program_settings(text, own);
    for (const GitSetting& setting : *settings) found.push_back(setting.name);
    return found;
  };
  EXPECT_EQ(names(kOrdinary), (std::vector<std::string>{"core.repositoryformatversion", "core.bare",
                                                        "remote.origin.url", "remote.origin.fetch"}));
  EXPECT_EQ(names("[core]\n\tworktree = /x\n\tsparseCheckout\n\tfileMode = false\n\texcludesFile = x\n\tabbrev = 7\n"),
            (std::vector<std::string>{"core.worktree", "core.sparsecheckout", "core.filemode", "core.excludesfile"}));
  EXPECT_EQ(names("[extensions]\n\tworktreeConfig = true\n\tpartialClone = origin\n[index]\n\tsparse = true\n"),
            (std::vector<std::string>{"extensions.worktreeconfig", "index.sparse"}))
      << "objects that a partial clone left out can't be had without its extension";
  EXPECT_EQ(names("[remote]\n\tpushDefault = evil\n[push]\n\tdefault = matching\n[http \"https://x\"]\n\tproxy = y\n"),
            (std::vector<std::string>{"remote.pushdefault", "push.default", "http.https://x.proxy"}));
  EXPECT_EQ(names("[remote \"new\"]\n\turl = x\n\tpushurl = y\n[branch \"b\"]\n\tremote = new\n[user]\n\tname = T\n"),
            std::vector<std::string>{})
      << "a new remote redirects nothing";
  EXPECT_EQ(names("[remote \"origin\"]\n\tpromisor = true\n\tpushurl = y\n\tmirror = true\n"),
            (std::vector<std::string>{"remote.origin.pushurl", "remote.origin.mirror"}));
}

TEST(ProgramSettings, of_a_user_what_hides_files_is_found_too) {
  constexpr std::string_view kText = "[core]\n\texcludesFile = ~/ignored\n\tautocrlf = true\n";
  ASSERT_EQ(program_settings(kText, {.users = true})->size(), 1U);
  EXPECT_EQ(program_settings(kText, {.users = true})->at(0).name, "core.excludesfile");
  EXPECT_TRUE(program_settings(kText)->empty()) << "it names no program";
}

TEST(ProgramSettings, a_repository_gets_its_remote_back_and_keeps_a_new_one) {
  const SettingsScope own{true, {"origin"}};
  const std::string before(kOrdinary);
  const std::string more = "[remote \"fork\"]\n\turl = https://example.org/fork.git\n";
  const std::string evil = replace_all(before, "https://example.com/x.git", "https://example.net/evil.git") + more;
  const std::string mended = with_program_settings_of(before, evil, own);
  EXPECT_EQ(mended, before + more) << "in its place";
  EXPECT_EQ(with_program_settings_of(before, evil), evil) << "in any other file it does not matter";
}

TEST(ProgramSettings, a_text_that_cannot_be_read_is_replaced) {
  EXPECT_EQ(with_program_settings_of(kOrdinary, "[core\n"), kOrdinary);
}

}  // namespace
}  // namespace ralph
