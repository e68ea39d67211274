#include "engine/program_parts.h"

#include <algorithm>

#include "base/text.h"
#include "json/value.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr std::string_view kModules = "/node_modules/";
constexpr size_t kMostPackages = 500;

// The names of a package's dependencies.
std::vector<std::string> dependencies_of(const std::string& package) {
  std::vector<std::string> names;
  const std::string path = join_path(package, "package.json");
  const auto text = is_regular_file(path) ? read_file(path) : Result<std::string>("{}");
  const auto document = text ? parse_json(*text, path) : Result<json::value>(json::object{});
  if (!document) return names;
  for (const char* kind : {"dependencies", "optionalDependencies"}) {
    const json::value* list = find(*document, kind);
    if (!list || !list->is_object()) continue;
    for (const auto& member : list->get_object()) names.emplace_back(member.key());
  }
  return names;
}

// Resolves a package as node does: in the requiring package's node_modules, then in each folder above.
std::string find_package(const std::string& name, const std::string& from, const std::string& project) {
  for (std::string at = from; at.starts_with(project); at = parent_path(at)) {
    const std::string found = join_path(at, "node_modules/" + name);
    if (is_directory(found)) return real_path(found);
  }
  return "";
}

}  // namespace

std::string package_folder(const std::string& file) {
  const size_t modules = file.rfind(kModules);
  if (modules == std::string::npos) return "";
  const size_t name = modules + kModules.size();
  size_t end = file.find('/', name);
  if (end != std::string::npos && file[name] == '@') end = file.find('/', end + 1);
  return end == std::string::npos || file[name] == '.' ? "" : file.substr(0, end);
}

std::vector<std::string> package_parts(const std::string& package, const std::string& project) {
  std::vector<std::string> found = {package};
  for (size_t next = 0; next < found.size() && found.size() < kMostPackages; ++next) {
    for (const std::string& name : dependencies_of(found[next])) {
      const std::string folder = find_package(name, found[next], project);
      if (folder.starts_with(project + "/") && !is_one_of(folder, found)) found.push_back(folder);
    }
  }
  std::vector<std::string> parts;
  for (const std::string& folder : found) {
    const bool below =
        std::ranges::any_of(found, [&](const std::string& other) { return folder.starts_with(other + "/"); });
    if (!below) parts.push_back(folder);
  }
  return parts;
}

}  // namespace ralph
