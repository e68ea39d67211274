// Finds what the agent answered in <response>…</response>, in its own words only. Text comes in pieces of any size and
// any total; memory stays small.
//
// The first tag counts (case of the tag name ignored, no line break inside), as long as the agent said it itself: many
// prompts contain the tag they ask for, and an agent that repeats its prompt has answered nothing. A tag is an echo
// when it stands in the output as it stands in the prompt: after the same words and before the same words. Blanks,
// quote marks and other punctuation are not compared, so a quoted or re-wrapped prompt is an echo too. A promise is
// also an echo after the end of a sentence that stands before it in the prompt, whatever follows: one sentence of the
// prompt, quoted.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

class ResponseFinder {
 public:
  // Looks for <response>…</response>; or, if `promise` is given, for exactly <promise>PROMISE</promise>, in this case
  // and with nothing else inside, wherever it stands.
  explicit ResponseFinder(std::string_view prompt, std::string_view promise = {});

  void feed(std::string_view text);
  void finish();  // no more text comes

  // The answer; settled at the latest by finish().
  const std::optional<std::string>& response() const { return response_; }
  size_t echoes_ignored() const { return echoes_; }
  bool said_anything() const { return said_anything_; }  // any character that is not blank

 private:
  struct Tag {
    size_t from, to;  // all of it
    std::string_view answer;
  };

  // Letters and digits around a tag of the prompt.
  struct Place {
    std::string before;       // the last of them, a bounded number
    bool from_start = false;  // `before` reaches to the beginning of the prompt
    size_t sentence = 0;      // how many of them make a quotation: those of its sentence, a bounded number
    std::string after;
    auto operator<=>(const Place&) const = default;
  };

  void scan(bool last);
  bool is_echo(std::string_view before, std::string_view after) const;  // of a tag between these texts

  std::optional<Tag> next_tag(std::string_view text, size_t from) const;
  size_t unfinished_from(std::string_view text, size_t from) const;

  std::string marker_;  // <promise>PROMISE</promise>; empty: any <response>
  std::vector<Place> places_;
  std::string window_;  // the run of what comes next, and what may still become a tag
  size_t scanned_ = 0;  // bytes of `window_` that are known to begin no tag
  bool said_anything_ = false;
  size_t echoes_ = 0;
  std::optional<std::string> response_;
};

// The first tag of a whole text, with no prompt to compare: for texts that ralph itself asked for.
std::optional<std::string> find_response(std::string_view text);

}  // namespace ralph
