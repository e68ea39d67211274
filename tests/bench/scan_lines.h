// Times one pass over an in-memory file of JSON lines: how long it takes to find the texts of the agent's messages.
// Prints "NANOSECONDS COUNT", where COUNT is the number of bytes of text found, so that readers can be compared.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <time.h>

inline long long processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

template <class Read>
int time_reading(int argc, char** argv, size_t padding, Read read) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t size = text.size();
  text.resize(size + padding, ' ');
  read(text.data(), size);  // warms up memory and caches
  const long long start = processor_time();
  const std::uint64_t found = read(text.data(), size);
  std::printf("%lld %llu\n", processor_time() - start, static_cast<unsigned long long>(found));
  return 0;
}
