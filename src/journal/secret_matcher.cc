#include "journal/secret_matcher.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ralph {
namespace {

constexpr std::uint8_t kBegins = 1, kEnds = 2;
constexpr std::uint16_t kNoPattern = 0xffff;
constexpr size_t kSlots = 4096;
constexpr size_t kWorthTables = 4096;  // bytes
constexpr size_t kLongestLineEnd = 8;  // in bytes, escaped

unsigned pair_at(const char* bytes) {
  std::uint16_t pair;
  std::memcpy(&pair, bytes, sizeof pair);
  return pair;
}

std::uint32_t three_bytes_at(const char* bytes) {
  const auto at = [&](size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  return at(0) | at(1) << 8 | at(2) << 16;
}

constexpr unsigned kHashBits = 16;  // one byte each: 64 KB, of which text touches little

size_t hash_of(std::uint32_t three_bytes) {
  return three_bytes * 0x9E3779B1u >> (32 - kHashBits);
}
size_t slot_of(std::uint32_t three_bytes) {
  return hash_of(three_bytes) % kSlots;
}

// The same hash for the three bytes at `bytes`; a fourth byte must be readable.
size_t hash_at(const char* bytes) {
  std::uint32_t four;
  std::memcpy(&four, bytes, sizeof four);
  if constexpr (std::endian::native == std::endian::big) return hash_of(three_bytes_at(bytes));
  return hash_of(four & 0xffffff);
}

// Roughly how common a byte is in prose, code and JSON.
unsigned commonness(char c) {
  if (std::string_view(" etaoinsrhld").find(c) != std::string_view::npos) return 8;
  if (c >= 'a' && c <= 'z') return 5;
  if (std::string_view("\"\\:,./-_\n").find(c) != std::string_view::npos) return 5;
  if (c >= '0' && c <= '9') return 4;
  return c >= 'A' && c <= 'Z' ? 2 : 3;
}

size_t rarest_fragment(std::string_view head) {
  size_t best = 0;
  unsigned best_score = ~0u;
  for (size_t i = 0; i + 4 <= head.size(); ++i) {
    const unsigned score =
        commonness(head[i + 1]) * commonness(head[i + 2]) * (commonness(head[i]) + commonness(head[i + 3]));
    if (score < best_score) best = i, best_score = score;
  }
  return best;
}

bool is_alnum(char c) {
  return is_one_of(Letters::kAlnum, c);
}

// Whether a word can begin at `at`, although letters may precede it: those of a JSON escape ("\n", "\u003c"), a colour
// (ESC [31m) or a URL (%3D). 'n' after a backslash is such an escape, not the first letter of "npm_".
bool begins_word(std::string_view text, size_t at) {
  const auto before = [&](size_t n) { return n <= at ? text[at - n] : '\0'; };
  static constexpr std::string_view kEscapes = "nrtbf";
  if (before(1) == '\\') return text[at] != 'u' && kEscapes.find(text[at]) == std::string_view::npos;
  if (!is_alnum(before(1))) return true;
  if (before(2) == '\\' && kEscapes.find(before(1)) != std::string_view::npos) return true;
  if (before(6) == '\\' && before(5) == 'u') return true;
  if (before(3) == '%') return true;
  if (before(1) != 'm') return false;
  size_t n = 2;
  while (n + 2 < SecretMatcher::kLookBehind && (before(n) == ';' || (before(n) >= '0' && before(n) <= '9'))) ++n;
  return before(n) == '[';
}

}  // namespace

// The extent of runs of letters of one kind. Each run is walked once, however many tokens seem to begin in it.
class SecretMatcher::Runs {
 public:
  struct Run {
    size_t from = 1, to = 0;
    bool open = false;
  };

  Runs(std::string_view text, bool at_end) : text_(text), at_end_(at_end) {}

  const Run& run(Letters kind, size_t from) {
    Run& known = known_[static_cast<size_t>(kind)];
    if (from >= known.from && from <= known.to) return known;
    size_t to = from;
    for (;;) {
      while (to < text_.size() && is_one_of(kind, text_[to])) ++to;
      const size_t escape = kind == Letters::kPem ? length_of_line_end(to) : 0;
      if (escape == 0) break;
      if (escape == kNone) return known = {from, to, true};
      to += escape;
    }
    return known = {from, to, to == text_.size() && !at_end_};
  }

 private:
  // In JSON, and in nested JSON, the lines of a key end in \n, \r\n or \\n. Only whole escapes are masked, to keep the
  // JSON valid. 0 if there is none, kNone if more input is needed.
  size_t length_of_line_end(size_t at) const {
    size_t end = at;
    while (end < text_.size() && text_[end] == '\\' && end - at < kLongestLineEnd) ++end;
    if (end == at) return 0;
    if (end == text_.size()) return at_end_ ? 0 : kNone;
    return text_[end] == 'n' || text_[end] == 'r' ? end + 1 - at : 0;
  }

  std::string_view text_;
  bool at_end_;
  std::array<Run, kLetterKinds> known_;
};

SecretMatcher::SecretMatcher(std::vector<SecretText> secrets) {
  for (SecretText& secret : secrets) {
    add({std::move(secret.bytes), secret.shown_in_front, secret.shown_behind, nullptr});
  }
  for (const TokenShape& shape : token_shapes()) add({std::string(shape.prefix), 0, 0, &shape});
}

void SecretMatcher::add(Pattern pattern) {
  if (pattern.head.size() < (pattern.shape ? 3 : 4) || patterns_.size() >= kNoPattern) return;
  longest_ = std::max(longest_, pattern.head.size());
  patterns_.push_back(std::move(pattern));
}

// nullptr if so little was scanned that searching for each pattern separately is cheaper.
const SecretMatcher::Tables* SecretMatcher::tables_for(size_t bytes) const {
  scanned_ += tables_ ? 0 : bytes;
  if (tables_ || scanned_ < kWorthTables) return tables_.get();
  auto tables = std::make_unique<Tables>();
  tables->known.assign(size_t{1} << kHashBits, 0);
  tables->by_fragment.assign(kSlots, kNoPattern);
  for (std::uint16_t index = 0; index < patterns_.size(); ++index) {
    const Pattern& pattern = patterns_[index];
    const size_t rarest = rarest_fragment(pattern.head);
    const char* fragment = pattern.head.data() + rarest;
    const std::uint32_t three_bytes = three_bytes_at(fragment);
    tables->known[hash_of(three_bytes)] |= kBegins;
    if (pattern.head.size() > 3) {
      tables->known[hash_of(three_bytes_at(fragment + 1))] |= kEnds;
    } else if (pattern.shape) {  // the fourth byte can be any letter of its body
      for (unsigned byte = 0; byte < 256; ++byte) {
        if (!is_one_of(pattern.shape->letters, static_cast<char>(byte))) continue;
        tables->known[hash_of(three_bytes >> 8 | byte << 16)] |= kEnds;
      }
    }
    const std::uint16_t alike = std::exchange(tables->by_fragment[slot_of(three_bytes)], index);
    tables->fragments.push_back({rarest, three_bytes, alike});
    tables->by_first_byte[static_cast<unsigned char>(pattern.head[0])].push_back(index);
    tables->beginnings.set(pair_at(pattern.head.data()));
  }
  tables_ = std::move(tables);
  return tables_.get();
}

SecretMatcher::Match SecretMatcher::match_shape(const TokenShape& shape, std::string_view text, size_t at, bool at_end,
                                                Runs& runs) {
  const Match undecided{at_end ? Verdict::kNo : Verdict::kUndecided};
  size_t body = at + shape.prefix.size();
  Letters letters = shape.letters;
  if (!shape.then.empty()) {
    const Runs::Run& first = runs.run(letters, body);
    if (first.to - body > kLongestFirstBody) return {};
    if (first.to == text.size()) return undecided;
    const std::string_view rest = text.substr(first.to, shape.then.size());
    if (first.to - body < shape.at_least || !shape.then.starts_with(rest)) return {};
    if (rest.size() < shape.then.size()) return undecided;
    body = first.to + shape.then.size();
    letters = Letters::kDotted;
  }
  const Runs::Run& run = runs.run(letters, body);
  if (run.to - body < shape.at_least) return run.open ? undecided : Match{};
  return {Verdict::kMatch, {shape.show_prefix ? body : at, run.to}, run.open};
}

SecretMatcher::Match SecretMatcher::match(const Pattern& pattern, std::string_view text, size_t at, bool at_end,
                                          Runs& runs) {
  const std::string_view there = text.substr(at, pattern.head.size());
  if (std::memcmp(there.data(), pattern.head.data(), there.size()) != 0) return {};
  if (pattern.shape && pattern.shape->whole_word && !begins_word(text, at)) return {};
  if (there.size() == pattern.head.size()) {
    if (pattern.shape) return match_shape(*pattern.shape, text, at, at_end, runs);
    return {Verdict::kMatch, {at + pattern.hidden_from, at + pattern.head.size() - pattern.hidden_behind}};
  }
  if (!at_end) return {Verdict::kUndecided};
  if (pattern.shape || there.size() < kShortestPart) return {};
  return {Verdict::kMatch, {at + pattern.hidden_from, text.size()}};
}

size_t SecretMatcher::next_known(const Tables& tables, std::string_view text, size_t at) {
  const std::uint8_t* known = tables.known.data();
  for (; at + 18 <= text.size(); at += 16) {
    const char* b = text.data() + at;
    const unsigned any = known[hash_at(b)] | known[hash_at(b + 2)] | known[hash_at(b + 4)] | known[hash_at(b + 6)] |
                         known[hash_at(b + 8)] | known[hash_at(b + 10)] | known[hash_at(b + 12)] |
                         known[hash_at(b + 14)];
    if (any != 0) break;
  }
  for (; at + 3 <= text.size(); at += 2) {
    if (known[hash_of(three_bytes_at(text.data() + at))] != 0) return at;
  }
  return kNone;
}

template <class Note>
void SecretMatcher::find_heads(std::string_view text, size_t from, bool at_end, Runs& runs, const Note& note) const {
  const Tables* const tables = tables_for(text.size() - from);
  if (!tables) {
    for (const Pattern& pattern : patterns_) {
      for (size_t at = text.find(pattern.head[0], from); at != kNone; at = text.find(pattern.head[0], at + 1))
        note(pattern, at, match(pattern, text, at, at_end, runs));
    }
    return;
  }
  // An incomplete head at the end may not contain its known bytes yet.
  for (size_t at = std::max(from, text.size() - std::min(text.size(), longest_)); at < text.size(); ++at) {
    if (at + 2 <= text.size() && !tables->beginnings[pair_at(text.data() + at)]) continue;
    for (std::uint16_t index : tables->by_first_byte[static_cast<unsigned char>(text[at])]) {
      const Pattern& pattern = patterns_[index];
      if (pattern.head.size() >= text.size() - at) note(pattern, at, match(pattern, text, at, at_end, runs));
    }
  }

  for (size_t known = next_known(*tables, text, from); known != kNone; known = next_known(*tables, text, known + 2)) {
    const std::uint8_t what = tables->known[hash_of(three_bytes_at(text.data() + known))];
    for (const bool begins : {true, false}) {
      if ((what & (begins ? kBegins : kEnds)) == 0 || (!begins && known == from)) continue;
      const size_t fragment = begins ? known : known - 1;
      const std::uint32_t three_bytes = three_bytes_at(text.data() + fragment);
      for (std::uint16_t i = tables->by_fragment[slot_of(three_bytes)]; i != kNoPattern;
           i = tables->fragments[i].next_alike) {
        const Fragment& known_part = tables->fragments[i];
        if (known_part.three_bytes != three_bytes || fragment < from + known_part.at) continue;
        const size_t at = fragment - known_part.at;
        note(patterns_[i], at, match(patterns_[i], text, at, at_end, runs));
      }
    }
  }
}

void SecretMatcher::scan(std::string_view text, size_t from, bool at_end, State& state) const {
  struct Found {
    size_t at;
    Match match;
    size_t letters;
  };
  Runs runs(text, at_end);
  std::vector<Found> found;
  size_t decided = text.size();
  const auto letters_of = [](const TokenShape& shape) { return shape.then.empty() ? shape.letters : Letters::kDotted; };
  const auto note = [&](const Pattern& pattern, size_t at, const Match& match) {
    if (match.verdict == Verdict::kUndecided) decided = std::min(decided, at);
    if (match.verdict != Verdict::kMatch) return;
    found.push_back({at, match, pattern.shape ? static_cast<size_t>(letters_of(*pattern.shape)) : 0});
    // An open run that ends early waits for the rest of an escape.
    if (match.open) decided = std::min(decided, match.span.to);
  };

  for (size_t kind = 0; kind < kLetterKinds; ++kind) {
    const size_t goes_on = std::exchange(state.open_run[kind], kNone);
    if (goes_on == kNone) continue;
    const Runs::Run& run = runs.run(Letters(kind), goes_on);
    state.spans.push_back({goes_on, run.to});
    if (!run.open) continue;
    state.open_run[kind] = run.to;
    decided = std::min(decided, run.to);
  }

  find_heads(text, from, at_end, runs, note);

  // Matches from `decided` on are found again with more input.
  for (const Found& f : found) {
    if (f.at >= decided && !at_end) continue;
    // Tokens that begin within one another end together; masking each one again would take forever.
    if (!state.spans.empty() && f.match.span.from >= state.spans.back().from &&
        f.match.span.from <= state.spans.back().to) {
      state.spans.back().to = std::max(state.spans.back().to, f.match.span.to);
    } else {
      state.spans.push_back(f.match.span);
    }
    if (f.match.open) state.open_run[f.letters] = f.match.span.to;
  }
  state.decided = decided;
}

}  // namespace ralph
