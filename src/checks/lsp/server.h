// A running language server: its process, its pipes, and the conversation with it. Nothing here blocks; the hub waits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/words.h"
#include "checks/lsp/conversation.h"
#include "checks/lsp/disk.h"
#include "os/launch.h"
#include "os/processes.h"

namespace ralph::lsp {

inline constexpr size_t kMostText = 8 << 20;        // of a file sent to a server
inline constexpr Milliseconds kStartLimit{30'000};  // for the answer to initialize; all servers need much less

enum class ServerState { kStarting, kReady, kFailed };
}  // namespace ralph::lsp

namespace ralph {
template <>
inline constexpr auto kWords<lsp::ServerState> = words({"starting", "ready", "failed"});
}  // namespace ralph

namespace ralph::lsp {

// What to start.
struct ServerChoice {
  const ServerRow* row = nullptr;
  std::vector<std::string> argv;
};

class Server {
 public:
  Server(ServerChoice choice, const std::string& root, const Environment& environment);

  const ServerRow& row() const { return *choice_.row; }
  ServerState state() const;
  const std::string& reason() const { return reason_; }                  // why it failed
  const std::string& earlier_reason() const { return earlier_reason_; }  // of the previous failure
  int starts() const { return starts_; }
  int answers() const { return answers_; }  // how many checks it has answered
  void count_answer() { ++answers_; }
  int pid() const { return pid_; }
  bool is_running() const { return pid_ > 0; }
  Conversation& talk() { return *talk_; }

  // Starts or restarts it. If that fails, the server's state is kFailed.
  void start(MonotonicTime now);

  // Its descriptors for poll(); -1 if not applicable now.
  int stdout_fd() const { return out_.get(); }
  int stderr_fd() const { return err_.get(); }
  int pending_stdin_fd() const { return talk_ && (!unsent_.empty()) ? in_.get() : -1; }
  void read(MonotonicTime now);
  void read_stderr();
  void write();

  // Sends what the conversation has queued. Call this after every use of talk().
  void say();

  // Its process was reaped.
  void ended(const ExitStatus& status);

  // When to call enforce_deadline(): it must answer `initialize` in time, and exit once it has closed its output.
  // nullopt if there is nothing to wait for.
  std::optional<MonotonicTime> deadline() const;
  void enforce_deadline(MonotonicTime now);

  // Kills it and all its descendants.
  void kill(std::string reason);

  // Call before a question: tells it what has changed on disk.
  void look_at_disk();

 private:
  void fail_with(std::string reason);
  std::string last_words() const;
  std::string printed() const;

  const ServerChoice choice_;
  const std::string root_;
  const Environment environment_;
  Disk disk_;
  std::unique_ptr<Conversation> talk_;
  std::string reason_, earlier_reason_, unsent_, stderr_;
  int pid_ = 0, starts_ = 0, answers_ = 0;
  Fd in_, out_, err_;
  MonotonicTime started_{};
  std::optional<MonotonicTime> output_closed_at_{};  // when it closed its output
};

}  // namespace ralph::lsp
