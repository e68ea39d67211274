#include "engine/way.h"

#include <algorithm>

#include "os/files.h"

namespace ralph {

bool Way::file_arrived() const {
  const std::vector<std::string> awaited = files();
  return std::any_of(awaited.begin(), awaited.end(), file_exists);
}

}  // namespace ralph
