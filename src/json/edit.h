// Edits a person's JSON text in place: untouched parts keep every byte, and new parts follow the layout around them.
// Edits are collected and applied together, in one pass.
//
//   TRY_VALUE(JsonEdits edits, JsonEdits::of(text, path));
//   edits.set("/stories/3/passes", true);
//   edits.insert("/stories", 4, story);
//   write(path, edits.apply());
// Pointers are those of json/walk.h. Pointers and indices always refer to the original text, whatever was edited since.
// If two edits concern the same value, the last wins. If one value contains the other, the outer edit wins: edits
// within a value that is set or removed are lost.
// Layout: a value gets its own lines, in the text's indentation, if its container spans several lines. It goes on one
// line if its container, the value it replaces or its neighbour in an array (if both are containers of the same kind)
// is on one line. An empty container is laid out as if it did not exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/tree.h"
#include "json/value.h"

namespace ralph {

class JsonEdits {
 public:
  // `text` must outlive this. The errors are those of parse_json.
  static Result<JsonEdits> of(std::string_view text, std::string_view where);

  // In the original text.
  bool has(std::string_view pointer) const { return tree_.find(pointer).has_value(); }
  std::optional<std::string_view> raw(std::string_view pointer) const;  // a value's source text

  // Each of these returns whether it succeeded. It fails if the place does not exist, if the given text is not JSON, or
  // if the result would be nested too deeply to be read back.

  // Replaces a value, or adds a member at the end of an object.
  bool set(std::string_view pointer, const json::value& value);
  // Removes a member or an element with its comma and its line. The document itself cannot be removed.
  bool remove(std::string_view pointer);
  // Inserts before the element with this index, or at the end if there is none. Elements inserted at the same place
  // keep the order of the calls.
  bool insert(std::string_view array, size_t index, const json::value& value);

  // The same with JSON text, which keeps its own line breaks and spaces as far as the layout allows; its lines are
  // reindented.
  bool set_raw(std::string_view pointer, std::string_view json);
  bool insert_raw(std::string_view array, size_t index, std::string_view json);

  std::string apply() const;

 private:
  struct Piece {
    std::string json;
    bool is_ours;  // made from a value: its whitespace was not chosen by a person
  };
  struct Insertion {
    size_t container;
    size_t index;  // of the member or element that will follow it
    std::string key;
    std::optional<Piece> piece;  // nullopt: withdrawn
  };
  class Writer;

  explicit JsonEdits(JsonTree tree) : tree_(std::move(tree)) {}
  bool put(std::string_view pointer, std::string_view json, bool is_ours);
  bool put_element(std::string_view array, size_t index, std::string_view json, bool is_ours);

  JsonTree tree_;
  std::unordered_map<size_t, std::optional<Piece>> changes_;  // the new value; nullopt: removed
  std::vector<Insertion> insertions_;
  std::unordered_map<std::string, size_t> added_;  // the insertion of each member that is not in the text
};

}  // namespace ralph
