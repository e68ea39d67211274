// Extracts the commit message from an agent's answer to the request for one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kCommitMessageRequest =
    "Provide a short imperative commit message for the changes. Output only the message, no explanation.";

// The content of the answer's <response> tag (`tagged`), else its first non-blank line. Skips lines of stream JSON,
// strips code fences and quotes around the message, and replaces control characters with spaces. nullopt if nothing is
// left.
std::optional<std::string> commit_message_from(std::string_view answer, const std::optional<std::string>& tagged);

}  // namespace ralph
