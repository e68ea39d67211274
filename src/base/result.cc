#include "base/result.h"

#include <cstring>

namespace ralph {

std::string errno_text(int error) {
  return std::strerror(error);
}

}  // namespace ralph
