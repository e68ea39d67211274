// A word of a shell on its way from what was typed to what a program gets: characters that know where they came from,
// so that braces, `~` and splitting touch only those that a shell would touch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ralph {

enum class UnitKind : unsigned char {
  kPlain,     // typed without quotes
  kQuoted,    // typed in quotes, or expanded within them
  kSplit,     // from an expansion outside of quotes: blanks in it separate words
  kUnknown,   // a part that is not known
  kBreak,     // a word ends here ("${a[@]}")
  kKeep,      // there were quotes: the word exists even if it is empty
  kEachOpen,  // a value that is one of several: {a,b}, made by a loop and not by typing
  kEachNext,
  kEachClose,
};

struct Unit {
  char c = 0;
  UnitKind kind = UnitKind::kPlain;
};
using Units = std::vector<Unit>;

struct Surroundings {
  std::string_view home, cwd;
  std::string_view separators;  // $IFS
};

// The words that the units become: braces and choices multiply, `~` is resolved, blanks of expansions separate.
// `overflow` is set if they would become too many; what is returned is then not all.
std::vector<std::string> words_of(const Units& units, const Surroundings& around, bool& overflow);

// As one word, as in an assignment or after `>`: nothing is split; of several choices the first is taken.
std::string text_of(const Units& units, const Surroundings& around);

// The same with every choice on its own.
std::vector<std::string> choices_of(const Units& units, const Surroundings& around, bool& overflow);

}  // namespace ralph
