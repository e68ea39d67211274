#include "git/program_settings.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace ralph {
namespace {

struct Row {
  std::string_view section;
  std::string_view keys;    // separated by spaces; "*": all
  std::string_view only{};  // if the value contains this
};

constexpr std::array kRows = {
    Row{"core", "alternaterefscommand askpass attributesfile editor fsmonitor gitproxy hookspath pager sshcommand"},
    Row{"alias", "*", "!"},
    Row{"browser", "cmd path"},
    Row{"credential", "helper"},
    Row{"diff", "command external textconv"},
    Row{"difftool", "cmd path"},
    Row{"filter", "clean process smudge"},
    Row{"gc", "recentobjectshook"},
    Row{"gpg", "defaultkeycommand program"},
    Row{"guitool", "cmd"},
    Row{"hook", "*"},
    Row{"imap", "tunnel"},
    Row{"include", "path"},
    Row{"includeif", "path"},
    Row{"init", "templatedir"},
    Row{"instaweb", "browser httpd"},
    Row{"interactive", "difffilter"},
    Row{"lfs", "args clean path smudge standalonetransferagent"},
    Row{"man", "cmd path"},
    Row{"merge", "driver"},
    Row{"mergetool", "cmd path"},
    Row{"pager", "*"},
    Row{"protocol", "allow"},
    Row{"remote", "receivepack uploadpack vcs"},
    Row{"remote", "pushurl url", "::"},
    Row{"sendemail", "cccmd headercmd sendmailcmd smtpserver tocmd"},
    Row{"sequence", "editor"},
    Row{"submodule", "update", "!"},
    Row{"submodule", "url", "::"},
    Row{"tar", "command"},
    Row{"trailer", "cmd command"},
    Row{"uploadpack", "packobjectshook"},
    Row{"url", "insteadof pushinsteadof"},
};

// For a repository's own file. A partial clone is created by a fetch, and stops being one without its extension.
constexpr std::array kRepositoryRows = {
    // What kind of repository it is.
    Row{"core", "bare repositoryformatversion worktree"},
    Row{"extensions", "*"},
    // What git overlooks.
    Row{"core", "autocrlf eol excludesfile filemode ignorecase sparsecheckout sparsecheckoutcone symlinks"},
    Row{"index", "sparse"},
    // Whether commits are signed, and by whom.
    Row{"commit", "gpgsign"},
    Row{"gpg", "*"},
    Row{"tag", "forcesignannotated gpgsign"},
    Row{"user", "signingkey"},
    // Where a push goes, and what it includes.
    Row{"credential", "*"},
    Row{"http", "*"},
    Row{"lfs", "pushurl url"},
    Row{"push", "*"},
    Row{"ssh", "variant"},
};
constexpr std::string_view kExcludes = "core.excludesfile";
constexpr std::string_view kPartialClone = "extensions.partialclone";
constexpr Row kRemote = {"remote",
                         "fetch lfspushurl lfsurl mirror proxy proxyauthmethod push pushurl serveroption url"};

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_key_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

bool is_in(const Row& row, std::string_view section, std::string_view key, std::string_view value) {
  return row.section == section && (row.keys == "*" || is_one_of(std::string(key), split(row.keys, ' '))) &&
         value.find(row.only) != std::string_view::npos;
}

bool is_of_repository(std::string_view name, const SettingsScope& scope) {
  if (!scope.repository || name == kPartialClone) return false;
  const size_t first = name.find('.'), last = name.rfind('.');
  const std::string_view section = name.substr(0, first), key = name.substr(last + 1);
  if (section == "remote")
    return first == last ? key == "pushdefault"
                         : is_in(kRemote, section, key, "") &&
                               is_one_of(std::string(name.substr(first + 1, last - first - 1)), scope.remotes);
  return std::ranges::any_of(kRepositoryRows, [&](const Row& row) { return is_in(row, section, key, ""); });
}

// Reads a configuration as git's own parser does (config.c), byte by byte.
class Reader {
 public:
  Reader(std::string_view text, const SettingsScope& scope) : text_(text), scope_(scope) {}

  std::optional<std::vector<GitSetting>> read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' || c == '\r' || is_blank(c)) {
        ++at_;
      } else if (c == '#' || c == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '[') {
        if (!read_section()) return std::nullopt;
      } else if (!is_letter(c) || !read_setting()) {
        return std::nullopt;
      }
    }
    for (GitSetting& setting : settings_) setting.section_size = counts_[setting.section];
    return std::move(settings_);
  }

 private:
  bool read_section() {
    section_.clear();
    written_section_.clear();
    section_begin_ = text_.rfind('\n', at_) + 1;  // npos + 1 is the beginning
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ']') return ++at_, true;
      if (is_blank(c)) return read_subsection();
      if (!is_key_char(c) && c != '.') return false;
      section_ += to_lower(std::string(1, c));
      written_section_ += c;
    }
    return false;
  }

  bool read_subsection() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    const size_t name = section_.size();
    section_ += '.';
    for (++at_; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\n') return false;
      if (c == '"') break;
      if (c == '\\' && ++at_ < text_.size()) c = text_[at_];
      if (c == '\n') return false;
      section_ += c;
    }
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != ']') return false;
    at_ += 2;
    written_section_ += section_.substr(name);
    return true;
  }

  bool read_setting() {
    GitSetting setting;
    setting.begin = at_;
    std::string key;
    while (at_ < text_.size() && is_key_char(text_[at_])) key += text_[at_++];
    setting.name = section_ + "." + to_lower(key);
    setting.written = written_section_ + "." + key;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    setting.bare = at_end_of_line();
    if (!setting.bare) {
      if (text_[at_] != '=') return false;
      ++at_;
      if (!read_value(setting.value)) return false;
    }
    setting.end = at_;
    setting.section = section_begin_;
    ++counts_[section_begin_];
    if (names_program(setting.name, setting.value) || is_of_repository(setting.name, scope_) ||
        (scope_.users && setting.name == kExcludes))
      settings_.push_back(widened(std::move(setting)));
    return true;
  }

  bool at_end_of_line() const {
    return at_ >= text_.size() || text_[at_] == '\n' || text_.substr(at_).starts_with("\r\n");
  }

  bool read_value(std::string& value) {
    bool quoted = false, comment = false;
    for (; !at_end_of_line(); ++at_) {
      const char c = text_[at_];
      if (comment) continue;
      if (!quoted && (c == '#' || c == ';')) {
        comment = true;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == '\\') {
        ++at_;
        if (at_end_of_line()) {  // continues on the next line
          if (at_ < text_.size() && text_[at_] == '\r') ++at_;
          continue;
        }
        constexpr std::string_view kEscaped = "tbn\\\"", kMeaning = "\t\b\n\\\"";
        const size_t which = kEscaped.find(text_[at_]);
        if (which == std::string_view::npos) return false;
        value += kMeaning[which];
      } else {
        value += c;
      }
    }
    if (quoted) return false;
    value = trim(value);
    return true;
  }

  // Extended to its whole line, unless something else is on that line.
  GitSetting widened(GitSetting setting) const {
    size_t begin = setting.begin;
    while (begin > 0 && is_blank(text_[begin - 1])) --begin;
    if (begin > 0 && text_[begin - 1] != '\n') return setting;
    setting.begin = begin;
    setting.end = std::min(text_.find('\n', setting.end), text_.size() - 1) + 1;
    return setting;
  }

  std::string_view text_;
  const SettingsScope& scope_;
  size_t at_ = 0, section_begin_ = 0;
  std::string section_, written_section_;
  std::map<size_t, size_t> counts_;  // number of settings, by the start of their section
  std::vector<GitSetting> settings_;
};

// Also removes a section that would be left without any setting.
std::string without(std::string_view text, const std::vector<GitSetting>& settings) {
  std::map<size_t, size_t> removed;
  for (const GitSetting& setting : settings) ++removed[setting.section];
  std::string rest;
  size_t from = 0;
  for (const GitSetting& setting : settings) {
    const bool all = removed[setting.section] == setting.section_size;
    const size_t begin = all ? setting.section : setting.begin;
    if (begin > from) rest += text.substr(from, begin - from);
    from = setting.end;
    if (all && setting.section < setting.begin && from < text.size() && text[from] == '\n') ++from;  // on its line
  }
  return rest += text.substr(from);
}

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n' || c == '\t' || c == '\b') {
      text += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\b";
    } else {
      text += c;
    }
  }
  return text;
}

// If both have the same settings in the same order, and only values differ: `now` with the lines of `before`.
std::optional<std::string> with_values_of(std::string_view before, const std::vector<GitSetting>& was,
                                          std::string_view now, const std::vector<GitSetting>& is) {
  const auto is_line = [](std::string_view text, const GitSetting& setting) {
    return (setting.begin == 0 || text[setting.begin - 1] == '\n') && setting.end > 0 && text[setting.end - 1] == '\n';
  };
  if (was.size() != is.size()) return std::nullopt;
  std::string text;
  size_t from = 0;
  for (size_t i = 0; i < is.size(); ++i) {
    if (was[i].name != is[i].name) return std::nullopt;
    if (was[i] == is[i]) continue;
    if (!is_line(before, was[i]) || !is_line(now, is[i])) return std::nullopt;
    text += now.substr(from, is[i].begin - from);
    text += before.substr(was[i].begin, was[i].end - was[i].begin);
    from = is[i].end;
  }
  return text += now.substr(from);
}

// The settings as text, with one header for consecutive settings of a section.
std::string sections_of(const std::vector<GitSetting>& settings) {
  std::string text, last;
  for (const GitSetting& setting : settings) {
    const size_t first = setting.name.find('.'), end = setting.name.rfind('.');
    std::string header = "[" + setting.name.substr(0, first);
    if (first != end) header += fmt::format(" \"{}\"", escaped(setting.name.substr(first + 1, end - first - 1)));
    header += "]\n";
    if (header != last) text += header;
    last = std::move(header);
    text += "\t" + setting.written.substr(setting.written.rfind('.') + 1);
    const bool plain =
        setting.value == trim(setting.value) && setting.value.find_first_of("\"\\#;\n\t\b") == std::string::npos;
    if (!setting.bare) text += plain ? " = " + setting.value : fmt::format(" = \"{}\"", escaped(setting.value));
    text += '\n';
  }
  return text;
}

}  // namespace

bool names_program(std::string_view name, std::string_view value) {
  const size_t first = name.find('.'), last = name.rfind('.');
  if (first == std::string_view::npos) return false;
  const std::string_view section = name.substr(0, first), key = name.substr(last + 1);
  // git extensions follow its conventions: annex.x-command, cinnabar.helper.
  for (const std::string_view end : {"command", "cmd", "program", "helper", "hook", "hooks"}) {
    if (key == end || (key.ends_with(end) && key[key.size() - end.size() - 1] == '-')) return true;
  }
  return std::ranges::any_of(kRows, [&](const Row& row) { return is_in(row, section, key, value); });
}

std::optional<std::vector<GitSetting>> program_settings(std::string_view text, const SettingsScope& scope) {
  return Reader(text, scope).read();
}

std::string with_program_settings_of(std::string_view before, std::string_view now, const SettingsScope& scope) {
  const auto was = program_settings(before, scope), is = program_settings(now, scope);
  if (!was || !is) return std::string(before);
  std::vector<GitSetting> strange;  // not in `before`, or not in its order
  size_t known = 0;
  for (const GitSetting& setting : *is) {
    if (known < was->size() && setting == (*was)[known]) {
      ++known;
    } else {
      strange.push_back(setting);
    }
  }
  if (known == was->size()) return without(now, strange);
  if (auto replaced = with_values_of(before, *was, now, *is)) return *std::move(replaced);
  const std::string rest = without(now, *is);
  if (rest == without(before, *was)) return std::string(before);
  std::string text = rest;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text += sections_of(*was);
}

}  // namespace ralph
