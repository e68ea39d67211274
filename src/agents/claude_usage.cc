#include "agents/claude_usage.h"

#include <functional>

#include "base/text.h"

namespace ralph {
namespace {

Tokens tokens_of(JsonView usage) {
  return {usage["input_tokens"].integer(), usage["output_tokens"].integer(), usage["cache_read_input_tokens"].integer(),
          usage["cache_creation_input_tokens"].integer()};
}

const Wanted& wanted_of_models() {
  static const Wanted model{
      {"inputTokens"}, {"outputTokens"}, {"cacheReadInputTokens"}, {"cacheCreationInputTokens"}, {"costUSD"}};
  static const Wanted models{{"*", &model}};
  return models;
}

}  // namespace

const Wanted& wanted_of_claude_usage() {
  static const Wanted usage{
      {"input_tokens"}, {"output_tokens"}, {"cache_read_input_tokens"}, {"cache_creation_input_tokens"}};
  return usage;
}

std::optional<event::Spent> ClaudeUsage::on_message(JsonView message) {
  const JsonView usage = message["usage"];
  if (!usage || seen_before(message["id"].text())) return std::nullopt;
  Tokens tokens = tokens_of(usage);
  if (message["stop_reason"].text().empty()) tokens.output = 0;
  return estimate(tokens);
}

std::optional<event::Spent> ClaudeUsage::on_partial_output(std::int64_t tokens) {
  return estimate(Tokens{.output = tokens});
}

std::optional<event::Spent> ClaudeUsage::estimate(const Tokens& tokens) {
  if (tokens == Tokens()) return std::nullopt;
  estimated_ += tokens;
  tokens_ += tokens;
  return event::Spent{tokens, 0, true};
}

bool ClaudeUsage::seen_before(std::string_view id) {
  if (id.empty()) return false;  // Amp's messages have no id, and arrive in one piece
  const size_t hash = std::hash<std::string_view>()(id);
  if (is_one_of(hash, messages_)) return true;
  messages_[next_message_++ % messages_.size()] = hash;
  return false;
}

std::optional<event::Spent> ClaudeUsage::on_result(JsonView result) {
  if (result["total_cost_usd"]) cost_known_ = true;
  const std::optional<Exact> exact = since_last_result(result);
  if (!exact) return std::nullopt;
  event::Spent spent{exact->tokens - estimated_, exact->cost_usd, false};
  estimated_ = {};
  tokens_ += spent.tokens;
  cost_usd_ += spent.cost_usd;
  if (spent.tokens == Tokens() && spent.cost_usd == 0) return std::nullopt;
  return spent;
}

std::optional<ClaudeUsage::Exact> ClaudeUsage::since_last_result(JsonView result) {
  const auto sum = [this](JsonView models) {
    Exact total;
    for (const JsonView model : result_tape_.look_into(models, wanted_of_models())) {
      total.tokens += {model["inputTokens"].integer(), model["outputTokens"].integer(),
                       model["cacheReadInputTokens"].integer(), model["cacheCreationInputTokens"].integer()};
      total.cost_usd += model["costUSD"].real();
    }
    return total;
  };
  if (const JsonView recent = result["model_usage_since_last_result"]) return sum(recent);

  const double cost = result["total_cost_usd"].real();
  const JsonView models = result["modelUsage"];
  const Tokens tokens = sum(models).tokens;
  // A counter that went down was reset.
  if (cost < counted_.cost_usd || tokens.total() < counted_.tokens.total()) counted_ = {};
  Exact exact{tokens - counted_.tokens, cost - counted_.cost_usd};
  if (!models) {
    if (!result["usage"] && !result["total_cost_usd"]) return std::nullopt;
    const JsonView usage = result_tape_.look_into(result["usage"], wanted_of_claude_usage());
    exact.tokens = usage ? tokens_of(usage) : estimated_;
  }
  counted_ = {models ? tokens : Tokens(), cost};
  return exact;
}

}  // namespace ralph
