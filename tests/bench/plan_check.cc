// Times reading a task list as JSON and running all its checks, alternately: plan_check BEFORE AFTER REPETITIONS.
// Prints a line "nanoseconds nanoseconds" for each turn, then how many problems the checks found.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "os/files.h"
#include "plan/check.h"

namespace {

using ralph::CheckRequest;

template <class Work>
long long nanoseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

int run(const std::string& before_path, const std::string& after_path, int repetitions) {
  const auto before = ralph::read_file(before_path);
  const auto after = ralph::read_file(after_path);
  if (!before || !after) return 1;
  const auto known = ralph::read_tasks(*before, before_path).tasks;
  if (!known) return 1;
  CheckRequest request{*after, after_path};
  request.before = ralph::before_from(*known);
  request.rules = ralph::ReviewRules{ralph::Mode::kReview, known->stories.front().id, false, 5};
  request.uncommitted.emplace();
  size_t problems = 0;
  for (int i = 0; i < repetitions; ++i) {
    const long long parse = nanoseconds([&] {
      if (!ralph::parse_json(*after, after_path)) std::abort();
    });
    const long long check = nanoseconds([&] { problems = ralph::check_plan(request).problems.size(); });
    std::printf("%lld %lld\n", parse, check);
  }
  std::printf("%zu\n", problems);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: plan_check BEFORE AFTER REPETITIONS\n");
    return 2;
  }
  return run(argv[1], argv[2], static_cast<int>(std::strtol(argv[3], nullptr, 10)));
}
