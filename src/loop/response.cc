#include "loop/response.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kOpen = "<response>";
constexpr std::string_view kClose = "</response>";
constexpr size_t kMaxAnswer = 64 * 1024;  // a longer one is no answer but a document
constexpr size_t kContext = 64;           // letters and digits compared on either side
constexpr size_t kContextBytes = 1024;    // bytes looked at to find them
constexpr size_t kDistinctive = 10;       // so many of them are not said again by chance

bool counts(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<signed char>(c) < 0;
}

std::string letters_before(std::string_view text, size_t end) {
  std::string letters;
  for (size_t i = end; i > 0 && letters.size() < kContext; --i) {
    if (counts(text[i - 1])) letters += text[i - 1];
  }
  std::reverse(letters.begin(), letters.end());
  return to_lower(letters);
}

std::string letters_after(std::string_view text, size_t from) {
  std::string letters;
  for (size_t i = from; i < text.size() && letters.size() < kContext; ++i) {
    if (counts(text[i])) letters += text[i];
  }
  return to_lower(letters);
}

size_t find_ignoring_case(std::string_view text, std::string_view word, size_t from) {
  // '<' is rare: jump from one to the next instead of comparing at every byte.
  for (size_t at = text.find(word[0], from); at != std::string_view::npos; at = text.find(word[0], at + 1)) {
    if (text.size() - at < word.size()) return std::string_view::npos;
    if (equals_ignoring_case(text.substr(at, word.size()), word)) return at;
  }
  return std::string_view::npos;
}

struct Tag {
  size_t from, to;  // all of it
  std::string_view answer;
};

// The next whole tag. An opening tag whose line ends before it closes is none.
std::optional<Tag> next_tag(std::string_view text, size_t from) {
  size_t open = find_ignoring_case(text, kOpen, from);
  while (open != std::string_view::npos) {
    const size_t inside = open + kOpen.size();
    const size_t line_end = std::min(text.find('\n', inside), text.size());
    const size_t close = find_ignoring_case(text.substr(0, line_end), kClose, inside);
    if (close != std::string_view::npos && close - inside <= kMaxAnswer) {
      return Tag{open, close + kClose.size(), text.substr(inside, close - inside)};
    }
    // Go on where a tag can begin at all, not at the next byte: a line of a million opening tags stays cheap.
    const size_t onward = close == std::string_view::npos ? line_end : close - kMaxAnswer - kOpen.size();
    open = find_ignoring_case(text, kOpen, std::max(onward, open + 1));
  }
  return std::nullopt;
}

// Where an unfinished tag may begin at the end of `text`: nothing before it needs to be looked at again.
size_t unfinished_from(std::string_view text, size_t from) {
  const size_t line_start = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
  const size_t open = find_ignoring_case(text, kOpen, std::max(from, line_start));
  if (open != std::string_view::npos && text.size() - open <= kMaxAnswer + kOpen.size() + kClose.size()) return open;
  const size_t tail = std::max(from, text.size() - std::min(text.size(), kOpen.size() - 1));
  const size_t bracket = text.find('<', tail);
  return bracket == std::string_view::npos ? text.size() : bracket;
}

}  // namespace

ResponseFinder::ResponseFinder(std::string_view prompt) {
  for (auto tag = next_tag(prompt, 0); tag; tag = next_tag(prompt, tag->to)) {
    Place place;
    place.before = letters_before(prompt, tag->from);
    place.from_start = place.before.size() < kContext;
    place.after = letters_after(prompt, tag->to);
    places_.push_back(std::move(place));
  }
  std::sort(places_.begin(), places_.end());
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
}

bool ResponseFinder::is_echo(std::string_view before, std::string_view after) const {
  return std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
    // Where the prompt has only a word or two before the tag, the output must begin there as well (or begin a line with
    // it, which `before` shows by being cut there): "Say X" is no echo in "They say X".
    const bool whole = place.from_start && place.before.size() < kDistinctive;
    const bool same_before = whole ? before == place.before : before.ends_with(place.before);
    return same_before && after.starts_with(place.after);
  });
}

void ResponseFinder::feed(std::string_view text) {
  if (!said_anything_) said_anything_ = !trim(text).empty();
  if (response_) return;
  // Most output has no tag in sight: keep only the tail that gives a later tag its context.
  window_ += text;
  scan(false);
}

void ResponseFinder::finish() {
  if (!response_) scan(true);
  window_.clear();
  window_.shrink_to_fit();
}

void ResponseFinder::scan(bool last) {
  while (const auto tag = next_tag(window_, scanned_)) {
    const std::string_view rest = std::string_view(window_).substr(tag->to);
    if (places_.empty()) {
      response_ = std::string(tag->answer);
      return;
    }
    // Judging an echo needs what follows the tag; wait for it unless the text is over.
    if (!last && rest.size() < kContextBytes) {
      scanned_ = tag->from;
      return;
    }
    const std::string after = letters_after(rest, 0);
    bool echo = is_echo(letters_before(window_, tag->from), after);
    if (!echo) {
      // The echo may begin at any line above: compare again from each line start that is in sight.
      for (size_t line = window_.rfind('\n', tag->from); line != std::string::npos && !echo;
           line = line == 0 ? std::string::npos : window_.rfind('\n', line - 1)) {
        echo = is_echo(letters_before(std::string_view(window_).substr(line, tag->from - line), tag->from - line), after);
        if (tag->from - line > kContextBytes) break;
      }
    }
    if (!echo) {
      response_ = std::string(tag->answer);
      return;
    }
    ++echoes_;
    scanned_ = tag->to;
  }
  scanned_ = unfinished_from(window_, scanned_);
  if (scanned_ > 2 * kContextBytes && scanned_ > window_.size() / 2) {
    window_.erase(0, scanned_ - kContextBytes);
    scanned_ = kContextBytes;
  }
}

std::optional<std::string> find_response(std::string_view text) {
  const auto tag = next_tag(text, 0);
  if (!tag) return std::nullopt;
  return std::string(tag->answer);
}

}  // namespace ralph
