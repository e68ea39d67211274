// Finds secrets in bytes that may arrive in pieces. What is a secret is a property of the bytes alone: a match at one
// place does not depend on matches at others, all are masked, and where the bytes were cut makes no difference.
//
// Speed is what shapes it, since every byte that an agent prints passes through here. Each pattern is known by its
// least usual four bytes. Looking at three bytes from every second place sees the first or the last three of any four,
// so a table of threes says quickly that there is nothing; patterns are compared only where a three is known.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "journal/secret_variables.h"
#include "journal/token_shapes.h"

namespace ralph {

class SecretMatcher {
 public:
  // How far before a place a rule may look: what stands before a word.
  static constexpr size_t kLookBehind = 24;
  // A text that ends within a secret of known value is masked if so much of it is there: it was cut.
  static constexpr size_t kShortestPart = 8;

  struct Span {
    size_t from, to;
  };

  // What one scan leaves for the next.
  struct State {
    std::vector<Span> spans;  // to be masked; in no order, may overlap
    std::array<size_t, kLetterKinds>
        open_run;        // where a body that is masked to its end goes on; kNone if there is none
    size_t decided = 0;  // below this, spans are complete, whatever follows
    State() { open_run.fill(kNone); }
  };
  static constexpr size_t kNone = std::string_view::npos;

  explicit SecretMatcher(std::vector<SecretText> secrets);

  // Adds the secrets that begin in text[from, decided) to `state`, and goes on with its open runs. `from` is where the
  // last scan ended; what stands before it, at least kLookBehind bytes if there were as many, is for looking behind.
  // At the end of the text everything is decided; before it, what may be the beginning of a secret is not.
  void scan(std::string_view text, size_t from, bool at_end, State& state) const;

 private:
  struct Pattern {
    std::string head;                   // the secret, or the shape's prefix
    size_t hidden_from, hidden_behind;  // bytes of `head` that are shown at its edges
    const TokenShape* shape;            // none for a secret of known value
    size_t fragment = 0;                // where its least usual four bytes are
    std::uint32_t three_bytes = 0;      // the first three of them
    std::uint16_t next_alike = 0;       // the next pattern in the same slot of `by_fragment_`
  };
  enum class Verdict { kNo, kMatch, kUndecided };
  struct Match {
    Verdict verdict = Verdict::kNo;
    Span span{0, 0};
    bool open = false;  // the body reaches the end of what is there
  };
  class Runs;

  void add(Pattern pattern);
  static Match match(const Pattern& pattern, std::string_view text, size_t at, bool at_end, Runs& runs);
  static Match match_shape(const TokenShape& shape, std::string_view text, size_t at, bool at_end, Runs& runs);
  size_t next_known(std::string_view text, size_t at) const;

  std::vector<Pattern> patterns_;
  std::vector<std::uint8_t> known_;  // by hash of three bytes: whether they begin a fragment, end one, or neither
  std::vector<std::uint16_t> by_fragment_;  // by hash of a fragment's first three bytes: the first pattern
  std::array<std::vector<std::uint16_t>, 256> by_first_byte_;
  std::bitset<65536> beginnings_;  // the first two bytes of every pattern
  size_t longest_ = 0;             // bytes of the longest head
};

}  // namespace ralph
