#include "git/index_file.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "git/loose_head.h"
#include "os/files.h"

namespace ralph {
namespace {

// The format is git's gitformat-index(5).
constexpr size_t kHeader = 12, kChecksum = 20;
constexpr size_t kFlagsAt = 60;  // in an entry: after the times, ids, mode and size, and the object's name
constexpr unsigned kAssumeUnchanged = 0x8000, kExtended = 0x4000, kSkipWorktree = 0x4000;
constexpr unsigned kNameLength = 0x0fff;  // a longer name has this length too

std::uint32_t number_at(std::string_view bytes, size_t at, size_t size) {
  std::uint32_t number = 0;
  for (size_t i = 0; i < size; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// Extensions follow the entries, up to the checksum. These do not change what the entries mean or where git finds them,
// as others do ("link", "sdir", "IEOT"). If they don't end where the checksum begins, the entries were not what we took
// them for.
bool are_plain_extensions(std::string_view bytes) {
  constexpr std::array<std::string_view, 5> kPlain = {"TREE", "REUC", "UNTR", "FSMN", "EOIE"};
  while (!bytes.empty()) {
    if (bytes.size() < 8 || !is_one_of(bytes.substr(0, 4), kPlain)) return false;
    const size_t size = number_at(bytes, 4, 4);
    if (size > bytes.size() - 8) return false;
    bytes.remove_prefix(8 + size);
  }
  return true;
}

}  // namespace

std::optional<std::vector<IndexEntry>> read_index(std::string_view bytes) {
  if (bytes.size() < kHeader + kChecksum || !bytes.starts_with("DIRC")) return std::nullopt;
  const std::uint32_t version = number_at(bytes, 4, 4), count = number_at(bytes, 8, 4);
  if (version != 2 && version != 3) return std::nullopt;
  bytes = bytes.substr(kHeader, bytes.size() - kHeader - kChecksum);
  std::vector<IndexEntry> entries;
  entries.reserve(std::min<size_t>(count, bytes.size() / kFlagsAt));
  for (std::uint32_t i = 0; i < count; ++i) {
    if (bytes.size() < kFlagsAt + 4) return std::nullopt;
    const unsigned flags = number_at(bytes, kFlagsAt, 2);
    const bool extended = (flags & kExtended) != 0;
    const bool skipped = extended && (number_at(bytes, kFlagsAt + 2, 2) & kSkipWorktree) != 0;
    const size_t name = kFlagsAt + (extended ? 4 : 2), end = bytes.find('\0', name);
    if (end == std::string_view::npos || end == name) return std::nullopt;
    // git goes by this length, not by the NUL: a forged index could show each of us other entries.
    if ((flags & kNameLength) != std::min<size_t>(end - name, kNameLength)) return std::nullopt;
    const size_t size = (end / 8 + 1) * 8;  // at least one NUL after the name
    if (size > bytes.size()) return std::nullopt;
    entries.push_back({std::string(bytes.substr(name, end - name)), (flags & kAssumeUnchanged) != 0 || skipped});
    bytes.remove_prefix(size);
  }
  if (!are_plain_extensions(bytes)) return std::nullopt;
  return entries;
}

bool hides_nothing(const std::string& top) {
  const std::string path = join_path(top, ".git/index");
  if (!is_own_repository(top) || !is_real_file(path)) return false;
  const auto bytes = read_file(path);
  const auto entries = bytes ? read_index(*bytes) : std::nullopt;
  return entries && std::ranges::none_of(*entries, [](const IndexEntry& entry) { return entry.hidden; });
}

}  // namespace ralph
