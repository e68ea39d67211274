// The commit message that an agent was asked for, out of whatever it answered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kCommitMessageRequest =
    "Provide a short imperative commit message for the changes. Output only the message, no explanation.";

// What stands in the answer's <response> tag (`tagged`), else its first line that is not blank. Lines of stream JSON
// are passed over, code fences and quotes around the message are taken off, control characters become blanks. Nothing
// if no message is left.
std::optional<std::string> commit_message_from(std::string_view answer, const std::optional<std::string>& tagged);

}  // namespace ralph
