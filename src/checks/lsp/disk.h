// Detects what has changed in a project since the last scan. A language server trusts what it has read until it is told
// otherwise, and here no editor watches the files for it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/lsp/conversation.h"

namespace ralph::lsp {

class Disk {
 public:
  // Scans only files of this server's languages, and those whose changes it must be told about.
  Disk(std::string root, const ServerRow& row) : root_(std::move(root)), row_(row) {}

  // What has changed since the last scan; nothing the first time.
  std::vector<ChangedOnDisk> look();

 private:
  using Stamp = std::pair<long long, long long>;  // time of the last change, size

  const std::string root_;
  const ServerRow& row_;
  bool looked_ = false;
  std::map<std::string, Stamp> files_;
};

}  // namespace ralph::lsp
