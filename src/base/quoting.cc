#include "base/quoting.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ralph {
namespace {

constexpr size_t kCodeIndent = 4;  // columns, by the rules of Markdown
constexpr size_t kFence = 3;
constexpr std::string_view kComment = "<!--", kCommentEnd = "-->", kBlanks = " \t\r";

struct Element {
  std::string_view begin, end;
};
constexpr std::array kElements = {
    Element{"<pre", "</pre>"},
    Element{"<code", "</code>"},
    Element{"<samp", "</samp>"},
    Element{"<kbd", "</kbd>"},
    Element{"<tt", "</tt>"},
    Element{"<xmp", "</xmp>"},
    Element{"<q", "</q>"},
    Element{"<blockquote", "</blockquote>"},
    Element{"<textarea", "</textarea>"},
    Element{"<details", "</details>"},
    Element{"<template", "</template>"},
    Element{"<script", "</script>"},
    Element{"<style", "</style>"},
    Element{"<del", "</del>"},
    Element{"<s", "</s>"},
};

size_t run_of(std::string_view text, char mark) {
  return std::min(text.find_first_not_of(mark), text.size());
}

// The length of the list marker that `text` starts with, including one blank after it; 0: there is none.
size_t list_marker(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && length < 9 && text[length] >= '0' && text[length] <= '9') ++length;
  const std::string_view ends = length > 0 ? ".)" : "-*+";
  if (length >= text.size() || !contains(ends, text[length])) return 0;
  ++length;
  return length < text.size() && contains(kBlanks, text[length]) ? length + 1 : 0;
}

// Whether it contains anything but tags, markers and blanks.
bool has_words(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '<') {
      at = std::min(text.find('>', at), text.size());
    } else if (!contains(" \t\r*_~`#>|-+", text[at])) {
      return true;
    }
  }
  return false;
}

// Where an element that shows its text verbatim starts, and what ends it.
struct Opened {
  size_t at = std::string_view::npos;
  std::string_view end{};
};

Opened next_opening(std::string_view text, size_t from) {
  Opened first{text.find(kComment, from), kCommentEnd};
  for (const Element& element : kElements) {
    size_t at = text.find(element.begin, from);
    const auto is_longer_name = [&] {
      const size_t after = at + element.begin.size();
      return after < text.size() && !contains(" \t\r/>", text[after]);
    };
    while (at != std::string_view::npos && is_longer_name()) at = text.find(element.begin, at + 1);
    if (at < first.at) first = {at, element.end};
  }
  return first;
}

}  // namespace

struct Quoting::Line {
  std::string_view text;          // without quotation and list markers, trimmed
  std::string_view without_list;  // the same, with list markers
  size_t quotes = 0;
  size_t indent = 0;  // of the whole line; a tab counts as the indent of code
  size_t column = 0;  // where the text of a list item starts; 0: the line starts none
  bool code = false;  // indented so far that no fence can start there
};

Quoting::Line Quoting::line_from(std::string_view line) {
  Line read;
  size_t at = 0;
  bool listed = false;
  for (;;) {
    const size_t text = std::min(line.find_first_not_of(kBlanks, at), line.size());
    const std::string_view blanks = line.substr(at, text - at);
    const size_t width = contains(blanks, '\t') ? kCodeIndent : blanks.size();
    if (at == 0) read.indent = width;
    if (!listed) read.without_list = trim(line.substr(text));
    read.code = width >= kCodeIndent;
    at = text;
    if (at < line.size() && line[at] == '>') {
      ++read.quotes;
      at += 1 + (at + 1 < line.size() && line[at + 1] == ' ' ? 1 : 0);
    } else if (const size_t marker = list_marker(line.substr(at))) {
      at += marker;
      read.column = at;
      listed = true;
    } else {
      read.text = trim(line.substr(at));
      return read;
    }
  }
}

// Whether the line is a delimiter of the fence.
bool Quoting::read_fence(Fence& fence, const Line& line, bool strict) {
  const std::string_view text = fence.length > 0 ? line.without_list : line.text;
  const char mark = text.empty() ? '\0' : text[0];
  const size_t length = run_of(text, mark);
  if ((mark != '`' && mark != '~') || length < kFence) return false;
  if (fence.length == 0) {
    if (strict && line.code) return false;
    if (mark == '`' && contains(text.substr(length), '`')) return false;  // inline code
    fence = {mark, length, line.column, line.quotes};
    return true;
  }
  const bool closes = mark == fence.mark && length >= fence.length && length == text.size();
  if (closes && (!strict || line.indent < fence.column + kCodeIndent)) fence = {};
  return true;
}

void Quoting::leave_containers(const Line& line) {
  const bool left_item = strict_.quotes == 0 && !line.text.empty() && line.indent < strict_.column;
  if (line.quotes < strict_.quotes || left_item) strict_ = {};
}

// Removes the inline code that ends on the same line. Any other inline code that is opened may or may not be code.
std::string Quoting::without_code(std::string_view text) {
  std::string rest;
  for (size_t at = 0; at < text.size();) {
    const size_t run = text[at] == '`' ? run_of(text.substr(at), '`') : 0;
    if (run == 0 || (span_ == 0 && at > 0 && text[at - 1] == '\\')) {
      rest += text[at];
      at += 1;
      continue;
    }
    at += run;
    if (span_ > 0) {
      if (span_ == run) span_ = 0;
      continue;
    }
    size_t end = at;
    while (end < text.size() && (text[end] != '`' || run_of(text.substr(end), '`') != run))
      end += text[end] == '`' ? run_of(text.substr(end), '`') : 1;
    if (end >= text.size()) {
      span_ = run;
    } else {
      at = end + run;
    }
  }
  return rest;
}

void Quoting::read_html(std::string_view text) {
  for (size_t at = 0;;) {
    if (!until_.empty()) {
      const size_t end = text.find(until_, at);
      if (end == std::string_view::npos) return;
      at = end + until_.size();
      until_ = {};
    }
    const Opened opened = next_opening(text, at);
    const std::string_view between = text.substr(at, opened.at - at);
    closed_more_ = closed_more_ || between.starts_with(kCommentEnd) ||
                   std::ranges::any_of(kElements, [&](const Element& one) { return contains(between, one.end); });
    if (opened.at == std::string_view::npos) return;
    const size_t inside = opened.at + 2;
    // "The <pre> is not closed": only mentioned.
    const bool mentioned = opened.end != kCommentEnd && !contains(text.substr(inside), opened.end) &&
                           has_words(text.substr(0, opened.at)) && has_words(text.substr(opened.at));
    if (!mentioned) until_ = opened.end;
    at = inside;
  }
}

void Quoting::read(std::string_view line) {
  const Line now = line_from(line);
  leave_containers(now);
  if (trim(line).empty()) {
    lazy_ = false;
    span_ = 0;
    return;
  }
  if (!until_.empty()) return read_html(to_lower(now.text));
  const bool was_fenced = strict_.length > 0;
  const bool is_fence = read_fence(strict_, now, true);
  read_fence(loose_, now, false);
  if (was_fenced || is_fence) {
    lazy_ = now.quotes > 0;
    span_ = 0;
    return;
  }
  lazy_ = lazy_ || now.quotes > 0;
  read_html(without_code(to_lower(now.text)));
}

bool quotes_the_rest(std::string_view beginning) {
  const std::string_view text = trim(beginning);
  size_t begin = 0;  // after list markers
  while (const size_t marker = list_marker(text.substr(begin))) {
    begin = std::min(text.find_first_not_of(kBlanks, begin + marker), text.size());
  }
  if (text.substr(begin).starts_with('>')) return true;
  const size_t comment = text.rfind(kComment), end = text.rfind(kCommentEnd);
  if (comment != std::string_view::npos && (end == std::string_view::npos || end < comment + kComment.size()))
    return true;
  size_t strikes = 0;
  for (size_t at = text.find("~~"); at != std::string_view::npos; at = text.find("~~", at + 2)) ++strikes;
  return strikes % 2 == 1;
}

}  // namespace ralph
