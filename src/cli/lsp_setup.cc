#include "cli/lsp_setup.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "engine/diagnostics_setup.h"
#include "os/files.h"
#include "os/guardian.h"
#include "os/lock.h"
#include "os/process_tree.h"
#include "os/unix_socket.h"
#include "settings/trust.h"

namespace ralph::cli {
namespace {

using lsp::ServerChoice;
using lsp::ServerRow;

Result<const ServerRow*> row_named(const std::string& name) {
  if (const ServerRow* row = lsp::server_named(name)) return row;
  std::vector<std::string> names;
  for (const ServerRow& row : lsp::all_servers()) names.emplace_back(row.name);
  return no_such("no language server", name, names);
}

bool lies_inside(const std::string& program, const std::string& project) {
  const std::string root = real_path(project) + "/";
  return program.starts_with(project + "/") || real_path(program).starts_with(root);
}

Status may_start(const ServerRow& row, const std::string& program, const LspRequest& request,
                 const Environment& environment) {
  if (!lies_inside(program, request.project) || request.trusted || is_trusted_by_environment(environment) ||
      project_is_accepted(environment, request.project))
    return {};
  return fail(ErrorKind::kUsage,
              "{} is {}, which lies in the project, and you have not accepted this project; check it, then run "
              "'ralph trust', or add --trust",
              row.name, program);
}

tl::unexpected<Error> nothing_to_start(const std::vector<const ServerRow*>& fitting) {
  std::string text;
  for (const ServerRow* row : fitting) text += fmt::format("\n  {}: {}", row->name, row->how_to_install);
  if (fitting.empty())
    return fail(ErrorKind::kNotFound,
                "no language server fits this project: there is no compile_commands.json, pyproject.toml, go.mod, "
                "Cargo.toml or tsconfig.json; name a server, as in 'ralph lsp start clangd'");
  return fail(ErrorKind::kNotFound, "no language server for this project is installed:{}", text);
}

void say_on(int descriptor, std::string_view line) {
  if (descriptor >= 0) static_cast<void>(write_all(descriptor, fmt::format("{}\n", line), "a pipe"));
}

Status keep_all(const KeepRequest& request, int guardian) {
  const Environment environment = Environment::of_this_process();
  const std::string socket = warm_socket(environment, request.project);
  if (socket.empty())
    return fail(ErrorKind::kInput, "neither XDG_STATE_HOME nor HOME is set; set one of them to an absolute path");
  TRY(make_directories(parent_path(socket)));
  TRY_VALUE(Lock lock, Lock::acquire(warm_lock(environment, request.project)));
  TRY(lock.name_owner(fmt::format("{} {}\n", guardian_pid(), start_time_of(guardian_pid()))));
  TRY_VALUE(Fd listener, listen_at(socket, SocketKind::kStream));
  lsp::HubSetup setup{request.project, environment, request.servers, guardian, request.idle, socket};
  lsp::Hub hub(std::move(setup));
  say_on(request.ready, kReady);
  if (request.ready >= 0) ::close(request.ready);
  hub.serve(std::move(listener));
  return {};
}

}  // namespace

Result<std::vector<ServerChoice>> choose_servers(const LspRequest& request, const Environment& environment) {
  const diagnostics::ProjectView project(request.project, environment, request.exclude);
  std::vector<const ServerRow*> rows;
  for (const std::string& name : request.names) {
    TRY_VALUE(const ServerRow* row, row_named(name));
    if (!is_one_of(row, rows)) rows.push_back(row);
  }
  for (const ServerRow& row : lsp::all_servers()) {
    if (request.names.empty() && is_for(row, project)) rows.push_back(&row);
  }
  std::vector<ServerChoice> choices;
  for (const ServerRow* row : rows) {
    std::vector<std::string> argv = command_of(*row, project);
    if (argv.empty() && request.names.empty()) continue;
    if (argv.empty()) return fail(ErrorKind::kNotFound, "{} is not installed; {}", row->name, row->how_to_install);
    TRY(may_start(*row, argv.front(), request, environment));
    choices.push_back({row, std::move(argv)});
  }
  if (choices.empty()) return nothing_to_start(rows);
  return choices;
}

int keep_servers(const KeepRequest& request) {
  const auto code = run_guarded([&](int guardian) {
    const Status kept = keep_all(request, guardian);
    if (kept) return 0;
    say_on(request.ready, kept.error().kind == ErrorKind::kBusy ? kBusyLine : kept.error().message);
    return 1;
  });
  if (!code) say_on(request.ready, code.error().message);
  return code.value_or(1);
}

}  // namespace ralph::cli
