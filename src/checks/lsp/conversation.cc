#include "checks/lsp/conversation.h"

#include <algorithm>

#include "base/text.h"
#include "os/files.h"

namespace ralph::lsp {
namespace {

using diagnostics::Finding;

constexpr int kMethodNotFound = -32601, kRequestCancelled = -32800, kContentModified = -32801,
              kServerCancelled = -32802;
constexpr std::string_view kFlycheckToken = "flycheck";

// The client capabilities. ralph displays nothing, so the list is short.
constexpr std::string_view kCapabilities = R"({
  "window": {"workDoneProgress": true},
  "workspace": {"configuration": true, "workspaceFolders": true,
                "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
                "diagnostics": {"refreshSupport": true}},
  "textDocument": {"synchronization": {"didSave": true},
                   "publishDiagnostics": {"versionSupport": true},
                   "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": false}},
  "experimental": {"serverStatusNotification": true}
})";

json::value parsed(std::string_view text) {
  return text.empty() ? json::value() : parse_json(text, "a row of the table of servers").value_or(json::value());
}

json::object document_at(const std::string& path) {
  return {{"uri", to_json_string(uri_of(path))}};
}

// A member of a message, or null. It refers into the message, so a temporary is not accepted.
const json::value& at(const json::value& message, std::string_view key) {
  static const json::value null;
  const json::value* found = find(message, key);
  return found ? *found : null;
}
const json::value& at(json::value&& message, std::string_view key) = delete;

// How many of these registrations are for pulled diagnostics.
int diagnostics_among(const json::value& params, std::string_view key) {
  const json::array& all = array_at(params, key);
  return static_cast<int>(std::count_if(all.begin(), all.end(), [](const json::value& one) {
    return find_string(one, "method") == "textDocument/diagnostic";
  }));
}

}  // namespace

Conversation::Conversation(const ServerRow& row, std::string root, int own_pid)
    : row_(row), root_(std::move(root)), tells_quiescence_(row.final_answer == FinalAnswer::kFlycheck) {
  initialize(own_pid);
}

void Conversation::initialize(int own_pid) {
  const json::string uri = to_json_string(uri_of(root_));
  json::object params{
      {"processId", own_pid},
      {"clientInfo", json::object{{"name", "ralph"}}},
      {"rootUri", uri},
      {"rootPath", to_json_string(root_)},
      {"workspaceFolders", json::array{json::object{{"uri", uri}, {"name", to_json_string(base_name(root_))}}}},
      {"capabilities", parsed(kCapabilities)}};
  if (!row_.options.empty()) params["initializationOptions"] = parsed(row_.options);
  initialize_request_ = request("initialize", std::move(params));
}

long long Conversation::request(std::string_view method, json::value params) {
  json::object message{{"jsonrpc", "2.0"}, {"id", ++last_request_}, {"method", method}};
  if (!params.is_null()) message["params"] = std::move(params);
  output_ += framed(message);
  return last_request_;
}

void Conversation::notify(std::string_view method, json::value params) {
  json::object message{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.is_null()) message["params"] = std::move(params);
  output_ += framed(message);
}

void Conversation::receive(std::string_view bytes) {
  if (!broken_.empty()) return;
  frames_.add(bytes);
  for (;;) {
    const auto message = frames_.next();
    if (!message) {
      broken_ = fmt::format("{} sent {}", row_.name, message.error().message);
      return;
    }
    if (!*message) return;
    take(**message);
    if (!broken_.empty()) return;
  }
}

void Conversation::take(const json::value& message) {
  const auto method = find_string(message, "method");
  if (method && find(message, "id")) {
    take_request(message, *method);
  } else if (method) {
    take_notification(*method, at(message, "params"));
  } else {
    take_response(message);
  }
}

json::value Conversation::configuration(const json::value& params) const {
  const json::value settings = parsed(row_.settings);
  json::array values;
  for (const json::value& item : array_at(params, "items"))
    values.push_back(at(settings, find_string(item, "section").value_or("")));
  return values;
}

void Conversation::take_request(const json::value& message, std::string_view method) {
  json::object reply{{"jsonrpc", "2.0"}, {"id", at(message, "id")}};
  const json::value& params = at(message, "params");
  bool pull_all = false;
  if (method == "workspace/configuration") {
    reply["result"] = configuration(params);
  } else if (method == "client/registerCapability" || method == "client/unregisterCapability") {
    const int before = pull_offers_;
    pull_offers_ += diagnostics_among(params, "registrations") - diagnostics_among(params, "unregisterations");
    pull_all = before <= 0 && pull_offers_ > 0;
    reply["result"] = nullptr;
  } else if (method == "workspace/workspaceFolders") {
    reply["result"] =
        json::array{json::object{{"uri", to_json_string(uri_of(root_))}, {"name", to_json_string(base_name(root_))}}};
  } else if (method == "workspace/applyEdit") {
    reply["result"] = json::object{{"applied", false}};  // ralph does not edit files for servers
  } else if (method == "window/workDoneProgress/create" || method == "window/showMessageRequest" ||
             method.starts_with("workspace/") || method == "window/showDocument") {
    reply["result"] = nullptr;
  } else {
    reply["error"] = json::object{{"code", kMethodNotFound}, {"message", "ralph does not know this method"}};
  }
  output_ += framed(reply);
  if (!pull_all || row_.final_answer != FinalAnswer::kAnswer) return;
  for (auto& [id, question] : questions_) {
    if (!question.answer && !question.pulled) pull(question);
  }
}

void Conversation::take_notification(std::string_view method, const json::value& params) {
  if (method == "textDocument/publishDiagnostics") return take_published(params);
  if (method == "$/progress") return take_progress(params);
  if (method != "experimental/serverStatus") return;
  quiescent_ = find_bool(params, "quiescent").value_or(false);
}

void Conversation::take_published(const json::value& params) {
  const std::string path = path_of_uri(find_string(params, "uri").value_or(""));
  const auto found = documents_.find(path);
  if (found == documents_.end()) return;  // nobody asked about this file
  Document& document = found->second;
  const auto version = find_integer(params, "version");
  if (version && *version < document.version) return;  // it is still working on the current version
  document.said = findings_in(find(params, "diagnostics"), path);
  if (!version || row_.final_answer != FinalAnswer::kAnswer) return;
  document.published = document.version;
  for (auto& [id, question] : questions_) {
    if (question.path == path && !question.answer && !question.pulled && question.version <= document.published)
      complete(question, document.said);
  }
}

void Conversation::take_progress(const json::value& params) {
  if (row_.final_answer != FinalAnswer::kFlycheck) return;
  if (!contains(find_string(params, "token").value_or(""), kFlycheckToken)) return;
  const json::value& value = at(params, "value");
  const auto kind = find_string(value, "kind").value_or("");
  for (auto& [id, question] : questions_) {
    if (question.answer) continue;
    if (kind == "begin" && question.save_pending) {
      question.save_pending = false;
      question.checking = true;
    } else if (kind == "end" && question.checking) {
      question.checking = false;
      pull(question);  // its answer follows what the check has published
    }
  }
}

Conversation::Question* Conversation::waiting_for(long long request) {
  for (auto& [id, question] : questions_) {
    if (question.open_requests.contains(request)) return &question;
  }
  return nullptr;
}

void Conversation::take_response(const json::value& message) {
  const auto id = find_integer(message, "id");
  if (!id) return;
  if (*id == shutdown_request_) return notify("exit", nullptr);
  if (*id == initialize_request_ && !initialized_) {
    if (const json::value* error = find(message, "error")) {
      broken_ = fmt::format("{} refused to begin: {}", row_.name, find_string(*error, "message").value_or("no reason"));
      return;
    }
    const json::value& capabilities = at(at(message, "result"), "capabilities");
    if (const json::value* provider = find(capabilities, "diagnosticProvider"); provider && provider->is_object())
      ++pull_offers_;
    if (row_.final_answer == FinalAnswer::kPulled && pull_offers_ == 0) {
      broken_ =
          fmt::format("{} is too old: it does not offer textDocument/diagnostic; {}", row_.name, row_.how_to_install);
      return;
    }
    initialized_ = true;
    return notify("initialized", json::object());
  }
  Question* question = waiting_for(*id);
  if (!question || question->answer) return;
  question->open_requests.erase(*id);
  if (row_.final_answer != FinalAnswer::kTsserver) return take_pulled(*question, message);
  const json::value& result = at(message, "result");
  const json::value* body = find(result, "body");
  if (find_bool(result, "success") != true || !body || !body->is_array()) {
    const auto why = find_string(at(message, "error"), "message");
    question->answer = Answer{{},
                              fmt::format("{} could not tell: {}", row_.name,
                                          why.value_or(find_string(result, "message").value_or("no reason")))};
    return;
  }
  for (Finding& finding : tsserver_findings_in(body, question->path))
    question->pulled_findings.push_back(std::move(finding));
  if (question->open_requests.empty()) complete(*question, std::move(question->pulled_findings));
}

void Conversation::take_pulled(Question& question, const json::value& message) {
  const Document& document = documents_[question.path];
  if (const json::value* error = find(message, "error")) {
    const auto code = find_integer(*error, "code").value_or(0);
    if (code == kServerCancelled || code == kContentModified || code == kRequestCancelled) return pull(question);
    if (code == kMethodNotFound && row_.final_answer == FinalAnswer::kFlycheck)
      return complete(question, document.said);
    question.answer = Answer{
        {}, fmt::format("{} could not tell: {}", row_.name, find_string(*error, "message").value_or("no reason"))};
    return;
  }
  const json::value& result = at(message, "result");
  const json::value* items = find(result, "items");
  if (!items || !items->is_array()) {
    question.answer = Answer{{}, fmt::format("{} answered without diagnostics", row_.name)};
    return;
  }
  std::vector<Finding> findings = findings_in(items, question.path);
  if (row_.final_answer == FinalAnswer::kFlycheck)
    findings.insert(findings.end(), document.said.begin(), document.said.end());
  complete(question, std::move(findings));
}

void Conversation::complete(Question& question, std::vector<Finding> findings) const {
  question.answer = Answer{std::move(findings), {}};
}

void Conversation::tell(const std::vector<ChangedOnDisk>& changes) {
  if (changes.empty()) return;
  ++disk_state_;
  json::array list;
  for (const ChangedOnDisk& one : changes) {
    list.push_back(json::object{{"uri", to_json_string(uri_of(one.path))}, {"type", static_cast<int>(one.change)}});
    if (one.change == DiskChange::kDeleted && documents_.erase(one.path) > 0)
      notify("textDocument/didClose", json::object{{"textDocument", document_at(one.path)}});
  }
  notify("workspace/didChangeWatchedFiles", json::object{{"changes", std::move(list)}});
}

void Conversation::update(const std::string& path, const std::string& text) {
  const auto found = documents_.find(path);
  if (found != documents_.end() && found->second.sent != text) synchronize(found->second, path, text);
}

void Conversation::synchronize(Document& document, const std::string& path, const std::string& text) {
  json::object named = document_at(path);
  if (document.version == 0) {
    document.version = 1;
    document.sent_state = disk_state_;
    document.sent = text;
    named["languageId"] = to_json_string(language_of(row_, path));
    named["version"] = document.version;
    named["text"] = to_json_string(text);
    return notify("textDocument/didOpen", json::object{{"textDocument", std::move(named)}});
  }
  if (document.sent == text) {
    if (row_.final_answer != FinalAnswer::kAnswer || pull_offers_ > 0) return;  // it can simply be asked again
    // A server publishes nothing for a text it already has, although a header may have changed, so send a different
    // text.
    document.sent += '\n';
  } else {
    document.sent = text;
  }
  document.sent_state = disk_state_;
  named["version"] = ++document.version;
  json::object change{{"text", to_json_string(document.sent)}};
  notify("textDocument/didChange", json::object{{"textDocument", std::move(named)},
                                                {"contentChanges", json::array{std::move(change)}},
                                                {"wantDiagnostics", true}});  // clangd: publish now, for this version
}

QuestionId Conversation::ask(const std::string& path, const std::string& text) {
  Question& question = questions_[++last_question_];
  question.path = path;
  Document& document = documents_[path];
  document.used = ++uses_;
  // It has this text and nothing has changed since: its final answer is known or on its way.
  const bool pushes = row_.final_answer == FinalAnswer::kAnswer && pull_offers_ <= 0;
  const bool current = document.version > 0 && document.sent == text && document.sent_state == disk_state_;
  if (pushes && current) {
    question.version = document.version;
    if (document.published == document.version) complete(question, document.said);
    return last_question_;
  }
  synchronize(document, path, text);
  question.version = document.version;
  switch (row_.final_answer) {
    case FinalAnswer::kAnswer:
      if (pull_offers_ > 0) pull(question);
      break;
    case FinalAnswer::kPulled:
      pull(question);
      break;
    case FinalAnswer::kTsserver:
      ask_tsserver(question, "syntacticDiagnosticsSync");
      ask_tsserver(question, "semanticDiagnosticsSync");
      break;
    case FinalAnswer::kFlycheck:
      question.save_pending = true;
      notify("textDocument/didSave", json::object{{"textDocument", document_at(path)}});
      break;
  }
  close_old_documents();
  return last_question_;
}

void Conversation::pull(Question& question) {
  question.pulled = true;
  question.open_requests.insert(
      request("textDocument/diagnostic", json::object{{"textDocument", document_at(question.path)}}));
}

void Conversation::ask_tsserver(Question& question, std::string_view command) {
  json::array arguments{json::value(command), json::object{{"file", to_json_string(question.path)}}};
  question.open_requests.insert(
      request("workspace/executeCommand",
              json::object{{"command", "typescript.tsserverRequest"}, {"arguments", std::move(arguments)}}));
}

void Conversation::close_old_documents() {
  while (documents_.size() > kKeptOpen) {
    auto oldest = documents_.end();
    for (auto one = documents_.begin(); one != documents_.end(); ++one) {
      const bool asked = std::any_of(questions_.begin(), questions_.end(), [&](const auto& question) {
        return !question.second.answer && question.second.path == one->first;
      });
      if (!asked && (oldest == documents_.end() || one->second.used < oldest->second.used)) oldest = one;
    }
    if (oldest == documents_.end()) return;
    notify("textDocument/didClose", json::object{{"textDocument", document_at(oldest->first)}});
    documents_.erase(oldest);
  }
}

std::optional<Answer> Conversation::take_answer(QuestionId question) {
  const auto found = questions_.find(question);
  if (found == questions_.end() || !found->second.answer) return std::nullopt;
  Answer answer = std::move(*found->second.answer);
  questions_.erase(found);
  return answer;
}

void Conversation::end() {
  if (ending_ || !broken_.empty()) return;
  ending_ = true;
  shutdown_request_ = request("shutdown", nullptr);
}

}  // namespace ralph::lsp
