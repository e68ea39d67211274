#include "json/tree.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "json/value.h"
#include "json/walk.h"

namespace ralph {

Result<JsonTree> JsonTree::of(std::string_view text, std::string_view where) {
  JsonTree tree(text);
  std::vector<Node>& nodes = tree.nodes_;
  std::vector<size_t> open;     // unfinished values, the outermost first
  std::vector<size_t> waiting;  // finished values, waiting for their container to end
  size_t newline = 0;

  const auto visit = [&](const JsonPlace& place) {
    if (newline < place.value || nodes.empty()) newline = text.find('\n', place.value);
    Node node;
    node.start = place.key.value_or(place.value);
    node.begin = place.value;
    node.newline = newline;
    node.parent = open.empty() ? 0 : open.back();
    node.depth = place.depth;
    node.first_child_ = waiting.size();
    if (place.key) {
      const std::string_view name = place.pointer.substr(place.pointer.rfind('/') + 1);
      node.name_ = tree.names_.size();
      node.name_size_ = name.size();
      tree.names_ += name;
    }
    open.push_back(nodes.size());
    nodes.push_back(node);
  };
  const auto leave = [&](size_t end) {
    Node& node = nodes[open.back()];
    const auto first = waiting.begin() + static_cast<std::ptrdiff_t>(node.first_child_);
    node.end = end;
    node.size = static_cast<size_t>(waiting.end() - first);
    node.first_child_ = tree.children_.size();
    tree.children_.insert(tree.children_.end(), first, waiting.end());
    if (tree.is(node, '{'))
      std::sort(first, waiting.end(), [&](size_t a, size_t b) { return tree.name(a) < tree.name(b); });
    tree.by_name_.insert(tree.by_name_.end(), first, waiting.end());
    waiting.erase(first, waiting.end());
    waiting.push_back(open.back());
    open.pop_back();
  };
  // All errors about a text use the same wording.
  if (scan_json(text, visit, leave)) return tl::unexpected(parse_json(text, where).error());
  return tree;
}

std::optional<size_t> JsonTree::find(std::string_view pointer) const {
  size_t id = 0;
  while (!pointer.empty()) {
    if (pointer[0] != '/') return std::nullopt;
    pointer.remove_prefix(1);
    const size_t size = std::min(pointer.find('/'), pointer.size());
    const auto found = find_child(nodes_[id], pointer.substr(0, size));
    if (!found) return std::nullopt;
    id = *found;
    pointer.remove_prefix(size);
  }
  return id;
}

std::string_view JsonTree::name(size_t id) const {
  return std::string_view(names_).substr(nodes_[id].name_, nodes_[id].name_size_);
}

std::optional<size_t> JsonTree::find_child(const Node& node, std::string_view part) const {
  if (is(node, '[')) {
    size_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index =
        error == std::errc() && end == part.data() + part.size() && (part.size() == 1 || part[0] != '0');
    if (!is_index || index >= node.size) return std::nullopt;
    return child(node, index);
  }
  const auto first = by_name_.begin() + static_cast<std::ptrdiff_t>(node.first_child_);
  const auto last = first + static_cast<std::ptrdiff_t>(node.size);
  const auto found =
      std::lower_bound(first, last, part, [this](size_t id, std::string_view wanted) { return name(id) < wanted; });
  return found != last && name(*found) == part ? std::optional(*found) : std::nullopt;
}

}  // namespace ralph
