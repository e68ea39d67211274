// Describes a change to a watched file in words.
#pragma once

#include <string>

#include "journal/records.h"

namespace ralph {

// "tests/a.py was changed and put back (the changed version is kept: changed/2/tests/a.py)"
std::string changed_file_text(const record::ChangedFile& file);

}  // namespace ralph
