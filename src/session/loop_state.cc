#include "session/loop_state.h"

#include <algorithm>
#include <array>
#include <limits>

namespace ralph {
namespace {

constexpr int kVersion = 1;
constexpr std::array<std::string_view, 4> kStatuses = {"ACTIVE", "PROMISE_ACCEPTED", "MAX_ITERATIONS_REACHED",
                                                       "CANCELLED"};
constexpr std::array<std::string_view, 3> kPolicies = {"reject", "warn", "accept"};

template <class Enum, size_t N>
Enum from_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? Enum{} : static_cast<Enum>(found - names.begin());
}

std::string text_of(const json::value& from, std::string_view key) {
  return std::string(find_string(from, key).value_or(""));
}

json::array to_array(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(to_json_string(text));
  return array;
}

// A number that was never written by us becomes -1.
int number_of(const json::value& from, std::string_view key) {
  const std::int64_t number = find_integer(from, key).value_or(-1);
  return number < 0 || number > std::numeric_limits<int>::max() ? -1 : static_cast<int>(number);
}

json::object to_json(const LoopDecision& decision) {
  return {{"time", to_json_string(decision.time)},
          {"iteration", decision.iteration},
          {"decision", to_json_string(decision.decision)},
          {"rule", to_json_string(decision.rule)},
          {"reason", to_json_string(decision.reason)}};
}

// What changes while a loop goes on.
void put_changing(json::object& object, const LoopState& state) {
  object["status"] = to_string(state.status);
  object["iteration"] = state.iteration;
  object["transcript"] = to_json_string(state.transcript);
  object["transcriptRead"] = state.transcript_read;
  object["transcriptCalls"] = state.transcript_calls;
  object["recentCalls"] = to_array(state.recent_calls);
  object["refusedLate"] = state.refused_late;
}

void take_changing(LoopState& state, const json::value& value) {
  state.status = from_name<LoopStatus>(kStatuses, text_of(value, "status"));
  state.iteration = find_integer(value, "iteration").value_or(0);
  state.transcript = text_of(value, "transcript");
  state.transcript_read = static_cast<std::uint64_t>(find_integer(value, "transcriptRead").value_or(0));
  state.transcript_calls = find_integer(value, "transcriptCalls").value_or(0);
  state.recent_calls.clear();
  if (const json::value* calls = find(value, "recentCalls"); calls && calls->is_array()) {
    for (const json::value& call : calls->get_array()) {
      if (call.is_string()) state.recent_calls.emplace_back(call.get_string());
    }
  }
  state.refused_late = find_bool(value, "refusedLate").value_or(false);
}

}  // namespace

json::object record_of(const LoopState& state, const LoopDecision& decision) {
  json::object object = decision.rule.empty() ? json::object() : to_json(decision);
  object["time"] = state.updated;
  put_changing(object, state);
  return object;
}

void apply_record(LoopState& state, const json::value& record) {
  take_changing(state, record);
  state.updated = text_of(record, "time");
  if (!state.active()) state.reason = text_of(record, "reason");
}

LoopDecision loop_decision_from(const json::value& record) {
  return {text_of(record, "time"), find_integer(record, "iteration").value_or(0), text_of(record, "decision"),
          text_of(record, "rule"), text_of(record, "reason")};
}

std::string_view to_string(LoopStatus status) {
  return kStatuses[static_cast<size_t>(status)];
}

std::string_view to_string(PromiseWithoutWork policy) {
  return kPolicies[static_cast<size_t>(policy)];
}

void mark_cancelled(LoopState& state) {
  state.status = LoopStatus::kCancelled;
  state.reason = "cancelled by the user";
  state.decisions.push_back({"", state.iteration, "stop", "cancelled", state.reason});
}

json::object to_json(const LoopState& state) {
  json::object object;
  object["v"] = kVersion;
  put_changing(object, state);
  object["session"] = to_json_string(state.session);
  object["task"] = to_json_string(state.request.task);
  object["completionPromise"] = to_json_string(state.request.promise);
  object["maxIterations"] = state.request.max_iterations;
  object["minToolCalls"] = state.request.min_tool_calls;
  object["onPromiseNoWork"] = to_string(state.request.on_promise_no_work);
  object["ultrawork"] = state.request.ultrawork;
  object["started"] = state.started;
  object["updated"] = state.updated;
  object["transcriptStart"] = state.transcript_start;
  object["tree"] = to_json_string(state.tree);
  object["reason"] = to_json_string(state.reason);
  json::array decisions;
  for (const LoopDecision& one : state.decisions) decisions.push_back(to_json(one));
  object["decisions"] = std::move(decisions);
  return object;
}

Result<LoopState> loop_state_from(std::string_view text, std::string_view where) {
  TRY_VALUE(const json::value value, parse_json(text, where));
  const auto version = find_integer(value, "v").value_or(0);
  if (version != kVersion)
    return fail(ErrorKind::kInput, "{} has format {}, which this version of ralph does not know", where, version);
  LoopState state;
  take_changing(state, value);
  state.session = text_of(value, "session");
  state.request.task = text_of(value, "task");
  state.request.promise = text_of(value, "completionPromise");
  state.request.max_iterations = number_of(value, "maxIterations");
  if (const int calls = number_of(value, "minToolCalls"); calls >= 0) state.request.min_tool_calls = calls;
  state.request.on_promise_no_work = from_name<PromiseWithoutWork>(kPolicies, text_of(value, "onPromiseNoWork"));
  state.request.ultrawork = find_bool(value, "ultrawork").value_or(false);
  if (state.request.promise.empty() || state.request.max_iterations < 1)
    return fail(ErrorKind::kInput, "{} is damaged: it has no promise or no limit; remove it", where);
  state.started = text_of(value, "started");
  state.updated = text_of(value, "updated");
  state.transcript_start = static_cast<std::uint64_t>(find_integer(value, "transcriptStart").value_or(0));
  state.tree = text_of(value, "tree");
  state.reason = text_of(value, "reason");
  if (const json::value* decisions = find(value, "decisions"); decisions && decisions->is_array()) {
    for (const json::value& one : decisions->get_array()) state.decisions.push_back(loop_decision_from(one));
  }
  return state;
}

Policy policy_of(const LoopRequest& request) {
  Policy policy;
  policy.max_iterations = request.max_iterations;
  policy.promise = true;
  policy.completion_response = request.promise;
  policy.min_tool_calls = request.min_tool_calls;
  policy.on_promise_no_work = request.on_promise_no_work;
  return policy;
}

}  // namespace ralph
