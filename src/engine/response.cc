#include "engine/response.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kOpen = "<response>";
constexpr std::string_view kClose = "</response>";
constexpr size_t kMaxAnswer = 64 * 1024;  // longer ones do not count as answers
constexpr size_t kContext = 64;           // letters and digits compared on each side
constexpr size_t kDistinctive = 10;       // this many do not match by chance
constexpr size_t kQuote = 35;       // a quoted sentence; agents' own words are fewer ("output the completion promise")
constexpr size_t kShortQuote = 24;  // the minimum for a shorter sentence
constexpr size_t kMaxWait = 64 * 1024;   // bytes after a tag that are searched for letters
constexpr size_t kTrimAbove = 4 * 1024;  // scanned bytes are dropped above this

constexpr size_t kLineBytes = 4 * 1024;  // bytes of a line that are searched for quotations

constexpr size_t kMarkup = 128;  // bytes of markup around a promise; more do not count as markup

// Emphasis, code, headings, quotations, lists, tables and whitespace.
bool is_markup(char c) {
  return std::string_view(" \t\r*_~`#>|-+").find(c) != std::string_view::npos;
}

// Whether a sentence can begin after `text`: it ends with a newline or the end of a sentence, plus optional markup.
bool ends_sentence(std::string_view text) {
  for (size_t skipped = 0; skipped <= kMarkup; ++skipped, text.remove_suffix(1)) {
    if (text.empty() || std::string_view("\n.!?:").find(text.back()) != std::string_view::npos) return true;
    if (!is_markup(text.back())) return false;
  }
  return false;
}

// The length of the markup that `text` begins with.
size_t markup_of(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && length <= kMarkup && is_markup(text[length])) ++length;
  return length;
}

bool is_rest_of_line_markup(std::string_view text) {
  const size_t length = markup_of(text);
  return length <= kMarkup && (length == text.size() || text[length] == '\n');
}

bool is_compared(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<signed char>(c) < 0;
}

std::string letters_before(std::string_view text, size_t end) {
  std::string letters;
  for (size_t i = end; i > 0 && letters.size() < kContext; --i) {
    if (is_compared(text[i - 1])) letters += text[i - 1];
  }
  std::reverse(letters.begin(), letters.end());
  return to_lower(letters);
}

std::string letters_of(std::string_view text) {
  std::string letters;
  for (size_t i = 0; i < text.size() && letters.size() < kContext; ++i) {
    if (is_compared(text[i])) letters += text[i];
  }
  return to_lower(letters);
}

// The number of letters of the sentence that ends at `end`, at most kQuote.
size_t letters_of_sentence(std::string_view text, size_t end) {
  size_t letters = 0;
  for (size_t i = end; i > 0 && letters < kQuote; --i) {
    const char c = text[i - 1];
    const char next = i < text.size() ? text[i] : ' ';
    const bool ends = (c == '.' || c == '!' || c == '?') && (next == ' ' || next == '\n');
    if (letters > 0 && (ends || (c == '\n' && next == '\n'))) break;
    if (is_compared(c)) ++letters;
  }
  return letters;
}

// Whether `text`, or a suffix of it that starts a line, consists of exactly these letters.
bool ends_with_lines_of(std::string_view text, std::string_view letters) {
  for (size_t i = text.size();; --i) {
    if (letters.empty() && (i == 0 || text[i - 1] == '\n')) return true;
    if (i == 0) return false;
    if (!is_compared(text[i - 1])) continue;
    if (letters.empty() || !equals_ignoring_case(letters.substr(letters.size() - 1), text.substr(i - 1, 1)))
      return false;
    letters.remove_suffix(1);
  }
}

// The part of `text` that matters for a tag after it: its end verbatim, and before that the last letters with the
// newlines among them.
std::string context_of(std::string_view text) {
  std::string run(text.substr(text.size() - std::min(text.size(), kMarkup + 1)));
  text.remove_suffix(run.size());
  std::reverse(run.begin(), run.end());
  size_t letters = 0;
  for (size_t i = text.size(); i > 0 && letters < kContext; --i) {
    const char c = text[i - 1];
    if (is_compared(c)) ++letters;
    if (is_compared(c) || (c == '\n' && !run.ends_with('\n'))) run += c;
  }
  std::reverse(run.begin(), run.end());
  return run;
}

size_t find_ignoring_case(std::string_view text, std::string_view word, size_t from) {
  // '<' is rare: jump from one to the next instead of comparing at every byte.
  for (size_t at = text.find(word[0], from); at != std::string_view::npos; at = text.find(word[0], at + 1)) {
    if (text.size() - at < word.size()) return std::string_view::npos;
    if (equals_ignoring_case(text.substr(at, word.size()), word)) return at;
  }
  return std::string_view::npos;
}

struct ResponseTag {
  size_t from, to;  // including the tags
  std::string_view answer;
};

// The next complete tag. An opening tag that is not closed on its line does not count.
std::optional<ResponseTag> next_response(std::string_view text, size_t from) {
  size_t open = find_ignoring_case(text, kOpen, from);
  while (open != std::string_view::npos) {
    const size_t inside = open + kOpen.size();
    const size_t line_end = std::min(text.find('\n', inside), text.size());
    const size_t close = find_ignoring_case(text.substr(0, line_end), kClose, inside);
    if (close != std::string_view::npos && close - inside <= kMaxAnswer) {
      return ResponseTag{open, close + kClose.size(), text.substr(inside, close - inside)};
    }
    // Skip to where a tag can begin, not to the next byte: a line of a million opening tags stays cheap.
    const size_t onward = close == std::string_view::npos ? line_end : close - kMaxAnswer - kOpen.size();
    open = find_ignoring_case(text, kOpen, std::max(onward, open + 1));
  }
  return std::nullopt;
}

// Where an unfinished tag may begin at the end of `text`; everything before it is settled.
size_t unfinished_response(std::string_view text, size_t from) {
  const size_t line_start = text.rfind('\n') + 1;  // 0 if there is none
  const size_t reach = std::min(text.size(), kOpen.size() + kMaxAnswer + kClose.size());
  const size_t open = find_ignoring_case(text, kOpen, std::max({from, line_start, text.size() - reach}));
  if (open != std::string_view::npos) return open;
  const size_t tail = std::max(from, text.size() - std::min(text.size(), kOpen.size() - 1));
  return std::min(text.find('<', tail), text.size());
}

}  // namespace

ResponseFinder::ResponseFinder(std::string_view prompt, std::string_view promise)
    : promise_tag_(promise.empty() ? "" : fmt::format("<promise>{}</promise>", promise)) {
  for (auto tag = next_tag(prompt, 0); tag; tag = next_tag(prompt, tag->to)) {
    Place place;
    place.before = letters_before(prompt, tag->from);
    place.from_start = place.before.size() < kContext;
    place.sentence = letters_of_sentence(prompt, tag->from);
    place.after = letters_of(prompt.substr(tag->to, kMaxWait));
    places_.push_back(std::move(place));
  }
  std::sort(places_.begin(), places_.end());
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
}

std::optional<ResponseFinder::Tag> ResponseFinder::next_tag(std::string_view text, size_t from) const {
  if (promise_tag_.empty()) {
    const auto tag = next_response(text, from);
    if (!tag) return std::nullopt;
    return Tag{tag->from, tag->to, tag->answer};
  }
  const size_t at = text.find(promise_tag_, from);
  if (at == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kPromise = "<promise>";
  return Tag{at, at + promise_tag_.size(),
             text.substr(at + kPromise.size(), promise_tag_.size() - 2 * kPromise.size() - 1)};
}

size_t ResponseFinder::unfinished_from(std::string_view text, size_t from) const {
  if (promise_tag_.empty()) return unfinished_response(text, from);
  const size_t tail = std::max(from, text.size() - std::min(text.size(), promise_tag_.size() - 1));
  return std::min(text.find('<', tail), text.size());
}

bool ResponseFinder::is_echo(std::string_view before, std::string_view after) const {
  const std::string found_before = letters_before(before, before.size());
  const std::string found_after = letters_of(after);
  const bool cut = after.size() == kMaxWait;  // only the beginning of what follows is compared
  const auto is_quoted = [&](const Place& place) {
    if (promise_tag_.empty() || place.sentence < kShortQuote) return false;
    return found_before.ends_with(std::string_view(place.before).substr(place.before.size() - place.sentence));
  };
  return std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
    if (is_quoted(place)) return true;
    if (!found_after.starts_with(place.after) && !(cut && place.after.starts_with(found_after))) return false;
    // If the prompt has only a word or two before the tag, the output or one of its lines must begin with them: "They
    // say X" does not echo "Say X".
    const bool whole = place.from_start && place.before.size() < kDistinctive;
    return whole ? ends_with_lines_of(before, place.before) : found_before.ends_with(place.before);
  });
}

bool ResponseFinder::needs_more(std::string_view after) const {
  const bool line_goes_on = !promise_tag_.empty() && markup_of(after) == after.size() && after.size() <= kMarkup;
  return line_goes_on || (!places_.empty() && after.size() < kMaxWait && letters_of(after).size() < kContext);
}

void ResponseFinder::feed(std::string_view text) {
  if (!said_anything_) said_anything_ = !trim(text).empty();
  if (response_) return;
  window_ += text;
  scan(false);
}

void ResponseFinder::finish() {
  if (!response_) scan(true);
  window_.clear();
  window_.shrink_to_fit();
}

void ResponseFinder::begin_text() {
  feed("\n");
  if (!promise_tag_.empty() && !response_) begins_.push_back(window_.size());
}

// Must not read past an undecided tag: whether that is quoted depends on the text before it.
void ResponseFinder::read_quotes(size_t to) {
  const auto another_begins = [&] { return !begins_.empty() && begins_.front() <= read_; };
  while (read_ < to || another_begins()) {
    if (another_begins()) {
      quoting_ = {};
      lines_ = 0;
      line_.clear();
      begins_.erase(begins_.begin());
      continue;
    }
    const size_t stop = begins_.empty() ? to : std::min(to, begins_.front());
    const size_t end = std::min(window_.find('\n', read_), stop);
    if (line_.size() < kLineBytes) line_.append(window_, read_, std::min(end - read_, kLineBytes - line_.size()));
    read_ = end;
    if (end == stop) continue;
    quoting_.read(line_);
    if (!trim(line_).empty()) ++lines_;
    line_.clear();
    ++read_;
  }
}

void ResponseFinder::scan(bool last) {
  while (const auto tag = next_tag(window_, scanned_)) {
    const std::string_view window(window_), before = window.substr(0, tag->from);
    const std::string_view after = window.substr(tag->to, kMaxWait);
    if (!last && needs_more(after)) {
      scanned_ = tag->from;
      return;
    }
    const bool echo = is_echo(before, after);
    bool mention = false;
    if (!echo && !promise_tag_.empty()) {
      read_quotes(tag->from);
      // A message that begins with a code block holding only the promise means it.
      const bool is_alone = quoting_.in_fence() && lines_ == 1;
      mention = !ends_sentence(before) || !is_rest_of_line_markup(after) || (quoting_.in_block() && !is_alone) ||
                quotes_the_rest(line_);
    }
    if (!echo && !mention) {
      response_ = std::string(tag->answer);
      return;
    }
    if (mention) mentioned_ = true;
    scanned_ = tag->to;
  }
  scanned_ = unfinished_from(window_, scanned_);
  // Most output has no tag: keep only the context for a later one.
  if (scanned_ > kTrimAbove && scanned_ > window_.size() / 2) {
    if (!promise_tag_.empty()) {
      read_quotes(scanned_);
      for (size_t& begin : begins_) begin -= scanned_;
    }
    const std::string run = context_of(std::string_view(window_).substr(0, scanned_));
    window_.replace(0, scanned_, run);
    scanned_ = read_ = run.size();
    for (size_t& begin : begins_) begin += run.size();
  }
}

}  // namespace ralph
