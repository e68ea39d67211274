// The tools that an agent has started and not ended: an end tells only an id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agents/events.h"

namespace ralph {

struct OpenTool {
  std::string id, name;
  // What it was asked, where its end alone does not tell what it did: todo lists and tasks.
  std::vector<event::TodoItem> todo;
  std::string subject, task, status;
  unsigned long number = 0;  // in the order of starts
};

class OpenTools {
 public:
  // The reference is good until the next call.
  OpenTool& start(std::string_view id, std::string_view name);

  // What is known of the tool, which is then forgotten; an empty name if its start was not seen. The reference is good
  // until the next call.
  const OpenTool& end(std::string_view id);

  bool is_open(std::string_view id) const { return find(id) < open_; }

 private:
  size_t find(std::string_view id) const;  // open_ if it is not there

  // A stream of starts without ends must not grow; the oldest is forgotten then.
  static constexpr size_t kMost = 64;
  static std::string_view short_id(std::string_view id) { return id.substr(0, 256); }

  std::vector<OpenTool> tools_;  // the first open_ of them; the others lend their memory
  size_t open_ = 0;
  unsigned long started_ = 0;
  OpenTool unknown_;
};

}  // namespace ralph
