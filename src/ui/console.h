// Shows a run to a person: one line per step, the agent's output between them, and a closing summary that says why it
// stopped and where its files are. Lines are derived from journal records, so the screen can't contradict the journal.
#pragma once

#include <string>
#include <unistd.h>

#include "engine/listener.h"
#include "os/console_stream.h"
#include "ui/event_formatter.h"
#include "ui/style.h"
#include "ui/terminal_filter.h"

namespace ralph {

struct ConsoleOptions {
  Style style;               // of standard output
  FormatOptions format;      // of agents' events
  bool agent_output = true;  // show what the agent prints
  bool verbose = false;      // "[ralph] …" lines on standard error
  int guardrails = 0;
  std::string folder{};  // of the run, if not .ralph/runs/<id>
  bool task = false;     // iterations are called attempts, and the agent may be silent
  int wait_exit_code{};  // with which an agent says that it is waiting for a person; 0: none
};

class Console : public RunListener {
 public:
  explicit Console(ConsoleOptions options);

  std::vector<Outlet*> outlets() override { return {&out_, &err_}; }

  void on_record(const record::Record& record, const Progress& progress) override;
  void on_agent_output(std::string_view bytes) override;
  void on_agent_error_output(std::string_view bytes) override;
  void on_event(const AgentEvent& event) override;
  void on_detail(std::string_view line) override;
  void on_trouble(std::string_view line) override;
  std::optional<Milliseconds> tick_interval() const override;
  void on_tick(const Tick& tick) override;
  std::optional<Milliseconds> countdown_interval() const override;
  void on_countdown(Milliseconds left) override;

 private:
  void show(const record::RunStarted& started);
  void show(const record::RunResumed& resumed);
  void show_title(std::vector<std::string> facts);
  void show(const record::IterationStarted& started);
  void show(const record::AgentStarted& started);
  void show(const record::AgentEnded& ended);
  void show(const record::GuardrailStarted& started);
  void show(const record::GuardrailEnded& ended);
  void show(const record::Diagnosed& said);
  void show(const record::ScmStarted& started);
  void show(const record::ScmEnded& ended);
  void show(const record::FilesChanged& changed);
  void show(const record::TriggersChanged& changed);
  void show(const record::SignalReceived& received);
  void show(const record::ProcessesSwept& swept);
  void show(const record::SandboxNoted& noted);
  void show(const record::Decided& decided);
  void show(const record::PlanWork& work);
  void show(const record::PlanChecked& checked);
  void show(const record::RunEnded& ended);
  template <class Other>
  void show(const Other&) {}

  void start_line();                           // ends an unfinished line of the agent, erases a passing line
  void line(std::string_view text);            // one or more whole lines
  void transient_line(std::string_view text);  // on a terminal only: replaced by the next line
  void draw(std::string_view text);            // a passing line, at the start of a line or over the previous one
  // On a narrow terminal `what` is cut, not the facts: duration, cost, end time.
  std::string live_line(std::string_view what, const std::vector<std::string>& facts) const;
  void erase_transient_line();
  void begin_step(std::string what, std::string agent = {});  // from now on, ticks report it
  void end_of_agent_output();
  void write(std::string_view bytes);
  void write_error(std::string_view bytes);
  std::string stamped(std::string_view text, bool at_line_start) const;  // with the time before every line, if enabled
  // The whole text, safe to print, wrapped between words on a terminal. `used`: columns already taken.
  std::string whole(std::string_view text, size_t used) const;
  // "3 iterations" or, in a task, "3 attempts".
  std::string iterations(std::int64_t count) const;
  std::string iteration_title() const;
  // Joins facts with `between`, wrapped to the terminal's width.
  std::string wrap_facts(const std::vector<std::string>& facts, std::string_view between) const;
  // One line of foreign text, safe to print, cut at the terminal's edge. `used`: columns already taken.
  std::string clean(std::string_view text, size_t used = 0) const;

  ConsoleOptions options_;
  ConsoleStream out_{STDOUT_FILENO}, err_{STDERR_FILENO};
  TerminalFilter out_filter_, err_filter_;
  EventFormatter formatter_;
  bool at_line_start_ = true;
  bool transient_ = false;
  bool colored_ = false;  // the agent has used colours since our last line
  bool error_line_start_ = true;
  std::string step_;        // what is running; empty: nothing
  std::string tool_;        // of the agent that is running
  std::string waits_for_;   // why nothing is running
  std::string turn_agent_;  // whose turn the step is; empty: it is not a turn
  std::string run_id_, agent_;
  std::int64_t max_iterations_ = 0, iteration_ = 0;
  const Progress* progress_ = nullptr;  // as of the last record
};

}  // namespace ralph
