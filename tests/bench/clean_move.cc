// Times moving a clean checkout from one commit to the next, alternating with `git checkout` of the same commits in the
// repository that they come from: clean_move REPOSITORY ROOM COMMIT... Prints a line of four numbers, in nanoseconds,
// for each commit: wall-clock time of ours and of git, processor time of ours and of git, over all processes.
#include <chrono>
#include <cstdio>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "git/clean_checkout.h"

namespace {

using ralph::Environment;
using ralph::Git;
using ralph::GitPlace;

struct Spent {
  long long clock, processor;
};

long long processor_time() {
  long long microseconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) microseconds += time.tv_sec * 1'000'000 + time.tv_usec;
  }
  return microseconds * 1000;
}

template <class Work>
Spent spent(Work work) {
  const auto start = std::chrono::steady_clock::now();
  const long long before = processor_time();
  work();
  return {std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count(), processor_time() - before};
}

Git make_git(GitPlace place, std::vector<std::pair<std::string, std::string>> variables) {
  Environment environment = Environment::of_this_process();
  for (auto& [name, value] : variables) environment.set(name, value);
  return ralph::plain_git(std::move(place), std::move(environment));
}

int run(const std::string& repository, const std::string& room, const std::vector<std::string>& commits) {
  ralph::CleanCheckout checkout(room, repository, make_git);
  const Git git = ralph::plain_git(repository);
  bool good = true;
  for (const std::string& commit : commits) {
    const Spent bare = spent([&] {
      const auto end = git({"-c", "advice.detachedHead=false", "checkout", "-q", "--detach", commit});
      good = good && end && end->code == 0;
    });
    const Spent ours = spent([&] {
      const auto moved = checkout.move_to(commit, "", {});
      if (!moved) std::fprintf(stderr, "%s\n", moved.error().message.c_str());
      good = good && moved;
    });
    if (&commit == &commits.front()) continue;  // the first move clones
    std::printf("%lld %lld %lld %lld\n", ours.clock, bare.clock, ours.processor, bare.processor);
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) return std::fprintf(stderr, "usage: clean_move REPOSITORY ROOM COMMIT COMMIT...\n"), 2;
  return run(words[1], words[2], {words + 3, words + count});
}
