// Memory that is faulted in before it is needed.
#pragma once

namespace ralph {

// Faults in the rest of the heap and the next pages of the stack in two calls instead of one fault each: for a program
// that lives for a millisecond, a fifth of which is spent on page faults. Does nothing if the system does not support
// it.
void prefault_memory();

}  // namespace ralph
