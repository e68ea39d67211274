#include "history/receipt.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "journal/reader.h"
#include "journal/writer.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr int kReceiptVersion = 1;

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (!word.empty() && !is_one_of(word, list)) list.push_back(word);
}

json::object to_json(const record::GuardrailEnded& check) {
  json::object object;
  object["iteration"] = check.iteration;
  object["name"] = to_json_string(check.name);
  object["command"] = to_json_string(check.command);
  object["outcome"] = to_string(check.outcome);
  object["exitCode"] = check.exit_code;
  object["tries"] = check.tries;
  if (check.tests_passed) object["testsPassed"] = *check.tests_passed;
  if (check.tests_failed) object["testsFailed"] = *check.tests_failed;
  if (check.tests_skipped) object["testsSkipped"] = *check.tests_skipped;
  object["testsLost"] = to_json_string(check.tests_lost);
  object["baseline"] = check.baseline;
  object["logFile"] = to_json_string(check.log_file);
  object["logSha256"] = check.log_sha256;
  return object;
}

json::object to_json(const record::AgentEnded& turn) {
  json::object object;
  object["iteration"] = turn.iteration;
  object["agent"] = to_json_string(turn.agent);
  object["outcome"] = to_string(turn.outcome);
  if (turn.response) object["response"] = to_json_string(*turn.response);
  return object;
}

json::object to_json(const record::ScmEnded& task) {
  json::object object;
  object["iteration"] = task.iteration;
  object["task"] = to_json_string(task.task);
  object["outcome"] = to_string(task.outcome);
  object["note"] = to_json_string(task.note);
  return object;
}

template <class Records>
json::array list_of(const Records& records) {
  json::array list;
  for (const auto& record : records) list.push_back(to_json(record));
  return list;
}

// Puts text from an agent on one line and escapes Markdown, so that it can't add tables or headings.
std::string plain(std::string_view text, size_t most = 300) {
  std::string line = replace_all(replace_all(text, "\r", " "), "\n", " ");
  if (line.size() > most) line = line.substr(0, most) + "…";
  for (const std::string_view special : {"|", "`", "<", ">", "[", "]", "*", "_", "#"})
    line = replace_all(line, special, fmt::format("\\{}", special));
  return line;
}

std::string text_at(const json::value& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (!value || value->is_null()) return "";
  if (const json::array* list = value->if_array()) {
    std::vector<std::string> items;
    for (const json::value& item : *list) items.emplace_back(item.is_string() ? item.as_string().c_str() : "");
    return join(items, ", ");
  }
  if (value->is_double()) return human_cost(value->as_double());  // only costs are doubles; other numbers are counts
  return value->is_string() ? std::string(value->as_string()) : to_compact_json(*value);
}

std::string cell(const json::value& object, std::string_view key) {
  return plain(text_at(object, key));
}

struct Column {
  std::string_view title, key;
};

std::string table(const json::object& receipt, std::string_view key, std::string_view title,
                  std::initializer_list<Column> columns) {
  const json::array& rows = items_of(receipt.if_contains(key));
  if (rows.empty()) return "";
  std::string text = fmt::format("\n## {}\n\n|", title), line = "|";
  for (const Column& column : columns) text += fmt::format(" {} |", column.title), line += "---|";
  text += "\n" + line + "\n";
  for (const json::value& row : rows) {
    text += "|";
    for (const Column& column : columns) text += fmt::format(" {} |", cell(row, column.key));
    text += "\n";
  }
  return text;
}

}  // namespace

void Receipt::add(const record::Record& record) {
  if (records_++ == 0) first_ = record.time;
  last_ = record.time;
  progress_ = fold(std::move(progress_), record);
  note(record.body);
}

void Receipt::note(const record::Body& body) {
  if (const auto* started = std::get_if<record::RunStarted>(&body)) {
    started_ = *started;
    settings_ = started->settings;
    add_once(versions_, started->ralph_version);
  } else if (const auto* resumed = std::get_if<record::RunResumed>(&body)) {
    ended_.reset();
    settings_ = resumed->settings;
    add_once(versions_, resumed->ralph_version);
  } else if (const auto* turn = std::get_if<record::AgentEnded>(&body)) {
    add_once(agents_, turn->agent);
    if (turn->purpose == Purpose::kWork) turns_.push_back(*turn);
  } else if (const auto* check = std::get_if<record::GuardrailEnded>(&body)) {
    checks_.push_back(*check);
    checks_.back().feedback.clear();
  } else if (const auto* task = std::get_if<record::ScmEnded>(&body)) {
    scm_.push_back(*task);
  } else if (const auto* work = std::get_if<record::PlanWork>(&body)) {
    work_[work->iteration] = *work;
  } else if (const auto* verdict = std::get_if<record::PlanChecked>(&body)) {
    verdicts_.push_back(*verdict);
  } else if (const auto* changed = std::get_if<record::FilesChanged>(&body)) {
    changed_.push_back(*changed);
  } else if (const auto* tampered = std::get_if<record::TriggersChanged>(&body)) {
    changed_.push_back(*tampered);
  } else if (const auto* ended = std::get_if<record::RunEnded>(&body)) {
    ended_ = *ended;
  }
}

json::object Receipt::to_json(const std::string& last_hash) const {
  const record::RunStarted start = started_.value_or(record::RunStarted{});
  const record::RunEnded end = ended_.value_or(record::RunEnded{});
  json::object receipt;
  receipt["v"] = kReceiptVersion;
  receipt["runId"] = to_json_string(start.run_id);
  receipt["way"] = to_string(start.way);
  receipt["status"] = to_string(end.status);
  receipt["reason"] = to_json_string(end.reason);
  receipt["exitCode"] = end.exit_code;
  receipt["began"] = to_iso8601(first_);
  receipt["ended"] = to_iso8601(last_);
  receipt["durationMs"] = end.duration_ms;
  receipt["iterations"] = end.iterations;
  receipt["asked"] = json::object{{"source", to_json_string(start.prompt_source)},
                                  {"prompt", to_json_string(start.prompt)},
                                  {"sha256", sha256_hex(start.prompt)}};
  json::object agent_versions;
  for (const std::string& agent : agents_) {
    if (const auto known = end.versions.find(agent); known != end.versions.end())
      agent_versions[to_json_string(agent)] = to_json_string(known->second);
  }
  receipt["versions"] = json::object{{"ralph", to_json_array(versions_)},
                                     {"agents", to_json_array(agents_)},
                                     {"agentVersions", std::move(agent_versions)}};
  receipt["settingsSha256"] = sha256_hex(to_compact_json(settings_));
  receipt["commits"] = json::object{{"before", to_json_string(start.commit)}, {"after", to_json_string(end.commit)}};
  receipt["checks"] = list_of(checks_);
  json::array answers;
  for (const record::AgentEnded& turn : turns_) answers.push_back(ralph::to_json(turn));
  receipt["answers"] = std::move(answers);
  json::array verdicts, violations, changed;
  for (const record::PlanChecked& one : verdicts_) {
    for (const std::string& what : one.violations)
      violations.push_back(json::object{{"iteration", one.iteration}, {"what", to_json_string(what)}});
    if (one.outcome == StoryStep::kNone) continue;
    const auto turn = std::find_if(turns_.rbegin(), turns_.rend(),
                                   [&](const record::AgentEnded& ended) { return ended.iteration == one.iteration; });
    json::object verdict;
    verdict["iteration"] = one.iteration;
    verdict["mode"] = one.mode ? to_string(*one.mode) : "";
    verdict["story"] = to_json_string(one.story);
    const auto work = work_.find(one.iteration);
    verdict["title"] = work == work_.end() ? json::string() : to_json_string(work->second.title);
    verdict["outcome"] = to_string(one.outcome);
    verdict["agent"] = turn == turns_.rend() ? json::string() : to_json_string(turn->agent);
    verdict["words"] = turn == turns_.rend() ? json::string() : to_json_string(turn->final_words);
    if (work != work_.end() && one.mode == Mode::kReview) {
      verdict["room"] = to_json_string(work->second.room);
      verdict["inPlace"] = to_json_string(work->second.in_place);
    }
    verdicts.push_back(std::move(verdict));
  }
  for (const record::FilesChanged& change : changed_) {
    for (const record::ChangedFile& file : change.files)
      changed.push_back(json::object{{"iteration", change.iteration},
                                     {"path", to_json_string(file.path)},
                                     {"what", to_json_string(file.what)},
                                     {"action", to_string(file.action)},
                                     {"kept", to_json_string(file.kept)}});
  }
  receipt["verdicts"] = std::move(verdicts);
  receipt["changed"] = std::move(changed);
  receipt["violations"] = std::move(violations);
  receipt["scm"] = list_of(scm_);
  receipt["cost"] = json::object{{"usd", progress_.cost_usd},
                                 {"inputTokens", progress_.tokens.input},
                                 {"outputTokens", progress_.tokens.output},
                                 {"cacheReadTokens", progress_.tokens.cache_read},
                                 {"cacheWriteTokens", progress_.tokens.cache_write}};
  receipt["journal"] = json::object{{"records", records_}, {"sha256", last_hash}};
  return receipt;
}

std::string receipt_page(const json::object& receipt) {
  const json::value all = receipt;
  const json::value none = json::object();
  const auto part = [&](std::string_view key) -> const json::value& {
    const json::value* found = find(all, key);
    return found ? *found : none;
  };
  std::string text = fmt::format("# Receipt of run {}\n\n", cell(all, "runId"));
  text += fmt::format("**{}** after {}: {}\n\n", cell(all, "status"),
                      count_of(find_integer(all, "iterations").value_or(0), "iteration"),
                      plain(text_at(all, "reason"), 2000));
  text += fmt::format("- from {} to {}\n", cell(all, "began"), cell(all, "ended"));
  text += fmt::format("- commits: {} to {}\n", cell(part("commits"), "before").substr(0, 12),
                      cell(part("commits"), "after").substr(0, 12));
  std::vector<std::string> agents;
  const json::value* known = find(part("versions"), "agentVersions");
  for (const std::string& name : strings_of(find(part("versions"), "agents"))) {
    const auto version = known ? find_string(*known, name) : std::nullopt;
    agents.push_back(fmt::format("{} {}", name, version.value_or("(version unknown)")));
  }
  text += fmt::format("- ralph {}; agents {}\n", cell(part("versions"), "ralph"), plain(join(agents, ", ")));
  text += fmt::format("- cost: {}, {} tokens in, {} out\n", cell(part("cost"), "usd"),
                      cell(part("cost"), "inputTokens"), cell(part("cost"), "outputTokens"));
  text += fmt::format("- settings: SHA-256 {}\n- journal: {} records, the last one SHA-256 {}\n",
                      cell(all, "settingsSha256"), cell(part("journal"), "records"), cell(part("journal"), "sha256"));
  text += fmt::format("\n## Asked ({})\n\n{}\n", cell(part("asked"), "source"),
                      plain(text_at(part("asked"), "prompt"), 4000));
  text += table(receipt, "checks", "Checks",
                {{"iteration", "iteration"},
                 {"check", "name"},
                 {"outcome", "outcome"},
                 {"exit code", "exitCode"},
                 {"passed", "testsPassed"},
                 {"failed", "testsFailed"},
                 {"skipped", "testsSkipped"},
                 {"tries", "tries"},
                 {"SHA-256 of its log", "logSha256"}});
  text += table(receipt, "verdicts", "Verdicts",
                {{"iteration", "iteration"},
                 {"story", "story"},
                 {"title", "title"},
                 {"outcome", "outcome"},
                 {"mode", "mode"},
                 {"agent", "agent"},
                 {"words", "words"}});
  text += table(receipt, "answers", "Answers",
                {{"iteration", "iteration"}, {"agent", "agent"}, {"turn", "outcome"}, {"response", "response"}});
  text += table(receipt, "changed", "Watched files that were changed",
                {{"iteration", "iteration"}, {"path", "path"}, {"what", "what"}, {"then", "action"}, {"kept", "kept"}});
  text += table(receipt, "violations", "Taken back", {{"iteration", "iteration"}, {"what", "what"}});
  text += table(receipt, "scm", "Source control",
                {{"iteration", "iteration"}, {"task", "task"}, {"outcome", "outcome"}, {"note", "note"}});
  return text + "\nTo check it: `ralph runs verify`\n";
}

Status write_receipt(const std::string& run_folder) {
  TRY_VALUE(JournalReader reader, JournalReader::open(join_path(run_folder, kJournalFile)));
  Receipt receipt;
  for (;;) {
    TRY_VALUE(const auto record, reader.next());
    if (!record) break;
    receipt.add(*record);
  }
  return write_receipt(receipt, reader.last_hash(), run_folder);
}

Status write_receipt(const Receipt& receipt, const std::string& last_hash, const std::string& run_folder) {
  if (!receipt.has_end()) return fail(ErrorKind::kInput, "the journal in {} has no end", run_folder);
  const json::object object = receipt.to_json(last_hash);
  TRY(replace_file(join_path(run_folder, kReceiptFile), to_pretty_json(object), 0600));
  return replace_file(join_path(run_folder, kReceiptPage), receipt_page(object), 0600);
}

}  // namespace ralph
