#include "agents/open_tools.h"

#include <algorithm>
#include <utility>

namespace ralph {

size_t OpenTools::find(std::string_view id) const {
  size_t at = 0;
  while (at < open_ && tools_[at].id != short_id(id)) ++at;
  return at;
}

OpenTool& OpenTools::start(std::string_view id, std::string_view name) {
  size_t at = find(id);  // a reused id replaces the open call
  if (at == open_) {
    if (open_ == kMost) {
      at = static_cast<size_t>(
          std::min_element(tools_.begin(), tools_.end(),
                           [](const OpenTool& a, const OpenTool& b) { return a.number < b.number; }) -
          tools_.begin());
    } else if (++open_ > tools_.size()) {
      tools_.emplace_back();
    }
  }
  OpenTool& tool = tools_[at];
  tool.id.assign(short_id(id));
  tool.name.assign(name.substr(0, 256));
  tool.todo.clear();
  tool.subject.clear();
  tool.task.clear();
  tool.status.clear();
  tool.number = ++started_;
  return tool;
}

const OpenTool& OpenTools::end(std::string_view id) {
  const size_t at = find(id);
  if (at == open_) return unknown_;
  --open_;
  if (at != open_) std::swap(tools_[at], tools_[open_]);
  return tools_[open_];
}

}  // namespace ralph
