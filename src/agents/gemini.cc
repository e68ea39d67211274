// Gemini CLI: `gemini --output-format stream-json`, prompt on standard input.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "agents/failure_from.h"
#include "agents/open_tools.h"
#include "agents/registry.h"
#include "agents/todo_items.h"
#include "agents/tool_summary.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr int kUntrustedFolder = 55;
constexpr int kUnknownSession = 42;
constexpr int kNoLogin = 41;

TurnArguments gemini_arguments(const TurnOptions& options, const HasFlag&) {
  TurnArguments result;
  if (!options.user_sets({"-y", "--yolo", "--approval-mode"})) result.before.emplace_back("--yolo");
  if (options.events) result.before.insert(result.before.end(), {"--output-format", "stream-json"});
  if (!options.model.empty()) result.before.insert(result.before.end(), {"--model", options.model});
  if (!options.resume.empty()) result.before.insert(result.before.end(), {"--resume", options.resume});
  return result;
}

StartFailure gemini_start_failure(int exit_code, std::string_view) {
  if (exit_code == kUntrustedFolder) {
    return {FailureKind::kPermissionDenied,
            "gemini does not trust this folder; start it here once and trust it, or add --skip-trust to agent.flags"};
  }
  if (exit_code == kUnknownSession) return {FailureKind::kOther, "gemini does not know the session to resume"};
  // After an API error, the exit code is the HTTP status truncated to a byte. The message often lacks the status.
  for (const int status : {401, 403, 404, 408, 429, 500, 502, 503, 504, 529}) {
    if (exit_code != status % 256) continue;
    const FailureKind kind = failure_from_status(status);
    return {kind, fmt::format("gemini: {}: HTTP status {}", replace_all(to_string(kind), "_", " "), status)};
  }
  // Before the first event, only the exit code identifies a missing login.
  if (exit_code == kNoLogin)
    return {FailureKind::kAuthentication, "gemini has no login; set GEMINI_API_KEY, or start gemini once and log in"};
  return {};
}

constexpr ErrorType kGeminiErrorTypes[] = {
    {"FatalAuthenticationError", FailureKind::kAuthentication},
    {"FatalTurnLimitedError", FailureKind::kMaxTurns},
    {"FatalUntrustedWorkspaceError", FailureKind::kPermissionDenied},
    {"FatalCancellationError", FailureKind::kAborted},
};

class GeminiParser final : public LineParser {
 public:
  explicit GeminiParser(const Clock& clock) : clock_(clock) {}

  const Wanted& wanted() const override;
  void on_object(JsonView line, EventSink& sink) override;

 private:
  void on_tool_use(JsonView line, EventSink& sink);
  void on_tool_result(JsonView line, EventSink& sink);
  void on_error(JsonView line, EventSink& sink);
  void on_result(JsonView line, EventSink& sink);

  const Clock& clock_;
  OpenTools tools_;
  Tokens tokens_;
  std::string scratch_;
};

const Wanted& GeminiParser::wanted() const {
  static const Wanted error{{"type"}, {"message"}};
  static const Wanted stats{{"total_tokens"}, {"input_tokens"}, {"output_tokens"}, {"cached"}, {"duration_ms"}};
  static const Wanted line("type session_id model role content delta tool_name tool_id status output severity message",
                           {{"parameters", &wanted_of_tool_input()}, {"error", &error}, {"stats", &stats}});
  return line;
}

void GeminiParser::on_object(JsonView line, EventSink& sink) {
  const std::string_view type = line["type"].text();
  if (type == "message") {
    // The role "user" is an echo of the prompt.
    if (line["role"].text() == "assistant") {
      sink.on_event(event::Text{line["content"].text(), line["delta"].truth(), false});
    }
  } else if (type == "tool_use") {
    on_tool_use(line, sink);
  } else if (type == "tool_result") {
    on_tool_result(line, sink);
  } else if (type == "error") {
    on_error(line, sink);
  } else if (type == "result") {
    on_result(line, sink);
  } else if (type == "init") {
    sink.on_event(event::Session{line["session_id"].text(), line["model"].text(), {}});
  } else {
    sink.on_event(event::Unknown{type, "unknown type"});
  }
}

void GeminiParser::on_tool_use(JsonView line, EventSink& sink) {
  const std::string_view id = line["tool_id"].text();
  const std::string_view name = line["tool_name"].text();
  OpenTool& tool = tools_.start(id, name);
  if (name == "write_todos") tool.todo = todo_items(line["parameters"]["todos"]);
  sink.on_event(event::ToolStart{id, name, summary_of_input(line["parameters"], scratch_), false});
}

// A failed command also has the status "success". Only its output says otherwise, which is not a reliable field.
void GeminiParser::on_tool_result(JsonView line, EventSink& sink) {
  const std::string_view id = line["tool_id"].text();
  const bool failed = line["status"].text() == "error";
  const std::string_view output = line["output"].text();
  const OpenTool& tool = tools_.end(id);
  if (tool.name == "write_todos" && !failed) sink.on_event(event::Todo{tool.todo});
  sink.on_event(
      event::ToolEnd{id, tool.name, output.empty() ? line["error"]["message"].text() : output, failed, false});
}

void GeminiParser::on_error(JsonView line, EventSink& sink) {
  const std::string_view message = line["message"].text();
  if (line["severity"].text() != "error") {
    sink.on_event(event::Progress{"warning", message});
    return;
  }
  const ReportedFailure failure = failure_from_message(message, clock_.wall());
  sink.on_event(event::Failure{failure.kind, failure.message, failure.resets_at});
}

void GeminiParser::on_result(JsonView line, EventSink& sink) {
  const JsonView stats = line["stats"];
  const std::int64_t cached = stats["cached"].integer();
  const std::int64_t input = stats["input_tokens"].integer();
  // Only the total includes thinking.
  const std::int64_t output = std::max(stats["output_tokens"].integer(), stats["total_tokens"].integer() - input);
  const Tokens total{std::max<std::int64_t>(input - cached, 0), output, cached, 0};
  const Tokens used = total - tokens_;
  tokens_ = total;
  if (!(used == Tokens())) sink.on_event(event::Spent{used, 0, false});

  const bool has_failed = line["status"].text() != "success";
  if (has_failed) {
    const JsonView error = line["error"];
    const ReportedFailure failure = failure_from_message(error["message"].text(), clock_.wall());
    const FailureKind kind = failure_from_type(error["type"].text(), kGeminiErrorTypes);
    sink.on_event(event::Failure{kind == FailureKind::kNone ? failure.kind : kind, failure.message, failure.resets_at});
  }
  const Milliseconds duration(stats["duration_ms"].integer());
  sink.on_event(event::Result{.failed = has_failed, .tokens = tokens_, .duration = duration});
}

// Without this variable, a folder that was never opened interactively is not trusted, and even --yolo exits with 55.
// Older versions ignore it.
constexpr EnvironmentVariable kEnvironment[] = {{"GEMINI_CLI_TRUST_WORKSPACE", "true"}};
constexpr const char* kGeminiChildVariables[] = {"GEMINI_CLI"};

// For a sandbox.
constexpr std::string_view kGeminiNeededVariables[] = {"GEMINI_*", "GOOGLE_*"};
constexpr std::string_view kGeminiCopied[] = {".gemini/oauth_creds.json", ".gemini/google_accounts.json"};
constexpr std::string_view kGeminiReadOnly[] = {".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/commands"};
constexpr std::string_view kGeminiHosts[] = {"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com",
                                             "oauth2.googleapis.com"};
constexpr std::string_view kGeminiKeptInMachine[] = {".gemini"};
constexpr SandboxNeeds kGeminiNeeds = {kGeminiNeededVariables, kGeminiCopied, kGeminiReadOnly,
                                       kGeminiHosts,           "gemini",      kGeminiKeptInMachine};

constexpr std::string_view kGeminiProgramKeys =
    "hooks hooksConfig mcp mcpServers tools security advanced extensions skills telemetry autoAccept coreTools "
    "excludeTools allowedTools toolDiscoveryCommand toolCallCommand mcpServerCommand allowMCPServers "
    "excludeMCPServers sandbox folderTrust";
constexpr AgentFile kGeminiFiles[] = {{".gemini/settings.json", kGeminiProgramKeys},
                                      {".gemini/.env"},
                                      {".gemini/hooks/"},
                                      {".gemini/extensions/"},
                                      {".gemini/policies/"}};
constexpr AgentFile kGeminiUsersFiles[] = {{".gemini/settings.json", kGeminiProgramKeys, false, "GEMINI_CLI_HOME", ""}};

}  // namespace

constinit const Adapter kGemini = {
    .name = "gemini",
    .version_flag = "--version",
    .ends_with_result = true,
    .make_parser = [](const UsedBefore&, const Clock& clock) -> std::unique_ptr<LineParser> {
      return std::make_unique<GeminiParser>(clock);
    },
    .arguments = gemini_arguments,
    .start_failure = gemini_start_failure,
    .interactive = "--prompt-interactive",
    .environment = kEnvironment,
    .child_variables = kGeminiChildVariables,
    .needs = kGeminiNeeds,
    .files = kGeminiFiles,
    .users_files = kGeminiUsersFiles,
    .hooks = {.variable = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
              .file = "gemini-defaults.json",
              .hides_file = "/etc/gemini-cli/system-defaults.json",
              .by_root = true}};

}  // namespace ralph
