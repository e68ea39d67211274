// Collects from the events of one turn what the agent said, what it used and how it failed. Knows nothing about
// processes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "agents/events.h"
#include "engine/observation.h"
#include "engine/response.h"
#include "journal/records.h"

namespace ralph {

class TurnReader : public EventSink {
 public:
  // `prompt` is the agent's input: echoing it is not an answer. Events are passed on to `next`. `promise`: completes
  // the work instead of a <response>, see ResponseFinder.
  TurnReader(std::string_view prompt, EventSink& next, std::string_view promise = {})
      : finder_(prompt, promise), next_(next), keeps_last_words_(!promise.empty()) {}

  void on_event(const AgentEvent& event) override;
  void finish() { finder_.finish(); }

  // Fills in the parts that decisions depend on.
  void observe(Observation& observation, MonotonicTime now) const;
  void arrived_at(MonotonicTime now) { now_ = now; }  // the time of the events that follow
  void keep_final_words() { keeps_final_words_ = true; }
  // The end of its last message, if keep_final_words() was called.
  std::string final_words() const;
  bool take_news() { return std::exchange(news_, false); }

  const std::optional<std::string>& response() const { return finder_.response(); }
  bool mentioned() const { return finder_.mentioned() && !finder_.response(); }
  const std::string& answer() const { return answer_; }  // the beginning of its words
  bool did_anything() const { return finder_.said_anything() || tools_ > 0; }
  bool saw_events() const { return saw_events_; }
  bool has_result() const { return has_result_; }
  bool result_failed() const { return result_failed_; }
  const std::optional<FailureKind>& failure() const { return failure_; }
  const std::string& failure_message() const { return failure_message_; }
  const std::optional<WallTime>& resets_at() const { return resets_at_; }
  const std::string& session() const { return session_; }
  const Tokens& tokens() const { return tokens_; }
  double cost_usd() const { return cost_usd_; }
  int tools() const { return tools_ - denied_tools_; }  // excluding refused calls
  int unknown() const { return unknown_; }
  // Calls were denied a permission, and the agent tried nothing else beyond reading.
  bool could_only_read() const { return unpermitted_ > 0 && acting_tools_ <= unpermitted_; }

  // Fills in its session, usage and last words.
  void fill_in(record::AgentEnded& ended) const;

 private:
  void read(const event::Session& session);
  void read(const event::Text& text);
  void read(const event::ToolStart& start);
  void read(const event::ToolEnd& end);
  void read(const event::Spent& spent);
  void read(const event::Result& result);
  void read(const event::Limit& limit);
  void read(const event::Failure& failure);
  void read(const event::Progress& progress);
  void read(const event::Unknown&) { ++unknown_; }
  template <class Other>
  void read(const Other&) {}
  void add_text(std::string_view words, bool piece);

  ResponseFinder finder_;
  EventSink& next_;
  bool keeps_last_words_;
  bool keeps_final_words_ = false;
  MonotonicTime now_{};
  std::optional<MonotonicTime> result_at_;  // of the last result, if no event has followed
  std::set<std::string, std::less<>> running_tools_;
  std::string answer_, last_words_, final_words_, session_, failure_message_;
  bool in_pieces_ = false, saw_events_ = false, has_result_ = false, result_failed_ = false, news_ = false;
  std::optional<FailureKind> failure_;
  std::optional<WallTime> resets_at_;
  Tokens tokens_;
  double cost_usd_ = 0;
  int tools_ = 0, denied_tools_ = 0, unknown_ = 0;
  int acting_tools_ = 0;  // calls of tools that need a permission
  int unpermitted_ = 0;
};

}  // namespace ralph
