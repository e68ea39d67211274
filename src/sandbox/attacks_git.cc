#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"
#include "sandbox/attacks.h"

namespace ralph {
namespace {

Status write(const std::string& path, const std::string& text, bool append = false) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0755));
  if (!file) return fail(ErrorKind::kIo, "{}", errno_text(errno));
  return write_all(file.get(), text, path);
}

Attempt attempt_of_status(const Status& status, std::string_view done) {
  if (!status) return {false, status.error().message};
  return {true, std::string(done)};
}

// A program that git is made to run.
std::string evil_program(const AttackPlace& place, const std::string& folder) {
  const std::string path = join_path(folder, "evil.sh");
  static_cast<void>(write(path, fmt::format("#!/bin/sh\n: > '{}'\n", harm_file(place))));
  return path;
}

std::string evil_config(const AttackPlace& place, const std::string& folder) {
  return fmt::format("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = {}\n",
                     evil_program(place, folder));
}

// A repository with the attacker's settings.
std::string evil_repository(const AttackPlace& place, const std::string& folder) {
  const std::string path = join_path(folder, "evil-repository");
  for (const char* part : {"", "/objects", "/refs"}) ::mkdir((path + part).c_str(), 0755);
  static_cast<void>(write(path + "/HEAD", "ref: refs/heads/main\n"));
  static_cast<void>(write(path + "/config", evil_config(place, folder)));
  return path;
}

bool is_harmed(const AttackPlace& place) {
  return file_exists(harm_file(place));
}

// The folder that "gitdir: PATH" in the work tree's .git names.
std::string own_part(const AttackPlace& place) {
  return join_path(place.project, ".git/worktrees/worktree");
}

constexpr std::array kGitAttacks = {
    Attack{"git-hook", "add a hook that the next commit of the host runs",
           [](const AttackPlace& p) {
             const std::string hook = join_path(p.project, ".git/hooks/pre-commit");
             return attempt_of_status(write(hook, fmt::format("#!/bin/sh\n: > '{}'\n", harm_file(p))),
                                      "wrote the hook");
           },
           is_harmed, true},
    Attack{"git-config", "set core.fsmonitor, which the next `git status` runs",
           [](const AttackPlace& p) {
             return attempt_of_status(write(join_path(p.project, ".git/config"), evil_config(p, p.project), true),
                                      "wrote the configuration");
           },
           is_harmed, true},
    Attack{"git-rename", "rename .git, and put another in its place",
           [](const AttackPlace& p) {
             const std::string git = join_path(p.project, ".git");
             const int renamed = std::rename(git.c_str(), (git + "-away").c_str());
             if (renamed != 0) return attempt_of(renamed, "");
             return attempt_of(std::rename(evil_repository(p, p.project).c_str(), git.c_str()), "replaced .git");
           },
           is_harmed, true},
    Attack{"git-commondir", "make .git take its configuration from elsewhere",
           [](const AttackPlace& p) {
             const std::string evil = evil_repository(p, p.project);
             Attempt attempt = attempt_of_status(write(join_path(p.project, ".git/commondir"), evil + "\n"), "");
             if (attempt.through) attempt = {false, "taken away afterwards"};
             return attempt;
           },
           is_harmed, true},
    Attack{"git-alternates", "name a folder as shared objects, to see it in the next turn",
           [](const AttackPlace& p) {
             const std::string info = join_path(p.project, ".git/objects/info");
             ::mkdir(info.c_str(), 0755);
             Attempt attempt = attempt_of_status(write(join_path(info, "alternates"), p.home + "\n"), "");
             if (attempt.through) attempt = {false, "taken away afterwards"};
             return attempt;
           },
           [](const AttackPlace& p) { return path_exists(join_path(p.project, ".git/objects/info/alternates")); }},
    Attack{"git-config-by-lock", "replace .git/config the way git itself does",
           [](const AttackPlace& p) {
             const std::string config = join_path(p.project, ".git/config");
             static_cast<void>(write(config + ".lock", evil_config(p, p.project)));
             return attempt_of(std::rename((config + ".lock").c_str(), config.c_str()), "replaced it");
           },
           is_harmed, true},
    Attack{"worktree-commondir", "make a work tree take its configuration from elsewhere",
           [](const AttackPlace& p) {
             const std::string evil = evil_repository(p, p.worktree);
             return attempt_of_status(write(join_path(own_part(p), "commondir"), evil + "\n"), "wrote commondir");
           },
           is_harmed, true, AttackIn::kWorktree},
    Attack{"worktree-git-file", "make a work tree belong to another repository",
           [](const AttackPlace& p) {
             const std::string evil = evil_repository(p, p.worktree), file = join_path(p.worktree, ".git");
             static_cast<void>(write(file + "-new", "gitdir: " + evil + "\n"));
             return attempt_of(std::rename((file + "-new").c_str(), file.c_str()), "replaced .git");
           },
           is_harmed, true, AttackIn::kWorktree},
    Attack{"worktree-main-config", "from a work tree, change the configuration of its repository",
           [](const AttackPlace& p) {
             return attempt_of_status(write(join_path(p.project, ".git/config"), evil_config(p, p.worktree), true),
                                      "wrote the configuration");
           },
           is_harmed, true, AttackIn::kWorktree},
};

}  // namespace

std::span<const Attack> git_attacks() {
  return kGitAttacks;
}

}  // namespace ralph
