#include "stream_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  return ralph::fuzzing::check_stream("codex", data, size);
}
