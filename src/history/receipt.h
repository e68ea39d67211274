// The receipt of a run: what was requested, what was checked, who approved what, and how it ended, in one file that a
// third party can verify. A pure function of the journal's records. Specified in docs/formats/receipt.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/progress.h"
#include "journal/records.h"
#include "json/value.h"

namespace ralph {

class Receipt {
 public:
  // Adds the next record of the journal.
  void add(const record::Record& record);

  // `last_hash`: of the last record's line. Complete once the run_ended record was added.
  json::object to_json(const std::string& last_hash) const;

  bool has_end() const { return ended_.has_value(); }
  const std::optional<record::RunEnded>& end() const { return ended_; }
  const std::optional<record::RunStarted>& start() const { return started_; }
  const json::value& settings() const { return settings_; }                      // of the last process
  const std::vector<record::GuardrailEnded>& checks() const { return checks_; }  // all, in order
  const Progress& progress() const { return progress_; }
  std::int64_t records() const { return records_; }

 private:
  void note(const record::Body& body);

  std::optional<record::RunStarted> started_;
  std::optional<record::RunEnded> ended_;
  json::value settings_;
  std::vector<std::string> versions_, agents_;
  std::vector<record::GuardrailEnded> checks_;
  std::vector<record::AgentEnded> turns_;
  std::map<std::int64_t, record::PlanWork> work_;  // by iteration
  std::vector<record::PlanChecked> verdicts_;
  std::vector<record::FilesChanged> changed_;
  std::vector<record::ScmEnded> scm_;
  Progress progress_;
  WallTime first_{}, last_{};
  std::int64_t records_ = 0;
};

// The same for people, in Markdown. Derived from the JSON alone.
std::string receipt_page(const json::object& receipt);

inline constexpr std::string_view kReceiptFile = "receipt.json", kReceiptPage = "receipt.md";

// Writes both files. Fails if the receipt has no end.
Status write_receipt(const Receipt& receipt, const std::string& last_hash, const std::string& run_folder);

// The same for the run's journal, which is read for it.
Status write_receipt(const std::string& run_folder);

}  // namespace ralph
