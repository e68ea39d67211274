#include "checks/named_files.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

struct Reader {
  std::string_view program;
  std::string_view files;  // separated by blanks
};

constexpr std::array kReaders = {
    Reader{"make", "GNUmakefile makefile Makefile"},
    Reader{"gmake", "GNUmakefile makefile Makefile"},
    Reader{"npm", "package.json"},
    Reader{"npx", "package.json"},
    Reader{"yarn", "package.json"},
    Reader{"pnpm", "package.json"},
    Reader{"bun", "package.json"},
    Reader{"pytest", "conftest.py pytest.ini tests/conftest.py"},
    Reader{"tox", "tox.ini"},
    Reader{"nox", "noxfile.py"},
    Reader{"just", "justfile Justfile"},
    Reader{"task", "Taskfile.yml Taskfile.yaml"},
    Reader{"ctest", "CTestTestfile.cmake CMakeLists.txt"},
    Reader{"cmake", "CMakeLists.txt CMakePresets.json"},
};

// The words of a command line, as far as that can be said without a shell: quotes group, operators separate.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '\\' && i + 1 < command.size()) {
      word += command[++i];
    } else if (contains(" \t\n;&|()<>`", c)) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return words;
}

}  // namespace

std::vector<std::string> files_named_by(std::string_view command,
                                        const std::function<bool(const std::string&)>& is_file) {
  std::vector<std::string> files;
  const auto add = [&](std::string_view path) {
    while (path.starts_with("./")) path.remove_prefix(2);
    std::string name(path);
    if (name.empty() || name.starts_with('/') || is_one_of(std::string(".."), split(name, '/'))) return;
    if (!is_one_of(name, files) && is_file(name)) files.push_back(std::move(name));
  };
  std::vector<std::string> folders = {""};  // where its programs run: cd DIR, make -C DIR
  const std::vector<std::string> words = words_of(command);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "cd" || words[i] == "-C" || words[i] == "--prefix" || words[i] == "--directory")
      folders.push_back(words[i + 1]);
  }
  for (const std::string& word : words) {
    for (const std::string& in : folders) {
      add(in.empty() ? word : join_path(in, word));
      // "sh -c 'make test'" and "FLAGS='…'": what is quoted may be a command.
      if (contains(word, ' ')) {
        for (const std::string& inner : words_of(word)) add(in.empty() ? inner : join_path(in, inner));
      }
    }
    const std::vector<std::string> programs = contains(word, ' ') ? words_of(word) : std::vector{word};
    for (const std::string& program : programs) {
      for (const Reader& reader : kReaders) {
        if (base_name(program) != reader.program) continue;
        for (const std::string& file : split(reader.files, ' ')) {
          for (const std::string& in : folders) add(in.empty() ? file : join_path(in, file));
        }
      }
    }
  }
  return files;
}

}  // namespace ralph
