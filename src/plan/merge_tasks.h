// The user may edit tasks.json while a review works on its own copy in a clean checkout. Pure: texts in, text out.
#pragma once

#include <string>

namespace ralph {

// `review` with what `user` has otherwise than `base`: new stories, and members that the review left as they were. What
// both changed stays as the review has it. Returns `review` if one of them can't be read.
std::string with_users_edits(const std::string& base, const std::string& user, const std::string& review);

}  // namespace ralph
