#include "ui/line_flow.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kNarrowest = 20;      // narrower terminals wrap lines anywhere
constexpr size_t kWidthOfFiles = 200;  // log lines may be wide, but not as long as a huge command
constexpr std::string_view kStampWidth = "[HH:MM:SS] ";

}  // namespace

LineFlow::LineFlow(const Style& style, bool unicode, Write write, Stamp stamp)
    : style_(style), bar_(unicode ? "  │ " : "  | "), write_(std::move(write)), stamp_(std::move(stamp)) {}

size_t LineFlow::room(bool sub_agent) const {
  const size_t width = style_.terminal ? style_.width : kWidthOfFiles;
  const size_t used = (stamp_ ? kStampWidth.size() : 0) + (sub_agent ? display_width(bar_) : 0);
  return std::max(width, kNarrowest + used) - used;
}

void LineFlow::begin(Block block) {
  end_line();
  const bool belongs = block_ == Block::kFailure && block == Block::kClosing;
  if (block_ != Block::kNone && block_ != block && !belongs) gathered_ += '\n';
  if (block_ != block || block == Block::kWords) silent_ = true;
  block_ = block;
}

void LineFlow::begin_line(bool sub_agent) {
  if (stamp_) gathered_ += style_.dim(stamp_()) + " ";
  if (sub_agent) gathered_ += style_.dim(bar_);
  at_line_start_ = false;
}

void LineFlow::line(std::string_view text, bool sub_agent) {
  end_line();
  begin_line(sub_agent);
  gathered_ += text;
  end_line();
}

void LineFlow::words(std::string_view text, bool sub_agent) {
  while (!text.empty()) {
    const size_t end = text.find_first_of("\r\n");
    if (end > 0) {
      if (!silent_ && pending_newlines_ > 0) {
        gathered_.append(pending_newlines_, '\n');
        at_line_start_ = true;
      }
      pending_newlines_ = 0;
      after_return_ = false;
      if (at_line_start_) begin_line(sub_agent);
      gathered_ += text.substr(0, end);
      silent_ = false;
    }
    if (end == std::string_view::npos) return;
    if (text[end] == '\r' || !after_return_) ++pending_newlines_;
    after_return_ = text[end] == '\r';
    text.remove_prefix(end + 1);
  }
}

void LineFlow::end_line() {
  if (!at_line_start_) gathered_ += '\n';
  at_line_start_ = true;
  after_return_ = false;
  pending_newlines_ = 0;
}

void LineFlow::flush() {
  if (!gathered_.empty()) write_(std::exchange(gathered_, {}));
}

void LineFlow::forget() {
  at_line_start_ = true;
  block_ = Block::kNone;
}

}  // namespace ralph
