// Describes check results in words.
#pragma once

#include <string>

#include "journal/records.h"

namespace ralph {

// The details of a check's end beyond its outcome: "12 tests, 1 skipped", "flaky: it failed before it passed at try 2".
// May be empty.
std::string check_facts(const record::GuardrailEnded& ended);

}  // namespace ralph
