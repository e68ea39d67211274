// Chooses the language servers for a project, and runs the process that keeps them.
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

// Fails (kUsage, kNotFound) if a name is unknown or not installed, or if there is no server to start. A program inside
// the project is started only if this user has accepted the project, because a clone could bring it along.
Result<std::vector<lsp::ServerChoice>> choose_servers(const LspRequest& request, const Environment& environment);

struct KeepRequest {
  std::string project;
  std::vector<lsp::ServerChoice> servers;
  Milliseconds idle{0};
  int ready = -1;  // a descriptor; one line is written to it: "ready", or why not
};

// Keeps the servers warm until it is stopped, ended or idle. Runs in a dedicated process and returns its exit code.
int keep_servers(const KeepRequest& request);

// The lines written to KeepRequest::ready. "busy": another process keeps the servers of this project.
inline constexpr std::string_view kReady = "ready", kBusyLine = "busy";

}  // namespace ralph::cli
