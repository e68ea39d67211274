// Random edits of random documents in random layouts. The result must equal the same edits done to values, and every
// unedited byte must be unchanged.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/dice_for_tests.h"
#include "base/text.h"
#include "json/edit.h"
#include "json/walk.h"

namespace ralph {
namespace {

const std::vector<std::string> kKeys = {"a", "b", "id", "", "x/y", "~", "~1", "é", "q\"\\", "{", "a,b", "0", "1"};

json::value random_value(Dice& dice, size_t depth) {
  switch (dice.below(depth > 0 ? 9 : 6)) {
    case 0:
      return dice.one_in(2);
    case 1:
      return nullptr;
    case 2:
      return static_cast<int>(dice.below(1000)) - 500;
    case 3:
      return 0.5;
    case 4:
      return json::value(dice.any<std::string>({"", "text", "[1,\n 2]", "\"}{\\", "\t: é, 😀"}));
    case 5:
      return dice.one_in(2) ? json::value(json::object{}) : json::value(json::array{});
    case 6: {
      json::array array;
      for (size_t n = dice.below(6); n > 0; --n) array.push_back(random_value(dice, depth - 1));
      return array;
    }
    default: {
      json::object object;
      for (size_t n = dice.below(6); n > 0; --n) object[dice.any(kKeys)] = random_value(dice, depth - 1);
      return object;
    }
  }
}

// The layout of a text; `dice`, if set, scatter blanks and line breaks.
struct Layout {
  std::string newline = "\n";
  std::string unit = "  ";
  bool in_lines = true;
  std::string gap = " ";
  Dice* dice = nullptr;

  std::string blanks() const {
    if (!dice || dice->below(3) > 0) return "";
    return dice->any<std::string>({" ", "\t", "  ", newline, newline + newline + "   ", newline + "\t"});
  }

  std::string print(const json::value& value, const std::string& indent = "") const {
    if (!value.is_structured() || (value.is_object() ? value.get_object().empty() : value.get_array().empty()))
      return std::string(trim(to_pretty_json(value)));
    const bool lines = dice ? dice->one_in(2) : in_lines;
    const std::string inner = lines ? indent + unit : indent;
    std::string out;
    const auto item = [&](const std::string& text) {
      out += out.empty() ? "" : blanks() + "," + (lines ? "" : gap);
      out += (lines ? newline + inner : "") + blanks() + text;
    };
    if (value.is_object()) {
      for (const auto& member : value.get_object())
        item(json::serialize(json::string_view(member.key())) + blanks() + ":" + gap + blanks() +
             print(member.value(), inner));
    } else {
      for (const auto& element : value.get_array()) item(print(element, inner));
    }
    out += blanks() + (lines ? newline + indent : "");
    return value.is_object() ? "{" + out + "}" : "[" + out + "]";
  }
};

// The same edits, done to values.
struct Model {
  std::map<std::string, json::value> set;
  std::set<std::string> removed;
  std::map<std::string, std::vector<std::pair<std::string, json::value>>> added;  // members of each object
  std::map<std::pair<std::string, size_t>, std::vector<json::value>> inserted;    // before each element

  static std::string below(const std::string& pointer, std::string_view key) {
    return pointer + "/" + to_pointer_part(key);
  }

  json::value apply(const json::value& value, const std::string& pointer = "") const {
    if (const auto found = set.find(pointer); found != set.end()) return found->second;
    if (value.is_object()) {
      json::object result;
      for (const auto& member : value.get_object()) {
        const std::string child = below(pointer, member.key());
        if (!removed.contains(child)) result[member.key()] = apply(member.value(), child);
      }
      if (const auto found = added.find(pointer); found != added.end())
        for (const auto& [key, new_value] : found->second) result[key] = new_value;
      return result;
    }
    if (!value.is_array()) return value;
    json::array result;
    for (size_t i = 0; i <= value.get_array().size(); ++i) {
      if (const auto found = inserted.find({pointer, i}); found != inserted.end())
        result.insert(result.end(), found->second.begin(), found->second.end());
      const std::string child = below(pointer, std::to_string(i));
      if (i < value.get_array().size() && !removed.contains(child))
        result.push_back(apply(value.get_array()[i], child));
    }
    return result;
  }
};

struct Place {
  std::string pointer;
  const json::value* value;
};

void collect(const json::value& value, const std::string& pointer, std::vector<Place>& places) {
  places.push_back({pointer, &value});
  if (value.is_object()) {
    for (const auto& member : value.get_object()) collect(member.value(), Model::below(pointer, member.key()), places);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.get_array().size(); ++i)
      collect(value.get_array()[i], Model::below(pointer, std::to_string(i)), places);
  }
}

// One random edit of both. `raw` gives the text for set_raw and insert_raw; without it values are given.
void edit(Dice& dice, const std::vector<Place>& places, const Layout* raw, JsonEdits& edits, Model& model) {
  const Place& place = dice.any(places);
  const std::string& pointer = place.pointer;
  const json::value value = random_value(dice, 2);
  const auto set = [&](const std::string& at) {
    EXPECT_TRUE(raw && dice.one_in(2) ? edits.set_raw(at, raw->print(value)) : edits.set(at, value)) << at;
  };
  const size_t what = dice.below(5);
  if (what == 0 && (!pointer.empty() || dice.one_in(10))) {
    set(pointer);
    model.set[pointer] = value;
    model.removed.erase(pointer);
  } else if (what <= 2 && !pointer.empty()) {
    EXPECT_TRUE(edits.remove(pointer));
    model.removed.insert(pointer);
    model.set.erase(pointer);
  } else if (place.value->is_object()) {
    const std::string& key = dice.any(kKeys);
    if (place.value->get_object().contains(key)) return;
    auto& added = model.added[pointer];
    const auto known =
        std::find_if(added.begin(), added.end(), [&](const auto& member) { return member.first == key; });
    if (known != added.end() && dice.one_in(2)) {
      EXPECT_TRUE(edits.remove(Model::below(pointer, key)));
      added.erase(known);
      return;
    }
    set(Model::below(pointer, key));
    if (known != added.end()) {
      known->second = value;
    } else {
      added.emplace_back(key, value);
    }
  } else if (place.value->is_array()) {
    const size_t size = place.value->get_array().size();
    const size_t index = dice.below(size + 3);
    EXPECT_TRUE(raw && dice.one_in(2) ? edits.insert_raw(pointer, index, raw->print(value))
                                      : edits.insert(pointer, index, value));
    model.inserted[{pointer, std::min(index, size)}].push_back(value);
  }
}

// Fails if a byte that no edit concerns differs between `before` and `after`.
class Comparison {
 public:
  Comparison(const JsonTree& before, const JsonTree& after, const Model& model)
      : before_(before), after_(after), model_(model) {}

  void whole_text() {
    EXPECT_EQ(before_.text(0, before_[0].begin), after_.text(0, after_[0].begin));
    EXPECT_EQ(before_.text().substr(before_[0].end), after_.text().substr(after_[0].end));
    value(0, 0, "");
  }

 private:
  void value(size_t id, size_t new_id, const std::string& pointer) {
    if (model_.set.contains(pointer)) return;
    const JsonTree::Node& old = before_[id];
    const JsonTree::Node& now = after_[new_id];
    if (old.size == 0) {  // filled, or unchanged
      EXPECT_TRUE(now.size > 0 || before_.text(old.begin, old.end) == after_.text(now.begin, now.end)) << pointer;
      return;
    }
    if (now.size == 0) {
      EXPECT_EQ(now.end - now.begin, 2u);
      return;
    }
    const auto at = [&](size_t i) -> const JsonTree::Node& { return before_[before_.child(old, i)]; };
    const auto now_at = [&](size_t i) -> const JsonTree::Node& { return after_[after_.child(now, i)]; };
    EXPECT_EQ(before_.text(old.begin, at(0).start), after_.text(now.begin, now_at(0).start));
    EXPECT_EQ(before_.text(at(old.size - 1).end, old.end), after_.text(now_at(now.size - 1).end, now.end));
    bool kept_before = false;
    for (size_t i = 0, j = 0; i < old.size; ++i) {
      const auto inserted = model_.inserted.find({pointer, i});
      const size_t count = inserted == model_.inserted.end() ? 0 : inserted->second.size();
      j += count;
      std::string child = pointer + "/";
      if (at(i).is_member()) {
        const auto key =
            parse_json(before_.text(at(i).start, before_.text().find_last_of('"', at(i).begin - 1) + 1), "");
        child += to_pointer_part(std::string_view(key.value().as_string()));
      } else {
        child += std::to_string(i);
      }
      const bool kept = !model_.removed.contains(child);
      if (kept) {
        EXPECT_EQ(before_.text(at(i).start, at(i).begin), after_.text(now_at(j).start, now_at(j).begin)) << child;
        if (kept_before && count == 0) {
          EXPECT_EQ(before_.text(at(i - 1).end, at(i).start), after_.text(now_at(j - 1).end, now_at(j).start)) << child;
        }
        value(before_.child(old, i), after_.child(now, j), child);
        ++j;
      }
      kept_before = kept;
    }
  }

  const JsonTree& before_;
  const JsonTree& after_;
  const Model& model_;
};

TEST(JsonEditsAtRandom, AnyTextBecomesWhatTheEditsSayAndKeepsItsBytes) {
  for (unsigned seed = 0; seed < 4000 && !testing::Test::HasFailure(); ++seed) {
    Dice dice(seed);
    const Layout layout{dice.any<std::string>({"\n", "\r\n"}), dice.any<std::string>({"  ", "    ", "\t", ""}), true,
                        dice.any<std::string>({"", " "}), &dice};
    json::value value = random_value(dice, 4);
    while (!value.is_structured() && !dice.one_in(10)) value = random_value(dice, 4);
    const std::string text =
        std::string(dice.one_in(4) ? "\xEF\xBB\xBF" : "") + layout.blanks() + layout.print(value) + layout.blanks();
    auto edits = JsonEdits::of(text, "f");
    ASSERT_TRUE(edits) << text;
    std::vector<Place> places;
    collect(value, "", places);
    Model model;
    for (size_t n = dice.below(8); n > 0; --n) edit(dice, places, &layout, *edits, model);

    const std::string result = edits->apply();
    const auto parsed = parse_json(result, "result");
    ASSERT_TRUE(parsed) << parsed.error().message << "\n" << text << "\n" << result;
    EXPECT_EQ(to_pretty_json(*parsed), to_pretty_json(model.apply(value))) << text;
    const auto before = JsonTree::of(text, "f");
    const auto after = JsonTree::of(result, "f");
    Comparison(*before, *after, model).whole_text();
    if (HasFailure()) ADD_FAILURE() << "seed " << seed << "\n" << text << "\n---\n" << result;
  }
}

TEST(JsonEditsAtRandom, TextOfOneStyleStaysInThatStyle) {
  const std::vector<Layout> layouts = {
      {"\n", "  "},           {"\r\n", "    "},      {"\n", "\t"},
      {"\n", "", false, " "}, {"\n", "", false, ""}, {"\n", "   ", true, ""},
  };
  for (unsigned seed = 0; seed < 3000 && !testing::Test::HasFailure(); ++seed) {
    Dice dice(seed);
    const Layout& layout = dice.any(layouts);
    // The first member determines the style.
    json::value value = {{"first", json::array{1}}};
    for (size_t n = dice.below(5); n > 0; --n) value.as_object()[dice.any(kKeys)] = random_value(dice, 3);
    const std::string text = layout.print(value);
    auto edits = JsonEdits::of(text, "f");
    ASSERT_TRUE(edits) << text;
    std::vector<Place> places;
    collect(value, "", places);
    Model model;
    for (size_t n = dice.below(8); n > 0; --n) edit(dice, places, nullptr, *edits, model);
    EXPECT_EQ(edits->apply(), layout.print(model.apply(value))) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace ralph
