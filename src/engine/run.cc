#include "engine/run.h"

#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr Milliseconds kNotablePause{10'000};

}  // namespace

Run::Run(const RunFolder& run_folder, Policy the_policy, RunParts parts)
    : policy(std::move(the_policy)),
      processes(parts.processes),
      clock(parts.clock),
      redactor(parts.redactor),
      listener(parts.listener),
      shelter(parts.shelter),
      project(std::move(parts.project)),
      id(run_folder.id),
      folder(run_folder.path),
      store(parts.store.empty() ? join_path(run_folder.path, "watched") : std::move(parts.store)),
      lsp_socket(std::move(parts.lsp_socket)),
      environment(std::move(parts.environment)),
      on_record_(std::move(parts.on_record)),
      seal_(std::move(parts.seal)),
      opened_(clock.monotonic()),
      random_(static_cast<std::uint64_t>(::getpid()) * 7919U +
              static_cast<std::uint64_t>(clock.wall().time_since_epoch().count())) {}

Result<Run> Run::open(const RunFolder& folder, Policy policy, RunParts parts) {
  const bool has_seal = !parts.seal.empty();
  const std::string seal = has_seal ? std::string(trim(read_file(parts.seal).value_or(""))) : "";
  Run run(folder, std::move(policy), std::move(parts));
  std::optional<Progress> sealed;
  if (seal.empty()) sealed.emplace();
  TRY_VALUE(JournalWriter writer, JournalWriter::open(
                                      folder.path, run.redactor, [&clock = run.clock] { return clock.wall(); },
                                      [&](const record::Record& record) {
                                        if (!seal.empty() && record.prev == seal) sealed = run.progress_;
                                        run.progress_ = fold(std::move(run.progress_), record);
                                        if (run.on_record_) run.on_record_(record);
                                      }));
  if (writer.last_hash() == seal) sealed = run.progress_;
  if (has_seal && (!sealed || !writer.found().empty())) {
    return fail(
        ErrorKind::kInput,
        "{} is not as ralph wrote it ({}), so nothing that it says about the work can be believed; move it away "
        "to begin anew",
        writer.path(), sealed ? join(writer.found(), "; ") : "records are missing");
  }
  if (has_seal && writer.last_hash() != seal) run.sealed_ = std::move(sealed);
  run.writer_ = std::move(writer);
  run.spent_before_ = run.progress_.run_time;
  run.resumed_ = run.progress_.last_record != WallTime{};
  return run;
}

Result<Run> Run::open_session(const RunFolder& folder, Policy policy, RunParts parts, Milliseconds patience) {
  Run run(folder, std::move(policy), std::move(parts));
  TRY_VALUE(JournalWriter writer, JournalWriter::open_at_tail(
                                      folder.path, run.redactor, [&clock = run.clock] { return clock.wall(); },
                                      [&](const record::Record& record) {
                                        const auto* decided = std::get_if<record::Decided>(&record.body);
                                        run.progress_ = decided && decided->progress
                                                            ? from_json<Progress>(*decided->progress)
                                                            : fold(std::move(run.progress_), record);
                                      },
                                      patience));
  run.writer_ = std::move(writer);
  run.spent_before_ = run.progress_.run_time;
  run.carries_progress_ = true;
  return run;
}

Run Run::read_only(Policy policy, RunParts parts) {
  return Run({}, std::move(policy), std::move(parts));
}

Status Run::note(record::Body body) {
  if (!writer_) return {};
  record::Record written = writer_->stamp(std::move(body));
  // A session's run goes on between two hooks, when no process of ralph could count.
  if (!carries_progress_) written.run_time = time_spent();
  Progress next = fold(progress_, written);
  if (auto* decided = std::get_if<record::Decided>(&written.body); decided && carries_progress_)
    decided->progress = brief_json(next);
  TRY(writer_->write(written));
  progress_ = std::move(next);
  if (std::holds_alternative<record::RunResumed>(written.body)) {
    spent_before_ = progress_.run_time;
    opened_ = clock.monotonic();
  }
  if (on_record_) on_record_(written);
  listener.on_record(written, progress_);
  return {};
}

Status Run::note_pause() {
  if (!writer_ || progress_.last_record == WallTime{}) return {};
  const Milliseconds lost = clock.wall() - progress_.last_record - (time_spent() - progress_.run_time);
  return lost < kNotablePause ? Status{} : note(record::RunPaused{lost.count()});
}

void Run::list_unsealed_claims(record::RunResumed& resumed) const {
  if (sealed_) ralph::list_unsealed_claims(resumed, progress_, *sealed_);
}

Status Run::sync() {
  if (!writer_) return {};
  TRY(writer_->sync());
  seal_.set(writer_->last_hash());
  return {};
}

Status Run::await_files(const std::vector<std::string>& paths, std::function<bool()> arrived) {
  arrived_ = std::move(arrived);
  for (const std::string& path : paths) {
    const Status watched = processes.watch_file(path);
    if (watched) continue;
    polls_ = true;
    listener.on_trouble(
        fmt::format("{}; checking every {} instead", watched.error().message, human_duration(policy.file_poll)));
    break;
  }
  return {};
}

Observation Run::look(Observation observation) const {
  observation.clock.run_time = time_spent();
  observation.clock.now = clock.wall();
  observation.signals.file_appeared = awaited_file_is_there();
  if (look_) look_(observation);
  return observation;
}

bool Run::is_in_project() const {
  return !policy.task;
}

Milliseconds Run::time_spent() const {
  return spent_before_ + since(opened_);
}

Result<Decision> Run::ask(Observation observation) {
  observation = look(std::move(observation));
  // Sixteenths are enough for jitter, and survive a round trip through the journal unchanged.
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // not <random>: every file would compile it
  observation.clock.random = static_cast<double>((random_ >> 33) % 17) / 16.0;
  Decision decision = decide(policy, progress_, observation);
  // A plain transition to the next step is not recorded.
  if (decision.action == Action::kContinue && decision.reason.empty()) return decision;
  record::Decided note;
  note.iteration = progress_.iteration;
  note.moment = observation.moment;
  note.rule = decision.rule;
  note.decision = decision.action;
  note.status = decision.status;
  note.reason = decision.reason;
  note.delay_ms = decision.delay.count();
  note.observation = brief_json(observation);
  TRY(this->note(std::move(note)));
  return decision;
}

Limit Run::limit_met(const Policy& policy, Progress progress, Milliseconds run_time) {
  // As in drive(): earlier signals are forgotten, and only a successful turn has checks to run before the next one.
  progress.stop_requests = 0;
  progress.living_agent.reset();
  if (progress.turn_outcome != TurnOutcome::kOk) progress.turn_outcome = TurnOutcome::kNone;
  Observation observation;
  observation.moment = progress.iteration_open ? Moment::kAfterTurn : Moment::kBeforeIteration;
  observation.clock.run_time = run_time;
  return decide(policy, progress, observation).limit;
}

std::optional<Milliseconds> Run::time_until_change(Observation observation) const {
  return ralph::time_until_change(policy, progress_, look(std::move(observation)));
}

}  // namespace ralph
