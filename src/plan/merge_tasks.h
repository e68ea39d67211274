// Merges the user's edits of tasks.json with those of a review in a clean checkout. Pure: texts in, text out.
#pragma once

#include <string>

namespace ralph {

// `review` plus the changes from `base` to `user`: new stories, and members that the review left unchanged. If both
// changed a member, the review wins. Returns `review` if any of the texts can't be parsed.
std::string with_users_edits(const std::string& base, const std::string& user, const std::string& review);

}  // namespace ralph
