// The image of a task's folder in a virtual machine. Files that a machine has are carried from it to the host, never
// back, so a folder that both write can't be one of those: the bus of a task is written by its agents and its
// supervisor. Instead one process inside the machine, on the pipes of an `exec`, and one outside keep two folders the
// same. What passes is judged outside: the supervisor's own files are shown to the machine, and never taken from it.
//
//   agent ── DONE, notes ──► image ──┐                        ┌──► the task's folder ── file events ──► supervisor
//         ── bus post ─────► image   ├─ inside ═ pipes ═ outside   (locked, appended)
//         ── ralph job ────► socket ─┘                        └──► the supervisor's socket, as its client
//
// All paths are below the folder of the task's project, which has the same path on both ends:
// "TASK/DONE", "PROJECT-MESSAGE-BUS.md", "OTHER/result".
#pragma once

#include <string>
#include <vector>

#include "os/launch.h"
#include "task/place.h"

namespace ralph {

struct AnnexPlace {
  std::string folder;                  // of the tasks of one project
  std::string task;                    // whose folder is kept the same
  std::vector<std::string> depends{};  // tasks that the machine sees as they were when it began
  std::string socket;                  // where `ralph job` asks, on both ends
};

// Inside: serves the other end on standard input and output, until that closes.
Status serve_annex_inside(const AnnexPlace& place);

// Outside: starts `inside`, serves it, and answers on `control`: each packet that arrives there asks for both folders
// to be the same; the answer is empty, or says why they are not. Ends when `control` does.
Status serve_annex_outside(const AnnexPlace& place, const Launch& inside, int control);

// Whether a file, below the folder of the project, is one that the machine may write: of its own task, and not one
// that the supervisor believes. A folder has a "/" at its end.
bool is_machines_to_write(std::string_view path, const AnnexPlace& place);

// Whether it is one that the machine is told of.
bool is_told_to_machine(std::string_view path, const AnnexPlace& place);

}  // namespace ralph
