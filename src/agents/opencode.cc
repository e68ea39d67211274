// opencode: `opencode run --format json`, prompt on standard input. Its stream is a list of steps, with no event that
// begins or ends a session.
#include <string>

#include "agents/failure_from.h"
#include "agents/registry.h"
#include "agents/todo_items.h"
#include "agents/tool_summary.h"
#include "base/text.h"

namespace ralph {
namespace {

TurnArguments opencode_arguments(const TurnOptions& options, const HasFlag&) {
  TurnArguments result;
  result.before = {"run"};
  if (options.events) result.before.insert(result.before.end(), {"--format", "json"});
  if (!options.model.empty()) result.before.insert(result.before.end(), {"--model", options.model});
  if (!options.resume.empty()) result.before.insert(result.before.end(), {"--session", options.resume});
  return result;
}

StartFailure opencode_start_failure(int, std::string_view error) {
  if (contains(error, "Session not found")) {
    return {FailureKind::kOther, "opencode does not know the session to resume"};
  }
  return {};
}

constexpr ErrorType kOpencodeErrorTypes[] = {
    {"ProviderAuthError", FailureKind::kAuthentication},
    {"ContextOverflowError", FailureKind::kContextExhausted},
    {"MessageAbortedError", FailureKind::kAborted},
};

class OpencodeParser final : public LineParser {
 public:
  explicit OpencodeParser(const Clock& clock) : clock_(clock) {}

  const Wanted& wanted() const override;
  void on_object(JsonView line, EventSink& sink) override;

 private:
  void on_tool(JsonView part, EventSink& sink);
  void on_step_finish(JsonView part, EventSink& sink);
  void on_error(JsonView error, EventSink& sink);

  const Clock& clock_;
  std::string session_;
  Tokens tokens_;
  double cost_usd_ = 0;
  std::string scratch_;
};

const Wanted& OpencodeParser::wanted() const {
  static const Wanted nothing{};
  static const Wanted metadata{{"exit"}};
  static const Wanted state{
      {"status"}, {"input", &wanted_of_tool_input()}, {"output"}, {"error"}, {"metadata", &metadata}};
  static const Wanted cache{{"read"}, {"write"}};
  static const Wanted tokens{{"total"}, {"input"}, {"output"}, {"reasoning"}, {"cache", &cache}};
  static const Wanted part{{"text"},   {"synthetic"}, {"tool"},          {"callID"},
                           {"reason"}, {"cost"},      {"state", &state}, {"tokens", &tokens}};
  static const Wanted data{{"message"}, {"statusCode"}, {"responseBody"}};
  static const Wanted error{{"name"}, {"data", &data}, {"*", &nothing}};
  static const Wanted line{{"type"}, {"sessionID"}, {"part", &part}, {"error", &error}};
  return line;
}

void OpencodeParser::on_object(JsonView line, EventSink& sink) {
  if (const std::string_view session = line["sessionID"].text(); !session.empty() && session != session_) {
    session_ = session.substr(0, 256);
    sink.on_event(event::Session{session_, {}, {}});
  }
  const std::string_view type = line["type"].text();
  const JsonView part = line["part"];
  if (type == "text") {
    // opencode wrote this text for the model on the user's behalf.
    if (part["synthetic"].truth()) {
      sink.on_event(event::Progress{"feedback", part["text"].text()});
    } else {
      sink.on_event(event::Text{part["text"].text(), false, false});
    }
  } else if (type == "reasoning") {
    sink.on_event(event::Thinking{part["text"].text(), false});
  } else if (type == "tool_use") {
    on_tool(part, sink);
  } else if (type == "step_finish") {
    on_step_finish(part, sink);
  } else if (type == "error") {
    on_error(line["error"], sink);
  } else if (type != "step_start") {
    sink.on_event(event::Unknown{type, "unknown type"});
  }
}

// A tool call is reported once, when it ends.
void OpencodeParser::on_tool(JsonView part, EventSink& sink) {
  const JsonView state = part["state"];
  const std::string_view id = part["callID"].text();
  const std::string_view name = part["tool"].text();
  sink.on_event(event::ToolStart{id, name, summary_of_input(state["input"], scratch_), false});
  const bool failed = state["status"].text() == "error" || state["metadata"]["exit"].integer() != 0;
  if (name == "todowrite" && !failed) sink.on_event(event::Todo{todo_items(state["input"]["todos"])});
  const std::string_view output = state["output"].text();
  sink.on_event(event::ToolEnd{id, name, output.empty() ? state["error"].text() : output, failed, false});
}

void OpencodeParser::on_step_finish(JsonView part, EventSink& sink) {
  const JsonView used = part["tokens"];
  Tokens tokens{used["input"].integer(), used["output"].integer(), used["cache"]["read"].integer(),
                used["cache"]["write"].integer()};
  // Versions and providers differ in whether output includes reasoning; the total includes it once.
  const std::int64_t rest = used["total"].integer() - tokens.input - tokens.cache_read - tokens.cache_write;
  tokens.output = rest > 0 ? rest : tokens.output + used["reasoning"].integer();
  const double cost = part["cost"].real();
  tokens_ += tokens;
  cost_usd_ += cost;
  if (!(tokens == Tokens()) || cost != 0) sink.on_event(event::Spent{tokens, cost, false});
  if (part["reason"].text() == "tool-calls") return;  // another step follows
  sink.on_event(event::Result{.cost_usd = cost_usd_, .tokens = tokens_});
}

void OpencodeParser::on_error(JsonView error, EventSink& sink) {
  const JsonView data = error["data"];
  const std::string_view name = error["name"].text();
  const std::string_view message = data["message"].text().empty() ? name : data["message"].text();
  // The API's answer is more precise than its status: 429 may be a limit or an empty account.
  const ReportedFailure answer = failure_from_message(data["responseBody"].text(), clock_.wall());
  FailureKind kind = failure_from_type(name, kOpencodeErrorTypes);
  if (kind == FailureKind::kNone) kind = answer.kind;
  if (kind == FailureKind::kOther) kind = failure_from_status(data["statusCode"].integer());
  if (kind == FailureKind::kNone) kind = failure_from_message(message, clock_.wall()).kind;
  sink.on_event(event::Failure{kind, message, answer.resets_at});
  sink.on_event(event::Result{.failed = true, .cost_usd = cost_usd_, .tokens = tokens_});
}

constexpr const char* kOpencodeChildVariables[] = {"OPENCODE", "AGENT"};
constexpr DeniedCall kOpencodeDeniedCalls[] = {{"Denied by ralph ("}};  // the error that its plugin throws

// For a sandbox.
constexpr std::string_view kOpencodeNeededVariables[] = {"OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"};
// It installs packages next to its settings, and does not start if it can't.
constexpr std::string_view kOpencodeCopied[] = {".local/share/opencode/auth.json", ".config/opencode/"};
constexpr std::string_view kOpencodeHosts[] = {"opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"};
constexpr std::string_view kOpencodeKeptInMachine[] = {".local/share/opencode", ".config/opencode"};
constexpr SandboxNeeds kOpencodeNeeds = {kOpencodeNeededVariables, kOpencodeCopied, {},
                                         kOpencodeHosts,           "opencode",      kOpencodeKeptInMachine};

constexpr std::string_view kOpencodeProgramKeys =
    "permission plugin mcp tools agent mode command formatter lsp experimental provider";
constexpr AgentFile kOpencodeFiles[] = {{"opencode.json", kOpencodeProgramKeys},
                                        {"opencode.jsonc"},
                                        {".opencode/opencode.json", kOpencodeProgramKeys},
                                        {".opencode/opencode.jsonc"},
                                        {".opencode/plugin/"},
                                        {".opencode/plugins/"},
                                        {".opencode/tool/"},
                                        {".opencode/tools/"}};
constexpr AgentFile kOpencodeUsersFiles[] = {
    {"opencode/opencode.json", kOpencodeProgramKeys, false, "XDG_CONFIG_HOME", ".config"},
    {"opencode/plugin/", "", false, "XDG_CONFIG_HOME", ".config"},
    {"opencode/plugins/", "", false, "XDG_CONFIG_HOME", ".config"}};

}  // namespace

constinit const Adapter kOpencode = {
    .name = "opencode",
    .version_flag = "--version",
    .reports_cost = true,
    .make_parser = [](const UsedBefore&, const Clock& clock) -> std::unique_ptr<LineParser> {
      return std::make_unique<OpencodeParser>(clock);
    },
    .arguments = opencode_arguments,
    .start_failure = opencode_start_failure,
    .interactive = "--prompt",
    .child_variables = kOpencodeChildVariables,
    .denied_calls = kOpencodeDeniedCalls,
    .needs = kOpencodeNeeds,
    .files = kOpencodeFiles,
    .users_files = kOpencodeUsersFiles,
    .hooks = {.variable = "OPENCODE_CONFIG_CONTENT",
              .value = R"({"plugin":["file://{}"]})",
              .is_url = true,
              .file = "opencode-hooks.js",
              .can_block_stop = false}};

}  // namespace ralph
