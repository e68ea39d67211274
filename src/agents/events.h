// The common vocabulary for what agents do. Every agent's stream is translated into these events; the engine, the
// console and `ralph stream` know no others. Specified in docs/formats/events.md.
//
// Texts are views into the current line. Copy what you need beyond the callback.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"

namespace ralph {

// Why a turn failed, according to structured events, never to the agent's prose.
enum class FailureKind {
  kNone,
  kUsageLimit,        // the limit of a plan or account; often with a reset time
  kOverloaded,        // 429 without a plan limit, 529, 5xx, connection lost: may work later
  kAuthentication,    // no valid key or login
  kBilling,           // no credit
  kContextExhausted,  // the conversation does not fit the context window
  kPermissionDenied,  // the agent may not use the tools it needs, or refuses the folder
  kMaxTurns,          // the agent's own limit of turns
  kMaxBudget,         // the agent's own limit of cost
  kModelNotFound,
  kRefused,  // the agent's program answered the prompt itself, without a model turn
  kAborted,  // ended by a signal
  kOther,
};
std::string_view to_string(FailureKind kind);  // "usage_limit", ...

struct Tokens {
  std::int64_t input = 0;  // without tokens from the cache
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;

  std::int64_t total() const { return input + output + cache_read + cache_write; }
  Tokens& operator+=(const Tokens& other);
  Tokens operator-(const Tokens& other) const;
  bool operator==(const Tokens&) const = default;
};

namespace event {

struct Session {
  std::string_view id{}, model{}, version{};
};

// The agent's own words. The consumer joins consecutive pieces.
struct Text {
  std::string_view text{};
  bool piece = false;
  bool sub_agent = false;  // a sub-agent's words are shown, but cannot complete a run
};

// The agent's reasoning: shown on request, never treated as its words.
struct Thinking {
  std::string_view text{};
  bool sub_agent = false;
};

struct ToolStart {
  std::string_view id{}, name{};
  std::string_view summary{};  // its subject: a path, a command
  bool sub_agent = false;
};

struct ToolEnd {
  std::string_view id{};
  std::string_view name{};  // from its ToolStart; empty if there was none
  std::string_view output{};
  bool failed = false;
  bool sub_agent = false;
  bool refused = false;  // by a hook, by the user or for lack of permission: the call was not made
};

enum class TodoStatus { kPending, kActive, kDone };
struct TodoItem {
  std::string text;
  TodoStatus status = TodoStatus::kPending;
};
struct Todo {
  std::vector<TodoItem> items;  // the whole list
};

// Usage since the previous Spent event of this run. Never cumulative, even if the agent's own counters are.
struct Spent {
  Tokens tokens{};
  double cost_usd = 0;
  bool estimate = false;  // a later event corrects it
};

// The end of a turn. There may be several; the last counts.
struct Result {
  bool failed = false;
  std::string_view text{};           // the final words, for agents that repeat them
  std::optional<double> cost_usd{};  // of this run so far, if the agent reports it
  Tokens tokens{};                   // of this run so far
  int turns = 0;
  Milliseconds duration{0};
};

struct Progress {
  static constexpr std::string_view kPermissionDenied = "permission denied";  // for the tool call named in `text`
  std::string_view kind{};  // kPermissionDenied, "compacting", "background task", "hook", ...
  std::string_view text{};
};

// The agent itself retries; ralph does nothing.
struct Retry {
  int attempt = 0, maximum = 0;
  Milliseconds delay{0};
  FailureKind kind = FailureKind::kOther;
  std::string_view message{};
};

// The state of a plan's limit; `rejected`: it has been reached.
struct Limit {
  bool rejected = false;
  std::optional<WallTime> resets_at{};
  std::string_view type{};  // "five_hour"
};

// The turn failed for a known reason.
struct Failure {
  FailureKind kind = FailureKind::kOther;
  std::string_view message{};
  std::optional<WallTime> resets_at{};
};

// A line that could not be interpreted: counted, shown on request, never fatal.
struct Unknown {
  std::string_view type{};    // of an unknown event; empty if the line is not an event
  std::string_view reason{};  // "not JSON", "larger than 16 MB", "unknown type"
};

}  // namespace event

using AgentEvent = std::variant<event::Session, event::Text, event::Thinking, event::ToolStart, event::ToolEnd,
                                event::Todo, event::Spent, event::Result, event::Progress, event::Retry, event::Limit,
                                event::Failure, event::Unknown>;

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const AgentEvent& event) = 0;
};

class NullSink final : public EventSink {
 public:
  void on_event(const AgentEvent&) override {}
};

}  // namespace ralph
