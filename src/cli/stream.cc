// ralph stream: translates an agent's stream into ralph's events.
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "agents/event_json.h"
#include "agents/registry.h"
#include "base/text.h"
#include "cli/registry.h"
#include "os/clock.h"
#include "os/files.h"
#include "ui/event_formatter.h"

namespace ralph::cli {
namespace {

constexpr size_t kPiece = 256 << 10;  // bytes per read and write

// Prints events as lines of JSON, or as text. Counts what it does not understand, for a message at the end.
class Output final : public EventSink {
 public:
  explicit Output(bool pretty) {
    if (!pretty) return;
    const Style style = style_for(STDOUT_FILENO, Environment::of_this_process());
    FormatOptions options;
    options.emoji = style.unicode;
    formatter_.emplace(
        options, style, [this](std::string_view bytes) { out_.append(bytes); }, [this] { return clock_.wall(); });
  }

  void on_event(const AgentEvent& event) override {
    if (const auto* unknown = std::get_if<event::Unknown>(&event)) {
      ++(unknown->type.empty() ? not_events_ : unknown_);
    }
    if (formatter_) {
      formatter_->on_event(event);
    } else {
      append_event_line(out_, event);
    }
  }

  void finish() {
    if (formatter_) formatter_->finish();
    flush();
  }

  void flush() { out_.flush(); }

  const Status& status() const { return status_; }
  size_t unknown() const { return unknown_; }
  size_t not_events() const { return not_events_; }

 private:
  void write(std::string_view bytes) {
    if (status_) status_ = write_all(STDOUT_FILENO, bytes, "standard output");
  }

  ByteBuffer out_{kPiece, [this](std::string_view bytes) { write(bytes); }};
  Status status_;
  SystemClock clock_;
  std::optional<EventFormatter> formatter_;
  size_t unknown_ = 0;
  size_t not_events_ = 0;
};

Status pass_through(AgentStream& stream, Output& output) {
#ifdef F_SETPIPE_SZ
  // A larger pipe means fewer context switches. May fail: standard input need not be a pipe.
  (void)::fcntl(STDIN_FILENO, F_SETPIPE_SZ, kPiece);
#endif
  const auto piece = std::make_unique_for_overwrite<char[]>(kPiece);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.get(), kPiece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorKind::kIo, "cannot read standard input: {}", errno_text(errno));
    if (got == 0) break;
    stream.feed({piece.get(), static_cast<size_t>(got)}, output);
    // A short read means that no more input is waiting: flush.
    if (static_cast<size_t>(got) < kPiece / 4) output.flush();
    if (!output.status()) return output.status();
  }
  stream.finish(output);
  output.finish();
  return output.status();
}

Result<int> translate(const Arguments& arguments) {
  const std::string agent = to_lower(arguments.value("agent").value_or(""));
  auto parser = make_line_parser(agent);
  if (!parser) return fail(ErrorKind::kUsage, "ralph stream needs --agent: one of {}", kAgentChoices);
  const auto stream = make_json_stream(std::move(parser));
  Output output(arguments.has("pretty"));
  TRY(pass_through(*stream, output));
  std::vector<std::string> odd;
  if (output.unknown() > 0) odd.push_back(count_of(output.unknown(), "event"));
  if (output.not_events() > 0) odd.push_back(count_of(output.not_events(), "line"));
  if (!odd.empty()) fmt::print(stderr, "ralph: not understood: {}\n", join_for_people(odd));
  return 0;
}

constexpr std::array kOptions = {
    Option{"agent", 'a', "NAME", "The agent that printed the stream.", false, false, kAgentChoices},
    Option{"pretty", 'p', "", "Print readable text, like the console of a run."},
};

}  // namespace

const Command kStream = {
    "stream",
    "Translate an agent's stream into ralph's events.",
    "Reads the output of an agent's streaming mode from standard input and prints its events as lines of JSON, in the\n"
    "same format for every agent (see docs/formats/events.md). Lines that are not understood are counted, never fatal.",
    "claude -p hello --output-format stream-json --verbose | ralph stream --agent claude --pretty\n"
    "ralph stream --agent codex < .ralph/runs/20261115-202233-7f3a/agent_1.out",
    kOptions,
    {},
    translate,
};

}  // namespace ralph::cli
