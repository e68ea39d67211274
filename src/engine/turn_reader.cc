#include "engine/turn_reader.h"

#include "agents/registry.h"
#include "base/text.h"
#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kAnswerBytes = 64 * 1024;
constexpr size_t kLastWordsBytes = 2 * 1024;
constexpr size_t kSaidWidth = 300;
constexpr size_t kFinalWordsBytes = 32 * 1024;

}  // namespace

void TurnReader::on_event(const AgentEvent& event) {
  const bool unknown = std::holds_alternative<event::Unknown>(event);
  if (!unknown) {
    saw_events_ = true;
    if (!std::holds_alternative<event::Spent>(event)) result_at_.reset();  // it is still working
  }
  std::visit([this](const auto& one) { read(one); }, event);
  next_.on_event(event);
}

void TurnReader::add_text(std::string_view words, bool piece) {
  // Separate texts begin a new message; pieces of one text are joined.
  if (!in_pieces_ || !piece) {
    finder_.begin_text();
    last_words_.clear();
    final_words_.clear();
  }
  in_pieces_ = piece;
  finder_.feed(words);
  if (keeps_last_words_)
    last_words_ += words.substr(0, kLastWordsBytes - std::min(kLastWordsBytes, last_words_.size()));
  if (keeps_final_words_) {
    final_words_ += words;
    // Not for every piece: that would copy everything each time.
    if (final_words_.size() > 4 * kFinalWordsBytes) final_words_.erase(0, final_words_.size() - kFinalWordsBytes);
  }
  if (answer_.size() < kAnswerBytes) {
    if (!piece && !answer_.empty()) answer_ += '\n';
    answer_ += words.substr(0, kAnswerBytes - std::min(kAnswerBytes, answer_.size()));
  }
}

void TurnReader::read(const event::Session& session) {
  session_ = session.id;
}

void TurnReader::read(const event::Text& text) {
  if (!text.sub_agent) add_text(text.text, text.piece);
}

void TurnReader::read(const event::ToolStart& start) {
  ++tools_;
  in_pieces_ = false;
  running_tools_.emplace(start.id);
  news_ = true;
}

void TurnReader::read(const event::ToolEnd& end) {
  const auto found = running_tools_.find(end.id);
  if (found != running_tools_.end()) {
    running_tools_.erase(found);
  } else {
    ++tools_;  // some agents report a tool only when it has ended
  }
  in_pieces_ = false;
  if (end.refused || (end.failed && is_denied_by_hook(end.output))) ++denied_tools_;
  if (!is_free_tool(end.name)) ++acting_tools_;
  news_ = true;
}

void TurnReader::read(const event::Progress& progress) {
  if (progress.kind == event::Progress::kPermissionDenied) ++unpermitted_;
}

void TurnReader::read(const event::Spent& spent) {
  tokens_ += spent.tokens;
  cost_usd_ += spent.cost_usd;
  news_ = true;
}

void TurnReader::read(const event::Result& result) {
  has_result_ = true;
  result_failed_ = result.failed;
  if (!result.failed) failure_.reset();  // it recovered
  // Some agents repeat their last words in the result.
  if (!finder_.said_anything() && !result.text.empty() && !result.failed) add_text(result.text, false);
  running_tools_.clear();
  result_at_ = now_;
  news_ = true;
}

void TurnReader::read(const event::Limit& limit) {
  if (limit.resets_at) resets_at_ = limit.resets_at;
}

void TurnReader::read(const event::Failure& failure) {
  failure_ = failure.kind;
  failure_message_ = failure.message;
  if (failure.resets_at) resets_at_ = failure.resets_at;
}

void TurnReader::observe(Observation& observation, MonotonicTime now) const {
  observation.turn.tools_running = static_cast<int>(running_tools_.size());
  if (result_at_) observation.turn.since_result = now - *result_at_;
  observation.turn.cost_usd = cost_usd_;
  observation.turn.tokens = tokens_.total();
}

// Cuts only at a newline: otherwise the rest of a line could look like a whole line.
std::string TurnReader::final_words() const {
  if (final_words_.size() <= kFinalWordsBytes) return std::string(trim(final_words_));
  const size_t line = final_words_.find('\n', final_words_.size() - kFinalWordsBytes);
  return line == std::string::npos ? std::string() : std::string(trim(std::string_view(final_words_).substr(line)));
}

void TurnReader::fill_in(record::AgentEnded& ended) const {
  ended.session = session_;
  ended.input_tokens = tokens_.input;
  ended.output_tokens = tokens_.output;
  ended.cache_read_tokens = tokens_.cache_read;
  ended.cache_write_tokens = tokens_.cache_write;
  ended.cost_usd = cost_usd_;
  ended.tools = tools();
  if (ended.tools == 0) ended.said = fit_to_width(trim(last_words_), kSaidWidth);
  ended.unknown_events = unknown_;
  ended.final_words = final_words();
}

}  // namespace ralph
