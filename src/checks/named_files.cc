#include "checks/named_files.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

struct Reader {
  std::string_view program;
  std::string_view files;  // separated by spaces
};

// Files that decide which tests run and whether they can fail. Linter settings are not among them: see
// diagnostics.criteria.
constexpr std::array kReaders = {
    Reader{"make", "GNUmakefile makefile Makefile"},
    Reader{"gmake", "GNUmakefile makefile Makefile"},
    Reader{"npm", "package.json .npmrc"},
    Reader{"npx", "package.json .npmrc"},
    Reader{"yarn", "package.json .yarnrc .yarnrc.yml"},
    Reader{"pnpm", "package.json .npmrc .pnpmfile.cjs"},
    Reader{"bun", "package.json bunfig.toml"},
    Reader{"jest", "package.json jest.config.js jest.config.ts jest.config.mjs jest.config.cjs jest.config.json"},
    Reader{"vitest",
           "vitest.config.ts vitest.config.js vitest.config.mts vitest.config.mjs vite.config.ts vite.config.js"},
    Reader{"mocha", "package.json .mocharc.js .mocharc.cjs .mocharc.json .mocharc.yml .mocharc.yaml .mocharc.jsonc"},
    Reader{"pytest",
           "conftest.py pytest.ini .pytest.ini pyproject.toml tox.ini setup.cfg tests/conftest.py test/conftest.py"},
    Reader{"tox", "tox.ini pyproject.toml setup.cfg"},
    Reader{"nox", "noxfile.py"},
    Reader{"cargo", "Cargo.toml .cargo/config.toml .cargo/config"},
    Reader{"go", "go.mod go.work"},
    Reader{"gradle", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties"},
    Reader{"gradlew", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties"},
    Reader{"mvn", "pom.xml .mvn/maven.config .mvn/jvm.config .mvn/extensions.xml"},
    Reader{"mvnw", "pom.xml .mvn/maven.config .mvn/jvm.config .mvn/extensions.xml"},
    Reader{"rake", "Rakefile rakefile Rakefile.rb"},
    Reader{"rspec", ".rspec"},
    Reader{"phpunit", "phpunit.xml phpunit.xml.dist phpunit.dist.xml"},
    Reader{"just", "justfile Justfile .justfile"},
    Reader{"task", "Taskfile.yml Taskfile.yaml"},
    Reader{"ctest", "CTestTestfile.cmake CMakeLists.txt"},
    Reader{"cmake", "CMakeLists.txt CMakePresets.json CMakeUserPresets.json"},
};

// The words of a command line, as far as they can be determined without a shell: quotes group, operators separate.
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

using IsFile = std::function<bool(const std::string&)>;

// Collects names of project files, without duplicates.
class Names {
 public:
  explicit Names(std::string_view command, IsFile is_file) : words_(words_of(command)), is_file_(std::move(is_file)) {
    for (size_t i = 0; i + 1 < words_.size(); ++i) {
      if (is_one_of(words_[i], {"cd", "-C", "--prefix", "--directory"})) folders_.push_back(words_[i + 1]);
    }
  }

  void add_words() {
    for (const std::string& word : words_) {
      add(word);
      // "sh -c 'make test'": a quoted word may be a command.
      if (!contains(word, ' ')) continue;
      for (const std::string& inner : words_of(word)) add(inner);
    }
  }

  void add_files_of_programs() {
    for (const std::string& word : words_) {
      for (const std::string& program : words_of(word)) {
        for (const Reader& reader : kReaders) {
          if (base_name(program) != reader.program) continue;
          for (const std::string& file : split(reader.files, ' ')) add(file);
        }
      }
    }
  }

  std::vector<std::string> take() { return std::move(files_); }

 private:
  void add(std::string_view word) {
    for (const std::string& folder : folders_) {
      std::string_view path = word;
      while (path.starts_with("./")) path.remove_prefix(2);
      const std::string name = folder.empty() ? std::string(path) : join_path(folder, path);
      if (name.empty() || name.starts_with('/') || is_one_of(std::string(".."), split(name, '/'))) continue;
      if (!is_one_of(name, files_) && is_file_(name)) files_.push_back(name);
    }
  }

  std::vector<std::string> words_, folders_ = {""};  // where its programs may run: cd DIR, make -C DIR
  IsFile is_file_;
  std::vector<std::string> files_;
};

}  // namespace

std::vector<std::string> files_named_by(std::string_view command, const IsFile& is_file) {
  Names names(command, is_file);
  names.add_words();
  names.add_files_of_programs();
  return names.take();
}

std::vector<std::string> files_read_by_programs_of(std::string_view command) {
  Names names(command, [](const std::string&) { return true; });
  names.add_files_of_programs();
  return names.take();
}

}  // namespace ralph
