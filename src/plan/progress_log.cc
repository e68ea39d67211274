#include "plan/progress_log.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kRule = "---", kEntry = "## Iteration";

// The offset of the log: after the first "---" line, or 0 if an entry comes before that.
size_t log_begin(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = trim(text.substr(at, end - at));
    if (line == kRule) return end;
    if (line.starts_with(kEntry)) return 0;
    at = end;
  }
  return 0;
}

std::string_view without_last_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// The entries of `found` that are not in `before`.
std::string new_entries(std::string_view found, std::string_view before) {
  std::string entries, entry;
  const auto close = [&](std::string_view rule) {
    const std::string_view text = trim(entry);
    if (!text.empty() && before.find(text) == std::string_view::npos) entries += fmt::format("\n{}\n{}", text, rule);
    entry.clear();
  };
  for (const std::string& line : split(found, '\n')) {
    if (trim(line) == kRule) {
      close("---\n");
    } else {
      entry += line + "\n";
    }
  }
  close("");
  return entries;
}

}  // namespace

std::string with_log_kept(std::string_view before, const std::optional<std::string>& found) {
  if (!found) return std::string(before);
  const std::string_view now = *found;
  const size_t begin_before = log_begin(before), begin_now = begin_before == 0 ? 0 : log_begin(now);
  const std::string_view log = before.substr(begin_before);
  const bool has_head = begin_before == 0 || begin_now > 0;
  if (has_head && now.substr(begin_now).starts_with(without_last_blanks(log))) return *found;
  std::string text(has_head ? now.substr(0, begin_now) : before.substr(0, begin_before));
  text += log;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text + new_entries(now.substr(begin_now), before);
}

std::string with_log_added(std::string_view now, std::string_view before, const std::string& found) {
  const std::string kept = with_log_kept(before, found);
  const size_t begin_before = log_begin(before), begin_now = begin_before == 0 ? 0 : log_begin(now);
  const size_t begin_kept = begin_before == 0 ? 0 : log_begin(kept);
  const bool same_top = now.substr(0, begin_now) == before.substr(0, begin_before);
  std::string text((same_top ? std::string_view(kept).substr(0, begin_kept) : now.substr(0, begin_now)));
  text += now.substr(begin_now);
  std::string_view added =
      std::string_view(kept).substr(begin_kept + without_last_blanks(before.substr(begin_before)).size());
  if (trim(added).empty()) return text;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (before.ends_with('\n') && added.starts_with('\n')) added.remove_prefix(1);
  return text.append(added);
}

}  // namespace ralph
