// Finds the agent's answer in <response>…</response>, ignoring echoes of the prompt. Accepts text in pieces of any size
// and any total length, in bounded memory.
//
// The first tag counts (tag name in any case, no line break inside) unless it is an echo: many prompts contain the tag
// they ask for, and repeating the prompt is not an answer. A tag is an echo if the words before and after it are the
// same as in the prompt. Whitespace, quote marks and other punctuation are not compared, so a quoted or re-wrapped
// prompt is an echo too. A promise is also an echo if the end of the sentence before it matches the prompt, whatever
// comes after it: the agent is quoting one sentence of the prompt.
//
// A promise must be a separate sentence: it begins a line or follows '.', '!', '?' or ':', and nothing but markup
// follows it on its line. Anywhere else it is mentioned, not made: "when they pass I will output
// <promise>DONE</promise>". A promise in a quotation, a comment, struck-out text or a code block (base/quoting.h) is
// also only mentioned, unless the message begins with that code block.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quoting.h"

namespace ralph {

class ResponseFinder {
 public:
  // Looks for <response>…</response> or, if `promise` is given, for exactly <promise>PROMISE</promise> (case-sensitive,
  // nothing else inside) as a separate sentence.
  explicit ResponseFinder(std::string_view prompt, std::string_view promise = {});

  void begin_text();  // a new message begins: at the start of a line, with no open code block
  void feed(std::string_view text);
  void finish();  // end of the text

  // The answer; final after finish() at the latest.
  const std::optional<std::string>& response() const { return response_; }
  bool mentioned() const { return mentioned_; }          // the promise occurred within a sentence
  bool said_anything() const { return said_anything_; }  // any non-whitespace character

 private:
  struct Tag {
    size_t from, to;  // including the tags
    std::string_view answer;
  };

  // The letters and digits around a tag of the prompt.
  struct Place {
    std::string before;       // a bounded number of them
    bool from_start = false;  // `before` reaches the start of the prompt
    size_t sentence = 0;      // length of the end of `before` that makes a quotation: its sentence, bounded
    std::string after;
    auto operator<=>(const Place&) const = default;
  };

  void scan(bool last);
  void read_quotes(size_t to);
  // Both are about a tag between these texts. needs_more(): `after` is too short to decide, if the text may continue.
  bool is_echo(std::string_view before, std::string_view after) const;
  bool needs_more(std::string_view after) const;

  std::optional<Tag> next_tag(std::string_view text, size_t from) const;
  size_t unfinished_from(std::string_view text, size_t from) const;

  std::string promise_tag_;  // <promise>PROMISE</promise>; empty: any <response>
  std::vector<Place> places_;
  std::string window_;          // context for the next tag, and text that may still become a tag
  size_t scanned_ = 0;          // no tag begins in these first bytes of `window_`
  Quoting quoting_;             // for a promise: what is open before the line at `read_`
  std::string line_;            // the part of that line read so far
  size_t lines_ = 0;            // non-blank lines before it in this message
  size_t read_ = 0;             // quotes are read up to here in `window_`; at most `scanned_`
  std::vector<size_t> begins_;  // where new messages begin in `window_`
  bool said_anything_ = false;
  bool mentioned_ = false;
  std::optional<std::string> response_;
};

}  // namespace ralph
