// The lists that make up a plan: which parts of the system and the home are shown or hidden, and which variables pass.
#pragma once

#include <array>
#include <string_view>

namespace ralph {

// Programs, libraries and their configuration; some are links to others.
inline constexpr std::array<std::string_view, 10> kSystemFolders = {"/usr",   "/bin",    "/sbin", "/lib", "/lib32",
                                                                    "/lib64", "/libx32", "/etc",  "/opt", "/nix"};

// Root could read these inside even without capabilities, because it owns them.
inline constexpr std::array<std::string_view, 17> kSystemSecrets = {
    "/etc/ssh",         "/etc/shadow",      "/etc/shadow-", "/etc/gshadow",    "/etc/gshadow-",        "/etc/sudoers",
    "/etc/sudoers.d",   "/etc/ssl/private", "/etc/docker",  "/etc/kubernetes", "/etc/NetworkManager",  "/etc/wireguard",
    "/etc/letsencrypt", "/etc/krb5.keytab", "/etc/rancher", "/etc/ppp",        "/etc/security/opasswd"};

// Paths in /proc. A sandbox started by root owns root's files there and could read and write them without any
// capability: device and interrupt settings, and files that reveal kernel addresses. The lists are those of container
// runtimes, plus other files that are accessible to root only.
inline constexpr std::array<std::string_view, 2> kKernelSettings = {"/proc/sys", "/proc/pressure"};
inline constexpr std::array<std::string_view, 5> kReadOnlyForRoot = {"/proc/bus", "/proc/fs", "/proc/irq",
                                                                     "/proc/sysrq-trigger", "/proc/mtrr"};
inline constexpr std::array<std::string_view, 15> kHiddenFromRoot = {
    "/proc/acpi",       "/proc/asound",     "/proc/driver",      "/proc/kcore",         "/proc/kmsg",
    "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup", "/proc/latency_stats", "/proc/pagetypeinfo",
    "/proc/scsi",       "/proc/slabinfo",   "/proc/sched_debug", "/proc/timer_list",    "/proc/vmallocinfo"};

// System folders to search for files that only root can read; see MachineView::closed_below.
inline constexpr std::array<std::string_view, 2> kSearchedForRoot = {"/etc", "/opt"};

// Below the home, shown read-only: the identity used for commits.
inline constexpr std::array<std::string_view, 2> kHomeConfiguration = {".gitconfig", ".config/git"};

// Below the home, shown read-only at the same path: programs of version managers. Their caches and files with tokens
// (.npmrc, .cargo/credentials.toml) are not shown.
inline constexpr std::array<std::string_view, 18> kToolchains = {
    ".cargo/bin",      ".rustup",          ".nvm",     ".volta",    ".fnm", ".pyenv", ".rbenv", ".sdkman",
    ".asdf",           ".local/bin",       ".bun/bin", ".deno/bin", ".go",  "go/bin", ".ghcup", ".juliaup",
    ".local/share/uv", ".local/share/mise"};

// In the project, never writable: files that agents read as their settings. Missing ones must not appear.
inline constexpr std::array<std::string_view, 9> kProjectSettings = {
    ".claude", ".codex", ".gemini", ".opencode", ".amp", ".mcp.json", "opencode.json", "opencode.jsonc", ".cursor"};

inline constexpr std::array<std::string_view, 45> kVariables = {"PATH",
                                                                "USER",
                                                                "LOGNAME",
                                                                "SHELL",
                                                                "LANG",
                                                                "LANGUAGE",
                                                                "LC_*",
                                                                "TERM",
                                                                "COLORTERM",
                                                                "TZ",
                                                                "NO_COLOR",
                                                                "FORCE_COLOR",
                                                                "CI",
                                                                "RALPH_*",
                                                                "JAVA_HOME",
                                                                "GOROOT",
                                                                "GOPATH",
                                                                "CARGO_HOME",
                                                                "RUSTUP_HOME",
                                                                "NVM_DIR",
                                                                "VIRTUAL_ENV",
                                                                "PYENV_ROOT",
                                                                "PYTHONPATH",
                                                                "NODE_PATH",
                                                                "CC",
                                                                "CXX",
                                                                "CPP",
                                                                "CFLAGS",
                                                                "CXXFLAGS",
                                                                "CPPFLAGS",
                                                                "LDFLAGS",
                                                                "MAKEFLAGS",
                                                                "CMAKE_*",
                                                                "PKG_CONFIG_PATH",
                                                                "LD_LIBRARY_PATH",
                                                                "SOURCE_DATE_EPOCH",
                                                                "GIT_AUTHOR_*",
                                                                "GIT_COMMITTER_*",
                                                                "GIT_CONFIG_NOSYSTEM",
                                                                "XDG_STATE_HOME",
                                                                "XDG_CONFIG_HOME",
                                                                "XDG_CACHE_HOME",
                                                                "XDG_DATA_HOME",
                                                                "ASAN_OPTIONS",
                                                                "UBSAN_OPTIONS"};

// Below the home: the logins of agents in Docker Sandbox, which outlive the machines.
inline constexpr std::string_view kMachineState = ".dclaude_state";

inline constexpr int kIdForRoot = 1000;  // root's id inside: agents refuse to work as root

inline constexpr std::string_view kSandboxVariable = "RALPH_SANDBOX";
inline constexpr std::string_view kSocketInside = "/run/ralph/proxy.sock";
inline constexpr int kProxyPort = 3128;
inline constexpr std::string_view kProxyAddress = "http://127.0.0.1:3128";

}  // namespace ralph
