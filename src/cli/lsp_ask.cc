// ralph lsp ask, ralph lsp serve: for ralph's own use. `ask` is the command behind the language server collectors,
// `serve` is the process in which a run keeps its servers.
#include <array>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

#include "base/text.h"
#include "checks/lsp/warm.h"
#include "cli/lsp_setup.h"
#include "cli/registry.h"
#include "engine/diagnostics_setup.h"
#include "os/files.h"
#include "os/guardian.h"
#include "sandbox/places.h"

namespace ralph::cli {
namespace {

constexpr std::array kAskOptions = {
    Option{"server", 0, "NAME", "The language server."},
    Option{"hub", 0, "SOCKET", "Where a run keeps its servers."},
    Option{"trust", 0, "", "Allow starting a program inside the project."},
};
constexpr std::array kServeOptions = {
    Option{.name = "server", .letter = 0, .value = "NAME", .help = "A language server.", .repeatable = true}};
constexpr std::array kAskedFiles = {
    Positional{"FILE", "Relative to the project, which is the current directory.", true, true}};

int print_answer(const json::object& answer) {
  const Status written = write_all(STDOUT_FILENO, to_compact_json(answer) + "\n", "standard output");
  return written ? 0 : 1;
}

int print_failure(const Error& error) {
  return print_answer({{"failure", to_json_string(error.message)}, {"findings", json::array()}});
}

// Asks a warm server: the user's own first, then the run's. nullopt: nobody keeps this server.
Result<std::optional<json::object>> ask_warm(const std::vector<std::string>& sockets, const std::string& server,
                                             const json::object& request) {
  for (const std::string& socket : sockets) {
    if (socket.empty() || !is_one_of(server, lsp::warm_servers(socket))) continue;
    auto answer = lsp::ask_hub(socket, request, Milliseconds(0));
    if (answer) return std::optional(std::move(*answer));
    // If it has just ended, continue without it.
    if (answer.error().kind != ErrorKind::kNotFound) return tl::unexpected(answer.error());
  }
  return std::nullopt;
}

Result<int> lsp_ask(const Arguments& typed) {
  const std::string server(typed.value("server").value_or(""));
  if (server.empty()) return fail(ErrorKind::kUsage, "--server is missing");
  TRY_VALUE(const std::string project, current_directory());
  const Environment environment = Environment::of_this_process();
  json::array files;
  for (const std::string& file : typed.positionals()) files.push_back(to_json_string(file));
  const json::object request{{"do", "check"}, {"server", to_json_string(server)}, {"files", std::move(files)}};
  const std::string of_run(typed.value("hub").value_or(""));
  // In a sandbox, programs share a private home: a server that listens there is not the user's.
  const bool sandboxed = environment.get(std::string(kSandboxVariable)).has_value();
  const auto warm = ask_warm({sandboxed ? "" : warm_socket(environment, project), of_run}, server, request);
  if (!warm) return print_failure(warm.error());
  if (*warm) return print_answer(**warm);
  const auto choice = choose_servers({project, {server}, typed.has("trust")}, environment);
  if (!choice) return print_failure(choice.error());
  return run_guarded([&](int guardian) {
    lsp::Hub hub({project, environment, *choice, guardian});
    const auto answer = hub.ask(request);
    return answer ? print_answer(*answer) : print_failure(answer.error());
  });
}

// The process in which a run keeps its servers. It is a job of the guardian, which ends it with the run.
Result<int> lsp_serve(const Arguments& typed) {
  TRY_VALUE(const std::string project, current_directory());
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(std::vector<lsp::ServerChoice> servers,
            choose_servers({project, typed.values("server"), true}, environment));
  lsp::HubSetup setup{project, environment, std::move(servers)};
  setup.owned = true;
  Fd listener(::dup(STDIN_FILENO));
  if (!listener) return fail(ErrorKind::kUsage, "standard input must be the socket that it listens on");
  ::dup2(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get(), STDIN_FILENO);
  lsp::Hub(std::move(setup)).serve(std::move(listener));
  return 0;
}

}  // namespace

const Command kLspAsk = {
    "lsp ask",
    "For ralph's own use: what a language server says about files.",
    "Asks the warm server of the project, or starts one for this question. Prints JSON.",
    "ralph lsp ask --server clangd src/main.cc",
    kAskOptions,
    kAskedFiles,
    lsp_ask,
    true,
};

const Command kLspServe = {
    "lsp serve",
    "For ralph's own use: keeps the language servers of a run.",
    "Standard input is the socket that it listens on. It serves until it is ended.",
    "ralph lsp serve --server clangd",
    kServeOptions,
    {},
    lsp_serve,
    true,
};

}  // namespace ralph::cli
