// Edits a person's JSON text so that it stays theirs: what is not concerned keeps every byte, and what is new follows
// the layout around it. Edits are collected and applied together, in one pass.
//
//   TRY_VALUE(JsonEdits edits, JsonEdits::of(text, path));
//   edits.set("/stories/3/passes", true);
//   edits.insert("/stories", 4, story);
//   write(path, edits.apply());
//
// Pointers are those of base/json_scan.h. They, and the indices of elements, always mean the text as it was given,
// whatever was edited since. Of two edits of the same value the last wins; of one inside another, the outer one: what
// is edited within a value that is set or removed is lost.
//
// Layout: a value goes on lines of its own, in the text's indentation, if the container that it comes into spans lines.
// It goes on one line if that container stands on one line, or if what it replaces does, or the element beside it in an
// array (where they are containers of its kind). An empty container is laid out as if it were not there.
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

  // As the text was given.
  bool has(std::string_view pointer) const { return tree_.find(pointer).has_value(); }
  std::optional<std::string_view> raw(std::string_view pointer) const;  // a value as it is written

  // Each of these returns whether it could be done. It cannot where there is no such place, where what is given is not
  // JSON, or where it would be nested too deep to be read back.

  // Replaces a value, or adds a member at the end of an object.
  bool set(std::string_view pointer, const json::value& value);
  // A member or an element, with its comma and its line. The document itself cannot be removed.
  bool remove(std::string_view pointer);
  // Before the element that has this index, or at the end if there is none. Elements that are inserted at one place
  // stand in the order of the calls.
  bool insert(std::string_view array, size_t index, const json::value& value);

  // The same with JSON text, which keeps its own line breaks and blanks as far as the layout allows; its lines are
  // indented anew.
  bool set_raw(std::string_view pointer, std::string_view json);
  bool insert_raw(std::string_view array, size_t index, std::string_view json);

  std::string apply() const;

 private:
  struct Piece {
    std::string json;
    bool is_ours;  // made from a value: no person chose its blanks
  };
  struct Insertion {
    size_t container;
    size_t index;  // of the member or element before which it goes
    std::string key;
    std::optional<Piece> piece;  // nothing if it was taken back
  };
  class Writer;

  explicit JsonEdits(JsonTree tree) : tree_(std::move(tree)) {}
  bool put(std::string_view pointer, std::string_view json, bool is_ours);
  bool put_element(std::string_view array, size_t index, std::string_view json, bool is_ours);

  JsonTree tree_;
  std::unordered_map<size_t, std::optional<Piece>> changes_;  // what a value becomes; nothing: it is removed
  std::vector<Insertion> insertions_;
  std::unordered_map<std::string, size_t> added_;  // the insertion of each member that the text does not have
};

}  // namespace ralph
