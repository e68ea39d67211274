// Finds secrets in bytes that may arrive in pieces. A match depends only on the bytes: not on other matches, all of
// which are masked, and not on where the bytes were split.
//
// Designed for speed, because all agent output passes through here. Each pattern is identified by its rarest four
// bytes. Three bytes at every second position cover the first or the last three of any four, so a table of three-byte
// sequences quickly rules out most positions; patterns are compared only where a known sequence occurs.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "journal/secret_variables.h"
#include "journal/token_shapes.h"

namespace ralph {

class SecretMatcher {
 public:
  // How far a rule may look back, to see what precedes a word.
  static constexpr size_t kLookBehind = 24;
  // If a text is cut off within a secret of known value, the part is masked if it has at least this many bytes.
  static constexpr size_t kShortestPart = 8;

  struct Span {
    size_t from, to;
  };

  // The state between scans.
  struct State {
    std::vector<Span> spans;                    // to mask; unordered, may overlap
    std::array<size_t, kLetterKinds> open_run;  // where a body that is masked to its end continues; kNone: none
    size_t decided = 0;                         // spans below this are final
    State() { open_run.fill(kNone); }
  };
  static constexpr size_t kNone = std::string_view::npos;

  explicit SecretMatcher(std::vector<SecretText> secrets);

  // Adds the secrets that begin in text[from, decided) to `state` and continues its open runs. `from` is where the last
  // scan ended; the bytes before it (at least kLookBehind, if there were that many) are context. At the end of the text
  // everything is decided; before that, a possible beginning of a secret stays undecided.
  void scan(std::string_view text, size_t from, bool at_end, State& state) const;

 private:
  struct Pattern {
    std::string head;                   // the secret, or the shape's prefix
    size_t hidden_from, hidden_behind;  // bytes of `head` at its edges that are not masked
    const TokenShape* shape;            // nullptr for a secret of known value
  };
  struct Fragment {                 // of a pattern
    size_t at = 0;                  // position of its rarest four bytes
    std::uint32_t three_bytes = 0;  // the first three of them
    std::uint16_t next_alike = 0;   // the next pattern in the same slot of `by_fragment`
  };
  // Built lazily: filling them costs more than scanning the few short texts of a hook or an error message.
  struct Tables {
    std::vector<Fragment> fragments;  // by pattern
    std::vector<std::uint8_t> known;  // by hash of three bytes: whether they begin a fragment, end one, or neither
    std::vector<std::uint16_t> by_fragment;  // by hash of a fragment's first three bytes: the first pattern
    std::array<std::vector<std::uint16_t>, 256> by_first_byte;
    std::bitset<65536> beginnings;  // the first two bytes of every pattern
  };
  enum class Verdict { kNo, kMatch, kUndecided };
  struct Match {
    Verdict verdict = Verdict::kNo;
    Span span{0, 0};
    bool open = false;  // the body reaches the end of the text
  };
  class Runs;

  void add(Pattern pattern);
  static Match match(const Pattern& pattern, std::string_view text, size_t at, bool at_end, Runs& runs);
  static Match match_shape(const TokenShape& shape, std::string_view text, size_t at, bool at_end, Runs& runs);
  static size_t next_known(const Tables& tables, std::string_view text, size_t at);
  template <class Note>
  void find_heads(std::string_view text, size_t from, bool at_end, Runs& runs, const Note& note) const;

  const Tables* tables_for(size_t bytes) const;

  std::vector<Pattern> patterns_;
  size_t longest_ = 0;                            // bytes of the longest head
  mutable std::unique_ptr<const Tables> tables_;  // nullptr: not worth it yet
  mutable size_t scanned_ = 0;                    // bytes, without tables
};

}  // namespace ralph
