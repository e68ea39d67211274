// Errors as values. A function that can fail returns Result<T>; the message of an Error is a sentence for the user:
// it names the file or value and says what to do. Library exceptions are caught where the library is called.
#pragma once

#include <string>
#include <utility>

#include <fmt/core.h>
#include <tl/expected.hpp>

namespace ralph {

enum class ErrorKind {
  kUsage,        // the command line is wrong
  kInput,        // a user's file (settings, prompt) is wrong or unreadable
  kNotFound,     // a program or file that must exist does not
  kBusy,         // another run holds the project, or a program can't be started right now
  kIo,           // the system refused: disk full, permission, ...
  kInterrupted,  // the user ended it: Ctrl-C, end of input
  kInternal,     // a bug in ralph
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// `return fail(ErrorKind::kIo, "cannot write {}: {}", path, reason);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{kind, fmt::format(format, std::forward<Args>(args)...)});
}

// The text of an errno value, such as "No such file or directory".
std::string errno_text(int error);

}  // namespace ralph

#define RALPH_JOIN_(a, b) a##b
#define RALPH_JOIN(a, b) RALPH_JOIN_(a, b)

// Passes an error on to the caller: `TRY(do_it());`
#define TRY(expression)                                                       \
  do {                                                                        \
    if (auto try_result = (expression); !try_result)                          \
      return ::tl::unexpected<::ralph::Error>(std::move(try_result).error()); \
  } while (false)

// Passes an error on, or declares the value: `TRY_VALUE(auto text, read_file(path));`
#define TRY_VALUE(declaration, expression) TRY_VALUE_(declaration, expression, RALPH_JOIN(try_value_, __LINE__))
#define TRY_VALUE_(declaration, expression, name)                              \
  auto name = (expression);                                                    \
  if (!name) return ::tl::unexpected<::ralph::Error>(std::move(name).error()); \
  declaration = *std::move(name)
