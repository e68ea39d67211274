#include "journal/redactor.h"

#include <algorithm>

namespace ralph {
namespace {

// Keeps newlines, so that a line-based log remains one.
void mask(std::string& text, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    if (text[i] != '\n') text[i] = '*';
  }
}

}  // namespace

Redactor::Redactor(std::span<const std::string> environment, const std::map<std::string, std::string>& more)
    : matcher_(std::make_shared<const SecretMatcher>(secrets_of(environment, more))) {}

std::string Redactor::redact(std::string_view text) const {
  SecretMatcher::State state;
  matcher_->scan(text, 0, true, state);
  std::string redacted(text);
  for (const SecretMatcher::Span& span : state.spans) mask(redacted, span.from, span.to);
  return redacted;
}

Redactor::Stream::Stream(const Redactor& redactor) : matcher_(redactor.matcher_) {}

std::string_view Redactor::Stream::feed(std::string_view chunk) {
  append_input(chunk);
  return take_output(false);
}

std::string_view Redactor::Stream::finish() {
  append_input({});
  const std::string_view rest = take_output(true);
  look_behind_.clear();
  return rest;
}

// Drops the bytes that the last call returned, except some unmasked ones for looking behind; keeps those it held back.
void Redactor::Stream::append_input(std::string_view chunk) {
  const size_t gone = state_.decided;
  from_ = look_behind_.size();
  text_.replace(0, gone, look_behind_);
  text_.append(chunk);
  for (SecretMatcher::Span& span : state_.spans) span = {span.from - gone + from_, span.to - gone + from_};
  for (size_t& at : state_.open_run) {
    if (at != SecretMatcher::kNone) at = at - gone + from_;
  }
}

std::string_view Redactor::Stream::take_output(bool at_end) {
  matcher_->scan(text_, from_, at_end, state_);
  const size_t to = state_.decided;
  const size_t back = std::min(to, SecretMatcher::kLookBehind);
  look_behind_.assign(text_, to - back, back);
  for (const SecretMatcher::Span& span : state_.spans) mask(text_, std::max(span.from, from_), std::min(span.to, to));
  std::erase_if(state_.spans, [&](const SecretMatcher::Span& span) { return span.to <= to; });
  for (SecretMatcher::Span& span : state_.spans) span.from = std::max(span.from, to);
  return std::string_view(text_).substr(from_, to - from_);
}

}  // namespace ralph
