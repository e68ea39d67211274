// The command lines of SCM tasks. Arguments never pass through a shell: a commit message may contain anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

using Argv = std::vector<std::string>;

// A task may have arguments ("push origin HEAD") and is split into shell words. `commit` gets -am and the message. With
// `add_all`, `add -A` comes first, because -a alone omits new files.
std::vector<Argv> scm_commands(const std::string& scm, const std::string& task, const std::string& message,
                               bool add_all);

// Whether the task needs a commit message.
bool is_commit(std::string_view task);

// The words after `push`; nullopt if the task is not a push.
std::optional<Argv> words_of_push(std::string_view task);

// Whether the SCM reports that there is nothing to commit: a note, not an error.
bool says_nothing_to_commit(std::string_view output);

}  // namespace ralph
