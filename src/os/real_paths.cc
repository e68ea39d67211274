#include "os/real_paths.h"

#include <climits>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ralph {
namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit

// Pushes the components of a path in reverse order, so that more can be pushed in front.
void push_components(std::string_view path, std::vector<std::string>& pending) {
  for (size_t end = path.size(); end > 0;) {
    const size_t slash = path.rfind('/', end - 1);
    const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") pending.emplace_back(part);
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

}  // namespace

RealPaths::Name RealPaths::look(const std::string& path) {
  ++system_calls_;
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return {Name::Kind::kMissing};
  if (!S_ISLNK(info.st_mode)) return {};
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length <= 0) return {};
  return {Name::Kind::kLink, std::string(target, static_cast<size_t>(length))};
}

std::string RealPaths::of(const std::string& path) {
  if (path != last_path_ || path.empty()) {
    last_real_ = resolve(path);
    last_path_ = path;
  }
  return last_real_;
}

std::string RealPaths::resolve(const std::string& path) {
  std::vector<std::string> pending;
  push_components(path, pending);
  std::string real;                    // without a trailing slash
  std::vector<Name*> folders{&root_};  // the folders of `real`, starting at the root; nullptr: does not exist
  const auto descend = [&](const std::string& name, Name* to) {
    real += '/';
    real += name;
    folders.push_back(to);
  };
  int links = 0;
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (name == "..") {
      if (folders.size() > 1) {
        folders.pop_back();
        real.resize(real.rfind('/'));
      }
      continue;
    }
    Name* const folder = folders.back();
    if (!folder) {
      descend(name, nullptr);
      continue;
    }
    const std::string below = real + '/' + name;
    auto known = folder->names.find(name);
    Name fresh;
    if (known == folder->names.end()) {
      fresh = look(below);
      // The last name of a path is queried once; caching it would only cost memory, unless it is a link.
      if (!pending.empty() || fresh.kind == Name::Kind::kLink)
        known = folder->names.emplace(name, std::move(fresh)).first;
    }
    if (known == folder->names.end()) {  // the last name
      descend(name, nullptr);
    } else if (known->second.kind == Name::Kind::kMissing) {
      descend(name, nullptr);
    } else if (known->second.kind == Name::Kind::kFolder) {
      descend(name, &known->second);
    } else if (++links > kMostLinks) {
      return path;
    } else {
      const std::string& target = known->second.target;
      if (target.starts_with('/')) {
        real.clear();
        folders.resize(1);
      }
      push_components(target, pending);
    }
  }
  return real.empty() ? "/" : real;
}

}  // namespace ralph
