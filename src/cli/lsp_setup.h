// Which language servers are started for a project, and the process that keeps them.
#pragma once

#include <string>
#include <vector>

#include "checks/lsp/hub.h"

namespace ralph::cli {

struct LspRequest {
  std::string project;             // absolute
  std::vector<std::string> names;  // empty: all that are installed and whose languages the project has
  bool trusted = false;            // --trust was typed
  std::vector<std::string> exclude{};
};

// Fails (kUsage, kNotFound) on a name that is unknown or not installed, and if there is none to start. A program that
// lies in the project is started only if this user has accepted the project: a clone could bring it along.
Result<std::vector<lsp::ServerChoice>> choose_servers(const LspRequest& request, const Environment& environment);

struct KeepRequest {
  std::string project;
  std::vector<lsp::ServerChoice> servers;
  Milliseconds idle{0};
  int ready = -1;  // a line is written to it: "ready", or why not
};

// Keeps the servers warm until it is stopped, ended or idle; for a process of its own. Returns its exit code.
int keep_servers(const KeepRequest& request);

// Beside which it is "busy": another process keeps the servers of this project.
inline constexpr std::string_view kReady = "ready", kBusyLine = "busy";

}  // namespace ralph::cli
