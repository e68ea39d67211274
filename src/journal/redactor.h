// Secrets are redacted once, at the door, before anything is written: what goes into a journal, a log or a raw stream
// passes through here. Every byte of a secret becomes '*'; lengths and line ends stay as they are.
//
//   Redactor redactor(environment.as_lines(), settings.agent.env);
//   redactor.redact("key: sk-ant-…");              // a whole text
//   Redactor::Stream stream(redactor);             // a stream in pieces
//   file.append(stream.feed(chunk)); …; file.append(stream.finish());
//
// What is a secret: values of secret-looking variables (journal/secret_variables) and tokens of known shape
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

  // `environment` has lines "NAME=value"; `more` are further variables, such as those of agent.env.
  explicit Redactor(std::span<const std::string> environment, const std::map<std::string, std::string>& more = {});

  std::string redact(std::string_view text) const;

 private:
  std::shared_ptr<const SecretMatcher> matcher_;
};

// The same for a text that comes in pieces: however it is cut, the same bytes come out. Only bytes that may be the
// beginning of a secret are held back. Needs as much memory as the largest piece and the longest secret.
class Redactor::Stream {
 public:
  explicit Stream(const Redactor& redactor);

  // What can be said so far; valid until the next call. May be empty, may hold bytes of earlier pieces.
  std::string_view feed(std::string_view chunk);

  // The rest. After it the stream begins anew.
  std::string_view finish();

 private:
  void take_in(std::string_view chunk);
  std::string_view give_out(bool at_end);

  std::shared_ptr<const SecretMatcher> matcher_;
  SecretMatcher::State state_;
  std::string text_;  // bytes before `from_` to look behind, then those not given out before this call
  size_t from_ = 0;
  std::string look_behind_;  // the last bytes that were given out, unmasked
};

}  // namespace ralph
