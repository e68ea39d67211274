// Checks a JSON document against a JSON Schema (draft 2020-12) and reports problems in words for its author. Supports
// only the part of the standard that ralph's own schemas use:
//   type, properties, required, additionalProperties, propertyNames, items, minItems, enum, const, minimum,
//   exclusiveMinimum, maximum, minLength, pattern (see simple_pattern.h), anyOf
// and the annotations $schema, $id, $comment, title, description, default, examples, writeOnly, patternErrorMessage.
// Any other keyword is an error of kind kInternal: an unchecked rule must not look checked.
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
  // The document is one of several layers, so required keys may be missing.
  bool partial = false;
};

// All problems, the deepest (the most precise) first. Empty if the document is valid. When no branch of an anyOf fits,
// the problems of its first branch are reported, so put the preferred form there. Values below a schema with
// `writeOnly: true` (secrets) are never repeated in messages.
Result<std::vector<SchemaProblem>> check_schema(const json::value& schema, const json::value& document,
                                                SchemaCheckOptions options = {});

// The value with every missing key that has a `default` filled in, including inside objects and lists, and its keys in
// the schema's order. To have a missing object filled in, give it `"default": {}`.
json::value with_schema_defaults(const json::value& schema, const json::value& value);

// A pointer for people: "/agent/flags/2" becomes agent.flags[2]; "" becomes "the top level".
std::string readable_path(std::string_view pointer);

// The pointer of a member of `parent`.
std::string child_pointer(std::string_view parent, std::string_view key);

}  // namespace ralph
