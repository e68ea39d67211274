// Derives from its words what a command reads, writes and deletes.
#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/command_words.h"
#include "policy/git_call.h"
#include "policy/rules.h"
#include "policy/tool_policy.h"

namespace ralph {
namespace {

// "delete-*" matches delete-bucket, "*:destroy" matches apps:destroy, "*" any word but the empty one.
bool word_fits(std::string_view pattern, std::string_view word) {
  if (pattern == word) return true;
  const bool any_begin = pattern.starts_with('*'), any_end = pattern.ends_with('*') && pattern.size() > 1;
  if (!any_begin && !any_end) return false;
  pattern.remove_prefix(any_begin ? 1 : 0);
  pattern.remove_suffix(any_end ? 1 : 0);
  if (word.empty()) return false;
  return any_begin && any_end ? contains(word, pattern)
         : any_begin          ? word.ends_with(pattern)
                              : word.starts_with(pattern);
}

// Whether `fits` holds for a word of the list, which is separated by blanks.
bool any_of_list(std::string_view list, auto fits) {
  for (size_t end = 0; !list.empty(); list.remove_prefix(std::min(end + 1, list.size()))) {
    end = std::min(list.find(' '), list.size());
    if (end > 0 && fits(list.substr(0, end))) return true;
  }
  return false;
}

// The index of the verb of git or ralph: their own options, some of which take a value, come before it.
size_t verb_of(const ShellCommand& command) {
  size_t at = 1;
  while (at < command.words.size() && command.word(at).starts_with('-'))
    at += is_listed("-c -C --git-dir --work-tree --namespace", command.word(at)) ? 2 : 1;
  return at;
}

constexpr std::string_view kDeleters = "rm rmdir unlink shred srm trash trash-put rimraf del gio";

// Programs that read their file operands. For those in the second list, the first operand is a pattern.
constexpr std::string_view kReaders =
    "cat tac less more head tail bat batcat nl rev cut paste sort uniq fold fmt column strings od xxd "
    "hexdump base64 base32 gzip bzip2 xz zstd zip tar 7z cpio cp mv install ln rsync scp diff cmp comm "
    "vim vi nano view emacs code source . split openssl pr expand shuf xclip pbcopy gpg tee mapfile "
    "python python3 node perl ruby php curl wget nc dd sqlite3 ssh-keygen";
constexpr std::string_view kPatternReaders = "yq jq grep egrep fgrep rg ag ack awk gawk sed";

// For an archiver that removes the files it packs: the number of operands before them. 0 for any other command.
size_t packed_and_removed(const Subject& subject) {
  // `tar cf x.tar a`: letters without a dash; `tar -cf x.tar a`: only the archive.
  if (subject.is("tar bsdtar gtar") && subject.option("--remove-files"))
    return is_option(subject.command.word(1)) ? 1 : 2;
  if (subject.program == "zip") return subject.flag('m') || subject.option("--move") ? 1 : 0;
  if (subject.is("7z 7za 7zr")) return subject.has("-sdel") ? 2 : 0;
  return subject.program == "rar" && subject.operand(0) == "m" ? 2 : 0;
}

}  // namespace

Subject::Subject(const ShellReading& all, size_t at, const PolicyPlace& where, std::string_view as)
    : reading(all),
      command(all.commands[at]),
      place(where),
      index(static_cast<int>(at)),
      program(as.empty() ? program_of(command) : std::string(as)) {
  reading.pay(1 + command.words.size());
  bool only_operands = false;
  for (size_t i = is("git ralph") ? verb_of(command) : 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (!only_operands && word == "--") {
      only_operands = true;
    } else if (only_operands || !is_option(word)) {
      operands.push_back(word);
    }
  }
}

bool Subject::is(std::string_view programs) const {
  return is_listed(programs, program);
}

bool Subject::does(std::string_view verbs) const {
  return any_of_list(verbs, [&](std::string_view verb) {
    constexpr std::string_view kAnywhere = ".../";
    const bool anywhere = verb.starts_with(kAnywhere);
    if (anywhere) verb.remove_prefix(kAnywhere.size());
    const size_t slash = verb.find('/');
    const auto fits_at = [&](size_t at) {
      return word_fits(verb.substr(0, slash), operands[at]) &&
             (slash == std::string_view::npos ||
              (at + 1 < operands.size() && word_fits(verb.substr(slash + 1), operands[at + 1])));
    };
    for (size_t at = 0; at < (anywhere ? operands.size() : std::min<size_t>(1, operands.size())); ++at) {
      if (fits_at(at)) return true;
    }
    return false;
  });
}

bool Subject::flag(char letter) const {
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (word == "--") return false;
    if (is_option(word) && word[1] != '-' && word.find(letter, 1) != std::string::npos) return true;
  }
  return false;
}

bool Subject::option(std::string_view name) const {
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string_view word = command.words[i].text;
    if (word == "--") return false;
    if (!word.starts_with("--")) continue;
    const std::string_view given = word.substr(0, word.find('='));
    if (given == name || (given.size() >= 5 && given.size() < name.size() && name.starts_with(given))) return true;
  }
  return false;
}

bool Subject::has(std::string_view words) const {
  return std::ranges::any_of(command.words, [&](const ShellWord& one) { return is_listed(words, one.text); });
}

bool Subject::has_option(std::string_view options) const {
  return any_of_list(options, [&](std::string_view wanted) {
    if (const size_t both = wanted.find('&'); both != std::string_view::npos)
      return has_option(wanted.substr(0, both)) && has_option(wanted.substr(both + 1));
    if (wanted.size() == 2 && wanted[0] == '-') return flag(wanted[1]);
    if (wanted.starts_with("--") && !contains(wanted, '=')) return option(wanted);
    return std::any_of(command.words.begin() + (command.words.empty() ? 0 : 1), command.words.end(),
                       [&](const ShellWord& word) { return word_fits(wanted, word.text); });
  });
}

std::string Subject::operand(size_t i) const {
  return i < operands.size() ? operands[i] : std::string();
}

std::optional<std::string> Subject::value(char letter, std::string_view name) const {
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (word == "--") break;
    if (!name.empty() && word == name) return command.word(i + 1);
    if (!name.empty() && word.starts_with(std::string(name) + "=")) return word.substr(name.size() + 1);
    if (letter == 0 || !is_option(word) || word[1] == '-') continue;
    const size_t at = word.find(letter, 1);
    if (at == std::string::npos) continue;
    return at + 1 < word.size() ? word.substr(at + 1) : command.word(i + 1);
  }
  return std::nullopt;
}

bool Subject::is_recursive() const {
  return flag('r') || flag('R') || option("--recursive");
}

// More paths than fit into a few megabytes are too many to examine.
void Subject::add_paths(std::vector<std::string>& to, std::vector<std::string> more) const {
  constexpr size_t kMost = 2 * 1024 * 1024;
  size_t bytes = 0;
  for (const std::string& path : more) bytes += sizeof path + path.size();
  reading.pay(1 + bytes / 32);
  if ((bytes_of_paths_ += bytes) > kMost && reading.effort) return reading.effort->give_up();
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<std::string> Subject::paths(std::string_view word, LastPart last) const {
  if (reading.effort && reading.effort->is_over()) return {};
  return paths_of(word, command.cwd, place, last);
}

const std::vector<std::string>& Subject::written() const {
  if (!written_) written_ = find_written();
  return *written_;
}

const std::vector<std::string>& Subject::emptied() const {
  written();  // also fills emptied_
  return program == "truncate" ? *written_ : emptied_;
}

const std::vector<std::string>& Subject::edited() const {
  const bool in_place = is("truncate tee sponge") ||
                        ((is("sed gsed ruby") || program.starts_with("perl")) && (flag('i') || option("--in-place"))) ||
                        (program.ends_with("awk") && has("inplace"));
  return in_place ? written() : emptied();
}

const std::vector<std::string>& Subject::deleted() const {
  if (!deleted_) deleted_ = find_deleted();
  return *deleted_;
}

const std::vector<std::string>& Subject::read() const {
  if (!read_) read_ = find_read();
  return *read_;
}

std::vector<std::string> Subject::find_written() const {
  std::vector<std::string> files;
  for (const ShellRedirection& one : command.redirections) {
    const bool is_descriptor =
        one.op == ">&" &&
        (one.target.text == "-" || one.target.text.find_first_not_of("0123456789-") == std::string::npos);
    if (!contains(one.op, '>') || is_descriptor) continue;
    std::vector<std::string> found = paths(one.target.text);
    if (is_listed("> >| &>", one.op)) add_paths(emptied_, found);
    add_paths(files, std::move(found));
  }
  const auto add_operands = [&](size_t from) {
    for (size_t i = from; i < operands.size(); ++i) add_paths(files, paths(operands[i]));
  };
  const auto last_operand = [&] {
    if (const auto folder = value('t', "--target-directory"); folder && is("cp mv ln install")) {
      add_paths(files, paths(*folder));
      for (const std::string& operand : operands)
        add_paths(files, paths(*folder + "/" + operand.substr(operand.rfind('/') + 1)));
      return;
    }
    constexpr size_t kLongestPath = 4096;  // the kernel's limit
    if (operands.size() < 2 || operands.back().size() > kLongestPath) return;
    add_paths(files, paths(operands.back()));
    for (size_t i = 0; i + 1 < operands.size(); ++i) {  // if the target is a folder: under its own name
      const std::string name = operands[i].substr(operands[i].rfind('/') + 1);
      const bool is_content = name.empty() || name == "." || name == "*";  // a folder's files: hooks/ hooks/. hooks/*
      add_paths(files, paths(operands.back() + "/" + (is_content ? std::string(1, kUnknownPart) : name)));
    }
  };
  if (is("tee truncate touch shred mkfifo chmod chown chattr setfacl ed ex patch sponge mkdir vim vi nano fallocate")) {
    // chmod -x: the mode looks like an option
    const bool mode_is_option = program == "chmod" && is_option(command.word(1)) &&
                                command.word(1).find_first_not_of("rwxXst", 1) == std::string::npos;
    add_operands(is("chmod chown setfacl") && !mode_is_option ? 1 : 0);
  } else if (is("cp mv ln link install rsync scp")) {
    last_operand();
  } else if (program.ends_with("awk") && has("inplace")) {  // gawk -i inplace PROGRAM FILE...
    add_operands(1);
  } else if (is("sed gsed") && (flag('i') || option("--in-place"))) {
    const bool has_script = value('e', "--expression") || value('f', "--file");
    add_operands(has_script ? 0 : 1);
  } else if ((program.starts_with("perl") || program == "ruby") && flag('i')) {
    add_operands(0);
  } else if (program == "yq" && (flag('i') || option("--inplace"))) {
    add_operands(1);
  } else if (program == "dd") {
    for (const std::string& operand : operands) {
      if (operand.starts_with("of=")) add_paths(files, paths(operand.substr(3)));
    }
  } else if (is("curl")) {
    if (const auto file = value('o', "--output")) add_paths(files, paths(*file));
  } else if (is("wget")) {
    if (const auto file = value('O', "--output-document")) add_paths(files, paths(*file));
  } else if (is("tar gtar bsdtar unzip")) {
    const std::string& letters = command.word(1);  // tar xf x.tar
    const bool unpacks = program == "unzip" || flag('x') || option("--extract") ||
                         (!is_option(letters) && contains(letters, 'x') && !contains(letters, '.'));
    if (const auto folder = value(program == "unzip" ? 'd' : 'C', "--directory"); folder && unpacks) {
      add_paths(files, paths(*folder));
      add_paths(files, paths(*folder + "/" + kUnknownPart));
    }
  } else if (is("apply_patch applypatch")) {
    std::string patch = command.fed.value_or(command.word(1));
    for (const ShellRedirection& one : command.redirections) {
      if (one.op.starts_with("<<")) patch = one.target.text;
    }
    for (const std::string& file : files_of_patch(patch)) add_paths(files, paths(file));
  } else if (program == "git") {
    const GitCall call = git_call(*this);
    for (const std::string& path : call.written(false)) add_paths(files, paths_of(path, call.cwd, place));
  }
  return files;
}

std::vector<std::string> Subject::find_deleted() const {
  std::vector<std::string> files;
  const auto own_paths = [&](const std::string& word) { return paths(word, LastPart::kItself); };
  if (is(kDeleters)) {
    if (program == "shred" && !flag('u') && !option("--remove")) return files;
    for (const std::string& operand : operands) add_paths(files, own_paths(operand));
  } else if (program == "mv") {
    const size_t last =
        value('t', "--target-directory") ? operands.size() : operands.size() - std::min<size_t>(1, operands.size());
    // `mv * app/` only moves files around in the project.
    const auto is_ours = [&](const std::vector<std::string>& all) {
      return std::ranges::all_of(all, [&](const std::string& path) { return is_within(path, place.project); });
    };
    const bool stays = last < operands.size() && is_ours(paths(operands.back()));
    for (size_t i = 0; i < last; ++i) {
      auto from = own_paths(operands[i]);
      if (!stays || !operands[i].ends_with('*') || !is_ours(from)) add_paths(files, std::move(from));
    }
  } else if (program == "rsync" && (option("--delete") || option("--delete-after") || option("--delete-before") ||
                                    option("--delete-excluded") || option("--remove-source-files"))) {
    if (!operands.empty() && !option("--remove-source-files")) add_paths(files, own_paths(operands.back()));
    for (size_t i = 0; option("--remove-source-files") && i + 1 < operands.size(); ++i)
      add_paths(files, own_paths(operands[i]));
  } else if (const size_t packed = packed_and_removed(*this)) {
    for (size_t i = packed; i < operands.size(); ++i) add_paths(files, own_paths(operands[i]));
  } else if (program == "git" && operand(0) == "rm" && !option("--cached")) {
    for (size_t i = 1; i < operands.size(); ++i) add_paths(files, own_paths(operands[i]));
  }
  return files;
}

std::vector<std::string> Subject::find_read() const {
  std::vector<std::string> files;
  for (const ShellRedirection& one : command.redirections) {
    if (one.op == "<" || one.op == "<>") add_paths(files, paths(one.target.text));
  }
  const bool takes_pattern = is_listed(kPatternReaders, program);
  const bool copies = program == "docker" && does(".../cp");
  if (!takes_pattern && !copies && !is_listed("tr docker", program) && !is_listed(kReaders, program)) return files;
  const bool pattern_elsewhere = flag('e') || flag('f') || option("--regexp") || option("--file");
  size_t own_operands = program == "tr" ? 2 : takes_pattern && !pattern_elsewhere ? 1 : 0;
  if (program == "docker" && !copies) own_operands = operands.size();  // belong to the command in the container
  for (size_t i = own_operands; i < operands.size(); ++i) {
    std::string_view word = operands[i];
    for (const std::string_view prefix : {"if=", "@", "file://"}) {
      if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
    }
    add_paths(files, paths(word));
  }
  // -f@~/.netrc, --data-binary @file, -v ~/.ssh:/x: paths inside an option's value.
  if (is("curl wget docker openssl")) {
    for (const ShellWord& word : command.words) {
      const size_t at = word.text.find_first_of("@=");
      if (at != std::string::npos)
        add_paths(files, paths(word.text.substr(at + 1 + (word.text.substr(at, 2) == "=@" ? 1 : 0))));
      if (program == "docker" && word.text.starts_with('/'))
        add_paths(files, paths(word.text.substr(0, word.text.find(':'))));
    }
  }
  return files;
}

std::optional<std::string> Subject::foreign_operand() const {
  for (size_t i = 1; i < operands.size(); ++i) {
    for (const std::string& path : paths(operands[i])) {
      if (!is_within(path, place.project) && !is_temporary(path)) return path;
    }
  }
  return std::nullopt;
}

bool Subject::span_has(ShellSpan span, std::string_view programs) const {
  return std::ranges::any_of(reading.in(span),
                             [&](const ShellCommand& one) { return is_listed(programs, program_of(one)); });
}

std::vector<ShellSpan> Subject::pipe() const {
  constexpr size_t kLongestPipe = 16;
  std::vector<ShellSpan> feeds;
  for (ShellSpan feed = command.input; feeds.size() < kLongestPipe && !feed.empty();) {
    feeds.push_back(feed);
    const ShellSpan before = reading.commands[static_cast<size_t>(feed.first)].input;
    if (before.first >= feed.first) break;
    feed = before;
  }
  return feeds;
}

std::vector<ShellSpan> Subject::origins() const {
  std::vector<ShellSpan> spans = pipe();
  for (const ShellWord& word : command.words) spans.insert(spans.end(), word.sources.begin(), word.sources.end());
  return spans;
}

bool Subject::fed_by(std::string_view programs) const {
  std::vector<ShellSpan> spans = origins();
  for (const ShellRedirection& one : command.redirections)
    spans.insert(spans.end(), one.target.sources.begin(), one.target.sources.end());
  return std::ranges::any_of(spans, [&](ShellSpan span) { return span_has(span, programs); });
}

std::string Subject::runner() const {
  return command.via < 0 ? std::string() : program_of(reading.commands[static_cast<size_t>(command.via)]);
}

}  // namespace ralph
