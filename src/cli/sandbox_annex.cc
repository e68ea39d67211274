// ralph sandbox annex: both ends of the mirror of a task's folder in a virtual machine. ralph sandbox end: ends what an
// attempt left running there.
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "cli/registry.h"
#include "os/process_tree.h"
#include "task/annex.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{"folder", 0, "DIR", "The folder that holds the tasks of one project."},
    Option{"task", 0, "T", "The task whose folder is kept in sync."},
    Option{"socket", 0, "PATH", "The socket that `ralph job` connects to."},
    Option{
        .name = "depends-on", .letter = 0, .value = "T", .help = "A task that the machine sees.", .repeatable = true},
};
constexpr std::array kPositionals = {
    Positional{"COMMAND", "Outside: what starts the other end. Without it, this is the inner end.", false, true}};

Result<int> annex(const Arguments& arguments) {
  AnnexPlace place;
  place.folder = arguments.value("folder").value_or("");
  place.task = arguments.value("task").value_or("");
  place.socket = arguments.value("socket").value_or("");
  place.depends = arguments.values("depends-on");
  if (!place.folder.starts_with('/') || place.task.empty() || !place.socket.starts_with('/'))
    return fail(ErrorKind::kUsage, "--folder, --task and --socket are needed");
  if (arguments.positionals().empty()) {
    TRY(serve_annex_inside(place));
    return 0;
  }
  Launch inside;
  inside.argv.assign(arguments.positionals().begin(), arguments.positionals().end());
  inside.environment = Environment::of_this_process();
  TRY_VALUE(inside.folder, current_directory());
  TRY(serve_annex_outside(place, inside, STDIN_FILENO));
  return 0;
}

constexpr std::array kEndPositionals = {
    Positional{"VARIABLE", "NAME=VALUE, in the environment of the processes.", true}};

Result<int> end(const Arguments& arguments) {
  const std::string& variable = arguments.positionals()[0];
  if (!contains(variable, '=')) return fail(ErrorKind::kUsage, "\"{}\" is not NAME=VALUE", variable);
  return end_processes_with(variable, stop_leftovers()).survivors.empty() ? 0 : 1;
}

}  // namespace

const Command kSandboxAnnex = {
    "sandbox annex",
    "Keep a task's folder and its mirror in a virtual machine in sync.",
    "For ralph's own use: one end runs inside the machine, the other one outside.",
    "ralph task run --root tasks --project shop --task cart --sandbox",
    kOptions,
    kPositionals,
    annex,
    true,
};

const Command kSandboxEnd = {
    "sandbox end",
    "Inside a virtual machine: ends the processes of an attempt.",
    "For ralph's own use.",
    "ralph sandbox end RALPH_ATTEMPT_ID=20260101-120000-abcd",
    {},
    kEndPositionals,
    end,
    true,
};

}  // namespace ralph::cli
