// Checks and watched files, in words.
#pragma once

#include <string>

#include "journal/records.h"

namespace ralph {

// What a check's end says beyond its outcome: "12 tests passed", "flaky: it passed at try 2", "ran 8 tests; …". May be
// empty.
std::string check_facts(const record::GuardrailEnded& ended);

// "tests/a.py was changed and put back (the changed version: changed/2/tests/a.py)"
std::string changed_file_text(const record::ChangedFile& file);

}  // namespace ralph
