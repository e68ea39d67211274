#include "checks/diagnostics/pattern.h"

#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

constexpr size_t kMostSteps = 5000, kMostDepth = 50, kLongestLine = 16 * 1024;
constexpr int kMostRepeats = 200;
constexpr std::string_view kGroupNames[] = {"file", "line", "column", "severity", "rule", "message"};

using Bytes = std::bitset<256>;

Bytes bytes_of(char letter) {
  Bytes set;
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool digit = byte >= '0' && byte <= '9';
    const bool in = letter == 'd'   ? digit
                    : letter == 'w' ? is_alphanumeric(byte) || byte == '_'
                                    : byte == ' ' || (byte >= '\t' && byte <= '\r');
    set[static_cast<size_t>(c)] = in;
  }
  return set;
}

}  // namespace

// Appends steps while parsing; a repeated piece is parsed again from its text.
class PatternCompiler {
 public:
  using Step = LinePattern::Step;

  explicit PatternCompiler(std::string_view text) : text_(text) {}

  Status compile(LinePattern& pattern) {
    TRY(alternatives());
    if (at_ < text_.size()) return wrong("a ) without its (");
    emit({Step::kMatch});
    if (!named_[LinePattern::kMessage])
      return fail(ErrorKind::kInput, "the pattern has no group (?<message>…), which says what was found");
    pattern.steps_ = std::move(steps_);
    return {};
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorKind::kInput, "the pattern is wrong at character {}: {}", at_ + 1, what);
  }

  unsigned emit(Step step) {
    steps_.push_back(step);
    return static_cast<unsigned>(steps_.size() - 1);
  }
  unsigned here() const { return static_cast<unsigned>(steps_.size()); }
  bool more() const { return at_ < text_.size(); }

  Status alternatives() {
    if (++depth_ > kMostDepth) return wrong("groups are nested too deeply");
    const unsigned begin = here();
    TRY(sequence());
    std::vector<unsigned> ends;
    while (more() && text_[at_] == '|') {
      ++at_;
      // Everything so far becomes the first alternative.
      insert(begin, {Step::kSplit});
      for (unsigned& end : ends) ++end;
      ends.push_back(emit({Step::kJump}));
      steps_[begin].a = begin + 1;
      steps_[begin].b = here();
      TRY(sequence());
    }
    for (const unsigned end : ends) steps_[end].a = here();
    --depth_;
    return {};
  }

  // Shifts the steps after this place by one.
  void insert(unsigned place, Step step) {
    for (Step& other : steps_) {
      if (other.op == Step::kSplit || other.op == Step::kJump) {
        if (other.a >= place) ++other.a;
        if (other.op == Step::kSplit && other.b >= place) ++other.b;
      }
    }
    steps_.insert(steps_.begin() + place, step);
  }

  Status sequence() {
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      if (steps_.size() > kMostSteps) return wrong("it is too long");
      const size_t begin = at_;
      const unsigned first = here();
      TRY(atom());
      TRY(repeated(begin, first));
    }
    return {};
  }

  Status repeated(size_t begin, unsigned first) {
    if (!more()) return {};
    int least = 1, most = 1;  // -1: any number
    const char c = text_[at_];
    if (c == '*' || c == '+' || c == '?') {
      ++at_;
      least = c == '+' ? 1 : 0;
      most = c == '?' ? 1 : -1;
    } else if (c == '{') {
      TRY(counted(least, most));
    } else {
      return {};
    }
    const bool lazy = more() && text_[at_] == '?';
    if (lazy) ++at_;
    const size_t end = at_;
    steps_.resize(first);
    for (int i = 0; i < least; ++i) TRY(again(begin));
    if (most < 0) {
      const unsigned split = emit({Step::kSplit});
      TRY(again(begin));
      emit({Step::kJump, split});
      branch(split, lazy);
    } else {
      std::vector<unsigned> splits;
      for (int i = least; i < most; ++i) {
        splits.push_back(emit({Step::kSplit}));
        TRY(again(begin));
      }
      for (const unsigned split : splits) branch(split, lazy);
    }
    at_ = end;
    return {};
  }

  void branch(unsigned split, bool lazy) {
    steps_[split].a = lazy ? here() : split + 1;
    steps_[split].b = lazy ? split + 1 : here();
  }

  Status again(size_t begin) {
    at_ = begin;
    if (steps_.size() > kMostSteps) return wrong("it is too long");
    return atom();
  }

  Status counted(int& least, int& most) {
    std::string_view rest = text_.substr(at_ + 1);
    least = most = take_int(rest);
    if (rest.starts_with(',')) {
      rest.remove_prefix(1);
      most = rest.starts_with('}') ? -1 : take_int(rest);
      if (most < 0 && !rest.starts_with('}')) return wrong("a { without its numbers");
    }
    if (least < 0 || !rest.starts_with('}')) return wrong("a { without its numbers");
    if (least > kMostRepeats || most > kMostRepeats) return wrong("too many repetitions");
    at_ = text_.size() - rest.size() + 1;
    return {};
  }

  Status atom() {
    const char c = text_[at_++];
    switch (c) {
      case '(':
        return group();
      case '[':
        return set();
      case '^':
        emit({Step::kBegin});
        return {};
      case '$':
        emit({Step::kEnd});
        return {};
      case '.':
        byte(Bytes().set());
        return {};
      case '*':
      case '+':
      case '?':
        --at_;
        return wrong("nothing to repeat");
      case '\\': {
        TRY_VALUE(const Bytes bytes, escaped());
        byte(bytes);
        return {};
      }
      default: {
        byte(Bytes().set(static_cast<unsigned char>(c)));
        return {};
      }
    }
  }

  void byte(const Bytes& bytes) { emit({Step::kByte, 0, 0, bytes}); }

  Result<Bytes> escaped() {
    if (!more()) return wrong("a \\ at the end");
    const char c = text_[at_++];
    if (c == 't') return Bytes().set('\t');
    if (contains("dws", c)) return bytes_of(c);
    if (contains("DWS", c)) return ~bytes_of(static_cast<char>(c + 32));
    if (is_alphanumeric(c)) return wrong("an escape that is not known");
    return Bytes().set(static_cast<unsigned char>(c));
  }

  Status group() {
    std::optional<size_t> named;
    if (text_.substr(at_).starts_with("?:")) {
      at_ += 2;
    } else if (text_.substr(at_).starts_with("?")) {
      const size_t open = text_.find('<', at_), close = text_.find('>', at_);
      if (open > at_ + 2 || close == std::string_view::npos) return wrong("a group that is not known");
      const std::string_view name = text_.substr(open + 1, close - open - 1);
      for (size_t i = 0; i < std::size(kGroupNames); ++i) {
        if (kGroupNames[i] == name) named = i;
      }
      if (!named)
        return wrong(fmt::format("no group is called '{}': file, line, column, severity, rule, message", name));
      named_[*named] = true;
      at_ = close + 1;
    }
    if (named) emit({Step::kSave, static_cast<unsigned>(2 * *named)});
    TRY(alternatives());
    if (!more()) return wrong("a ( without its )");
    ++at_;
    if (named) emit({Step::kSave, static_cast<unsigned>(2 * *named + 1)});
    return {};
  }

  Status set() {
    Bytes bytes;
    const bool inverted = more() && text_[at_] == '^';
    if (inverted) ++at_;
    for (bool first = true;; first = false) {
      if (!more()) return wrong("a [ without its ]");
      char c = text_[at_++];
      if (c == ']' && !first) break;
      if (c == '\\') {
        TRY_VALUE(const Bytes some, escaped());
        bytes |= some;
        continue;
      }
      char last = c;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        last = text_[at_ + 1];
        at_ += 2;
      }
      if (static_cast<unsigned char>(last) < static_cast<unsigned char>(c))
        return wrong("a range that ends before it begins");
      for (unsigned b = static_cast<unsigned char>(c); b <= static_cast<unsigned char>(last); ++b) bytes.set(b);
    }
    byte(inverted ? ~bytes : bytes);
    return {};
  }

  std::string_view text_;
  size_t at_ = 0, depth_ = 0;
  std::vector<Step> steps_;
  std::array<bool, LinePattern::kGroups> named_{};
};

Result<LinePattern> LinePattern::compile(std::string_view expression) {
  LinePattern pattern;
  TRY(PatternCompiler(expression).compile(pattern));
  return pattern;
}

// Follows all paths through the steps at once, in order of preference: each byte is examined once per step.
std::optional<LinePattern::Match> LinePattern::match(std::string_view line) const {
  line = line.substr(0, kLongestLine);
  using Slots = std::array<unsigned, 2 * kGroups>;
  constexpr unsigned kUnset = ~0u;
  struct Thread {
    unsigned step;
    Slots slots;
  };
  std::vector<Thread> now, next;
  std::vector<size_t> seen(steps_.size(), static_cast<size_t>(-1));
  std::optional<Slots> found;
  Slots none;
  none.fill(kUnset);
  std::vector<Thread> open;  // an explicit stack, because recursion would be as deep as the expression is long

  const auto add = [&](std::vector<Thread>& list, Thread thread, size_t at) {
    open.push_back(thread);
    while (!open.empty()) {
      Thread one = open.back();
      open.pop_back();
      if (seen[one.step] == at) continue;
      seen[one.step] = at;
      const Step& step = steps_[one.step];
      switch (step.op) {
        case Step::kJump:
          open.push_back({step.a, one.slots});
          break;
        case Step::kSplit:
          open.push_back({step.b, one.slots});
          open.push_back({step.a, one.slots});
          break;
        case Step::kSave:
          one.slots[step.a] = static_cast<unsigned>(at);
          open.push_back({one.step + 1, one.slots});
          break;
        case Step::kBegin:
          if (at == 0) open.push_back({one.step + 1, one.slots});
          break;
        case Step::kEnd:
          if (at == line.size()) open.push_back({one.step + 1, one.slots});
          break;
        default:
          list.push_back(one);
      }
    }
  };

  for (size_t at = 0; at <= line.size(); ++at) {
    if (!found) add(now, {0, none}, at);  // start a new match here, after all earlier ones
    if (now.empty() && found) break;
    next.clear();
    for (const Thread& thread : now) {
      const Step& step = steps_[thread.step];
      if (step.op == Step::kMatch) {
        found = thread.slots;
        break;  // the remaining threads have lower priority
      }
      if (at < line.size() && step.bytes[static_cast<unsigned char>(line[at])])
        add(next, {thread.step + 1, thread.slots}, at + 1);
    }
    std::swap(now, next);
  }
  if (!found) return std::nullopt;
  Match match{};
  for (size_t i = 0; i < kGroups; ++i) {
    const unsigned begin = (*found)[2 * i], end = (*found)[2 * i + 1];
    if (begin != kUnset && end != kUnset && begin <= end) match[i] = line.substr(begin, end - begin);
  }
  return match;
}

ParsedOutput parse_by_pattern(const ToolOutput& output, const std::string& expression) {
  const auto pattern = LinePattern::compile(expression);
  if (!pattern) return {.failure = pattern.error().message};
  ParsedOutput parsed;
  bool spoke = false;
  for (const std::string* stream : {&output.out, &output.err}) {
    for_each_line(*stream, [&](std::string_view line) {
      spoke = spoke || !trim(line).empty();
      const auto match = pattern->match(line);
      if (!match) return;
      Finding finding;
      finding.file = (*match)[LinePattern::kFile];
      std::string_view number = (*match)[LinePattern::kLine];
      finding.line = take_int(number);
      number = (*match)[LinePattern::kColumn];
      finding.column = take_int(number);
      finding.rule = (*match)[LinePattern::kRule];
      finding.message = (*match)[LinePattern::kMessage];
      const std::string severity = to_lower((*match)[LinePattern::kSeverity]);
      finding.severity = severity.starts_with("warn")                                           ? Severity::kWarning
                         : starts_with_any(severity, {"info", "note", "hint", "style", "help"}) ? Severity::kInfo
                                                                                                : Severity::kError;
      parsed.findings.push_back(std::move(finding));
    });
  }
  if (output.exit_code != 0 && parsed.findings.empty())
    parsed.failure = spoke ? "no line fits its pattern" : "it failed";
  return parsed;
}

}  // namespace ralph::diagnostics
