#include "checks/path_pattern.h"

#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/wildcard.h"

namespace ralph {
namespace {

// The algorithm of matches_wildcard() one level up: names instead of characters, ** instead of *.
bool matches_names(std::span<const std::string> pattern, std::span<const std::string> names) {
  size_t p = 0, n = 0, stars = pattern.size(), after_stars = 0;
  while (n < names.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      stars = p++;
      after_stars = n;
    } else if (p < pattern.size() && matches_wildcard(pattern[p], names[n])) {
      ++p, ++n;
    } else if (p == pattern.size() && p > 0 && pattern[p - 1] != "**") {
      return true;  // the pattern names a parent folder
    } else if (stars < pattern.size()) {
      p = stars + 1;
      n = ++after_stars;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == "**" && p > 0 && p + 1 < pattern.size()) ++p;
  return p == pattern.size();
}

std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> names;
  for (std::string& name : split(path, '/')) {
    if (!name.empty() && name != ".") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

bool matches_path(std::string_view pattern, std::string_view path) {
  const std::vector<std::string> names = names_of(pattern);
  return !names.empty() && matches_names(names, names_of(path));
}

std::string_view literal_part(std::string_view pattern) {
  const size_t wild = pattern.find_first_of("*?");
  if (wild != std::string_view::npos) {
    const size_t slash = pattern.rfind('/', wild);
    pattern = pattern.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  while (pattern.starts_with("./")) pattern.remove_prefix(2);
  while (pattern.ends_with('/')) pattern.remove_suffix(1);
  return pattern;
}

}  // namespace ralph
