// What has changed in a project since the last look. A language server believes what it has read until somebody tells
// it otherwise, and no editor watches the files for it here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/lsp/conversation.h"

namespace ralph::lsp {

class Disk {
 public:
  // Only files of this server's languages, and those whose change it must hear of.
  Disk(std::string root, const ServerRow& row) : root_(std::move(root)), row_(row) {}

  // What is different from the last look; nothing the first time.
  std::vector<ChangedOnDisk> look();

 private:
  using Stamp = std::pair<long long, long long>;  // time of the last change, size

  const std::string root_;
  const ServerRow& row_;
  bool looked_ = false;
  std::map<std::string, Stamp> files_;
};

}  // namespace ralph::lsp
