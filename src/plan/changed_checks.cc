#include "plan/changed_checks.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "base/utf8.h"
#include "checks/named_files.h"
#include "git/repository.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMostListed = 40, kMostPerFile = 3'000, kMostShown = 12'000;

constexpr auto kCheckFiles = std::to_array<std::string_view>({"makefile",
                                                              "gnumakefile",
                                                              "package.json",
                                                              "conftest.py",
                                                              "cmakelists.txt",
                                                              "cmakepresets.json",
                                                              "pytest.ini",
                                                              "tox.ini",
                                                              "setup.cfg",
                                                              "pyproject.toml",
                                                              "noxfile.py",
                                                              "cargo.toml",
                                                              "build.rs",
                                                              "go.mod",
                                                              "justfile",
                                                              "taskfile.yml",
                                                              "taskfile.yaml",
                                                              "rakefile",
                                                              ".rspec",
                                                              "pom.xml",
                                                              "build.gradle",
                                                              "build.gradle.kts",
                                                              "jenkinsfile",
                                                              ".gitlab-ci.yml",
                                                              "azure-pipelines.yml",
                                                              ".travis.yml",
                                                              "jest.config.js",
                                                              "jest.config.ts",
                                                              "jest.config.mjs",
                                                              "jest.config.cjs",
                                                              "jest.config.json",
                                                              "vitest.config.js",
                                                              "vitest.config.ts",
                                                              "vitest.config.mjs",
                                                              "vite.config.js",
                                                              "vite.config.ts",
                                                              "karma.conf.js",
                                                              ".mocharc.json",
                                                              ".mocharc.js",
                                                              "playwright.config.ts",
                                                              "meson.build",
                                                              "tsconfig.json",
                                                              "ctesttestfile.cmake",
                                                              ".npmrc",
                                                              ".yarnrc",
                                                              ".yarnrc.yml",
                                                              ".pnpmfile.cjs",
                                                              "bunfig.toml",
                                                              ".pytest.ini",
                                                              "sitecustomize.py",
                                                              "usercustomize.py",
                                                              "go.work",
                                                              "gradle.properties",
                                                              "settings.gradle",
                                                              "settings.gradle.kts",
                                                              "phpunit.xml",
                                                              "phpunit.xml.dist",
                                                              ".mocharc.cjs",
                                                              ".mocharc.yml",
                                                              ".mocharc.yaml",
                                                              "vitest.config.mts",
                                                              "vitest.workspace.ts",
                                                              "cmakeuserpresets.json",
                                                              ".justfile"});
constexpr std::array<std::string_view, 6> kFolders = {".github/workflows/", ".circleci/", ".ci/",
                                                      ".buildkite/",        ".cargo/",    ".mvn/"};

// Signs in an added line: a test is skipped, or keeps others from running.
constexpr std::array<std::string_view, 27> kSkips = {
    "mark.skip", "pytest.skip", "unittest.skip", "skipTest(", "skipIf(",   "skipUnless(",   "xfail",
    ".skip(",    ".skip.",      ".only(",        ".only.",    ".todo(",    "xit(",          "xdescribe(",
    "xtest(",    "fit(",        "fdescribe(",    "#[ignore",  "t.Skip",    "b.Skip",        "GTEST_SKIP",
    "DISABLED_", "@Disabled",   "@Ignore",       "@Skip",     "SKIP_TEST", "collect_ignore"};

// Signs of an assertion, in added and removed lines.
constexpr std::array<std::string_view, 18> kAssertions = {
    "assert",  "Assert",  "expect(",  "EXPECT_", "ASSERT_", "REQUIRE", "CHECK(", ".should",  "should(",
    "t.Error", "t.Fatal", "require.", "raises(", "toBe",    "toEqual", "must_",  "is_equal", "verify("};

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// A sign that begins with a letter must begin a word: "fit(" does not match "benefit(".
template <class Signs>
bool has_sign(std::string_view line, const Signs& signs) {
  return std::ranges::any_of(signs, [&](std::string_view sign) {
    for (size_t at = line.find(sign); at != std::string_view::npos; at = line.find(sign, at + 1)) {
      if (at == 0 || !is_word_char(sign[0]) || !is_word_char(line[at - 1])) return true;
    }
    return false;
  });
}

std::string shown_path(std::string_view path) {
  return fit_to_width(path, path.size() * 2 + 1);
}

struct ChangedPath {
  std::string path;
  char letter = 'M';  // as in `git diff --name-status`
};

constexpr std::string_view word_for(char letter) {
  return letter == 'A' ? "new" : letter == 'D' ? "deleted" : letter == 'T' ? "no longer a plain file" : "changed";
}

class Evidence {
 public:
  Evidence(const Git& git, std::string top, std::string base)
      : git_(git), top_(std::move(top)), base_(std::move(base)) {}

  Result<std::vector<ChangedPath>> changed() const {
    TRY_VALUE(const std::string output, difference({"-z", "--name-status"}, ""));
    const std::vector<std::string> fields = split(output, '\0');
    std::vector<ChangedPath> paths;
    for (size_t i = 0; i + 1 < fields.size(); i += 2) {
      if (!fields[i].empty()) paths.push_back({fields[i + 1], fields[i][0]});
    }
    return paths;
  }

  Result<std::string> of(const std::string& path) const { return difference({"-U1"}, path); }

 private:
  // Overrides the project's own diff settings.
  Result<std::string> difference(const std::vector<std::string>& options, const std::string& path) const {
    std::vector<std::string> words = {"-C",
                                      top_,
                                      "-c",
                                      "diff.relative=false",
                                      "-c",
                                      "diff.noprefix=false",
                                      "diff",
                                      "--no-ext-diff",
                                      "--no-textconv",
                                      "--no-renames",
                                      "--no-color",
                                      "--text"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(base_);
    if (!path.empty()) words.insert(words.end(), {"--", path});
    TRY_VALUE(GitEnd end, git_(words));
    if (end.code != 0) return fail(ErrorKind::kIo, "{}", first_line(end.errors));
    return std::move(end.output);
  }

  const Git& git_;
  const std::string top_, base_;
};

// The lines from the first hunk on, indented so that none can be mistaken for the assignment's own text.
std::string quoted_difference(std::string_view path, std::string_view difference, size_t most) {
  const size_t hunk = difference.find("\n@@");
  if (hunk == std::string_view::npos) return {};
  std::string text = fmt::format("    {}\n", shown_path(path));
  for (const std::string& line : split(trim(difference.substr(hunk + 1)), '\n')) {
    if (text.size() > most) return text + "    … (cut)\n";
    text += fmt::format("    {}\n", fit_to_width(line, 200));
  }
  return text;
}

}  // namespace

bool is_check_file(std::string_view path) {
  return is_one_of(to_lower(base_name(path)), kCheckFiles) ||
         std::ranges::any_of(kFolders, [&](std::string_view folder) {
           return path.starts_with(folder) || path.find(fmt::format("/{}", folder)) != std::string_view::npos;
         });
}

std::string suspicious_changes_in(std::string_view difference) {
  int skips = 0, removed = 0, added = 0;
  bool hunk = false;
  for (const std::string& line : split(difference, '\n')) {
    hunk = hunk || line.starts_with("@@");
    if (!hunk || line.size() < 2) continue;
    if (line[0] == '+' && has_sign(line.substr(1), kSkips)) ++skips;
    if (line[0] == '+' && has_sign(line.substr(1), kAssertions)) ++added;
    if (line[0] == '-' && has_sign(line.substr(1), kAssertions)) ++removed;
  }
  std::vector<std::string> signs;
  if (skips > 0) signs.push_back(fmt::format("tests are skipped or singled out in {}", count_of(skips, "new line")));
  if (removed > added) {
    signs.push_back(fmt::format("{} fewer than before", count_of(removed - added, "assertion")));
  } else if (removed > 0) {
    signs.push_back(fmt::format("{} rewritten", count_of(removed, "assertion")));
  }
  return join(signs, "; ");
}

void tell_changed_checks(Assignment& assignment, const Git& git, const std::string& top, const std::string& base,
                         const std::vector<std::string>& commands) {
  const Evidence evidence(git, top, base);
  const auto changed = evidence.changed();
  if (!changed) {
    assignment.changed_checks.push_back(
        fmt::format("unknown: commit {} from before this story can no longer be compared with ({})", base.substr(0, 9),
                    changed.error().message));
    return;
  }
  size_t more = 0;
  for (const ChangedPath& one : *changed) {
    std::string command;
    for (const std::string& candidate : commands) {
      const auto named = files_named_by(
          candidate, [&](const std::string& file) { return one.path == file || one.path.ends_with("/" + file); });
      if (!named.empty()) command = candidate;
    }
    const bool test = is_test_path(one.path);
    if (!test && command.empty() && !is_check_file(one.path)) continue;
    if (assignment.changed_checks.size() >= kMostListed) {
      ++more;
      continue;
    }
    const std::string difference = evidence.of(one.path).value_or("");
    std::string line = fmt::format("{}: {}", shown_path(one.path), word_for(one.letter));
    if (!command.empty()) line += fmt::format("; the check \"{}\" uses it", fit_to_width(command, 60));
    if (const std::string signs = suspicious_changes_in(difference); !signs.empty()) line += "; " + signs;
    assignment.changed_checks.push_back(std::move(line));
    std::string& shown = assignment.changed_checks_diff;
    if (one.letter == 'A' && test && suspicious_changes_in(difference).empty()) continue;  // a new test weakens nothing
    if (shown.size() < kMostShown)
      shown += quoted_difference(one.path, difference, std::min(kMostPerFile, kMostShown - shown.size()));
  }
  if (more > 0) assignment.changed_checks.push_back(fmt::format("and {} more", more));
}

}  // namespace ralph
