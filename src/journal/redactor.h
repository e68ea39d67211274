// Redacts secrets before anything is written: everything in a journal, a log or a raw stream passes through here. Every
// byte of a secret becomes '*'; lengths and newlines are preserved.
//
//   Redactor redactor(environment.as_lines(), settings.agent.env);
//   redactor.redact("key: sk-ant-…");              // a whole text
//   Redactor::Stream stream(redactor);             // a stream in pieces
//   file.append(stream.feed(chunk)); …; file.append(stream.finish());
//
// Secrets are the values of secret-looking variables (journal/secret_variables) and tokens of known shape
// (journal/token_shapes).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "journal/secret_matcher.h"

namespace ralph {

class Redactor {
 public:
  class Stream;

  // `environment` has lines "NAME=value"; `more` has further variables, such as agent.env.
  explicit Redactor(std::span<const std::string> environment, const std::map<std::string, std::string>& more = {});

  std::string redact(std::string_view text) const;

 private:
  std::shared_ptr<const SecretMatcher> matcher_;
};

// The same for text in pieces; the result does not depend on how it is split. Holds back only bytes that may begin a
// secret. Needs as much memory as the largest piece plus the longest secret.
class Redactor::Stream {
 public:
  explicit Stream(const Redactor& redactor);

  // The output so far, valid until the next call. May be empty; may contain bytes of earlier pieces.
  std::string_view feed(std::string_view chunk);

  // The rest. The stream can then be reused.
  std::string_view finish();

 private:
  void append_input(std::string_view chunk);
  std::string_view take_output(bool at_end);

  std::shared_ptr<const SecretMatcher> matcher_;
  SecretMatcher::State state_;
  std::string text_;  // before `from_`: context for looking behind; from there: not yet returned
  size_t from_ = 0;
  std::string look_behind_;  // the last returned bytes, unmasked
};

}  // namespace ralph
