#include "engine/prompt_source.h"

#include "base/text.h"
#include "base/utf8.h"
#include "json/value.h"
#include "os/files.h"

namespace ralph {

namespace {

constexpr size_t kMostText = 10 << 20;  // of a prompt that the journal repeats, in one record

}  // namespace

PromptSource PromptSource::text(std::string prompt, std::string origin) {
  PromptSource source;
  source.text_ = std::move(prompt);
  source.origin_ = std::move(origin);
  return source;
}

PromptSource PromptSource::file(std::string path) {
  PromptSource source;
  source.path_ = std::move(path);
  return source;
}

std::string PromptSource::describe() const {
  return path_.empty() ? origin_ : path_;
}

Result<std::string> PromptSource::read() const {
  std::string prompt = text_;
  if (!path_.empty()) {
    // The file is reread for every iteration. A pipe does not allow that, and reading it could block forever.
    if (file_exists(path_) && !is_directory(path_) && !is_regular_file(path_)) {
      return fail(ErrorKind::kInput,
                  "the prompt file {} is not a plain file but a pipe or a device; save the prompt to a file", path_);
    }
    auto content = read_within(path_, folders_);
    if (!content) return fail(ErrorKind::kInput, "the prompt file: {}", content.error().message);
    prompt = *std::move(content);
  }
  if (path_.empty() && prompt.size() > kMostText) {
    return fail(ErrorKind::kInput,
                "the prompt from {} is {} long, and at most {} are possible; save it to a file and use -f FILE",
                describe(), human_bytes(prompt.size()), human_bytes(kMostText));
  }
  if (trim(prompt).empty()) {
    return fail(ErrorKind::kInput, "the prompt from {} is empty; say what the agent is to do", describe());
  }
  if (const size_t bad = find_invalid_utf8(prompt); bad != std::string::npos) {
    const TextPosition at = position_of(prompt, bad);
    return fail(ErrorKind::kInput,
                "the prompt from {} is not UTF-8: byte 0x{:02x} at line {}, column {}; save it as UTF-8", describe(),
                static_cast<unsigned char>(prompt[bad]), at.line, at.column);
  }
  if (const size_t nul = prompt.find('\0'); nul != std::string::npos) {
    const TextPosition at = position_of(prompt, nul);
    return fail(ErrorKind::kInput, "the prompt from {} has a NUL byte at line {}, column {}; remove it", describe(),
                at.line, at.column);
  }
  return prompt;
}

}  // namespace ralph
