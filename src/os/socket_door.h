// A socket in a folder of its own, for a helper of a run that is about to be started: it listens before the helper
// runs, so that nobody comes too early. The helper gets the listener as its standard input.
#pragma once

#include <string>
#include <string_view>

#include "os/files.h"

namespace ralph {

struct SocketDoor {
  std::string folder{};  // for its owner only
  std::string socket{};  // <name>.sock in it
  Fd listener{};

  // Removes the socket and, if nothing else is in it, the folder.
  void remove();
};

// In /tmp, in a new folder ralph-<name>-XXXXXX. Those of that name that killed runs of this user have left are removed
// first, with the file `log` in them.
Result<SocketDoor> open_socket_door(std::string_view name, std::string_view log = {});

}  // namespace ralph
