// What is in the folder `.git`: names of its files, and the texts that lead from a work tree to its repository and its
// branch. Pure; an agent may have written these texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ralph {

// The folder that a file `.git` names, as written there; nullopt: none.
std::optional<std::string> folder_in_git_file(std::string_view text);

// The branch that the file HEAD names: "refs/heads/x". Empty if it names none, or what no branch can be called. Refs
// that are stored in another way leave such a name there.
std::string branch_in_head(std::string_view text);

// Paths from a work tree's top-level folder, or below it.
inline constexpr std::string_view kOwnExcludes = ".git/info/exclude";
bool is_git_entry(std::string_view path);      // `.git` itself
bool is_head(std::string_view path);           // `.git/HEAD`
bool is_in_git_folder(std::string_view path);  // of the top-level folder

}  // namespace ralph
