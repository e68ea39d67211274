// Memory that is faulted in before it is needed.
#pragma once

namespace ralph {

// Faults in the rest of the heap and the next pages of the stack with two calls, instead of one page fault at a time: a
// program that lives for a millisecond spends a fifth of it on page faults. Does nothing if the system does not support
// it.
void prefault_memory();

}  // namespace ralph
