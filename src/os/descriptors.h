// Controls which descriptors a new program inherits, on every kernel.
#pragma once

namespace ralph {

enum class Descriptors { kClose, kCloseOnExec };

// Closes the descriptors from `first` to `last`, or marks them close-on-exec. Uses close_range() if the kernel has it
// (Linux 5.9; 5.11 for marking), otherwise goes one by one. Allocates nothing: may be called after vfork.
void release_descriptors(unsigned first, unsigned last, Descriptors how);

// Leaves the session and puts /dev/null in place of standard input, output and error: a caller may wait for its pipes
// to close.
void leave_caller();

}  // namespace ralph
