// Tracks tool calls that have started but not ended. The event that ends a call contains only its id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agents/events.h"

namespace ralph {

struct OpenTool {
  std::string id, name;
  // Its input, for todo lists and tasks: the end of the call does not repeat it.
  std::vector<event::TodoItem> todo;
  std::string subject, task, status;
  unsigned long number = 0;  // in order of start
};

class OpenTools {
 public:
  // The reference is valid until the next call.
  OpenTool& start(std::string_view id, std::string_view name);

  // Removes the call and returns it; its name is empty if no start was seen. The reference is valid until the next
  // call.
  const OpenTool& end(std::string_view id);

  bool is_open(std::string_view id) const { return find(id) < open_; }

 private:
  size_t find(std::string_view id) const;  // open_: not found

  // Bounds the memory for a stream whose calls never end: the oldest is dropped.
  static constexpr size_t kMost = 64;
  static std::string_view short_id(std::string_view id) { return id.substr(0, 256); }

  std::vector<OpenTool> tools_;  // the first open_ are open; the others keep their memory for reuse
  size_t open_ = 0;
  unsigned long started_ = 0;
  OpenTool unknown_;
};

}  // namespace ralph
