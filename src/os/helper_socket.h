// A socket in its own folder, for a helper of a run. It listens before the helper starts, so no client connects too
// early. The helper gets the listener as its standard input.
#pragma once

#include <string>
#include <string_view>

#include "os/files.h"

namespace ralph {

struct HelperSocket {
  std::string folder{};  // for its owner only
  std::string socket{};  // <name>.sock in it
  Fd listener{};

  // Removes the socket and, if nothing else is in it, the folder.
  void remove();
};

// Creates a folder ralph-<name>-XXXXXX in /tmp. Folders of that name left by killed runs of this user are removed
// first, including the file `log` in them.
Result<HelperSocket> open_helper_socket(std::string_view name, std::string_view log = {});

}  // namespace ralph
