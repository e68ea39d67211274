#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "sandbox/attacks.h"
#include "sandbox/plan.h"

namespace ralph {
namespace {

Attempt reads(const std::string& path, std::string_view wanted) {
  const auto text = read_file(path);
  if (!text) return {false, text.error().message};
  if (contains(*text, wanted)) return {true, fmt::format("read {}", path)};
  return {false, "a different file is there"};
}

// Creates a file that does not exist yet, and removes it.
Attempt creates(const std::string& path) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return {false, errno_text(errno)};
  ::unlink(path.c_str());
  return {true, fmt::format("created {}", path)};
}

Attempt appends(const std::string& path, const AttackPlace& place) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file) return {false, errno_text(errno)};
  const std::string text = "# attacked " + place.canary + "\n";
  return attempt_of(::write(file.get(), text.data(), text.size()), fmt::format("wrote {}", path));
}

bool was_attacked(const std::string& path) {
  return contains(read_file(path).value_or(""), "# attacked ");
}

constexpr std::array kFilesAttacks = {
    Attack{"read-ssh-key", "read a private key below the home",
           [](const AttackPlace& p) { return reads(join_path(p.home, ".ssh/id_ed25519"), p.canary); }},
    Attack{"read-credentials", "read another tool's token below the home",
           [](const AttackPlace& p) { return reads(join_path(p.home, ".aws/credentials"), p.canary); }},
    Attack{"read-other-project", "read a folder next to the project",
           [](const AttackPlace& p) { return reads(join_path(p.base, "other/secret"), p.canary); }},
    Attack{"read-shadow", "read the system's passwords", [](const AttackPlace&) { return reads("/etc/shadow", ":"); }},
    Attack{"read-closed-files", "read files in /etc and /opt that are not world-readable",
           [](const AttackPlace&) {
             for (const char* folder : {"/etc", "/opt"}) {
               for (const std::string& path : this_machine().closed_below(folder))
                 if (const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); file)
                   return Attempt{true, "opened " + path};
             }
             return Attempt{false, "none can be opened"};
           }},
    Attack{"read-through-proc", "reach the host's files through /proc/1/root",
           [](const AttackPlace& p) { return reads("/proc/1/root" + join_path(p.base, "other/secret"), p.canary); }},
    Attack{"write-shell-profile", "append to ~/.bashrc",
           [](const AttackPlace& p) {
             Attempt attempt = appends(join_path(p.home, ".bashrc"), p);
             if (attempt.through) attempt = {false, "only the private home was written"};
             return attempt;
           },
           [](const AttackPlace& p) { return was_attacked(join_path(p.home, ".bashrc")); }},
    Attack{"write-program", "put a program into /usr/local/bin",
           [](const AttackPlace& p) { return creates("/usr/local/bin/attack-" + p.canary); }},
    Attack{"write-etc", "put a file into /etc",
           [](const AttackPlace& p) { return creates("/etc/attack-" + p.canary); }},
    Attack{"write-beside-project", "write into the folder that contains the project",
           [](const AttackPlace& p) {
             Attempt attempt = appends(join_path(p.base, "attacked"), p);
             if (attempt.through) attempt = {false, "only a private folder was written"};
             return attempt;
           },
           [](const AttackPlace& p) { return was_attacked(join_path(p.base, "attacked")); }},
    Attack{"write-ralph-settings", "change .ralph/settings.json",
           [](const AttackPlace& p) { return appends(join_path(p.project, ".ralph/settings.json"), p); }},
    Attack{"write-journal", "append to a run's journal",
           [](const AttackPlace& p) { return appends(join_path(p.project, ".ralph/runs/1/journal.jsonl"), p); }},
    Attack{"write-guardrail", "change the script of a guardrail",
           [](const AttackPlace& p) { return appends(join_path(p.project, "check.sh"), p); }},
    Attack{"write-agent-settings", "change .claude/settings.json, whose hooks run on the host",
           [](const AttackPlace& p) { return appends(join_path(p.project, ".claude/settings.json"), p); }},
    Attack{"new-agent-settings", "create .mcp.json, whose servers run on the host",
           [](const AttackPlace& p) {
             Attempt attempt = appends(join_path(p.project, ".mcp.json"), p);
             if (attempt.through) attempt = {false, "taken away afterwards"};
             return attempt;
           },
           [](const AttackPlace& p) { return path_exists(join_path(p.project, ".mcp.json")); }},
    Attack{"swap-ralph-folder", "rename .ralph and put another in its place",
           [](const AttackPlace& p) {
             const std::string folder = join_path(p.project, ".ralph"), away = join_path(p.project, "away");
             const Attempt attempt = attempt_of(::rename(folder.c_str(), away.c_str()), "renamed .ralph");
             if (attempt.through) ::rename(away.c_str(), folder.c_str());
             return attempt;
           }},
    Attack{"environment", "find a secret in the environment",
           [](const AttackPlace& p) {
             const char* value = ::getenv("AWS_SECRET_ACCESS_KEY");
             const bool through = value && p.canary == value;
             return Attempt{through, through ? "found it" : "it is not there"};
           }},
};

}  // namespace

std::span<const Attack> file_attacks() {
  return kFilesAttacks;
}

}  // namespace ralph
