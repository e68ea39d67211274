// Checks a JSON document against a JSON Schema (draft 2020-12) and says what is wrong in words for the person who wrote
// the document. Only the part of the standard that ralph's own schemas use is known:
//   type, properties, required, additionalProperties, propertyNames, items, minItems, enum, const, minimum,
//   exclusiveMinimum, maximum, minLength, pattern (see simple_pattern.h), anyOf
// and the annotations $schema, $id, $comment, title, description, default, examples, writeOnly, patternErrorMessage.
// Any other keyword is an error of kind kInternal: a rule that is not checked must not look as if it were.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace ralph {

struct SchemaProblem {
  std::string pointer;  // where in the document: "/agent/flags/2"
  bool is_key = false;  // the key itself is wrong (unknown, malformed), not its value
  std::string message;  // "expected a whole number of at least 1, found "x" (a string)"
};

struct SchemaCheckOptions {
  // A file that is one layer of several may leave out what another layer gives: required keys are not asked for.
  bool partial = false;
};

// All problems, the deepest first: those are the most precise. Empty if the document is valid.
// When no branch of an anyOf fits, the problems of its first branch are reported, so put the preferred form there.
// Values below a schema with `writeOnly: true` (secrets) are never repeated in messages.
Result<std::vector<SchemaProblem>> check_schema(const json::value& schema, const json::value& document,
                                                SchemaCheckOptions options = {});

// The value with every missing key that has a `default` filled in, also inside objects and lists, and its keys in the
// schema's order. An object that should be filled in although it is missing has `"default": {}`.
json::value with_schema_defaults(const json::value& schema, const json::value& value);

// A pointer as people write it: "/agent/flags/2" is agent.flags[2]; "" is "the top level".
std::string readable_path(std::string_view pointer);

// The pointer of a member of `parent`.
std::string child_pointer(std::string_view parent, std::string_view key);

}  // namespace ralph
