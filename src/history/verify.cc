#include "history/verify.h"

#include <algorithm>
#include <unistd.h>

#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "git/repository.h"
#include "journal/reader.h"
#include "journal/writer.h"
#include "os/file_hash.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMostNamed = 10;  // differences to list; there may be thousands

// Joins the first few sentences.
std::string named(const std::vector<std::string>& all) {
  std::vector<std::string> first(all.begin(),
                                 all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostNamed)));
  if (all.size() > kMostNamed) first.push_back(fmt::format("and {} more", all.size() - kMostNamed));
  return join(first, "; ");
}

class Verifier {
 public:
  explicit Verifier(const RunToVerify& run) : run_(run) {}

  Verification verify() {
    if (!read_journal()) return std::move(result_);
    check_end();
    check_receipt();
    check_logs();
    check_commits();
    return std::move(result_);
  }

 private:
  bool read_journal() {
    auto reader = JournalReader::open(join_path(run_.folder.path, kJournalFile));
    if (!reader) {
      result_.add("journal", false, reader.error().message);
      return false;
    }
    bool after_end = false;
    for (;;) {
      const auto record = reader->next();
      if (!record) result_.add("journal", false, record.error().message);
      if (!record) return false;
      if (!*record) break;
      result_.receipt.add(**record);
      if (seen_.empty() && run_.seal == reader->last_hash()) seen_ = *run_.seal;
      after_end = result_.receipt.has_end() && !std::holds_alternative<record::RunEnded>((*record)->body);
    }
    hash_ = reader->last_hash();
    const std::vector<std::string> problems = reader->problems();
    if (!problems.empty()) {
      result_.add("journal", false, named(problems));
    } else if (result_.receipt.start() && result_.receipt.start()->run_id != run_.folder.id) {
      result_.add(
          "journal", false,
          fmt::format("it belongs to run {}, not to this one", fit_to_width(result_.receipt.start()->run_id, 60)));
    } else if (!result_.receipt.has_end()) {
      result_.add("journal", false, "it has no end: the run was killed, or is still running");
    } else if (after_end) {
      result_.add("journal", false, "there are records after its end");
    } else {
      result_.add("journal", true, fmt::format("{}, an unbroken chain", count_of(result_.receipt.records(), "record")));
    }
    return true;
  }

  void check_end() {
    if (!run_.seal) {
      result_.add(
          "its end", std::nullopt,
          "this machine does not remember this run, so that its end can't be checked: a shortened journal would "
          "look the same");
    } else if (*run_.seal == hash_) {
      result_.add("its end", true, "the last record is the one that this machine remembers");
    } else if (!seen_.empty()) {
      result_.add("its end", false, "records were added after the last one that this machine remembers");
    } else {
      result_.add("its end", false,
                  "the last record that this machine remembers is not in it: it was changed or shortened");
    }
  }

  void check_receipt() {
    const std::string path = join_path(run_.folder.path, kReceiptFile);
    if (!is_real_file(path)) return result_.add("receipt", false, fmt::format("{} is missing", kReceiptFile));
    const auto text = read_file(path);
    const auto parsed = text ? parse_json(*text, path) : Result<json::value>(json::value());
    if (!text || !parsed || !parsed->is_object())
      return result_.add("receipt", false,
                         parsed ? fmt::format("{} can't be read", kReceiptFile) : parsed.error().message);
    if (find_integer(*parsed, "v") != 1)
      return result_.add("receipt", false, "it is of a version that this ralph does not know");
    const json::object expected = result_.receipt.to_json(hash_);
    // Round-trip the expected receipt too, because 0 becomes 0.0 when written and read.
    const auto as_read = parse_json(to_pretty_json(expected), path);
    std::vector<std::string> wrong;
    for (const auto& member : expected) {
      const json::value* found = find(*parsed, member.key());
      const json::value* wanted = as_read ? find(*as_read, member.key()) : nullptr;
      if (!found || !wanted || to_compact_json(*found) != to_compact_json(*wanted)) wrong.emplace_back(member.key());
    }
    for (const auto& member : parsed->get_object()) {
      if (!expected.contains(member.key())) wrong.push_back(fit_to_width(std::string(member.key()), 40));
    }
    const auto page = read_file(join_path(run_.folder.path, kReceiptPage));
    if (!wrong.empty()) {
      result_.add("receipt", false,
                  fmt::format("{} is not what the journal says: {}", kReceiptFile, join_for_people(wrong)));
    } else if (!page || *page != receipt_page(expected)) {
      result_.add("receipt", false, fmt::format("{} is missing, or not what the journal says", kReceiptPage));
    } else {
      result_.add("receipt", true, "it matches the journal");
    }
  }

  // A resumed run may write the same log again in the same iteration: the last one counts.
  void check_logs() {
    std::map<std::string, std::string> logs;
    for (const record::GuardrailEnded& check : result_.receipt.checks()) {
      if (!check.log_sha256.empty()) logs[check.log_file] = check.log_sha256;
    }
    std::vector<std::string> wrong;
    for (const auto& [file, hash] : logs) {
      const auto found = hash_file(join_path(run_.folder.path, base_name(file)));
      const auto now = found ? std::optional(found->hex()) : std::nullopt;
      if (!now) wrong.push_back(fmt::format("{} is missing or can't be read", fit_to_width(file, 200)));
      if (now && *now != hash) wrong.push_back(fmt::format("{} was changed", fit_to_width(file, 200)));
    }
    if (!wrong.empty()) return result_.add("logs", false, named(wrong));
    result_.add("logs", true,
                logs.empty() ? "no check wrote one" : fmt::format("{} of checks, unchanged", logs.size()));
  }

  void check_commits() {
    const auto& start = result_.receipt.start();
    const auto& end = result_.receipt.end();
    if (!end) return;
    const std::string before = start ? start->commit : "", after = end->commit;
    if (after.empty() && before.empty()) return result_.add("commits", true, "there are none");
    // The journal is not trusted: what it calls a commit becomes an argument of git.
    for (const std::string& commit : {before, after}) {
      const bool is_hash = commit.size() >= 40 && commit.size() <= 64 &&
                           std::all_of(commit.begin(), commit.end(), [](char c) { return hex_digit(c) >= 0; });
      if (!commit.empty() && !is_hash)
        return result_.add("commits", false, "the journal names something that is no commit");
    }
    if (after.empty())
      return result_.add("commits", false,
                         fmt::format("it began at {}, and at the end there was no commit", before.substr(0, 12)));
    const Repository repository(run_.git);
    if (!repository.has_commit(after).value_or(false))
      return result_.add("commits", false,
                         fmt::format("the final commit {} is not in this repository", after.substr(0, 12)));
    const std::string ref = repository.ref_to(after).value_or("");
    const bool in_ref = !ref.empty();
    if (!in_ref && !repository.is_ancestor(after).value_or(false))
      return result_.add(
          "commits", false,
          fmt::format("the final commit {} is not reachable from any branch or tag", after.substr(0, 12)));
    if (!before.empty() && !repository.has_commit(before).value_or(false))
      return result_.add("commits", false,
                         fmt::format("the first commit {} is not in this repository", before.substr(0, 12)));
    result_.add(
        "commits", true,
        fmt::format("{} to {}{}", before.empty() ? "none" : before.substr(0, 12), after.substr(0, 12),
                    in_ref ? fmt::format(", reachable from {}", fit_to_width(ref, 80)) : ", reachable from HEAD"));
  }

  const RunToVerify& run_;
  Verification result_;
  std::string hash_, seen_;
};

}  // namespace

bool Verification::fits() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const VerifyFinding& finding) { return finding.fits.value_or(true); });
}

void Verification::add(std::string what, std::optional<bool> does_fit, std::string text) {
  findings.push_back({std::move(what), does_fit, std::move(text)});
}

Verification verify_run(const RunToVerify& run) {
  return Verifier(run).verify();
}

}  // namespace ralph
