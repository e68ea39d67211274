// Checks, in words.
#pragma once

#include <string>

#include "journal/records.h"

namespace ralph {

// What a check's end says beyond its outcome: "12 tests passed", "flaky: it passed at try 2", "ran 8 tests; …". May be
// empty.
std::string check_facts(const record::GuardrailEnded& ended);

}  // namespace ralph
