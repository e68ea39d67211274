// Verifies a finished run as a third party would: its journal, receipt, logs and commits. Specified in
// docs/formats/receipt.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/git.h"
#include "history/receipt.h"
#include "journal/run_folder.h"

namespace ralph {

struct VerifyFinding {
  std::string what;          // "journal", "its end", "receipt", "logs", "commits", "rerun"
  std::optional<bool> fits;  // nullopt: can't be checked
  std::string text;          // a sentence
};

struct Verification {
  Receipt receipt;  // as derived from the journal
  std::vector<VerifyFinding> findings;

  bool fits() const;
  void add(std::string what, std::optional<bool> does_fit, std::string text);
};

struct RunToVerify {
  RunFolder folder;
  std::string project;              // logs are relative to it
  std::optional<std::string> seal;  // the journal's last hash that this machine remembers; nullopt: unknown
  Git git;                          // in the project
};

Verification verify_run(const RunToVerify& run);

}  // namespace ralph
