#include "ui/event_formatter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "ui/phrases.h"
#include "ui/tool_output.h"

namespace ralph {

struct EventFormatter::Symbols {
  std::string_view tool, ok, error, note, retry, limit, thinking;
  std::string_view todo, done, active, pending, progress;
};

namespace {

constexpr size_t kMostRunning = 1000;  // unfinished tools; bounds the memory for an agent that never ends any
constexpr size_t kMostTodos = 50;
constexpr size_t kLongestMessage = 500;  // columns of a failure's reason, which is not cut at the terminal's edge
constexpr size_t kLongestLabel = 120;    // of a tool, when its end repeats the label
constexpr std::string_view kIndent = "     ";

std::string_view words_for(FailureKind kind) {
  static constexpr std::string_view kWords[] = {"The agent failed",
                                                "Usage limit reached",
                                                "Temporarily unavailable",
                                                "Authentication failed",
                                                "No credit",
                                                "The conversation is too long",
                                                "Permission denied",
                                                "The agent's turn limit is reached",
                                                "The agent's cost limit is reached",
                                                "Model not found",
                                                "The prompt was refused",
                                                "Aborted",
                                                "The agent failed"};
  static_assert(std::size(kWords) == static_cast<size_t>(FailureKind::kOther) + 1);
  return kWords[static_cast<size_t>(kind)];
}

std::string tokens_phrase(const Tokens& tokens) {
  const std::int64_t in = tokens.input + tokens.cache_read + tokens.cache_write;
  const std::string cached = tokens.cache_read > 0 ? fmt::format(" ({} cached)", human_count(tokens.cache_read)) : "";
  return fmt::format("tokens: {} in{} / {} out", human_count(in), cached, human_count(tokens.output));
}

// The text on one line, without control sequences; runs of whitespace become one space.
std::string squeezed(std::string_view text) {
  std::string line;
  for (const char c : without_controls(text)) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return std::string(trim(line));
}

}  // namespace

EventFormatter::EventFormatter(const FormatOptions& options, const Style& style, Write write, Now now)
    : options_(options),
      style_(style),
      now_(std::move(now)),
      symbols_([&]() -> const Symbols& {
        static constexpr Symbols kEmoji = {"⏺", "✅", "❌", "•", "🔁", "⏳", "💭", "📋", "✅", "🔄", "⏸️", "📊 "};
        static constexpr Symbols kWords = {"[TOOL]",  "[OK]",   "[ERR]", "[--]", "[RETRY]", "[LIMIT]",
                                           "[THINK]", "[TODO]", "[x]",   "[>]",  "[ ]",     ""};
        return options.emoji ? kEmoji : kWords;
      }()),
      unicode_(style.unicode || options.emoji),
      flow_(style_, unicode_, std::move(write),
            options.timestamps ? LineFlow::Stamp([this] { return fmt::format("[{}]", time_of_day(now_())); })
                               : LineFlow::Stamp()) {}

void EventFormatter::on_event(const AgentEvent& event) {
  std::visit([this](const auto& body) { show(body); }, event);
  flow_.flush();
}

void EventFormatter::finish() {
  end_words();
  flow_.end_line();
  flow_.flush();
}

void EventFormatter::interrupted() {
  flowing_ = false;
  tool_above_.clear();
  flow_.forget();
}

void EventFormatter::begin(Block block) {
  end_words();
  tool_above_.clear();
  last_progress_.clear();
  flow_.begin(block);
}

void EventFormatter::end_words() {
  const std::string rest = words_.finish();
  if (std::exchange(flowing_, false)) flow_.words(rest, flowing_sub_agent_);
}

std::string EventFormatter::one_line(std::string_view text, size_t columns) const {
  // Examines only the beginning of a huge text. A column can take several bytes, and control sequences take some.
  return fit_to_width(squeezed(text.substr(0, columns * 16 + 4096)), columns);
}

std::string EventFormatter::tool_label(std::string_view name, std::string_view summary, size_t columns) const {
  std::string label = one_line(name.empty() ? "tool" : name, columns);
  const size_t used = display_width(label) + 2;
  if (summary.empty() || used >= columns) return label;
  const std::string what = one_line(summary, columns - used);
  return what.empty() ? label : fmt::format("{}({})", label, what);
}

void EventFormatter::note(std::string_view mark, std::string_view text) {
  std::string tool = std::move(tool_above_);  // a note does not separate a tool's end from its start
  begin(Block::kActivity);
  tool_above_ = std::move(tool);
  flow_.line(fmt::format("{} {}", mark, text));
}

std::string EventFormatter::reset_phrase(WallTime resets_at) const {
  return fmt::format("resets at {}", moment(resets_at, now_()));
}

void EventFormatter::show(const event::Session& session) {
  const std::string id = one_line(session.id, 80);
  if (std::exchange(session_, id) == id && !id.empty()) return;  // some agents repeat it in each turn
  std::vector<std::string> facts = {id.empty() ? "Session" : "Session " + id};
  for (const std::string_view fact : {session.model, session.version}) {
    if (!fact.empty()) facts.push_back(one_line(fact, 80));
  }
  note(style_.dim(symbols_.note),
       style_.dim(fit_to_width(join(facts, unicode_ ? " · " : ", "), flow_.room(false) - 8)));
}

void EventFormatter::show(const event::Text& text) {
  const bool goes_on = text.piece && flowing_ && flowing_sub_agent_ == text.sub_agent;
  if (!goes_on) begin(Block::kWords);
  flow_.words(words_.feed(text.text), text.sub_agent);
  flowing_ = true;
  flowing_sub_agent_ = text.sub_agent;
  if (!text.sub_agent && !trim(text.text).empty()) said_something_ = true;
  if (text.piece) return;
  end_words();
  flow_.end_line();
}

void EventFormatter::show(const event::Thinking& thinking) {
  if (!options_.thinking) {
    end_words();  // the next text is a new one
    return;
  }
  begin(Block::kWords);
  std::string_view mark = symbols_.thinking;
  for (const std::string& line : split(trim(without_controls(thinking.text)), '\n')) {
    flow_.line(style_.dim(fmt::format("{} {}", mark, replace_all(line, "\r", ""))), thinking.sub_agent);
    mark = "  ";
  }
}

void EventFormatter::show(const event::ToolStart& start) {
  ++tools_;
  begin(Block::kActivity);
  const size_t room = flow_.room(start.sub_agent) - display_width(symbols_.tool) - 2;
  const std::string label = tool_label(start.name, start.summary, room);
  const size_t name_end = std::min(label.find('('), label.size());
  flow_.line(fmt::format("{} {}{}", style_.cyan(symbols_.tool), style_.bold(label.substr(0, name_end)),
                         label.substr(name_end)),
             start.sub_agent);
  tool_above_ = start.id.substr(0, kLongestMessage);
  if (!start.id.empty() && running_.size() < kMostRunning) {
    running_.insert_or_assign(tool_above_, tool_label(start.name, start.summary, kLongestLabel));
  }
}

void EventFormatter::show(const event::ToolEnd& end) {
  if (end.failed) ++errors_;
  const bool just_started = !tool_above_.empty() && tool_above_ == end.id;
  const auto started = running_.find(end.id.substr(0, kLongestMessage));
  if (started == running_.end() && end.name.empty()) ++tools_;  // its start was missed
  // With other lines in between, the name alone would be ambiguous.
  const bool explain = started != running_.end() && !just_started;
  const std::string name = explain ? started->second : tool_label(end.name, "", kLongestLabel);
  if (started != running_.end()) running_.erase(started);
  const bool already_shown = !end.failed && !todo_tool_.empty() && todo_tool_ == end.id;
  if (already_shown) return;  // the changed todo list was shown instead

  begin(Block::kActivity);
  const Excerpt excerpt = excerpt_of(end.output, options_.max_output_lines, options_.max_output_chars);
  const TextSize size = size_of(end.output);
  const std::string counts =
      size.characters == 0 ? "(no output)"
                           : fmt::format("({}, {})", count_of(size.lines, "line"), count_of(size.characters, "char"));
  const std::string head = fmt::format("{} {} ", end.failed ? "Error" : "Result", unicode_ ? "←" : "<-");
  const std::string_view mark = end.failed ? symbols_.error : symbols_.ok;
  const size_t used = display_width(mark) + display_width(head) + counts.size() + 2;
  const size_t room = std::max<size_t>(flow_.room(end.sub_agent), used + 12) - used;
  flow_.line(fmt::format("{} {}{} {}", end.failed ? style_.red(mark) : style_.green(mark), head,
                         fit_to_width(name, room), style_.dim(counts)),
             end.sub_agent);

  // On a terminal a long line is cut at the edge; elsewhere only the character limit applies.
  const size_t columns = flow_.room(end.sub_agent) - kIndent.size();
  std::string_view lead = unicode_ ? "  ⎿  " : "  |  ";
  for (const std::string& line : excerpt.lines) {
    const std::string text = fmt::format("{}{}", lead, style_.terminal ? fit_to_width(line, columns) : line);
    flow_.line(line.empty() ? "" : style_.dim(text), end.sub_agent);
    lead = kIndent;
  }
  if (excerpt.more > 0 && !excerpt.lines.empty()) {
    const std::string more = fmt::format("{} more {}", excerpt.more, excerpt.more == 1 ? "line" : "lines");
    flow_.line(style_.dim(fmt::format("{}{} {}", kIndent, unicode_ ? "…" : "...", more)), end.sub_agent);
  }
}

void EventFormatter::show(const event::Todo& todo) {
  if (todo.items.empty()) return;
  std::string seen;
  size_t done = 0;
  std::vector<std::string> lines;
  const size_t room = flow_.room(false) - 14;  // next to the marker and "← ACTIVE"
  for (const event::TodoItem& item : todo.items) {
    const bool active = item.status == event::TodoStatus::kActive;
    if (item.status == event::TodoStatus::kDone) ++done;
    if (lines.size() == kMostTodos) continue;
    const std::string text = one_line(item.text, room);
    const std::string_view mark = item.status == event::TodoStatus::kDone ? symbols_.done
                                  : active                                ? symbols_.active
                                                                          : symbols_.pending;
    lines.push_back(active ? style_.bold(fmt::format("  {} {} {} ACTIVE", mark, text, unicode_ ? "←" : "<-"))
                           : fmt::format("  {} {}", mark, text));
    seen += lines.back() + "\n";
  }
  if (todo.items.size() > kMostTodos)
    lines.push_back(fmt::format("{}{} more", kIndent, todo.items.size() - kMostTodos));
  lines.push_back(fmt::format("  {}Progress: {}/{} ({}%)", symbols_.progress, done, todo.items.size(),
                              done * 100 / todo.items.size()));
  if (std::exchange(last_todo_, seen + lines.back()) == seen + lines.back()) return;  // repeated, not changed
  todo_tool_ = tool_above_;
  begin(Block::kTodo);
  flow_.line(fmt::format("{} {}", symbols_.todo, style_.bold("Todo List")));
  for (const std::string& line : lines) flow_.line(line);
}

void EventFormatter::begin_turn() {
  tools_ = errors_ = not_understood_ = 0;
  spent_ = {};
}

void EventFormatter::show(const event::Spent& spent) {
  spent_.tokens += spent.tokens;
  spent_.cost_usd += spent.cost_usd;
}

std::string EventFormatter::facts_of(const event::Result& result) const {
  std::vector<std::string> facts;
  const Tokens& tokens = result.tokens.total() > 0 ? result.tokens : spent_.tokens;
  const double cost = result.cost_usd.value_or(spent_.cost_usd);
  const bool known = cost > 0 || (result.cost_usd && tokens.total() > 0);
  if (known) facts.push_back("cost: " + human_cost(cost));
  if (tokens.total() > 0) facts.push_back(tokens_phrase(tokens));
  if (tools_ > 0) facts.push_back(fmt::format("tools: {}", tools_));
  if (errors_ > 0) facts.push_back(fmt::format("errors: {}", errors_));
  if (not_understood_ > 0) facts.push_back(fmt::format("lines not understood: {}", not_understood_));
  if (result.duration.count() >= 50) facts.push_back("time: " + human_duration(result.duration));
  return facts.empty() ? "" : fmt::format(" ({})", join(facts, ", "));
}

void EventFormatter::show(const event::Result& result) {
  // Most agents repeat their last text here; some give it only here.
  const bool unseen = !std::exchange(said_something_, false) && !trim(result.text).empty();
  if (unseen && squeezed(result.text.substr(0, kLongestMessage)) != last_failure_) {
    show(event::Text{.text = result.text});
    said_something_ = false;
  }
  const std::string facts = facts_of(result);
  // A failure that was just shown needs no second line.
  const bool already_shown = result.failed && flow_.block() == Block::kFailure && facts.empty();
  if (already_shown) return;
  begin(Block::kClosing);
  const std::string mark = result.failed ? style_.red(symbols_.error) : style_.green(symbols_.ok);
  flow_.line(fmt::format("{} {}{}", mark, style_.bold(result.failed ? "Failed" : "Complete"), facts));
}

void EventFormatter::show(const event::Progress& progress) {
  const size_t room = flow_.room(false) - 8;
  std::string text = one_line(progress.kind, room);
  if (!progress.text.empty())
    text = fit_to_width(fmt::format("{}{}{}", text, text.empty() ? "" : ": ", one_line(progress.text, room)), room);
  if (text.empty() || text == last_progress_) return;
  note(style_.dim(symbols_.note), style_.dim(text));
  last_progress_ = text;
}

void EventFormatter::show(const event::Retry& retry) {
  std::string text = fmt::format("Retry {}", retry.attempt);
  if (retry.maximum > 0) text += fmt::format("/{}", retry.maximum);
  if (retry.delay.count() >= 50) text += fmt::format(" in {}", human_duration(retry.delay));
  // A single word is a code such as "rate_limit", which the kind already explains.
  const bool code = !contains(retry.message, ' ') && retry.kind != FailureKind::kOther;
  const std::string reason = one_line(code ? words_for(retry.kind) : retry.message, kLongestMessage);
  const size_t used = display_width(symbols_.retry) + 2;
  note(style_.yellow(symbols_.retry),
       fit_to_width(fmt::format("{}{}{}", text, reason.empty() ? "" : ": ", reason), flow_.room(false) - used));
}

void EventFormatter::show(const event::Limit& limit) {
  // The warning about a limit comes with every answer; show it once.
  const std::string type = replace_all(one_line(limit.type, 80), "_", " ");
  if (!limits_shown_.insert(fmt::format("{}{}", limit.rejected, type)).second) return;
  std::string text = limit.rejected ? "Limit reached" : "Near a limit";
  if (!type.empty()) text += fmt::format(" ({})", type);
  if (limit.resets_at) text += ", " + reset_phrase(*limit.resets_at);
  note(limit.rejected ? style_.red(symbols_.limit) : style_.yellow(symbols_.limit), text);
}

void EventFormatter::show(const event::Failure& failure) {
  const std::string message = one_line(failure.message, kLongestMessage);
  std::string text(words_for(failure.kind));
  if (!message.empty()) text += ": " + message;
  if (failure.resets_at) text += fmt::format(" ({})", reset_phrase(*failure.resets_at));
  last_failure_ = squeezed(failure.message.substr(0, kLongestMessage));
  begin(Block::kFailure);
  flow_.line(fmt::format("{} {}", style_.red(symbols_.error), text));
}

void EventFormatter::show(const event::Unknown&) {
  ++not_understood_;
}

}  // namespace ralph
