// A shell word before expansion: characters with their origins, so that braces, `~` and splitting affect only those
// that a shell would expand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ralph {

enum class UnitKind : unsigned char {
  kPlain,     // typed without quotes
  kQuoted,    // typed in quotes, or expanded within them
  kSplit,     // from an unquoted expansion: blanks in it separate words
  kUnknown,   // an unknown part
  kBreak,     // a word ends here ("${a[@]}")
  kKeep,      // there were quotes: the word exists even if it is empty
  kEachOpen,  // one of several values, like {a,b}, but from a loop
  kEachNext,
  kEachClose,
};

struct Unit {
  char c = 0;
  UnitKind kind = UnitKind::kPlain;

  bool operator==(const Unit&) const = default;
};
using Units = std::vector<Unit>;

struct Surroundings {
  std::string_view home, cwd;
  std::string_view separators;  // $IFS
};

// Expands units to words: braces and choices multiply, `~` is resolved, blanks from expansions separate words. Sets
// `overflow` if there are too many words; the result is then incomplete.
std::vector<std::string> words_of(const Units& units, const Surroundings& around, bool& overflow);

// Expands to one word, as in an assignment or after `>`: nothing is split, and the first of several choices is used.
std::string text_of(const Units& units, const Surroundings& around);

// The same, with one word per choice.
std::vector<std::string> choices_of(const Units& units, const Surroundings& around, bool& overflow);

}  // namespace ralph
