#include "ui/console.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "os/clock.h"
#include "os/files.h"
#include "ui/phrases.h"

namespace ralph {
namespace {

constexpr Milliseconds kTerminalTick{1000};
constexpr Milliseconds kLogTick{60000};
constexpr size_t kTimeWidth = std::string_view("[HH:MM:SS] ").size();

}  // namespace

Console::Console(ConsoleOptions options)
    : options_(std::move(options)),
      out_filter_(options_.style.color),
      err_filter_(options_.style.color),
      formatter_(
          options_.format, options_.style,
          [this](std::string_view text) {
            erase_transient_line();
            write(text);
          },
          [] { return SystemClock().wall(); }) {
  // The formatter itself leaves room for the time; the console's own lines need it here.
  if (options_.format.timestamps) options_.style.width = std::max(options_.style.width, kTimeWidth + 20) - kTimeWidth;
}

void Console::write(std::string_view bytes) {
  if (bytes.empty()) return;
  out_.write(bytes);
  at_line_start_ = bytes.back() == '\n';
}

void Console::start_line() {
  formatter_.finish();
  if (std::exchange(colored_, false)) {  // the agent may have left a colour on
    const bool at_start = at_line_start_;
    write("\033[0m");
    at_line_start_ = at_start;
  }
  if (!transient_ && !at_line_start_) write("\n");
  erase_transient_line();
}

void Console::erase_transient_line() {
  if (!std::exchange(transient_, false)) return;
  write("\r\033[K");
  at_line_start_ = true;
}

std::string Console::stamped(std::string_view text, bool at_line_start) const {
  if (!options_.format.timestamps) return std::string(text);
  const std::string stamp = options_.style.dim(fmt::format("[{}]", time_of_day(SystemClock().wall()))) + " ";
  std::string result;
  for (const char c : text) {
    if (at_line_start && c != '\n' && c != '\r') result += stamp;
    at_line_start = c == '\n' || (at_line_start && c == '\r');
    result += c;
  }
  return result;
}

void Console::line(std::string_view text) {
  start_line();
  write(stamped(text, true) + "\n");
  formatter_.interrupted();
}

void Console::transient_line(std::string_view text) {
  if (!options_.style.terminal) return;
  start_line();
  draw(text);
}

void Console::draw(std::string_view text) {
  erase_transient_line();
  write(options_.style.dim(fit_to_width(text, options_.style.width - 1)));
  transient_ = true;
}

std::string Console::live_line(std::string_view what, const std::vector<std::string>& facts) const {
  constexpr size_t kLeast = 8;
  const Style& style = options_.style;
  const std::string lead = fmt::format("  {} ", style.begin());
  const std::string rest =
      what.empty() ? join(facts, style.dot()) : fmt::format("{}{}", style.dot(), join(facts, style.dot()));
  const size_t used = display_width(lead) + display_width(rest) + 1;
  return lead + fit_to_width(what, style.width > used + kLeast ? style.width - used : kLeast) + rest;
}

void Console::begin_step(std::string what, std::string agent) {
  step_ = std::move(what);
  turn_agent_ = std::move(agent);
  tool_.clear();
  transient_line(fmt::format("  {} {}", options_.style.begin(), step_));
}

std::string Console::clean(std::string_view text, size_t used) const {
  const size_t width = options_.style.terminal ? options_.style.width : 200;
  return fit_to_width(text, std::max(width, used + 1) - used);
}

std::string Console::whole(std::string_view text, size_t used) const {
  constexpr size_t kIndent = 4;
  const std::string safe = fit_to_width(text, text.size() * 2 + 1);
  return options_.style.terminal ? wrap_words(safe, options_.style.width, used, kIndent) : safe;
}

std::string Console::wrap_facts(const std::vector<std::string>& facts, std::string_view between) const {
  const Style& style = options_.style;
  std::string lines;
  size_t column = 2;
  for (const std::string& fact : facts) {
    const size_t width = display_width(without_escapes(fact)), dot = display_width(between);
    const bool is_first = &fact == &facts.front();
    const bool fits = is_first || !style.terminal || column + dot + width <= style.width;
    lines += is_first ? "" : fits ? std::string(between) : "\n  ";
    column = fits ? column + (is_first ? 0 : dot) + width : 2 + width;
    lines += fact;
  }
  return lines;
}

std::string Console::iterations(std::int64_t count) const {
  return count_of(count, options_.task ? "attempt" : "iteration");
}

void Console::on_record(const record::Record& record, const Progress& progress) {
  if (std::holds_alternative<record::SignalReceived>(record.body)) {
    out_.hurry();
    err_.hurry();
  }
  if (std::holds_alternative<record::RunEnded>(record.body)) out_.keep_all();
  progress_ = &progress;
  std::visit([this](const auto& body) { show(body); }, record.body);
}

void Console::on_agent_output(std::string_view bytes) {
  if (!options_.agent_output) return;
  const std::string text = out_filter_.feed(bytes);
  if (text.empty()) return;
  erase_transient_line();
  colored_ = colored_ || contains(text, '\033');
  write(stamped(text, at_line_start_));
}

void Console::on_agent_error_output(std::string_view bytes) {
  if (!options_.agent_output) return;
  const std::string text = err_filter_.feed(bytes);
  if (text.empty()) return;
  erase_transient_line();
  const bool terminal = options_.style.terminal;  // then both streams usually share the same lines
  if (terminal) colored_ = colored_ || contains(text, '\033');
  write_error(stamped(text, terminal ? at_line_start_ : error_line_start_));
  if (terminal) at_line_start_ = text.back() == '\n';
}

// An incomplete character at the end of the output becomes U+FFFD.
void Console::end_of_agent_output() {
  if (!options_.agent_output) return;
  if (const std::string rest = out_filter_.finish(); !rest.empty()) write(rest);
  if (const std::string rest = err_filter_.finish(); !rest.empty()) write_error(rest);
}

void Console::write_error(std::string_view bytes) {
  err_.write(bytes);
  error_line_start_ = bytes.ends_with('\n');
}

void Console::on_event(const AgentEvent& event) {
  if (const auto* start = std::get_if<event::ToolStart>(&event)) {
    constexpr size_t kToolWidth = 40;
    tool_ = fit_to_width(
        start->summary.empty() ? std::string(start->name) : fmt::format("{}({})", start->name, start->summary),
        kToolWidth);
  } else if (std::holds_alternative<event::ToolEnd>(event)) {
    tool_.clear();
  }
  if (options_.agent_output) formatter_.on_event(event);
}

void Console::on_detail(std::string_view line) {
  if (!options_.verbose) return;
  start_line();
  write_error(stamped(fmt::format("[ralph] {}\n", line), true));
}

void Console::on_trouble(std::string_view line) {
  start_line();
  write_error(stamped(fmt::format("ralph: {}\n", clean(line)), true));
}

std::optional<Milliseconds> Console::tick_interval() const {
  if (step_.empty()) return std::nullopt;
  if (options_.style.terminal) return kTerminalTick;
  return turn_agent_.empty() ? std::optional(kLogTick) : std::nullopt;
}

void Console::on_tick(const Tick& tick) {
  const Style& style = options_.style;
  const std::string took = human_duration(tick.running);
  if (!style.terminal) return line(fmt::format("  {} still running: {} ({})", style.note(), step_, took));
  if (!transient_ && !at_line_start_) return;  // the agent is in the middle of a line
  std::string what = step_;
  std::vector<std::string> facts;
  if (tick.ended_in) {
    what = fmt::format("{} is done but still running", turn_agent_);
    const auto left = std::chrono::ceil<std::chrono::seconds>(std::max(*tick.ended_in, Milliseconds(0)));
    facts.push_back(fmt::format("ended in {}", human_duration(left)));
  } else if (!tool_.empty()) {
    what += style.dot();
    what += tool_;
  }
  facts.push_back(took);
  const double cost = progress_->cost_usd + tick.cost_usd;
  const std::int64_t tokens = progress_->tokens.total() + tick.tokens;
  if (cost > 0) {
    facts.push_back(fmt::format("{} so far", human_cost(cost)));
  } else if (tokens > 0) {
    facts.push_back(fmt::format("{} tokens so far", human_count(tokens)));
  }
  if (std::exchange(colored_, false)) write("\033[0m");
  draw(live_line(what, facts));
}

std::optional<Milliseconds> Console::countdown_interval() const {
  return options_.style.terminal ? std::optional(kTerminalTick) : std::nullopt;
}

void Console::on_countdown(Milliseconds left) {
  // Whole seconds, so that the line changes only when necessary.
  const Milliseconds seconds = std::chrono::ceil<std::chrono::seconds>(left);
  transient_line(live_line(waits_for_, {fmt::format("continuing in {}, at {}", human_duration(seconds),
                                                    time_of_day(SystemClock().wall() + left))}));
}

}  // namespace ralph
