#include "json/schema.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/simple_pattern.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/walk.h"

namespace ralph {
namespace {

constexpr std::string_view kKeywords =
    "type properties required additionalProperties propertyNames items enum const minimum exclusiveMinimum maximum "
    "minLength "
    "minItems pattern anyOf $schema $id $comment title description default examples writeOnly patternErrorMessage";

bool is_whole(const json::value& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  return value.is_double() && std::trunc(value.get_double()) == value.get_double();
}

std::string_view type_of(const json::value& value) {
  if (value.is_null()) return "null";
  if (value.is_bool()) return "boolean";
  if (value.is_string()) return "string";
  if (value.is_array()) return "array";
  return value.is_object() ? "object" : "number";
}

bool has_type(const json::value& value, std::string_view type) {
  return type == "integer" ? is_whole(value) : type == type_of(value);
}

std::string_view noun_of_type(std::string_view type) {
  if (type == "integer") return "a whole number";
  if (type == "number") return "a number";
  if (type == "string") return "a string";
  if (type == "boolean") return "true or false";
  if (type == "array") return "a list [...]";
  if (type == "object") return "an object {...}";
  return type;
}

std::string plain(const json::value& value) {
  std::string text = to_pretty_json(value);
  text.pop_back();  // its final newline
  return text;
}

// The value found, shortened to fit on a line.
std::string found(const json::value& value, bool secret) {
  const std::string_view type = type_of(value);
  if (value.is_array()) return value.get_array().empty() ? "an empty list" : "a list";
  if (value.is_object()) return "an object";
  const std::string kind = fmt::format("a {}", type);
  if (secret) return kind;
  if (type == "null" || type == "boolean") return plain(value);
  return fmt::format("{} ({})", fit_to_width(plain(value), 60), kind);
}

std::vector<std::string> types_of(const json::value& schema) {
  std::vector<std::string> types;
  const json::value* type = find(schema, "type");
  if (type && type->is_string()) types.emplace_back(type->get_string());
  if (type && type->is_array())
    for (const json::value& one : type->get_array()) types.emplace_back(one.as_string());
  return types;
}

std::string lower_bound_of(const json::value& schema) {
  if (const json::value* least = find(schema, "minimum")) return " of at least " + plain(*least);
  if (const json::value* bound = find(schema, "exclusiveMinimum")) return " above " + plain(*bound);
  return "";
}

// What the schema expects: "a whole number of at least 1", "a string or null".
std::string expectation(const json::value& schema) {
  std::string text;
  for (const std::string& type : types_of(schema)) {
    if (!text.empty()) text += " or ";
    text += noun_of_type(type);
    if (type == "integer" || type == "number") text += lower_bound_of(schema);
  }
  return text.empty() ? "something else" : text;
}

class Checker {
 public:
  explicit Checker(SchemaCheckOptions options) : options_(options) {}

  Status check(const json::value& schema, const json::value& value, const std::string& pointer, bool secret) {
    TRY(know_keywords(schema));
    secret = secret || find_bool(schema, "writeOnly").value_or(false);
    const std::vector<std::string> types = types_of(schema);
    const bool right_type =
        types.empty() || std::ranges::any_of(types, [&](const std::string& type) { return has_type(value, type); });
    if (!right_type) {
      add(pointer, fmt::format("expected {}, found {}", expectation(schema), found(value, secret)));
      return {};
    }
    if (!check_choices(schema, value, pointer, secret)) return {};
    check_bounds(schema, value, pointer, secret);
    if (value.is_string()) TRY(check_text(schema, value, pointer, secret));
    if (value.is_object()) TRY(check_object(schema, value.get_object(), pointer, secret));
    if (value.is_array()) TRY(check_items(schema, value.get_array(), pointer, secret));
    if (const json::value* branches = find(schema, "anyOf"))
      TRY(check_any(branches->as_array(), value, pointer, secret));
    return {};
  }

  std::vector<SchemaProblem> take() {
    std::multimap<std::ptrdiff_t, SchemaProblem, std::greater<>> by_depth;  // equal keys keep their order
    for (SchemaProblem& problem : problems_) {
      const std::ptrdiff_t depth = std::count(problem.pointer.begin(), problem.pointer.end(), '/');
      by_depth.emplace(depth, std::move(problem));
    }
    std::vector<SchemaProblem> sorted;
    for (auto& entry : by_depth) sorted.push_back(std::move(entry.second));
    return sorted;
  }

 private:
  void add(std::string pointer, std::string message, bool is_key = false) {
    problems_.push_back({std::move(pointer), is_key, std::move(message)});
  }

  static Status know_keywords(const json::value& schema) {
    if (!schema.is_object()) return fail(ErrorKind::kInternal, "a schema must be an object: {}", plain(schema));
    for (const auto& member : schema.get_object()) {
      const std::string_view keyword = member.key();
      if (!is_listed(kKeywords, keyword))
        return fail(ErrorKind::kInternal, "the schema keyword \"{}\" is not known to ralph", keyword);
    }
    return {};
  }

  // Checks enum and const; false if the value matches none of them.
  bool check_choices(const json::value& schema, const json::value& value, const std::string& pointer, bool secret) {
    json::array allowed;
    if (const json::value* one = find(schema, "const")) allowed.push_back(*one);
    if (const json::value* several = find(schema, "enum")) allowed = several->as_array();
    if (allowed.empty() || is_one_of(value, allowed)) return true;

    std::string list;
    std::vector<std::string_view> words;
    for (const json::value& choice : allowed) {
      if (!list.empty()) list += &choice == &allowed.back() ? " or " : ", ";
      list += plain(choice);
      if (choice.is_string()) words.push_back(choice.get_string());
    }
    std::string message = fmt::format("expected {}, found {}", list, found(value, secret));
    if (value.is_string() && !secret) {
      const std::string_view near = nearest(std::string_view(value.get_string()), words);
      if (!near.empty()) message += fmt::format("; did you mean \"{}\"?", near);
    }
    add(pointer, std::move(message));
    return false;
  }

  void check_bounds(const json::value& schema, const json::value& value, const std::string& pointer, bool secret) {
    if (!value.is_number()) return;
    const double number = value.to_number<double>();
    const json::value* minimum = find(schema, "minimum");
    const json::value* above = find(schema, "exclusiveMinimum");
    const json::value* maximum = find(schema, "maximum");
    if ((minimum && number < minimum->to_number<double>()) || (above && number <= above->to_number<double>())) {
      add(pointer, fmt::format("expected {}, found {}", expectation(schema), found(value, secret)));
    } else if (maximum && number > maximum->to_number<double>()) {
      const std::string_view noun = noun_of_type(types_of(schema).empty() ? "number" : types_of(schema)[0]);
      add(pointer, fmt::format("expected {} of at most {}, found {}", noun, plain(*maximum), found(value, secret)));
    }
  }

  Status check_text(const json::value& schema, const json::value& value, const std::string& pointer, bool secret) {
    const std::string_view text = value.get_string();
    const auto least = find_integer(schema, "minLength");
    if (least && text.size() < static_cast<size_t>(*least))
      add(pointer, fmt::format("expected a string of at least {}, found {}", count_of(*least, "character"),
                               found(value, secret)));
    TRY_VALUE(const bool fits, fits_pattern(schema, text));
    if (!fits) add(pointer, fmt::format("{}, found {}", pattern_expectation(schema), found(value, secret)));
    return {};
  }

  static Result<bool> fits_pattern(const json::value& schema, std::string_view text) {
    const auto pattern = find_string(schema, "pattern");
    if (!pattern) return true;
    return matches_pattern(text, *pattern);
  }

  static std::string pattern_expectation(const json::value& schema) {
    if (const auto words = find_string(schema, "patternErrorMessage")) return std::string(*words);
    return fmt::format("expected a string that matches {}", find_string(schema, "pattern").value_or(""));
  }

  Status check_object(const json::value& schema, const json::object& object, const std::string& pointer, bool secret) {
    const json::value* properties = find(schema, "properties");
    const json::value* others = find(schema, "additionalProperties");
    const json::value* names = find(schema, "propertyNames");
    if (names) TRY(know_keywords(*names));
    for (const auto& member : object) {
      const std::string_view key = member.key();
      const std::string inner = child_pointer(pointer, key);
      if (names) {
        TRY_VALUE(const bool fits, fits_pattern(*names, key));
        if (!fits) {
          add(inner,
              fmt::format("{}, found {}", pattern_expectation(*names), fit_to_width(plain(json::string(key)), 60)),
              true);
          continue;
        }
      }
      if (const json::value* property = properties ? find(*properties, key) : nullptr) {
        TRY(check(*property, member.value(), inner, secret));
      } else if (others && others->is_object()) {
        TRY(check(*others, member.value(), inner, secret));
      } else if (others && others->is_bool() && !others->get_bool()) {
        add(inner, unknown_key(key, properties), true);
      }
    }
    if (!options_.partial) check_required(schema, object, pointer);
    return {};
  }

  static std::string unknown_key(std::string_view key, const json::value* properties) {
    std::string message = fmt::format("unknown key {}", fit_to_width(plain(json::string(key)), 60));
    if (!properties) return message;
    std::vector<std::string_view> names;
    std::vector<std::string> listed;
    for (const auto& property : properties->as_object()) {
      names.push_back(property.key());
      if (!property.key().starts_with("$")) listed.emplace_back(property.key());
    }
    const std::string_view near = nearest(key, names);
    if (!near.empty()) return message + fmt::format("; did you mean \"{}\"?", near);
    return message + fmt::format("; the keys here are {}", join_for_people(listed));
  }

  void check_required(const json::value& schema, const json::object& object, const std::string& pointer) {
    const json::value* required = find(schema, "required");
    if (!required) return;
    for (const json::value& name : required->as_array()) {
      const std::string_view key = name.as_string();
      if (object.contains(key)) continue;
      const json::value* properties = find(schema, "properties");
      const json::value* property = properties ? find(*properties, key) : nullptr;
      add(pointer,
          fmt::format("the key \"{}\" is missing{}", key, property ? "; it is " + expectation(*property) : ""));
    }
  }

  Status check_items(const json::value& schema, const json::array& array, const std::string& pointer, bool secret) {
    const auto least = find_integer(schema, "minItems");
    if (least && array.size() < static_cast<size_t>(*least))
      add(pointer,
          fmt::format("expected a list with at least {}, found {}", count_of(*least, "item"), found(array, secret)));
    const json::value* items = find(schema, "items");
    if (!items) return {};
    for (size_t i = 0; i < array.size(); ++i) TRY(check(*items, array[i], fmt::format("{}/{}", pointer, i), secret));
    return {};
  }

  Status check_any(const json::array& branches, const json::value& value, const std::string& pointer, bool secret) {
    std::vector<SchemaProblem> first;
    for (const json::value& branch : branches) {
      Checker inner(options_);
      TRY(inner.check(branch, value, pointer, secret));
      if (inner.problems_.empty()) return {};
      if (&branch == &branches.front()) first = std::move(inner.problems_);
    }
    problems_.insert(problems_.end(), first.begin(), first.end());
    return {};
  }

  SchemaCheckOptions options_;
  std::vector<SchemaProblem> problems_;
};

bool is_plain_key(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) { return is_alphanumeric(c) || contains("_$-", c); });
}

}  // namespace

Result<std::vector<SchemaProblem>> check_schema(const json::value& schema, const json::value& document,
                                                SchemaCheckOptions options) {
  try {
    Checker checker(options);
    TRY(checker.check(schema, document, "", false));
    return checker.take();
  } catch (const std::exception& exception) {  // a keyword of the schema has a value of the wrong type
    return fail(ErrorKind::kInternal, "the schema is malformed: {}", exception.what());
  }
}

json::value with_schema_defaults(const json::value& schema, const json::value& value) {
  if (const json::value* items = find(schema, "items"); items && value.is_array()) {
    json::array filled;
    for (const json::value& item : value.get_array()) filled.push_back(with_schema_defaults(*items, item));
    return filled;
  }
  const json::value* properties = find(schema, "properties");
  if (!properties || !value.is_object()) return value;
  json::object filled;
  for (const auto& property : properties->as_object()) {
    const json::value* given = find(value, property.key());
    if (!given) given = find(property.value(), "default");
    if (given) filled[property.key()] = with_schema_defaults(property.value(), *given);
  }
  for (const auto& member : value.get_object()) {
    if (!filled.contains(member.key())) filled[member.key()] = member.value();
  }
  return filled;
}

std::string readable_path(std::string_view pointer) {
  if (pointer.empty()) return "the top level";
  std::string path;
  for (const std::string& part : split(pointer.substr(1), '/')) {
    const std::string key = from_pointer_part(part);
    if (!key.empty() && key.find_first_not_of("0123456789") == std::string::npos) {
      path += fmt::format("[{}]", key);
    } else if (is_plain_key(key)) {
      path += (path.empty() ? "" : ".") + key;
    } else {
      path += fmt::format("[{}]", fit_to_width(plain(to_json_string(key)), 60));
    }
  }
  return path;
}

std::string child_pointer(std::string_view parent, std::string_view key) {
  return fmt::format("{}/{}", parent, to_pointer_part(key));
}

}  // namespace ralph
