// Codex: `codex exec --json`, prompt on standard input. Its stream is a thread of turns, a turn is a list of items.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "agents/failure_from.h"
#include "agents/open_tools.h"
#include "agents/registry.h"
#include "agents/todo_items.h"
#include "agents/tool_summary.h"
#include "base/sha256.h"
#include "base/text.h"
#include "json/value.h"
#include "json/writer.h"

namespace ralph {
namespace {

std::string toml_string(std::string_view text) {
  return fmt::format("\"{}\"", json_escaped(text));  // TOML basic strings use JSON's escapes
}

// "PreToolUse" -> "pre_tool_use": codex uses this form for the events of trusted hooks.
std::string snake_case(std::string_view event) {
  std::string name;
  for (const char c : event) {
    if (c >= 'A' && c <= 'Z' && !name.empty()) name += '_';
    name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return name;
}

// Codex skips hooks whose hash the user has not trusted. Its flag that trusts all hooks would also enable the
// project's, so ralph passes the hashes of its own hooks.
std::string trusted_hash(const AgentHook& hook, const std::string& event) {
  json::object handler = {
      {"async", false}, {"command", to_json_string(hook.command)}, {"timeout", hook.timeout}, {"type", "command"}};
  json::object identity = {{"event_name", event}, {"hooks", json::array{std::move(handler)}}};  // sorted by key
  if (!hook.matcher.empty()) identity["matcher"] = to_json_string(hook.matcher);
  return "sha256:" + sha256_hex(to_compact_json(identity));
}

std::vector<std::string> hook_arguments(std::span<const AgentHook> hooks) {
  std::vector<std::string> words, trusted;
  for (const AgentHook& hook : hooks) {  // one per event
    const std::string event = snake_case(hook.event);
    words.insert(words.end(),
                 {"-c", fmt::format("hooks.{}=[{{{}hooks=[{{type=\"command\",command={},timeout={}}}]}}]", hook.event,
                                    hook.matcher.empty() ? "" : fmt::format("matcher={},", toml_string(hook.matcher)),
                                    toml_string(hook.command), hook.timeout)});
    trusted.push_back(fmt::format("\"/<session-flags>/config.toml:{}:0:0\"={{trusted_hash=\"{}\"}}", event,
                                  trusted_hash(hook, event)));
  }
  words.insert(words.end(), {"-c", fmt::format("hooks.state={{{}}}", join(trusted, ","))});
  return words;
}

TurnArguments codex_arguments(const TurnOptions& options, const HasFlag& has_flag) {
  TurnArguments result;
  result.before = {"exec"};
  if (options.events) result.before.emplace_back("--json");
  if (!options.answer_file.empty() && !options.user_sets({"-o", "--output-last-message"}))
    result.before.insert(result.before.end(), {"-o", options.answer_file});
  // The default sandbox of `exec` is read-only. Newer versions lack --full-auto.
  const bool sandbox_chosen = options.user_sets(
      {"-s", "--sandbox", "--full-auto", "--yolo", "--approve-for-me", "--dangerously-bypass-approvals-and-sandbox"});
  if (!sandbox_chosen && has_flag("exec --help", "--full-auto")) {
    result.before.emplace_back("--full-auto");
  } else if (!sandbox_chosen) {
    result.before.insert(result.before.end(), {"--sandbox", "workspace-write"});
  }
  // Codex refuses an option that is given twice.
  if (!options.user_sets({"--skip-git-repo-check"})) result.before.emplace_back("--skip-git-repo-check");
  if (!options.model.empty()) result.before.insert(result.before.end(), {"--model", options.model});
  if (!options.hooks.empty()) {
    const std::vector<std::string> words = hook_arguments(options.hooks);
    result.before.insert(result.before.end(), words.begin(), words.end());
  }
  // After the flags, because `resume` itself accepts few of them, and without --sandbox a resumed session is read-only.
  if (!options.resume.empty()) result.after = {"resume", options.resume};
  result.after.emplace_back("-");
  return result;
}

StartFailure codex_start_failure(int exit_code, std::string_view error) {
  if (contains(error, "Not inside a trusted directory")) {
    return {FailureKind::kPermissionDenied,
            "codex does not trust this folder; make it a git repository, or add --skip-git-repo-check to agent.flags"};
  }
  if (contains(error, "no rollout found for thread id")) {
    return {FailureKind::kOther, "codex does not know the session to resume"};
  }
  // Its argument parser exits with 2 and reports the problem in the first line.
  if (const size_t at = error.find("error: "); exit_code == 2 && at != std::string_view::npos) {
    return {FailureKind::kPermissionDenied,
            fmt::format("codex did not start: {}; correct agent.flags", first_line(error.substr(at)))};
  }
  return {};
}

constexpr std::string_view kReconnecting = "Reconnecting... ";

class CodexParser final : public LineParser {
 public:
  CodexParser(const UsedBefore& before, const Clock& clock) : clock_(clock), counted_(before.tokens) {}

  const Wanted& wanted() const override;
  void on_object(JsonView line, EventSink& sink) override;
  void on_end(EventSink& sink) override;

 private:
  enum class Phase { kStarted, kUpdated, kCompleted };

  void on_item(JsonView item, Phase phase, EventSink& sink);
  void on_tool(JsonView item, std::string_view name, std::string_view summary, Phase phase, EventSink& sink);
  void on_error(std::string_view message, EventSink& sink);
  void on_turn_completed(JsonView usage, EventSink& sink);
  void on_turn_failed(std::string_view message, EventSink& sink);
  std::string_view output_of(JsonView item);

  const Clock& clock_;
  OpenTools tools_;
  Tokens counted_;  // the counters are cumulative over all runs of a thread
  Tokens tokens_;   // of this run
  std::string pending_error_;
  std::string scratch_;
};

const Wanted& CodexParser::wanted() const {
  static const Wanted error{{"message"}};
  static const Wanted block{{"type"}, {"text"}};
  static const Wanted result{{"content", &block}};
  static const Wanted change{{"path"}};
  static const Wanted item("id type text message command aggregated_output exit_code status server tool query prompt",
                           {{"changes", &change},
                            {"items", &wanted_of_todo()},
                            {"arguments", &wanted_of_tool_input()},
                            {"result", &result},
                            {"error", &error}});
  static const Wanted usage{{"input_tokens"}, {"cached_input_tokens"}, {"cache_write_input_tokens"}, {"output_tokens"}};
  static const Wanted line{{"type"}, {"thread_id"}, {"item", &item}, {"usage", &usage}, {"error", &error}, {"message"}};
  return line;
}

void CodexParser::on_object(JsonView line, EventSink& sink) {
  const std::string_view type = line["type"].text();
  if (type == "item.started") {
    on_item(line["item"], Phase::kStarted, sink);
  } else if (type == "item.updated") {
    on_item(line["item"], Phase::kUpdated, sink);
  } else if (type == "item.completed") {
    on_item(line["item"], Phase::kCompleted, sink);
  } else if (type == "turn.completed") {
    on_turn_completed(line["usage"], sink);
  } else if (type == "turn.failed") {
    on_turn_failed(line["error"]["message"].text(), sink);
  } else if (type == "error") {
    on_error(line["message"].text(), sink);
  } else if (type == "thread.started") {
    sink.on_event(event::Session{line["thread_id"].text(), {}, {}});
  } else if (type != "turn.started") {
    sink.on_event(event::Unknown{type, "unknown type"});
  }
}

void CodexParser::on_end(EventSink& sink) {
  // The stream ended between the error and the end of the turn.
  if (!pending_error_.empty()) on_turn_failed(std::string(pending_error_), sink);
}

void CodexParser::on_item(JsonView item, Phase phase, EventSink& sink) {
  const std::string_view type = item["type"].text();
  if (type == "agent_message") {
    if (phase == Phase::kCompleted) sink.on_event(event::Text{item["text"].text(), false, false});
  } else if (type == "reasoning") {
    if (phase == Phase::kCompleted) sink.on_event(event::Thinking{item["text"].text(), false});
  } else if (type == "todo_list") {
    sink.on_event(event::Todo{todo_items(item["items"])});
  } else if (type == "error") {  // a warning; a failure ends the turn
    sink.on_event(event::Progress{"warning", item["message"].text()});
  } else if (type == "command_execution") {
    // Codex's hooks use these two names.
    on_tool(item, "Bash", command_without_shell(item["command"].text(), scratch_), phase, sink);
  } else if (type == "file_change") {
    scratch_.clear();
    for (const JsonView change : item["changes"]) {
      if (!scratch_.empty()) scratch_ += ", ";
      scratch_ += change["path"].text();
    }
    on_tool(item, "apply_patch", scratch_, phase, sink);
  } else if (type == "mcp_tool_call") {
    const std::string name = fmt::format("{}.{}", item["server"].text(), item["tool"].text());
    on_tool(item, name, summary_of_input(item["arguments"], scratch_), phase, sink);
  } else if (type == "web_search") {
    on_tool(item, "web_search", item["query"].text(), phase, sink);
  } else if (type == "collab_tool_call") {
    on_tool(item, item["tool"].text(), item["prompt"].text(), phase, sink);
  } else {
    scratch_ = fmt::format("item/{}", type.substr(0, 256));
    sink.on_event(event::Unknown{scratch_, "unknown type"});
  }
}

void CodexParser::on_tool(JsonView item, std::string_view name, std::string_view summary, Phase phase,
                          EventSink& sink) {
  const std::string_view id = item["id"].text();
  if (!tools_.is_open(id)) {  // some calls are reported only when they end
    tools_.start(id, name);
    sink.on_event(event::ToolStart{id, name, summary, false});
  }
  if (phase != Phase::kCompleted) return;
  const std::string ended(tools_.end(id).name);
  const bool failed =
      item["status"].text() == "failed" || item["status"].text() == "declined" || item["exit_code"].integer() != 0;
  sink.on_event(event::ToolEnd{id, ended, output_of(item), failed, false});
}

std::string_view CodexParser::output_of(JsonView item) {
  if (const JsonView output = item["aggregated_output"]) return output.text();
  if (const std::string_view error = item["error"]["message"].text(); !error.empty()) return error;
  return text_of_content(item["result"]["content"], scratch_);
}

// "Reconnecting... 1/5 (reason)" is a retry; turn.failed repeats anything else.
void CodexParser::on_error(std::string_view message, EventSink& sink) {
  if (!message.starts_with(kReconnecting)) {
    pending_error_ = message.substr(0, 64 << 10);
    return;
  }
  std::string_view rest = message.substr(kReconnecting.size());
  const auto number = [&rest] {
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto count = parse_count(rest.substr(0, digits));
    rest.remove_prefix(std::min(digits + 1, rest.size()));
    return count && *count < 1 << 30 ? static_cast<int>(*count) : 0;
  };
  event::Retry retry;
  retry.attempt = number();
  retry.maximum = number();
  retry.message = rest;
  if (rest.starts_with('(') && rest.ends_with(')')) retry.message = rest.substr(1, rest.size() - 2);
  const ReportedFailure failure = failure_from_message(retry.message, clock_.wall());
  retry.kind = failure.kind;
  retry.message = failure.message;
  sink.on_event(retry);
}

void CodexParser::on_turn_completed(JsonView usage, EventSink& sink) {
  pending_error_.clear();
  if (usage) {
    const std::int64_t read = usage["cached_input_tokens"].integer();  // both are included in the input
    const std::int64_t written = usage["cache_write_input_tokens"].integer();
    const Tokens counter{std::max<std::int64_t>(usage["input_tokens"].integer() - read - written, 0),
                         usage["output_tokens"].integer(), read, written};
    if (counter.total() < counted_.total()) counted_ = {};  // the counter was reset
    const Tokens used = counter - counted_;
    counted_ = counter;
    tokens_ += used;
    if (!(used == Tokens())) sink.on_event(event::Spent{used, 0, false});
  }
  sink.on_event(event::Result{.tokens = tokens_});
}

void CodexParser::on_turn_failed(std::string_view message, EventSink& sink) {
  const ReportedFailure failure = failure_from_message(message, clock_.wall());
  sink.on_event(event::Failure{failure.kind, failure.message, failure.resets_at});
  pending_error_.clear();
  sink.on_event(event::Result{.failed = true, .tokens = tokens_});
}

constexpr const char* kCodexChildVariables[] = {"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"};
constexpr DeniedCall kCodexDeniedCalls[] = {{"Command blocked by PreToolUse hook:"},
                                            {"Tool call blocked by PreToolUse hook:"}};

// For a sandbox.
constexpr std::string_view kCodexNeededVariables[] = {"OPENAI_*", "CODEX_*"};
constexpr std::string_view kCodexCopied[] = {".codex/auth.json"};
constexpr std::string_view kCodexReadOnly[] = {".codex/config.toml", ".codex/AGENTS.md", ".codex/hooks.json",
                                               ".codex/prompts", ".codex/rules"};
constexpr std::string_view kCodexHosts[] = {"api.openai.com", "auth.openai.com", "chatgpt.com"};
constexpr std::string_view kCodexKeptInMachine[] = {".codex"};
constexpr SandboxNeeds kCodexNeeds = {kCodexNeededVariables, kCodexCopied, kCodexReadOnly,
                                      kCodexHosts,           "codex",      kCodexKeptInMachine};

// Its config.toml is compared as a whole.
constexpr AgentFile kCodexFiles[] = {
    {".codex/hooks.json"}, {".codex/config.toml"}, {".codex/hooks/"}, {".codex/rules/"}};
constexpr AgentFile kCodexUsersFiles[] = {{"hooks.json", "", false, "CODEX_HOME", ".codex"},
                                          {"hooks/", "", false, "CODEX_HOME", ".codex"}};

}  // namespace

constinit const Adapter kCodex = {
    .name = "codex",
    .version_flag = "--version",
    .ends_with_result = true,
    .writes_answer = true,
    .make_parser = [](const UsedBefore& before, const Clock& clock) -> std::unique_ptr<LineParser> {
      return std::make_unique<CodexParser>(before, clock);
    },
    .arguments = codex_arguments,
    .start_failure = codex_start_failure,
    .interactive = "",
    .child_variables = kCodexChildVariables,
    .denied_calls = kCodexDeniedCalls,
    .needs = kCodexNeeds,
    .files = kCodexFiles,
    .users_files = kCodexUsersFiles,
    .hooks = {.flags = true}};

}  // namespace ralph
