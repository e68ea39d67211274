#include "engine/resume.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "engine/turn_reader.h"
#include "journal/reader.h"
#include "os/files.h"

namespace ralph {
namespace {

tl::unexpected<Error> cannot_resume(const std::string& id, const std::string& why) {
  return fail(ErrorKind::kUsage, "run {} can't be resumed: {}", id, why);
}

// The time of the last write to a file; the epoch if there is none.
WallTime last_write(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return WallTime(std::chrono::duration_cast<Milliseconds>(std::chrono::seconds(info.st_mtim.tv_sec) +
                                                           std::chrono::nanoseconds(info.st_mtim.tv_nsec)));
}

// Feeds the attempt's stored stream to a reader. Returns its size.
std::int64_t read_stream(const std::string& path, AgentStream& stream, TurnReader& reader) {
  std::int64_t bytes = 0;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  std::string buffer(1 << 16, '\0');
  for (ssize_t got = 0; fd && (got = ::read(fd.get(), buffer.data(), buffer.size())) > 0;) {
    stream.feed({buffer.data(), static_cast<size_t>(got)}, reader);
    bytes += got;
  }
  stream.finish(reader);
  reader.finish();
  return bytes;
}

// The description of a limit that was reached, and the option that raises it.
struct LimitWords {
  std::string what, option;
};

// Doubles the limit, at least once, until it exceeds the amount spent.
template <class Number>
Number raised(Number limit, Number spent) {
  do limit = limit + limit;
  while (limit <= spent);
  return limit;
}

// Raises the limit in the policy, and describes that.
LimitWords raise(Limit limit, Policy& policy, const Progress& progress, Milliseconds run_time) {
  switch (limit) {
    case Limit::kNone:
      return {};
    case Limit::kIterations: {
      const int most = std::exchange(policy.max_iterations, raised(policy.max_iterations, progress.iteration));
      return {fmt::format("{} of {} iterations are done", progress.iteration, most),
              fmt::format("-n {}", policy.max_iterations)};
    }
    case Limit::kCost: {
      const double most = std::exchange(policy.max_cost_usd, raised(policy.max_cost_usd, progress.cost_usd));
      return {fmt::format("{} of {} are spent", human_cost(progress.cost_usd), human_cost(most)),
              fmt::format("--max-cost {:.12g}", policy.max_cost_usd)};
    }
    case Limit::kTokens: {
      const auto most = std::exchange(policy.max_tokens, raised(policy.max_tokens, progress.tokens.total()));
      return {fmt::format("{} of {} tokens are used", progress.tokens.total(), most),
              fmt::format("--max-tokens {}", policy.max_tokens)};
    }
    case Limit::kTime: {
      const Milliseconds most = std::exchange(policy.run_time_limit, raised(policy.run_time_limit, run_time));
      return {fmt::format("{} of {} are over", human_duration(run_time), human_duration(most)),
              fmt::format("--max-minutes {:.12g}", static_cast<double>(policy.run_time_limit.count()) / 60000)};
    }
  }
  return {};
}

// The same for all limits that were reached.
LimitWords raise_all(Policy policy, const Progress& progress, Milliseconds run_time) {
  std::vector<std::string> what, options;
  constexpr size_t kLimits = 4;
  while (options.size() < kLimits) {
    const Limit met = Run::limit_met(policy, progress, run_time);
    if (met == Limit::kNone) break;
    LimitWords words = raise(met, policy, progress, run_time);
    what.push_back(std::move(words.what));
    options.push_back(std::move(words.option));
  }
  return {join_for_people(what), join(options, " ")};
}

}  // namespace

std::string command_to_continue(const std::string& project, const std::string& id) {
  const std::string here = shell_directory();
  const std::string place =
      here == project || here.empty() ? "" : fmt::format("-C {} ", quote_shell_words(std::vector{project}));
  return fmt::format("ralph {}runs resume {}", place, id);
}

WayIn way_of(const RunFolder& folder) {
  auto reader = JournalReader::open(join_path(folder.path, kJournalFile));
  if (!reader) return WayIn::kUnknown;
  const auto first = reader->next();
  const auto* start = first && *first ? std::get_if<record::RunStarted>(&(*first)->body) : nullptr;
  return start ? start->way : WayIn::kUnknown;
}

Result<ResumePoint> read_resume_point(const RunFolder& folder, const std::string& seal) {
  const std::string path = join_path(folder.path, kJournalFile);
  TRY_VALUE(JournalReader reader, JournalReader::open(path));
  ResumePoint point;
  point.folder = folder;
  bool sealed = seal.empty(), started = false;
  Progress at_seal;
  int version = record::kVersion;
  for (;;) {
    TRY_VALUE(const auto record, reader.next());
    if (!record) break;
    version = record->version;
    if (version != record::kVersion) break;
    if (const auto* start = std::get_if<record::RunStarted>(&record->body)) {
      started = true;
      point.began = record->time;
      point.start = *start;
      point.arguments = {start->arguments};
      point.settings = start->settings;
      point.typed_in = start->folder;
      point.masked = start->masked;
    } else if (const auto* resumed = std::get_if<record::RunResumed>(&record->body)) {
      point.arguments.push_back(resumed->arguments);
      point.settings = resumed->settings;
      if (!resumed->folder.empty()) point.typed_in = resumed->folder;
      point.masked = resumed->masked;
    }
    point.progress = fold(std::move(point.progress), *record);
    if (reader.last_hash() != seal) continue;
    sealed = true;
    at_seal = point.progress;
  }
  if (!seal.empty() && reader.last_hash() != seal) point.progress.status = at_seal.status;
  if (version > record::kVersion)
    return cannot_resume(folder.id, "its journal was written by a newer version of ralph; use that one");
  if (version < record::kVersion)
    return cannot_resume(folder.id, "its journal was written by an older version of ralph, which recorded too little");
  if (!started) return cannot_resume(folder.id, "it was ended before it began");
  if (point.start.way == WayIn::kSession) {
    return cannot_resume(
        folder.id, "it is a loop in an agent's session, which goes on in that session; 'ralph loop status' shows it");
  }
  if (point.progress.status == StopStatus::kComplete) return cannot_resume(folder.id, "it is complete");
  if (point.progress.repository_is_gone())
    return cannot_resume(folder.id,
                         "it ended because its repository was deleted, replaced or damaged; restore that from a backup "
                         "or from a clone, then start a new run");
  if (!reader.is_whole() || !sealed) {
    return cannot_resume(
        folder.id, fmt::format("{} is not as ralph wrote it{}", path,
                               sealed ? fmt::format(" ({})", join(reader.problems(), "; ")) : ": records are missing"));
  }
  return point;
}

Status check_limits(const ResumePoint& point, const Policy& policy) {
  if (!point.progress.completed.empty()) return {};  // only the record of its end is missing
  const LimitWords words = raise_all(policy, point.progress, point.progress.run_time);
  if (words.option.empty()) return {};
  return cannot_resume(
      point.folder.id,
      fmt::format("it is at its limit, {}; give a higher one, which counts from the run's beginning: "
                  "{} {}",
                  words.what, command_to_continue(point.start.project, point.folder.id), words.option));
}

std::string resume_command(const Run& run, StopStatus status) {
  const Progress& progress = run.progress();
  const bool has_begun = progress.totals.turns > 0 || progress.running;  // still in its first turn
  if (status == StopStatus::kComplete || !has_begun) return {};
  const std::string option = raise_all(run.policy, progress, run.time_spent()).option;
  const std::string command = command_to_continue(run.project, run.id);
  return option.empty() ? command : fmt::format("{} {}", command, option);
}

WallTime last_sign_of_life(const Run& run) {
  const Progress& progress = run.progress();
  WallTime last = progress.last_record;
  if (!progress.running) return last;
  for (const std::string& file : {progress.running->stdout_file, progress.running->stderr_file})
    last = std::max(last, last_write(join_path(run.folder, file)));
  return std::min(last, std::max(run.clock.wall(), progress.last_record));  // a file's time can be set to anything
}

Status close_killed_attempt(Run& run, Agents agents, bool events, WallTime until) {
  const auto attempt = run.progress().running;
  if (!attempt) return {};
  record::AgentEnded ended;
  ended.iteration = run.progress().iteration;
  ended.attempt = attempt->number;
  ended.purpose = attempt->purpose;
  ended.agent = attempt->agent;
  ended.outcome = TurnOutcome::kInterrupted;
  ended.reason = "it was killed together with ralph";
  ended.duration_ms = std::max<Milliseconds>(until - attempt->started, Milliseconds(0)).count();
  const auto agent =
      std::find_if(agents.begin(), agents.end(), [&](const Agent& one) { return one.name() == attempt->agent; });
  if (agent != agents.end()) {
    UsedBefore before;
    for (const auto& session : {run.progress().session, run.progress().last_session})
      if (session && session->id == attempt->resumes) before = {session->tokens, session->cost_usd};
    const auto stream = agent->make_stream(events, before);
    NullSink nobody;
    TurnReader reader("", nobody, "");
    ended.output_bytes = read_stream(join_path(run.folder, attempt->stdout_file), *stream, reader);
    reader.fill_in(ended);
  }
  return run.note(std::move(ended));
}

}  // namespace ralph
