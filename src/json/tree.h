// The position of every value in a JSON text: its bytes, its key, its neighbours. For editing a person's text in place;
// to read values, use parse_json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ralph {

class JsonTree {
 public:
  struct Node {
    size_t start = 0;    // offset of its key, or of the value if it has none
    size_t begin = 0;    // the value's first byte
    size_t end = 0;      // past its last byte
    size_t newline = 0;  // the first line end after `begin`, anywhere
    size_t parent = 0;   // the document is its own parent
    size_t depth = 0;    // how many values enclose it
    size_t size = 0;     // how many members or elements it has

    bool is_member() const { return start != begin; }
    bool spans_lines() const { return newline < end; }

   private:
    friend class JsonTree;
    size_t first_child_ = 0;           // in children_
    size_t name_ = 0, name_size_ = 0;  // in names_
  };

  // Reads `text` once; it must outlive the tree. The errors are those of parse_json.
  static Result<JsonTree> of(std::string_view text, std::string_view where);

  std::string_view text() const { return text_; }
  std::string_view text(size_t from, size_t to) const { return text_.substr(from, to - from); }

  // Values are numbered in the order of the text; 0 is the document.
  size_t size() const { return nodes_.size(); }
  const Node& operator[](size_t id) const { return nodes_[id]; }
  size_t child(const Node& node, size_t index) const { return children_[node.first_child_ + index]; }
  bool is(const Node& node, char first) const { return text_[node.begin] == first; }
  std::optional<size_t> find(std::string_view pointer) const;

 private:
  explicit JsonTree(std::string_view text) : text_(text) {}
  std::string_view name(size_t id) const;
  std::optional<size_t> find_child(const Node& node, std::string_view part) const;

  std::string_view text_;
  std::vector<Node> nodes_;
  std::vector<size_t> children_;  // those of one node are contiguous and in order
  std::vector<size_t> by_name_;   // the same, but members are sorted by name
  std::string names_;             // escaped as in pointers
};

}  // namespace ralph
