#include "policy/shell/units.h"

#include <algorithm>

#include "base/text.h"
#include "policy/shell/lexer.h"

namespace ralph {
namespace {

constexpr size_t kMostWords = 128;
constexpr size_t kMostUnits = 512 * 1024;  // of all words together
constexpr int kDeepestBrace = 12;

// Whether it is a typed brace or comma, or its counterpart in the values of a loop.
bool is_either(const Unit& unit, UnitKind kind, char typed) {
  return unit.kind == kind || (unit.kind == UnitKind::kPlain && unit.c == typed);
}
bool opens(const Unit& unit) {
  return is_either(unit, UnitKind::kEachOpen, '{');
}

// A group of braces: where it closes and where its parts are separated. All groups are found in one pass, so that many
// open braces take linear time.
struct Group {
  size_t open = 0, close = 0;
  std::vector<size_t> dividers;
};

class Expander {
 public:
  Expander(const Units& units, bool& overflow) : units_(units), overflow_(overflow), group_at_(units.size(), -1) {
    std::vector<size_t> open;  // indices into groups_
    for (size_t i = 0; i < units.size(); ++i) {
      if (opens(units[i])) {
        group_at_[i] = static_cast<int>(groups_.size());
        open.push_back(groups_.size());
        groups_.push_back({i, 0, {}});
      } else if (open.empty()) {
        continue;
      } else if (is_either(units[i], UnitKind::kEachClose, '}')) {
        groups_[open.back()].close = i;
        open.pop_back();
      } else if (is_either(units[i], UnitKind::kEachNext, ',')) {
        groups_[open.back()].dividers.push_back(i);
      }
    }
  }

  std::vector<Units> expand(size_t from, size_t to, int depth) {
    std::vector<Units> results(1), first;  // `first`: the choices that `results` is based on, in the same order
    for (size_t i = from; i < to; ++i) {
      const Group* group = group_at_[i] < 0 ? nullptr : &groups_[static_cast<size_t>(group_at_[i])];
      const bool is_each = units_[i].kind == UnitKind::kEachOpen;
      if (results.size() > 1 && (made_ += results.size()) > kMostUnits) {
        overflow_ = true;
        return results;
      }
      if (!group || group->close == 0 || depth > kDeepestBrace) {
        for (Units& result : results) result.push_back(units_[i]);
        continue;
      }
      std::vector<Units> parts;
      if (!group->dividers.empty() || is_each) {
        size_t begin = group->open + 1;
        for (size_t divider = 0; divider <= group->dividers.size(); ++divider) {
          const size_t end = divider < group->dividers.size() ? group->dividers[divider] : group->close;
          for (Units& part : expand(begin, end, depth + 1)) parts.push_back(std::move(part));
          begin = end + 1;
        }
      } else {
        parts = ends_of_range(*group);
      }
      if (parts.empty()) {  // {} and {x} are plain text
        for (Units& result : results) result.push_back(units_[i]);
        continue;
      }
      const bool fits = results.size() * parts.size() <= kMostWords;
      if (!fits && !is_each) {
        overflow_ = true;
        return results;
      }
      if (fits) {
        if (is_each && results.size() == 1) first = parts;
        std::vector<Units> product;
        for (const Units& left : results) {
          for (const Units& right : parts) {
            made_ += left.size() + right.size();
            if (made_ > kMostUnits) {
              overflow_ = true;
              return results;
            }
            product.push_back(left);
            append(product.back(), right);
          }
        }
        results = std::move(product);
      } else {
        // "$f/$f" in a loop: the same variable has the same value each time; another variable may have any.
        const bool is_same = results.size() == parts.size() && parts == first;
        for (size_t n = 0; n < results.size(); ++n)
          append(results[n], is_same ? parts[n] : Units{{kUnknownPart, UnitKind::kUnknown}});
      }
      i = group->close;
    }
    return results;
  }

 private:
  static void append(Units& to, const Units& more) { to.insert(to.end(), more.begin(), more.end()); }

  // {a..z}: only the first and the last, which is enough for rules about paths.
  std::vector<Units> ends_of_range(const Group& group) const {
    std::string text;
    for (size_t i = group.open + 1; i < group.close; ++i) {
      if (units_[i].kind != UnitKind::kPlain) return {};
      text += units_[i].c;
    }
    const size_t dots = text.find("..");
    if (dots == std::string::npos || dots == 0 || text.size() > 64) return {};
    const size_t second = text.find("..", dots + 2);
    const std::string last = text.substr(dots + 2, second == std::string::npos ? second : second - dots - 2);
    if (last.empty()) return {};
    std::vector<Units> ends;
    for (const std::string& end : {text.substr(0, dots), last}) {
      Units units;
      for (const char c : end) units.push_back({c, UnitKind::kPlain});
      ends.push_back(std::move(units));
    }
    return ends;
  }

  const Units& units_;
  bool& overflow_;
  std::vector<int> group_at_;
  std::vector<Group> groups_;
  size_t made_ = 0;
};

// The expansion of an unquoted leading ~; `used` is set to its number of units.
std::string home_prefix(const Units& units, size_t from, const Surroundings& around, size_t& used) {
  std::string name;
  used = 1;
  while (from + used < units.size()) {
    const Unit& unit = units[from + used];
    if (unit.c == '/' || (unit.c == ':' && unit.kind == UnitKind::kPlain)) break;
    if (unit.kind != UnitKind::kPlain) {  // ~"x" and ~$x are not expanded
      used = 1;
      return "~";
    }
    name += unit.c;
    ++used;
  }
  if (name.empty()) return std::string(around.home);
  if (name == "+") return std::string(around.cwd);
  if (name == "-") return std::string(1, kUnknownPart);
  if (name == "root") return "/root";
  return "/home/" + name;
}

}  // namespace

std::vector<std::string> words_of(const Units& units, const Surroundings& around, bool& overflow) {
  std::vector<std::string> words;
  const bool multiplies = std::ranges::any_of(units, opens);
  std::vector<Units> expanded;
  if (multiplies) expanded = Expander(units, overflow).expand(0, units.size(), 0);
  for (size_t n = 0; n < (multiplies ? expanded.size() : 1); ++n) {
    const Units& one = multiplies ? expanded[n] : units;
    std::string word;
    bool exists = false;
    const auto finish = [&] {
      if (exists) words.push_back(std::move(word));
      word.clear();
      exists = false;
    };
    for (size_t i = 0; i < one.size(); ++i) {
      const Unit& unit = one[i];
      const bool separates = unit.kind == UnitKind::kSplit && contains(around.separators, unit.c);
      if (unit.kind == UnitKind::kBreak || separates) {
        finish();
      } else if (unit.kind == UnitKind::kKeep) {
        exists = true;
      } else if (unit.kind == UnitKind::kUnknown) {
        word += kUnknownPart;
        exists = true;
      } else if (unit.kind == UnitKind::kPlain && unit.c == '~' && !exists && i == 0) {
        size_t used = 1;
        word += home_prefix(one, i, around, used);
        exists = true;
        i += used - 1;
      } else if (unit.kind == UnitKind::kPlain || unit.kind == UnitKind::kQuoted || unit.kind == UnitKind::kSplit) {
        word += unit.c;
        exists = true;
      }
    }
    finish();
  }
  return words;
}

std::string text_of(const Units& units, const Surroundings& around) {
  std::string text;
  int skipping = 0;  // > 0: after the first of several choices
  for (size_t i = 0; i < units.size(); ++i) {
    const Unit& unit = units[i];
    if (unit.kind == UnitKind::kEachNext) skipping = 1;
    if (unit.kind == UnitKind::kEachClose) skipping = 0;
    if (skipping) continue;
    const bool is_character =
        unit.kind == UnitKind::kPlain || unit.kind == UnitKind::kQuoted || unit.kind == UnitKind::kSplit;
    if (unit.kind == UnitKind::kUnknown) text += kUnknownPart;
    if (unit.kind == UnitKind::kBreak) text += ' ';
    if (!is_character) continue;
    const bool begins = i == 0 || (units[i - 1].kind == UnitKind::kPlain && units[i - 1].c == ':');
    if (unit.kind == UnitKind::kPlain && unit.c == '~' && begins) {
      size_t used = 1;
      text += home_prefix(units, i, around, used);
      i += used - 1;
    } else {
      text += unit.c;
    }
  }
  return text;
}

std::vector<std::string> choices_of(const Units& units, const Surroundings& around, bool& overflow) {
  const bool chooses = std::ranges::any_of(units, [](const Unit& unit) { return unit.kind == UnitKind::kEachOpen; });
  if (!chooses) return {text_of(units, around)};
  Units plain = units;  // typed braces are plain text here
  for (Unit& unit : plain) {
    if (unit.kind == UnitKind::kPlain && unit.c != '~' && unit.c != ':') unit.kind = UnitKind::kQuoted;
  }
  std::vector<std::string> texts;
  for (const Units& one : Expander(plain, overflow).expand(0, plain.size(), 0)) texts.push_back(text_of(one, around));
  return texts;
}

}  // namespace ralph
