#include "engine/turn.h"

#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/commit_message.h"
#include "engine/turn_outcome.h"
#include "engine/turn_reader.h"
#include "journal/raw_file.h"
#include "journal/stream_space.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kErrorTail = 4096;
constexpr size_t kMostAnswerBytes = 16 << 20;  // in a file; a longer one is not an answer

struct FileNames {
  std::string prompt, out, err, answer;
};

FileNames names_for(const TurnRequest& request, int iteration) {
  const bool work = request.purpose == Purpose::kWork;
  const std::string tail =
      request.attempt > 1 ? fmt::format("{}_{}", iteration, request.attempt) : std::to_string(iteration);
  const std::string stem = fmt::format("{}_{}", work ? "agent" : "commit_message", tail);
  return {work ? fmt::format("prompt_{}.txt", tail) : stem + ".prompt.txt", stem + ".out", stem + ".err",
          stem + ".answer"};
}

class BothSinks : public EventSink {
 public:
  BothSinks(EventSink& first, EventSink* second) : first_(first), second_(second) {}
  void on_event(const AgentEvent& event) override {
    first_.on_event(event);
    if (second_) second_->on_event(event);
  }

 private:
  EventSink& first_;
  EventSink* second_;
};

// An upper bound for the streams that this process's turns have left in the run's folder, so that a run of a thousand
// turns does not list all streams in each one. A process drives one run.
class StreamsLeft {
 public:
  std::optional<std::int64_t> take(const std::string& folder) {
    return folder == std::exchange(folder_, {}) ? std::optional(bytes_) : std::nullopt;
  }
  void put(const std::string& folder, std::int64_t bytes) { folder_ = folder, bytes_ = bytes; }

 private:
  std::string folder_;  // empty: unknown, so the next turn lists them
  std::int64_t bytes_ = 0;
};

StreamsLeft& streams_left() {
  static StreamsLeft left;
  return left;
}

// The prompt that this process wrote last. Most turns get the same one again: then its file gets one more name, which
// needs no inode.
class LastPrompt {
 public:
  Status write(const std::string& path, std::string text) {
    if (file_ && text == text_ && file_->holds(text_) && file_->link_at(path)) return {};
    TRY_VALUE(file_, RawFile::create(path));
    text_ = std::move(text);
    return file_->append(text_);
  }

 private:
  std::optional<RawFile> file_;
  std::string text_;
};

LastPrompt& last_prompt() {
  static LastPrompt last;
  return last;
}

// One turn and its state.
class Turn {
 public:
  Turn(Run& run, const Agent& agent, const TurnRequest& request)
      : run_(run),
        agent_(agent),
        request_(request),
        iteration_(run.progress().iteration),
        names_(names_for(request, iteration_)),
        work_(request.purpose == Purpose::kWork),
        events_(agent.prints_events(request.events)),
        answer_file_(!events_ && agent.adapter().writes_answer ? in_run_folder(names_.answer) : ""),
        sinks_(work_ && events_ ? static_cast<EventSink&>(run.listener) : null_sink_, request.recorder),
        reader_(request.earlier_prompts.empty() ? request.prompt : request.earlier_prompts + "\n" + request.prompt,
                sinks_, work_ && run.policy.promise ? std::string_view(run.policy.completion_response) : ""),
        space_(run.folder, run.policy.max_stream_bytes, streams_left().take(run.folder), {names_.out, names_.err}) {}

  Result<TurnEnd> run() {
    TRY(write_hooks());
    Launch launch = agent_.launch(request_.prompt, options(), {{"RALPH_ITERATION", std::to_string(iteration_)}});
    if (!answer_file_.empty()) launch.writes.push_back(answer_file_);
    if (request_.change) launch = request_.change(std::move(launch));
    if (request_.recorder) {
      TRY_VALUE(const TurnFiles files, request_.recorder->begin(launch, request_.prompt, agent_.name()));
      names_.prompt = files.prompt, names_.out = files.out, names_.err = files.err;
      // Created before the agent starts: an attempt's folder is the agent's own, which may remove it at once.
      TRY_VALUE(out_file_, RawFile::create(in_run_folder(names_.out)));
      TRY_VALUE(err_file_, RawFile::create(in_run_folder(names_.err)));
    }
    TRY(last_prompt().write(in_run_folder(names_.prompt), run_.redactor.redact(request_.prompt)));
    TRY(note_start(launch));
    const std::string glimpse = run_.redactor.redact(prefix_of_characters(request_.prompt, 200));
    run_.listener.on_detail(
        fmt::format("Prompt ({}): {}", human_bytes(request_.prompt.size()), fit_to_width(glimpse, 200)));

    if (request_.keep_words) reader_.keep_final_words();
    UsedBefore before;
    if (request_.resume) before = {request_.resume->tokens, request_.resume->cost_usd};
    stream_ = agent_.make_stream(request_.events, before);
    StepRequest step;
    step.launch = launch;
    step.moment = Moment::kDuringTurn;
    step.limit = run_.policy.agent_time_limit;
    step.kind = StepKind::kAgent;
    step.on_output = [this](StreamName stream, std::string_view bytes) {
      return stream == StreamName::kErr ? on_error_output(bytes) : on_output(bytes);
    };
    step.observe = [this](Observation& now, MonotonicTime time) { reader_.observe(now, time); };
    step.has_news = [this] { return reader_.take_news(); };
    step.on_started = [this](int pid) { return on_started(pid); };
    const Result<StepEnd> ran = run_step(run_, step);
    if (!ran && may_start_later(ran.error())) return note_not_started(ran.error());
    if (!ran) TRY(tell_recorder(not_started(ran.error())));
    TRY_VALUE(const StepEnd end, ran);
    streams_left().put(run_.folder, space_.total());
    if (!answer_file_.empty()) read_answer();
    if (space_.dropped() > 0) {
      run_.listener.on_detail(
          fmt::format("Raw output: {} of this run dropped, the newest is kept (journal.maxStreamMb)",
                      human_bytes(static_cast<size_t>(space_.dropped()))));
    }
    stream_->finish(reader_);
    reader_.finish();

    const TurnJudgement judged = judge_turn(
        {end, reader_, agent_.adapter(), agent_.name(), error_tail_, events_ && agent_.ends_with_result(), work_});
    TRY(note_end(end, judged));
    return TurnEnd{judged.outcome, judged.reason};
  }

 private:
  TurnOptions options() const {
    TurnOptions options;
    options.events = request_.events;
    options.answer_file = answer_file_;
    if (!agent_.hooks_text().empty()) options.hooks_file = hooks_file();
    if (request_.resume) options.resume = request_.resume->id;
    const double limit = run_.policy.max_cost_usd;
    // Never 0: decide() has already ruled out a spent budget.
    if (limit > 0) options.max_cost_usd = std::max(limit - run_.progress().cost_usd, 0.0001);
    return options;
  }

  std::string hooks_file() const { return in_run_folder(std::string(agent_.adapter().hooks.file)); }

  // Rewritten for each turn, so an agent gains nothing by changing the file.
  Status write_hooks() const {
    if (agent_.hooks_text().empty()) return {};
    return write_file_atomically(hooks_file(), agent_.hooks_text());
  }

  // An agent that has already worked in this run may just be updating itself.
  bool may_start_later(const Error& error) const {
    return error.kind == ErrorKind::kBusy || (error.kind == ErrorKind::kNotFound && run_.progress().totals.turns > 0);
  }

  record::AgentEnded not_started(const Error& error) const {
    record::AgentEnded ended;
    ended.outcome = TurnOutcome::kNotStarted;
    ended.reason = error.message;
    ended.exit_code = -1;
    return ended;
  }

  Status tell_recorder(const record::AgentEnded& ended) {
    return request_.recorder ? request_.recorder->ended(ended) : Status{};
  }

  Result<TurnEnd> note_not_started(const Error& error) {
    TRY(tell_recorder(not_started(error)));
    TRY(run_.note(ended_record({}, {TurnOutcome::kNotStarted, error.message})));
    return TurnEnd{TurnOutcome::kNotStarted, error.message};
  }

  std::string in_run_folder(const std::string& name) const { return join_path(run_.folder, name); }

  // Reads the agent's last words from the file. Its output shows the steps towards them, and counts only if the file is
  // missing or blank. The agent writes the file itself, with secrets in clear, so it is deleted.
  void read_answer() {
    const std::string answer = run_.redactor.redact(read_without_links(answer_file_, kMostAnswerBytes).value_or(""));
    ::unlink(answer_file_.c_str());
    if (!trim(answer).empty()) return stream_->feed(answer, reader_);
    const Fd output(::open(out_file_->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    char bytes[64 * 1024];
    for (ssize_t n = 0; output && (n = ::read(output.get(), bytes, sizeof bytes)) > 0;)
      stream_->feed(std::string_view(bytes, static_cast<size_t>(n)), reader_);
  }

  // The file for the output is created while the agent starts, which takes longer.
  Status on_started(int pid) {
    if (!out_file_) {
      TRY_VALUE(out_file_, RawFile::create(in_run_folder(names_.out)));
    }
    return request_.recorder ? request_.recorder->started(pid) : Status{};
  }

  Status on_output(std::string_view bytes) {
    output_bytes_ += static_cast<std::int64_t>(bytes.size());
    TRY(space_.append(*out_file_, bytes));
    reader_.arrived_at(run_.clock.monotonic());
    if (answer_file_.empty()) stream_->feed(bytes, reader_);
    if (work_ && !events_) run_.listener.on_agent_output(bytes);
    return {};
  }

  Status on_error_output(std::string_view bytes) {
    if (!err_file_) {  // created on the first byte: most turns print no errors
      TRY_VALUE(err_file_, RawFile::create(in_run_folder(names_.err)));
    }
    TRY(space_.append(*err_file_, bytes));
    error_tail_ += bytes.substr(bytes.size() - std::min(bytes.size(), kErrorTail));
    if (error_tail_.size() > kErrorTail) error_tail_.erase(0, error_tail_.size() - kErrorTail);
    run_.listener.on_agent_error_output(bytes);
    return {};
  }

  Status note_start(const Launch& launch) {
    record::AgentStarted started;
    started.iteration = iteration_;
    started.attempt = request_.attempt;
    started.purpose = request_.purpose;
    started.agent = agent_.name();
    if (request_.resume) started.resumes = request_.resume->id;
    started.prompt_file = names_.prompt;
    started.prompt_bytes = static_cast<std::int64_t>(request_.prompt.size());
    started.stdout_file = names_.out;
    started.stderr_file = names_.err;
    started.argv = launch.argv;
    // The prompt has its own file; two megabytes of it in argv would make the journal unreadable.
    if (!request_.prompt.empty() && started.argv.back().ends_with(request_.prompt)) started.argv.back() = "<prompt>";
    return run_.note(std::move(started));
  }

  Status note_end(const StepEnd& end, const TurnJudgement& judged) {
    const record::AgentEnded ended = ended_record(end, judged);
    TRY(tell_recorder(ended));
    return run_.note(ended);
  }

  record::AgentEnded ended_record(const StepEnd& end, const TurnJudgement& judged) const {
    record::AgentEnded ended;
    ended.iteration = iteration_;
    ended.attempt = request_.attempt;
    ended.purpose = request_.purpose;
    ended.agent = agent_.name();
    ended.outcome = judged.outcome;
    ended.reason = judged.reason;
    ended.exit_code = end.status.code;
    ended.signal = end.status.signal;
    ended.duration_ms = end.duration.count();
    ended.output_bytes = output_bytes_;
    ended.response = reader_.response();
    ended.mentioned = reader_.mentioned();
    if (judged.outcome == TurnOutcome::kUsageLimit && reader_.resets_at())
      ended.resets_at = to_iso8601(*reader_.resets_at());
    reader_.fill_in(ended);
    if (!work_ && judged.outcome == TurnOutcome::kOk)
      ended.message = commit_message_from(reader_.answer(), reader_.response()).value_or("");
    return ended;
  }

  Run& run_;
  const Agent& agent_;
  const TurnRequest& request_;
  int iteration_;
  FileNames names_;
  bool work_, events_;
  std::string answer_file_;  // where the agent writes its last words; empty: they are in its output
  NullSink null_sink_;
  BothSinks sinks_;
  TurnReader reader_;
  std::unique_ptr<AgentStream> stream_;
  StreamSpace space_;
  std::optional<RawFile> out_file_, err_file_;
  std::string error_tail_;
  std::int64_t output_bytes_ = 0;
};

}  // namespace

Result<TurnEnd> run_turn(Run& run, const Agent& agent, const TurnRequest& request) {
  return Turn(run, agent, request).run();
}

}  // namespace ralph
