#include "base/simple_pattern.h"

#include <bitset>
#include <vector>

#include "base/text.h"

namespace ralph {
namespace {

struct Step {
  std::bitset<256> bytes;
  bool optional = false;  // ? or *
  bool repeated = false;  // + or *
};

using Steps = std::vector<Step>;

size_t index_of(char c) {
  return static_cast<unsigned char>(c);
}

void add_range(std::bitset<256>& bytes, char from, char to) {
  for (size_t i = index_of(from); i <= index_of(to); ++i) bytes.set(i);
}

std::bitset<256> escaped(char c) {
  std::bitset<256> bytes;
  switch (c) {
    case 's':
    case 'S':
      for (const char blank : std::string_view(" \t\r\n\v\f")) bytes.set(index_of(blank));
      return c == 's' ? bytes : ~bytes;
    case 'w':
      add_range(bytes, 'a', 'z');
      add_range(bytes, 'A', 'Z');
      bytes.set(index_of('_'));
      [[fallthrough]];
    case 'd':
      add_range(bytes, '0', '9');
      return bytes;
    default:
      return bytes.set(index_of(c));
  }
}

// Reads one set, from after its '[' to after its ']'.
Result<std::bitset<256>> read_set(std::string_view pattern, size_t& at) {
  std::bitset<256> bytes;
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  while (at < pattern.size() && pattern[at] != ']') {
    const char c = pattern[at++];
    if (c == '\\' && at < pattern.size()) {
      bytes |= escaped(pattern[at++]);
    } else if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      add_range(bytes, c, pattern[at + 1]);
      at += 2;
    } else {
      bytes.set(index_of(c));
    }
  }
  if (at >= pattern.size()) return fail(ErrorKind::kInternal, "pattern {}: [ is not closed", pattern);
  ++at;
  return negated ? ~bytes : bytes;
}

Result<Steps> read_steps(std::string_view pattern) {
  Steps steps;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at++];
    Step step;
    if (c == '[') {
      TRY_VALUE(step.bytes, read_set(pattern, at));
    } else if (c == '\\' && at < pattern.size()) {
      step.bytes = escaped(pattern[at++]);
    } else if (c == '.') {
      step.bytes.set();
    } else if (contains("(){}|^$*+?\\", c)) {
      return fail(ErrorKind::kInternal, "pattern {}: '{}' is not supported here", pattern, c);
    } else {
      step.bytes.set(index_of(c));
    }
    if (at < pattern.size() && contains("*+?", pattern[at])) {
      step.optional = pattern[at] != '+';
      step.repeated = pattern[at] != '?';
      ++at;
    }
    steps.push_back(step);
  }
  return steps;
}

// Tracks all possible positions in the pattern at once, so the time is linear in the text.
class Places {
 public:
  explicit Places(const Steps& steps) : steps_(steps), here_(steps.size() + 1, false) {}

  void enter(size_t step) {
    for (here_[step] = true; step < steps_.size() && steps_[step].optional; here_[step] = true) ++step;
  }

  void advance(char c) {
    Places next(steps_);
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!here_[i] || !steps_[i].bytes.test(index_of(c))) continue;
      next.enter(i + 1);
      if (steps_[i].repeated) next.here_[i] = true;
    }
    here_.swap(next.here_);
  }

  bool at_end() const { return here_.back(); }

 private:
  const Steps& steps_;
  std::vector<bool> here_;
};

}  // namespace

Result<bool> matches_pattern(std::string_view text, std::string_view pattern) {
  const std::string_view whole = pattern;
  const bool from_start = pattern.starts_with('^');
  if (from_start) pattern.remove_prefix(1);
  const bool to_end = pattern.ends_with('$') && !whole.ends_with("\\$");
  if (to_end) pattern.remove_suffix(1);
  TRY_VALUE(const Steps steps, read_steps(pattern));

  Places places(steps);
  places.enter(0);
  for (const char c : text) {
    if (!to_end && places.at_end()) return true;
    places.advance(c);
    if (!from_start) places.enter(0);
  }
  return places.at_end();
}

}  // namespace ralph
