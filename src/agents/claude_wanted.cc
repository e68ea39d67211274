// What is read of Claude Code's lines.
#include "agents/claude_reader.h"
#include "agents/tool_summary.h"

namespace ralph {
namespace {

const Wanted& wanted_of_message() {
  static const Wanted inner{{"type"}, {"text"}};
  static const Wanted block{{"type"},        {"text"},
                            {"thinking"},    {"id"},
                            {"name"},        {"input", &wanted_of_tool_input()},
                            {"tool_use_id"}, {"content", &inner},
                            {"is_error"}};
  static const Wanted message{
      {"id"}, {"model"}, {"stop_reason"}, {"content", &block}, {"usage", &wanted_of_claude_usage()}};
  return message;
}

const Wanted& wanted_of_limit() {
  static const Wanted limit{{"status"}, {"resetsAt"}, {"rateLimitType"}};
  return limit;
}

const Wanted& wanted_of_limits() {
  static const Wanted limits{{"rate_limit_info", &wanted_of_limit()}};
  return limits;
}

const Wanted& wanted_of_stream_event() {
  static const Wanted event{{"type"}, {"usage", &wanted_of_claude_usage()}};
  return event;
}

const Wanted& wanted_of_compaction() {
  static const Wanted compaction{{"pre_tokens"}, {"post_tokens"}};
  return compaction;
}

}  // namespace

const Wanted& ClaudeReader::wanted() const {
  static const Wanted line{
      {"type"},
      {"subtype"},
      // assistant, user
      {"message", &wanted_of_message()},
      {"parent_tool_use_id"},
      {"tool_use_result", &Wanted::later()},
      {"isSynthetic"},
      // what went wrong
      {"error"},
      {"errors"},
      {"is_api_error_message"},
      {"api_error"},
      {"api_error_status"},
      {"api_error_type"},
      {"api_error_params", &wanted_of_limits()},
      {"rate_limit_info", &wanted_of_limit()},
      // system
      {"session_id"},
      {"model"},
      {"claude_code_version"},
      {"attempt"},
      {"max_retries"},
      {"retry_delay_ms"},
      {"error_status"},
      {"status"},
      {"compact_metadata", &wanted_of_compaction()},
      {"hook_name"},
      {"outcome"},
      {"exit_code"},
      {"stderr"},
      {"description"},
      {"summary"},
      {"task_type"},
      {"is_backgrounded"},
      {"tool_name"},
      {"content"},
      {"text"},
      // partial messages
      {"event", &wanted_of_stream_event()},
      // result
      {"result"},
      {"is_error"},
      {"terminal_reason"},
      {"num_turns"},
      {"duration_ms"},
      {"total_cost_usd"},
      {"usage", &Wanted::later()},
      {"modelUsage", &Wanted::later()},
      {"model_usage_since_last_result", &Wanted::later()},
  };
  return line;
}

}  // namespace ralph
