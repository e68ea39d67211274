// The protocol between ralph and one language server, without any I/O: received bytes go in, bytes to send come out. It
// manages the open documents and knows when the server has given its final answer about a version of one.
//
//   Conversation talk(row, "/project", pid);
//   loop: send(talk.take_output()); talk.receive(bytes read);
//   if (talk.is_ready()) question = talk.ask("/project/a.cc", text);
//   if (auto answer = talk.take_answer(question)) ...
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checks/diagnostics/finding.h"
#include "checks/lsp/framing.h"
#include "checks/lsp/servers.h"

namespace ralph::lsp {

inline constexpr size_t kMostFindings = 10'000;  // per file
inline constexpr size_t kKeptOpen = 16;          // documents that stay open, so the server stays warm

struct Answer {
  std::vector<diagnostics::Finding> findings{};  // files are absolute
  std::string failure{};                         // not empty: why the server could not answer
};

// A file change on disk, as reported to servers.
enum class DiskChange { kCreated = 1, kChanged = 2, kDeleted = 3 };
struct ChangedOnDisk {
  std::string path;  // absolute
  DiskChange change;
};

using QuestionId = int;

class Conversation {
 public:
  // `root`: the project, absolute. Starts with initialize.
  Conversation(const ServerRow& row, std::string root, int own_pid);

  void receive(std::string_view bytes);
  std::string take_output() { return std::exchange(output_, {}); }

  // Why the conversation can't continue: the server sent an invalid message, or refused to initialize. Empty if it can.
  const std::string& broken() const { return broken_; }
  bool has_begun() const { return initialized_; }
  // Received bytes that are not a complete message yet.
  std::string_view unread() const { return frames_.rest(); }
  // It can be asked: it is initialized, and has loaded the project if it reports that.
  bool is_ready() const { return broken_.empty() && initialized_ && (!tells_quiescence_ || quiescent_); }

  // Call before questions: reports what changed on disk since the last time. The client owns the text of an open
  // document, so its new text must follow through update().
  void tell(const std::vector<ChangedOnDisk>& changes);
  bool is_open(const std::string& path) const { return documents_.contains(path); }
  void update(const std::string& path, const std::string& text);

  // Asks what the server finds in this text of a file (absolute path).
  QuestionId ask(const std::string& path, const std::string& text);
  std::optional<Answer> take_answer(QuestionId question);
  void forget(QuestionId question) { questions_.erase(question); }

  // Asks the server to shut down. It is told to exit once it has answered.
  void end();

 private:
  struct Document {
    std::string sent;  // the text that the server has
    int version = 0;
    long used = 0;
    long sent_state = 0;                       // state of the disk when it was sent
    int published = 0;                         // the last version that diagnostics were published for
    std::vector<diagnostics::Finding> said{};  // published last
  };
  struct Question {
    std::string path;
    int version = 0;
    std::set<long long> open_requests{};  // requests it waits for
    bool pulled = false;
    bool save_pending = false, checking = false;  // kFlycheck: not started yet; in progress
    std::vector<diagnostics::Finding> pulled_findings{};
    std::optional<Answer> answer{};
  };

  void take(const json::value& message);
  void take_request(const json::value& message, std::string_view method);
  void take_notification(std::string_view method, const json::value& params);
  void take_response(const json::value& message);
  void take_published(const json::value& params);
  void take_progress(const json::value& params);
  void take_pulled(Question& question, const json::value& message);
  json::value configuration(const json::value& params) const;

  long long request(std::string_view method, json::value params);
  void notify(std::string_view method, json::value params);
  void initialize(int own_pid);
  void synchronize(Document& document, const std::string& path, const std::string& text);
  void pull(Question& question);
  void ask_tsserver(Question& question, std::string_view command);
  void complete(Question& question, std::vector<diagnostics::Finding> findings) const;
  void close_old_documents();
  Question* waiting_for(long long request);

  const ServerRow& row_;
  const std::string root_;
  FrameReader frames_;
  std::string output_, broken_;
  bool initialized_ = false;
  bool tells_quiescence_, quiescent_ = false;
  int pull_offers_ = 0;  // from initialize and from registrations
  bool ending_ = false;
  long long last_request_ = 0, initialize_request_ = 0, shutdown_request_ = 0;
  long uses_ = 0, disk_state_ = 0;
  QuestionId last_question_ = 0;
  std::map<std::string, Document> documents_;
  std::map<QuestionId, Question> questions_;
};

// "file:///a%20b.cc" and back; empty if it is not a file URI.
std::string uri_of(std::string_view path);
std::string path_of_uri(std::string_view uri);

// The findings in an array of LSP diagnostics about a file.
std::vector<diagnostics::Finding> findings_in(const json::value* items, const std::string& path);
// The same for the body of tsserver's own responses.
std::vector<diagnostics::Finding> tsserver_findings_in(const json::value* body, const std::string& path);

}  // namespace ralph::lsp
