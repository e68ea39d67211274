#include "json/edit.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/utf8.h"
#include "json/walk.h"
#include "json/writer.h"

namespace ralph {
namespace {

constexpr size_t kNone = std::string_view::npos;

// `json` without surrounding blanks, if it is valid JSON and not nested too deeply for this depth.
std::optional<std::string_view> json_for(size_t depth, std::string_view json) {
  size_t begin = 0;
  size_t end = 0;
  size_t levels = 0;
  const auto visit = [&](const JsonPlace& place) {
    if (place.depth == 0) begin = place.value;
    const bool is_container = place.value < json.size() && (json[place.value] == '{' || json[place.value] == '[');
    levels = std::max(levels, place.depth + (is_container ? 1 : 0));
  };
  if (scan_json(json, visit, [&](size_t at) { end = at; }) || depth + levels > kMaxJsonDepth) return std::nullopt;
  return json.substr(begin, end - begin);
}

size_t count_lines(std::string_view blanks) {
  return static_cast<size_t>(std::count(blanks.begin(), blanks.end(), '\n'));
}

std::string_view indent_of(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// The formatting style of a text.
struct Style {
  std::string newline;
  std::string unit;  // one level of indentation
  bool is_spaced;    // blanks after ':' and ','

  std::string_view gap() const { return is_spaced ? " " : ""; }
};

// From the first container whose first child is indented on its own line.
std::string indent_unit(const JsonTree& tree) {
  std::string_view unit = "  ";
  for (size_t id = 0; id < tree.size(); ++id) {
    const JsonTree::Node& node = tree[id];
    if (node.size == 0 || node.newline > tree[tree.child(node, 0)].start) continue;
    const size_t child = tree[tree.child(node, 0)].start;
    const std::string_view outer = indent_of(tree.text().substr(tree.text().rfind('\n', node.begin) + 1));
    const std::string_view inner = tree.text(tree.text().rfind('\n', child) + 1, child);
    if (!inner.starts_with(outer)) continue;
    unit = inner.substr(outer.size());
    if (!unit.empty()) break;
  }
  return std::string(unit);
}

// From the first key or, if there is none, the first comma.
bool is_spaced(const JsonTree& tree) {
  std::optional<size_t> second;
  for (size_t id = 0; id < tree.size(); ++id) {
    const JsonTree::Node& node = tree[id];
    if (node.is_member()) return tree.text()[node.begin - 1] != ':';
    if (!second && node.size > 1) second = tree[tree.child(node, 1)].start;
  }
  return !second || tree.text()[*second - 1] != ',';
}

Style style_of(const JsonTree& tree) {
  const size_t newline = tree.text().find('\n');
  const bool is_crlf = newline != kNone && newline > 0 && tree.text()[newline - 1] == '\r';
  return {is_crlf ? "\r\n" : "\n", indent_unit(tree), is_spaced(tree)};
}

// The text being written and its current line.
class Page {
 public:
  void add(std::string_view piece) {
    if (const size_t newline = piece.rfind('\n'); newline != kNone) line_ = text_.size() + newline + 1;
    text_ += piece;
  }
  std::string_view indent() const { return indent_of(std::string_view(text_).substr(line_)); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  size_t line_ = 0;
};

// Empty, which every edit rejects, if the value contains invalid UTF-8: U+FFFD is not what the caller asked for.
std::string printed(const json::value& value) {
  return find_invalid_utf8(json::serialize(value)) == kNone ? to_pretty_json(value) : "";
}

size_t end_of_string(std::string_view json, size_t at) {
  for (++at; json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

// Writes valid JSON with new line breaks, or without any. Blanks within a line stay, unless they are ours.
void lay_out(Page& page, std::string_view json, bool is_ours, bool in_lines, const Style& style) {
  const std::string indent(page.indent());
  size_t level = 0;            // of the line
  std::vector<size_t> levels;  // of the lines inside each open bracket; several brackets on one line indent only once
  for (size_t at = 0; at < json.size();) {
    const size_t start = at;
    const char c = json[at];
    if (c == '"') {
      at = end_of_string(json, at);
      page.add(json.substr(start, at - start));
      continue;
    }
    at = json.find_first_not_of(" \t\r\n", at);
    if (at == start) {
      if (c == '{' || c == '[') levels.push_back(level + 1);
      if (c == '}' || c == ']') levels.pop_back();
      page.add(json.substr(at++, 1));
      continue;
    }
    const std::string_view blanks = json.substr(start, at - start);
    const size_t lines = count_lines(blanks);
    if (lines > 0 && in_lines) {
      level = levels.back() - (json[at] == '}' || json[at] == ']' ? 1 : 0);
      for (size_t line = 0; line < lines; ++line) page.add(style.newline);
      page.add(indent);
      for (size_t unit = 0; unit < level; ++unit) page.add(style.unit);
    } else if (lines == 0 && !is_ours) {
      page.add(blanks);
    } else if (json[start - 1] == ',' || json[start - 1] == ':') {
      page.add(style.gap());
    }
  }
}

}  // namespace

// Rewrites the text from the document down and copies untouched values whole.
class JsonEdits::Writer {
 public:
  explicit Writer(const JsonEdits& edits)
      : edits_(edits), tree_(edits.tree_), style_(style_of(tree_)), touched_(tree_.size(), false) {
    for (const auto& change : edits.changes_) touch(tree_[change.first].parent);
    for (const Insertion& insertion : edits.insertions_) {
      if (!insertion.piece) continue;
      touch(insertion.container);
      insertions_.push_back(&insertion);
    }
    // Comparing pointers into one vector keeps the order of the calls.
    std::sort(insertions_.begin(), insertions_.end(), [](const Insertion* a, const Insertion* b) {
      return std::tie(a->container, a->index, a) < std::tie(b->container, b->index, b);
    });
  }

  std::string write() {
    const Node& document = tree_[0];
    page_.add(tree_.text(0, document.begin));
    value(0, document.size == 0 || document.spans_lines());
    page_.add(tree_.text(document.end, tree_.text().size()));
    return page_.take();
  }

 private:
  using Node = JsonTree::Node;

  void touch(size_t id) {
    while (!touched_[id]) {
      touched_[id] = true;
      id = tree_[id].parent;
    }
  }

  const std::optional<Piece>* change_of(size_t id) const {
    const auto found = edits_.changes_.find(id);
    return found == edits_.changes_.end() ? nullptr : &found->second;
  }

  void value(size_t id, bool in_lines) {
    const Node& node = tree_[id];
    if (const auto* change = change_of(id)) {
      piece(**change, in_lines, &node);
    } else if (touched_[id]) {
      container(id, in_lines);
    } else {
      page_.add(tree_.text(node.begin, node.end));
    }
  }

  // `model` is the value that it replaces or adjoins, if any.
  void piece(const Piece& piece, bool in_lines, const Node* model) {
    if (model && model->size > 0 && !model->spans_lines() && tree_.is(*model, piece.json[0])) in_lines = false;
    lay_out(page_, piece.json, piece.is_ours, in_lines, style_);
  }

  // The text between the child of this index and the one before it.
  std::string_view separator(const Node& node, size_t index) const {
    return tree_.text(tree_[tree_.child(node, index - 1)].end, tree_[tree_.child(node, index)].start);
  }

  // The text between a new member's key and its value.
  std::string_view colon(const Node& object) const {
    if (object.size > 0) {
      const size_t value = tree_[tree_.child(object, object.size - 1)].begin;
      const std::string_view used = tree_.text(tree_.text().rfind('"', value - 1) + 1, value);
      if (count_lines(used) == 0) return used;
    }
    return style_.is_spaced ? ": " : ":";
  }

  std::span<const Insertion* const> insertions_of(size_t id) const {
    const auto before = [](const Insertion* insertion, size_t container) { return insertion->container < container; };
    const auto first = std::lower_bound(insertions_.begin(), insertions_.end(), id, before);
    const auto last = std::lower_bound(first, insertions_.end(), id + 1, before);
    return {first, last};
  }

  // Writes the remaining and the new children between the brackets, with separators that the text already uses.
  void container(size_t id, bool in_lines) {
    const Node& node = tree_[id];
    const size_t size = node.size;
    in_lines = node.spans_lines() || (in_lines && size == 0);

    std::string opening;
    std::string closing;
    if (size > 0) {
      opening = tree_.text(node.begin + 1, tree_[tree_.child(node, 0)].start);
      closing = tree_.text(tree_[tree_.child(node, size - 1)].end, node.end - 1);
    } else if (in_lines) {
      closing = style_.newline + std::string(page_.indent());
      opening = closing + style_.unit;
    }
    const size_t line = opening.rfind('\n');
    const std::string made =
        line == kNone ? ',' + std::string(style_.gap()) : ',' + style_.newline + opening.substr(line + 1);

    bool is_first = true;
    std::string_view between;  // the separator to write, if the text has one here
    const auto separate = [&](size_t index) {
      if (is_first) {
        page_.add(opening);
      } else if (!between.empty()) {
        page_.add(between);
      } else {
        page_.add(size < 2 ? made : separator(node, index == 0 ? 1 : size - 1));
      }
      is_first = false;
    };

    const auto added = insertions_of(id);
    auto insertion = added.begin();
    page_.add(tree_.text(node.begin, node.begin + 1));
    for (size_t index = 0; index <= size; ++index) {
      if (index > 0 && index < size) {
        // Of the separators around a removed child, keep the one with more line breaks, so that rows of a table stay
        // rows.
        const std::string_view next = separator(node, index);
        if (between.empty() || count_lines(next) >= count_lines(between)) between = next;
      }
      for (; insertion != added.end() && (*insertion)->index == index; ++insertion) {
        const bool is_member = !(*insertion)->key.empty();
        separate(index);
        if (is_member) {
          page_.add((*insertion)->key);
          page_.add(colon(node));
        }
        const Node* neighbour = !is_member && size > 0 ? &tree_[tree_.child(node, index > 0 ? index - 1 : 0)] : nullptr;
        piece(*(*insertion)->piece, in_lines, neighbour);
      }
      if (index == size) break;
      const size_t child = tree_.child(node, index);
      if (const auto* change = change_of(child); change && !*change) continue;
      separate(index);
      page_.add(tree_.text(tree_[child].start, tree_[child].begin));
      value(child, in_lines);
      between = {};
    }
    if (!is_first) page_.add(closing);
    page_.add(tree_.text(node.end - 1, node.end));
  }

  const JsonEdits& edits_;
  const JsonTree& tree_;
  const Style style_;
  std::vector<bool> touched_;  // has an edit inside
  std::vector<const Insertion*> insertions_;
  Page page_;
};

Result<JsonEdits> JsonEdits::of(std::string_view text, std::string_view where) {
  TRY_VALUE(JsonTree tree, JsonTree::of(text, where));
  return JsonEdits(std::move(tree));
}

std::optional<std::string_view> JsonEdits::raw(std::string_view pointer) const {
  const auto id = tree_.find(pointer);
  if (!id) return std::nullopt;
  return tree_.text(tree_[*id].begin, tree_[*id].end);
}

bool JsonEdits::put(std::string_view pointer, std::string_view json, bool is_ours) {
  if (const auto id = tree_.find(pointer)) {
    const auto fitting = json_for(tree_[*id].depth, json);
    if (fitting) changes_[*id] = Piece{std::string(*fitting), is_ours};
    return fitting.has_value();
  }
  const size_t slash = pointer.rfind('/');
  const auto object = slash == kNone ? std::nullopt : tree_.find(pointer.substr(0, slash));
  if (!object || !tree_.is(tree_[*object], '{')) return false;
  const std::string_view part = pointer.substr(slash + 1);
  const std::string key = from_pointer_part(part);
  if (to_pointer_part(key) != part || find_invalid_utf8(key) != kNone) return false;
  const auto fitting = json_for(tree_[*object].depth + 1, json);
  if (!fitting) return false;

  const auto [added, is_new] = added_.try_emplace(std::string(pointer), insertions_.size());
  if (is_new) insertions_.push_back({*object, tree_[*object].size, '"' + json_escaped(key) + '"', {}});
  insertions_[added->second].piece = Piece{std::string(*fitting), is_ours};
  return true;
}

bool JsonEdits::put_element(std::string_view array, size_t index, std::string_view json, bool is_ours) {
  const auto id = tree_.find(array);
  if (!id || !tree_.is(tree_[*id], '[')) return false;
  const auto fitting = json_for(tree_[*id].depth + 1, json);
  if (!fitting) return false;
  insertions_.push_back({*id, std::min(index, tree_[*id].size), {}, Piece{std::string(*fitting), is_ours}});
  return true;
}

bool JsonEdits::set(std::string_view pointer, const json::value& value) {
  return put(pointer, printed(value), true);
}

bool JsonEdits::set_raw(std::string_view pointer, std::string_view json) {
  return put(pointer, json, false);
}

bool JsonEdits::insert(std::string_view array, size_t index, const json::value& value) {
  return put_element(array, index, printed(value), true);
}

bool JsonEdits::insert_raw(std::string_view array, size_t index, std::string_view json) {
  return put_element(array, index, json, false);
}

bool JsonEdits::remove(std::string_view pointer) {
  if (const auto id = tree_.find(pointer)) {
    if (*id != 0) changes_[*id] = std::nullopt;
    return *id != 0;
  }
  const auto added = added_.find(std::string(pointer));
  if (added == added_.end()) return false;
  insertions_[added->second].piece.reset();
  added_.erase(added);
  return true;
}

std::string JsonEdits::apply() const {
  return Writer(*this).write();
}

}  // namespace ralph
