// Which descriptors a new program gets, on every kernel.
#pragma once

namespace ralph {

enum class Descriptors { kClose, kCloseOnExec };

// Closes the descriptors from `first` to `last`, or marks them to be closed by exec. By close_range() where the kernel
// has it (Linux 5.9, and 5.11 for the marks), else one by one. Allocates nothing: may be called after vfork.
void release_descriptors(unsigned first, unsigned last, Descriptors how);

}  // namespace ralph
