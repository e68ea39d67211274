// The lists that a plan is made of: what of the system and the home is shown or hidden, and which variables pass.
#pragma once

#include <array>
#include <string_view>

namespace ralph {

// Programs, libraries and their configuration; some are links to others.
inline constexpr std::array<std::string_view, 10> kSystemFolders = {"/usr",   "/bin",    "/sbin", "/lib", "/lib32",
                                                                    "/lib64", "/libx32", "/etc",  "/opt", "/nix"};

// Readable inside for root, who owns them, although it has no capabilities there.
inline constexpr std::array<std::string_view, 17> kSystemSecrets = {
    "/etc/ssh",         "/etc/shadow",      "/etc/shadow-", "/etc/gshadow",    "/etc/gshadow-",        "/etc/sudoers",
    "/etc/sudoers.d",   "/etc/ssl/private", "/etc/docker",  "/etc/kubernetes", "/etc/NetworkManager",  "/etc/wireguard",
    "/etc/letsencrypt", "/etc/krb5.keytab", "/etc/rancher", "/etc/ppp",        "/etc/security/opasswd"};

// Of /proc. Root's own files there can be written and read by whom root is inside, without any capability: the
// settings of devices and interrupts, and what tells an attacker where things are in the kernel's memory. The lists are
// those of container runtimes, and what else the kernel gives to its owner alone.
inline constexpr std::array<std::string_view, 2> kKernelSettings = {"/proc/sys", "/proc/pressure"};
inline constexpr std::array<std::string_view, 5> kReadOnlyForRoot = {"/proc/bus", "/proc/fs", "/proc/irq",
                                                                     "/proc/sysrq-trigger", "/proc/mtrr"};
inline constexpr std::array<std::string_view, 15> kHiddenFromRoot = {
    "/proc/acpi",       "/proc/asound",     "/proc/driver",      "/proc/kcore",         "/proc/kmsg",
    "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup", "/proc/latency_stats", "/proc/pagetypeinfo",
    "/proc/scsi",       "/proc/slabinfo",   "/proc/sched_debug", "/proc/timer_list",    "/proc/vmallocinfo"};

// Folders of the system in which root finds what others may not read; see MachineView::closed_below.
inline constexpr std::array<std::string_view, 2> kSearchedForRoot = {"/etc", "/opt"};

// Below the home, shown read-only: the identity for commits.
inline constexpr std::array<std::string_view, 2> kHomeConfiguration = {".gitconfig", ".config/git"};

// Below the home, shown read-only where they are: programs of version managers. Their caches are not, and what has
// tokens (.npmrc, .cargo/credentials.toml) is not.
inline constexpr std::array<std::string_view, 18> kToolchains = {
    ".cargo/bin",      ".rustup",          ".nvm",     ".volta",    ".fnm", ".pyenv", ".rbenv", ".sdkman",
    ".asdf",           ".local/bin",       ".bun/bin", ".deno/bin", ".go",  "go/bin", ".ghcup", ".juliaup",
    ".local/share/uv", ".local/share/mise"};

// In the project, never writable: what agents read as their settings. What is missing must not appear.
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

// Below the home: the login of agents in Docker Sandbox, which outlives the machines.
inline constexpr std::string_view kMachineState = ".dclaude_state";

inline constexpr int kIdForRoot = 1000;  // root's id inside: agents refuse to work as root

inline constexpr std::string_view kSandboxVariable = "RALPH_SANDBOX";
inline constexpr std::string_view kSocketInside = "/run/ralph/proxy.sock";
inline constexpr int kProxyPort = 3128;
inline constexpr std::string_view kProxyAddress = "http://127.0.0.1:3128";

}  // namespace ralph
