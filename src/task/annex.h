// The mirror of a task's folder in a virtual machine. Docker copies files only from the machine to the host, which is
// not enough for a folder that both sides write: agents and supervisor both write the bus of a task. So a process
// inside the machine and one outside, connected by the pipes of an `exec`, keep two folders in sync. The outer one
// decides what passes: the machine sees the supervisor's own files but can't change them.
//
//   agent ── DONE, notes ──► mirror ─┐                        ┌──► the task's folder ── file events ──► supervisor
//         ── bus post ─────► mirror  ├─ inside ═ pipes ═ outside   (locked, appended)
//         ── ralph job ────► socket ─┘                        └──► the supervisor's socket, as its client
//
// All paths are relative to the folder of the task's project, which has the same path on both ends: "TASK/DONE",
// "PROJECT-MESSAGE-BUS.md", "OTHER/result".
#pragma once

#include <string>
#include <vector>

#include "os/launch.h"
#include "task/place.h"

namespace ralph {

struct AnnexPlace {
  std::string folder;                  // of one project's tasks
  std::string task;                    // the task whose folder is kept in sync
  std::vector<std::string> depends{};  // tasks that the machine sees as they were at the start
  std::string socket;                  // the path where `ralph job` connects, on both ends
};

// Inside: serves the other end on standard input and output until the other end closes.
Status serve_annex_inside(const AnnexPlace& place);

// Outside: starts `inside`, serves it, and answers on `control`. Each packet that arrives there asks to bring both
// folders in sync; the answer is empty, or says why that failed. Returns when `control` closes.
Status serve_annex_outside(const AnnexPlace& place, const Launch& inside, int control);

// Whether the machine may write a file, given relative to the project's folder: it must belong to the machine's task,
// and not be one that the supervisor trusts. The path of a folder ends with "/".
bool may_machine_write(std::string_view path, const AnnexPlace& place);

// Whether the machine gets a copy of the file.
bool is_shared_with_machine(std::string_view path, const AnnexPlace& place);

}  // namespace ralph
