#include "policy/command_for_each.h"

#include "base/text.h"
#include "policy/command_words.h"

namespace ralph {
namespace {

// `text` with each `placeholder` replaced, unless that would make it too large.
ShellWord with_item(const ShellWord& word, std::string_view placeholder, const ShellWord& item, InnerCommands& inner) {
  if (placeholder.empty() || !contains(word.text, placeholder)) return word;
  size_t times = 0;
  for (size_t at = word.text.find(placeholder); at != std::string::npos; at = word.text.find(placeholder, at + 1))
    ++times;
  if (!inner.grow(times * item.text.size())) return word;
  ShellWord made{replace_all(word.text, placeholder, item.text), word.sources};
  made.sources.insert(made.sources.end(), item.sources.begin(), item.sources.end());
  return made;
}

// The list that a program reads: the files of a listing, the words or lines of a known text, or an unknown part.
std::vector<ShellWord> items_from(const std::optional<std::string>& input, const std::optional<Listing>& listing,
                                  ShellSpan source, bool by_line, size_t most) {
  std::vector<ShellWord> items;
  if (listing) {
    for (const std::string& path : listing->paths) items.push_back({path, {}});
  }
  if (items.empty() && input) {
    std::string text = *input;
    for (char& c : text) {
      if (c == '\0' || (!by_line && (c == ' ' || c == '\t'))) c = '\n';
    }
    for (const std::string& item : split(text, '\n')) {
      if (!trim(item).empty() && items.size() < most) items.push_back({std::string(trim(item)), {}});
    }
  }
  if (items.empty()) {
    items.push_back({std::string(1, kUnknownPart), {}});
    if (!source.empty()) items.back().sources.push_back(source);
  }
  if (items.size() > most) items.resize(most);
  return items;
}

// Adds the command that `find -exec` or `fd -x` runs, from words[at] on, for the files found. Returns where it ends.
size_t run_for_found(Words words, size_t at, const std::vector<std::string>& found, bool appends,
                     InnerCommands& inner) {
  std::vector<ShellWord> run;
  bool placed = false;
  const auto add_found = [&] {
    placed = true;
    if (!inner.grow(found.size() * sizeof(ShellWord))) return;
    for (const std::string& path : found) run.push_back({path, {}});
  };
  for (; at < words.size() && words[at].text != ";" && words[at].text != "+"; ++at) {
    if (words[at].text == "{}") {
      add_found();
    } else {
      placed |= contains(words[at].text, "{}");
      run.push_back(found.empty() ? words[at] : with_item(words[at], "{}", {found[0], {}}, inner));
    }
  }
  if (appends && !placed) add_found();
  if (!run.empty()) inner.commands.push_back(std::move(run));
  return at;
}

}  // namespace

void look_into_xargs(const ShellCommand& command, const std::optional<std::string>& input,
                     const std::optional<Listing>& listing, InnerCommands& inner) {
  const Words words(command.words);
  std::string placeholder;
  bool from_file = false;
  size_t at = 1;
  while (at < words.size() && is_option(words[at].text)) {
    const std::string& word = words[at].text;
    const size_t length =
        option_length(word, "InPLsdaE", "max-args max-procs max-lines replace delimiter arg-file max-chars eof");
    if (word.starts_with("-I"))
      placeholder = word.size() > 2 ? word.substr(2) : at + 1 < words.size() ? words[at + 1].text : "";
    if (word.starts_with("-i")) placeholder = word.size() > 2 ? word.substr(2) : "{}";
    if (word.starts_with("--replace")) placeholder = !contains(word, '=') ? "{}" : word.substr(10);
    from_file |= word.starts_with("-a") || word.starts_with("--arg-file");
    at += length;
  }
  if (at >= words.size()) return;
  const std::vector<ShellWord> items =
      from_file ? items_from({}, {}, {}, false, 1)
                : items_from(input, listing, command.input, !placeholder.empty(), placeholder.empty() ? 256 : 16);
  const std::vector<ShellWord> base = copy(words.subspan(at));
  if (placeholder.empty()) {
    inner.commands.push_back(base);
    inner.commands.back().insert(inner.commands.back().end(), items.begin(), items.end());
    return;
  }
  for (const ShellWord& item : items) {
    if (!inner.grow(base.size() * sizeof(ShellWord))) return;
    std::vector<ShellWord> one;
    for (const ShellWord& word : base) one.push_back(with_item(word, placeholder, item, inner));
    inner.commands.push_back(std::move(one));
  }
}

void look_into_find(const ShellCommand& command, InnerCommands& inner) {
  const std::vector<std::string> found = found_by(command);
  const Words words(command.words);
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word == "-delete" && inner.grow(found.size() * sizeof(ShellWord))) {
      std::vector<ShellWord> removal = {{"rm", {}}, {"-rf", {}}, {"--", {}}};
      for (const std::string& path : found) removal.push_back({path, {}});
      inner.commands.push_back(std::move(removal));
    }
    if (is_listed("-exec -execdir -ok -okdir", word)) i = run_for_found(words, i + 1, found, false, inner);
  }
}

void look_into_fd(const ShellCommand& command, InnerCommands& inner) {
  const Words words(command.words);
  for (size_t i = 1; i < words.size(); ++i) {
    if (is_listed("-x -X --exec --exec-batch", words[i].text))
      i = run_for_found(words, i + 1, found_by_fd(command), true, inner);
  }
}

void look_into_parallel(const ShellCommand& command, const std::optional<std::string>& input,
                        const std::optional<Listing>& listing, InnerCommands& inner) {
  const Words words(command.words);
  const size_t at = skip_options(words, 1, "jnNLISaP", "jobs colsep joblog results delay timeout arg-file");
  size_t colons = at;
  while (colons < words.size() && !words[colons].text.starts_with(":::")) ++colons;
  const ShellWord base = joined(words.subspan(at, colons - at));
  const bool from_file = (colons < words.size() && words[colons].text.starts_with("::::")) ||
                         option_value(words, "-a", "--arg-file").has_value();
  constexpr size_t kMost = 32;
  std::vector<ShellWord> items;
  for (size_t i = colons + 1; i < words.size() && items.size() < kMost && !from_file; ++i) items.push_back(words[i]);
  if (items.empty())
    items = from_file ? items_from({}, {}, {}, true, 1) : items_from(input, listing, command.input, true, kMost);
  for (const ShellWord& item : items) {
    if (!inner.grow(base.text.size())) return;
    const bool placed = contains(base.text, "{}");
    inner.scripts.push_back(base.text.empty() ? item
                            : placed          ? with_item(base, "{}", item, inner)
                                              : ShellWord{base.text + " " + item.text, base.sources});
  }
}

}  // namespace ralph
