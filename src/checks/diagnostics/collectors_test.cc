// Runs every parser on real output of its tool (tests/fixtures/diagnostics), and on what a killed or broken tool
// leaves.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "checks/diagnostics/collector.h"
#include "checks/diagnostics/report.h"
#include "checks/diagnostics/sarif.h"

namespace ralph::diagnostics {
namespace {

std::string recorded(const std::string& name) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  std::ifstream file(root / "tests" / "fixtures" / "diagnostics" / name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ParsedOutput parse(std::string_view collector, const ToolOutput& output) {
  const Collector* found = collector_named(collector);
  EXPECT_NE(found, nullptr) << collector;
  return found->parse(output);
}

ParsedOutput parse_out(std::string_view collector, const std::string& file, int exit_code) {
  return parse(collector, {recorded(file), "", exit_code});
}

std::vector<std::string> lines(const ParsedOutput& parsed) {
  std::vector<std::string> all;
  for (Finding finding : parsed.findings) {
    finding.tool = "t";
    all.push_back(line_of(finding));
  }
  return all;
}

using Lines = std::vector<std::string>;

TEST(Collectors, HaveTheNamesThatThePageGives) {
  std::string names;
  for (const Collector& collector : all_collectors()) names += std::string(collector.name) + " ";
  EXPECT_EQ(
      names,
      "ruff mypy pyright tsc eslint biome go-vet cargo-check clippy gcc clang clang-tidy shellcheck ast-grep clangd "
      "pyright-langserver gopls rust-analyzer typescript-language-server pytest vitest jest npm-test go-test "
      "cargo-test ctest ");
}

TEST(Ruff, ErrorsByTheirCodes) {
  const ParsedOutput parsed = parse_out("ruff", "ruff.json", 1);
  EXPECT_EQ(parsed.failure, "");
  int errors = 0, warnings = 0;
  bool undefined = false;
  for (const Finding& finding : parsed.findings) {
    ++(finding.severity == Severity::kError ? errors : warnings);
    undefined = undefined || (finding.rule == "F821" && finding.line == 3 && finding.column == 16 &&
                              finding.file == "/project/app.py" && finding.message == "Undefined name `c`");
  }
  EXPECT_TRUE(undefined);
  EXPECT_GT(errors, 1);
  EXPECT_GT(warnings, 0);  // I001 is neither E nor F
  EXPECT_EQ(parse("ruff", {"[]", "", 0}).failure, "");
}

TEST(Mypy, ColumnsAreCountedFromOne) {
  EXPECT_EQ(
      lines(parse_out("mypy", "mypy.jsonl", 1)),
      (Lines{"app.py:3:16: error: Name \"c\" is not defined (name-defined, t)",
             "app.py:5:12: error: Incompatible return value type (got \"int\", expected \"str\") (return-value, t)"}));
  EXPECT_EQ(parse_out("mypy", "mypy-syntax.jsonl", 2).findings.size(), 2u);
  EXPECT_TRUE(parse_out("mypy", "mypy-syntax.jsonl", 2).gave_up);
  EXPECT_FALSE(parse_out("mypy", "mypy.jsonl", 1).gave_up);
  EXPECT_EQ(parse("mypy", {"", "mypy: can't read file\n", 2}).failure, "mypy failed");
  EXPECT_EQ(
      parse("mypy", {R"({"file": "a.py", "line": 1, "column": 0, "message": "m", "severity": "note"})", "", 1}).failure,
      "mypy failed");
}

TEST(Pyright, LinesAreCountedFromOne) {
  const ParsedOutput parsed = parse_out("pyright", "pyright.json", 1);
  ASSERT_EQ(parsed.findings.size(), 2u);
  EXPECT_EQ(line_of(parsed.findings[0]),
            "/project/app.py:3:16: error: \"c\" is not defined (reportUndefinedVariable, )");
}

TEST(Pyright, ThatLookedAtNoFileIsNotClean) {
  const auto with = [](int files) {
    return parse("pyright",
                 {fmt::format(R"({{"generalDiagnostics": [], "summary": {{"filesAnalyzed": {}}}}})", files), "", 0});
  };
  EXPECT_EQ(with(1).failure, "");
  EXPECT_EQ(with(0).failure, "pyright looked at no file");
}

TEST(Tsc, LinesWithAndWithoutAPlace) {
  EXPECT_EQ(lines(parse_out("tsc", "tsc.txt", 1)),
            (Lines{"a.ts:1:7: error: Type 'string' is not assignable to type 'number'. (TS2322, t)",
                   "a.ts:3:28: error: Type 'string' is not assignable to type 'number'. (TS2322, t)"}));
  EXPECT_EQ(lines(parse("tsc", {"error TS18003: No inputs were found in config file.\n", "", 2})),
            Lines{"error: No inputs were found in config file. (TS18003, t)"});
  EXPECT_EQ(lines(parse("tsc", {"src/(a)/b.ts(1,7): error TS1: x\n", "", 2})),
            Lines{"src/(a)/b.ts:1:7: error: x (TS1, t)"});
  EXPECT_EQ(parse("tsc", {"Segmentation fault\n", "", 139}).failure, "tsc failed");
}

TEST(Eslint, SeveritiesAndParsingErrors) {
  EXPECT_EQ(lines(parse_out("eslint", "eslint.json", 1)),
            (Lines{"/project/broken.js:1:9: error: Parsing error: Unexpected token ; (t)",
                   "/project/eslint.config.js:1:1: error: 'module' is not defined. (no-undef, t)",
                   "/project/m.js:1:5: warning: 'unused' is assigned a value but never used. (no-unused-vars, t)",
                   "/project/m.js:2:1: error: 'foo' is not defined. (no-undef, t)"}));
  EXPECT_NE(parse("eslint", {"Oops! Something went wrong!\n", "", 2}).failure, "");
}

TEST(Biome, ItsOwnFormatOfTwoVersions) {
  const ParsedOutput parsed = parse_out("biome", "biome.json", 1);
  EXPECT_EQ(parsed.findings.size(), 5u);
  EXPECT_EQ(line_of(parsed.findings[4]),
            "broken.js:1:9: error: Expected an expression, or an assignment but instead found ';'. (parse, )");
  const char* older =
      R"({"diagnostics":[{"category":"lint/x","severity":"error","description":"d","message":[{"content":"a"},
    {"content":"b"}],"location":{"path":{"file":"x.js"},"span":[4,5],"sourceCode":"ab\ncd"}}]})";
  EXPECT_EQ(lines(parse("biome", {older, "", 1})), Lines{"x.js:2:2: error: ab (lint/x, t)"});
}

TEST(GoVet, FindingsAndWhatCannotBeCompiled) {
  EXPECT_EQ(lines(parse_out("go-vet", "go-vet.json", 0)),
            Lines{"/project/main.go:4:14: error: fmt.Printf format %d has arg \"x\" of wrong type string (printf, t)"});
  EXPECT_EQ(lines(parse("go-vet", {"", recorded("go-vet-build.txt"), 1})),
            Lines{"./main.go:6:12: error: undefined: undefinedThing (build, t)"});
  EXPECT_EQ(parse("go-vet", {"{\n\t\"example", "", 0}).failure, "go vet's JSON is broken off");
  EXPECT_EQ(parse("go-vet", {"", "go: go.mod requires go >= 9\n", 1}).failure, "go vet failed");
}

TEST(GoTest, LeavesAreCounted) {
  ToolOutput output{recorded("go-test.jsonl"), "", 1};
  output.context = "example.com/x \n";
  const ParsedOutput parsed = parse("go-test", output);
  EXPECT_EQ(*parsed.tests, (TestCounts{1, 2, 1}));
  EXPECT_EQ(lines(parsed), (Lines{"main_test.go:4: failed test: TestBad: no (TestBad, t)",
                                  "main_test.go:6: failed test: TestSub/a: x (TestSub/a, t)"}));
  EXPECT_EQ(lines(parse_out("go-test", "go-test-build.jsonl", 1)),
            Lines{"./main.go:6:12: error: undefined: undefinedThing (build, t)"});
  EXPECT_EQ(parse("go-test", {"", "go: no such tool\n", 2}).failure, "go test failed");
}

ParsedOutput go_test_of(const std::vector<std::pair<std::string, std::string>>& outcomes) {
  std::string out;
  for (const auto& [name, action] : outcomes)
    out += fmt::format("{{\"Action\":\"{}\",\"Package\":\"x\",\"Test\":\"{}\"}}\n", action, name);
  return parse("go-test", {out, "", 1});
}

TEST(GoTest, AParentThatFailsByItselfIsTold) {
  const ParsedOutput alone = go_test_of({{"TestA/x", "pass"}, {"TestA/y", "skip"}, {"TestA", "fail"}});
  EXPECT_EQ(lines(alone), Lines{"failed test: TestA (TestA, t)"});
  EXPECT_EQ(*alone.tests, (TestCounts{1, 1, 1}));
  const ParsedOutput with_a_subtest = go_test_of({{"TestA/x", "fail"}, {"TestA", "fail"}, {"TestA#01", "pass"}});
  EXPECT_EQ(lines(with_a_subtest), Lines{"failed test: TestA/x (TestA/x, t)"});
  EXPECT_EQ(*with_a_subtest.tests, (TestCounts{1, 1, 0}));
  EXPECT_EQ(*go_test_of({{"TestA/x", "pass"}, {"TestA", "pass"}, {"TestAB", "pass"}}).tests, (TestCounts{2, 0, 0}));
}

TEST(GoTest, FilesOfAWorkspaceAreThoseOfTheirModules) {
  ToolOutput output{R"({"Action":"output","Package":"example.com/b/sub","Test":"T","Output":"    b_test.go:4: no\n"}
{"Action":"fail","Package":"example.com/b/sub","Test":"T"})",
                    "", 1};
  output.context = "example.com a/\nexample.com/b mods/b/\n";
  EXPECT_EQ(lines(parse("go-test", output)), Lines{"mods/b/sub/b_test.go:4: failed test: T: no (T, t)"});
}

TEST(Cargo, MessagesOfTheCompiler) {
  const ParsedOutput clippy = parse_out("clippy", "clippy.jsonl", 0);
  ASSERT_GE(clippy.findings.size(), 2u);
  EXPECT_EQ(line_of(clippy.findings[1]),
            "src/lib.rs:1:53: warning: unneeded `return` statement (clippy::needless_return, )");
  const ParsedOutput check = parse_out("cargo-check", "cargo-check.jsonl", 101);
  const auto error = std::find_if(check.findings.begin(), check.findings.end(),
                                  [](const Finding& f) { return f.severity == Severity::kError; });
  ASSERT_NE(error, check.findings.end());
  EXPECT_EQ(error->rule, "E0308");
  EXPECT_EQ(parse("cargo-check", {"", "error: no Cargo.toml\n", 101}).failure, "cargo failed");
}

constexpr const char* kRustWarning =
    R"({"reason":"compiler-message","message":{"level":"warning","code":{"code":"unused_variables"},"message":"unused",
"spans":[{"is_primary":true,"file_name":"src/lib.rs","line_start":1,"column_start":2}]}})";

TEST(Cargo, WarningsDontExplainAFailure) {
  const std::string warning = replace_all(kRustWarning, "\n", "") + "\n";
  EXPECT_EQ(parse("cargo-check", {warning, "", 0}).failure, "");
  const ParsedOutput failed = parse("cargo-check", {warning, "error: failed to run custom build command\n", 101});
  EXPECT_EQ(failed.failure, "cargo failed");
  EXPECT_EQ(failed.findings.size(), 1u);
}

TEST(Cargo, AnErrorWithoutAPlaceIsOneUnlessItSumsUp) {
  const auto with = [](std::string_view level, std::string_view message) {
    return lines(parse(
        "clippy",
        {fmt::format(R"({{"reason":"compiler-message","message":{{"level":"{}","message":"{}"}}}})", level, message),
         "", 101}));
  };
  EXPECT_EQ(with("error", "linking with `cc` failed"), Lines{"error: linking with `cc` failed (t)"});
  EXPECT_EQ(with("error", "aborting due to 2 previous errors; 1 warning emitted"), Lines{});
  EXPECT_EQ(with("warning", "2 warnings emitted"), Lines{});
}

TEST(CargoTest, FailuresWithTheirPlaces) {
  const ParsedOutput parsed = parse_out("cargo-test", "cargo-test.txt", 101);
  EXPECT_EQ(*parsed.tests, (TestCounts{1, 1, 1}));
  EXPECT_EQ(lines(parsed),
            Lines{"src/lib.rs:5: failed test: tests::bad: assertion `left == right` failed (tests::bad, t)"});
  EXPECT_EQ(parse("cargo-test", {"", "error: could not compile `x` (lib test) due to 1 previous error\n", 101}).failure,
            "the tests could not be compiled");
}

TEST(Compilers, TheFormatOfGnu) {
  const std::string undeclared =
      "a.c:2:30: warning: implicit declaration of function 'undefined_call' (-Wimplicit-function-declaration, t)";
  const std::string without_cast =
      "a.c:2:55: warning: returning 'char *' from a function with return type 'int' makes integer from pointer without "
      "a cast (-Wint-conversion, t)";
  const std::string another_type =
      "b.cc:2:34: error: cannot convert 'std::string' {aka 'std::__cxx11::basic_string<char>'} to 'int' in "
      "initialization (t)";
  EXPECT_EQ(lines(parse("gcc", {"", recorded("gcc.txt"), 1})),
            (Lines{undeclared, without_cast, "a.c:2:22: warning: unused variable 'unused' (-Wunused-variable, t)",
                   another_type, "b.cc:2:67: error: expected ';' before '}' token (t)"}));
  EXPECT_EQ(parse("clang", {"", recorded("clang.txt"), 1}).findings.size(), 3u);
  EXPECT_EQ(lines(parse("gcc", {"", "a.c:1:10: fatal error: no.h: No such file or directory\n", 1})),
            Lines{"a.c:1:10: error: no.h: No such file or directory (t)"});
  EXPECT_EQ(parse("gcc", {"", "cc1: out of memory\n", 1}).failure, "the compiler failed");
}

TEST(Compilers, WarningsDontExplainAFailure) {
  const std::string warning = "a.cc:1:5: warning: unused variable 'x' [-Wunused-variable]\n";
  for (const char* compiler : {"gcc", "clang"}) {
    EXPECT_EQ(parse(compiler, {"", warning, 0}).failure, "");
    EXPECT_EQ(parse(compiler, {"", warning + "g++: Killed signal terminated program cc1plus\n", 1}).failure,
              "the compiler failed");
  }
  EXPECT_EQ(parse("clang-tidy", {warning, "", 1}).failure, "clang-tidy failed");
  EXPECT_EQ(lines(parse("gcc", {"", "a.cc:3:1: internal compiler error: in foo, at bar.cc:7\n", 4})),
            Lines{"a.cc:3:1: error: in foo, at bar.cc:7 (t)"});
}

TEST(ClangTidy, ThatCannotReadItsConfigurationIsNotClean) {
  EXPECT_EQ(
      parse("clang-tidy", {"", "/p/.clang-tidy:1:1: error: x\nError parsing /p/.clang-tidy: Invalid argument\n", 0})
          .failure,
      "clang-tidy can't read its configuration");
  EXPECT_EQ(parse("clang-tidy", {"", "12 warnings generated.\n", 0}).failure, "");
}

TEST(ClangTidy, NotesAreLeftOut) {
  EXPECT_EQ(lines(parse_out("clang-tidy", "clang-tidy.txt", 1)),
            (Lines{"b.cc:2:30: error: no viable conversion from 'std::string' (aka 'basic_string<char>') to 'int' "
                   "(clang-diagnostic-error, t)",
                   "b.cc:2:46: warning: use nullptr (modernize-use-nullptr, t)",
                   "b.cc:2:67: error: expected ';' after return statement (clang-diagnostic-error, t)"}));
}

TEST(Shellcheck, Levels) {
  const ParsedOutput parsed = parse_out("shellcheck", "shellcheck.json", 1);
  ASSERT_EQ(parsed.findings.size(), 5u);
  EXPECT_EQ(line_of(parsed.findings[0]),
            "b.sh:3:6: info: Double quote to prevent globbing and word splitting. (SC2086, )");
  EXPECT_EQ(parse("shellcheck", {"", "no such file\n", 2}).failure, "shellcheck printed no JSON");
}

TEST(AstGrep, FindingsAreAboutSecurity) {
  EXPECT_EQ(lines(parse_out("ast-grep", "ast-grep.jsonl", 1)),
            Lines{"x.py:1:1: security: eval runs any code (py-eval, t)"});
  EXPECT_EQ(parse("ast-grep", {"", "Error: Cannot parse rule\n", 8}).failure, "ast-grep failed");
}

TEST(Pytest, FailuresErrorsAndSkips) {
  const ParsedOutput parsed = parse("pytest", {"", recorded("pytest.xml"), 1});
  EXPECT_EQ(*parsed.tests, (TestCounts{2, 3, 1}));
  ASSERT_EQ(parsed.findings.size(), 3u);
  EXPECT_EQ(line_of(parsed.findings[0]),
            "test_app.py:4: failed test: test_app.test_bad: AssertionError: no (test_app.test_bad, )");
  EXPECT_EQ(parsed.findings[1].line, 9);
}

TEST(Pytest, NoTestsAndFilesThatCannotBeLoaded) {
  const ParsedOutput none = parse("pytest", {"", recorded("pytest-none.xml"), 5});
  EXPECT_EQ(none.failure, "");
  EXPECT_EQ(*none.tests, TestCounts{});
  const ParsedOutput broken = parse("pytest", {"", recorded("pytest-broken.xml"), 2});
  EXPECT_EQ(broken.failure, "");
  ASSERT_EQ(broken.findings.size(), 1u);
  EXPECT_EQ(place_of(broken.findings[0]), "test_b.py:1");
  EXPECT_NE(broken.findings[0].message.find("Error"), std::string::npos) << broken.findings[0].message;
  EXPECT_EQ(broken.findings[0].message.find("collection failure"), std::string::npos) << broken.findings[0].message;
  EXPECT_EQ(parse("pytest", {"", "ERROR: usage: pytest\n", 4}).failure, "pytest wrote no report");
}

TEST(Pytest, ThatFailsThoughNoTestDidIsNotClean) {
  const std::string passed =
      R"(<?xml version="1.0"?><testsuites><testsuite tests="1"><testcase classname="t" name="test_a"/></testsuite></testsuites>)";
  EXPECT_EQ(parse("pytest", {"", passed, 0}).failure, "");
  EXPECT_EQ(parse("pytest", {"", passed, 1}).failure, "it failed though no test did");
}

TEST(Jest, AndVitestShareAFormat) {
  const ParsedOutput jest = parse_out("jest", "jest.json", 1);
  EXPECT_EQ(*jest.tests, (TestCounts{1, 1, 1}));
  EXPECT_EQ(lines(jest),
            Lines{"/project/a.test.js:2: failed test: math fails: Error: expect(received).toBe(expected) // "
                  "Object.is equality (math fails, t)"});
  const ParsedOutput vitest = parse_out("vitest", "vitest.json", 1);
  EXPECT_EQ(*vitest.tests, (TestCounts{1, 1, 1}));
  EXPECT_EQ(lines(vitest), Lines{"/project/a.test.ts:3: failed test: math fails: AssertionError: expected 1 to be 2 // "
                                 "Object.is equality (math fails, t)"});
  EXPECT_EQ(*parse("jest", {"", "No tests found, exiting with code 1\n", 1}).tests, TestCounts{});
  EXPECT_EQ(parse("jest", {"", "TypeError: x\n", 1}).failure, "it printed no JSON");
}

TEST(NpmTest, CountsIfTheRunnerTells) {
  EXPECT_EQ(*parse("npm-test", {"ℹ tests 4\nℹ pass 2\nℹ fail 1\nℹ skipped 1\n", "", 1}).tests, (TestCounts{2, 1, 1}));
  const ParsedOutput silent = parse("npm-test", {"fine\n", "", 0});
  EXPECT_FALSE(silent.tests);
  EXPECT_TRUE(silent.findings.empty());
  EXPECT_EQ(lines(parse("npm-test", {"a\nboom\n", "", 3})),
            Lines{"failed test: npm test: exit code 3: boom (npm test, t)"});
}

TEST(NpmTest, TheNamesOfWhatFailed) {
  EXPECT_EQ(lines(parse("npm-test",
                        {"▶ math\n  ✔ fine (0.1ms)\n  ✖ adds (1.25ms)\n✖ math (2ms)\n✖ other (0.5ms)\nℹ pass 1\n"
                         "ℹ fail 2\nℹ duration_ms 249.3\n\n✖ failing tests:\n\ntest at a.js:1:1\n✖ adds (1.25ms)\n",
                         "", 1})),
            (Lines{"failed test: adds (adds, t)", "failed test: other (other, t)"}));
  EXPECT_EQ(
      lines(parse("npm-test", {"TAP version 13\n    not ok 1 - adds\n      ---\n      duration_ms: 3\n      ...\n"
                               "not ok 1 - math\nnot ok 2 - later # TODO\nok 3 - fine\n# fail 1\n# duration_ms 249.3\n",
                               "", 1})),
      Lines{"failed test: adds (adds, t)"});
  EXPECT_EQ(lines(parse("npm-test", {"boom\n# pass 0\n# duration_ms 249.3\n", "", 1})),
            Lines{"failed test: npm test: exit code 1: boom (npm test, t)"});
}

TEST(Ctest, NamesOfWhatFailed) {
  const ParsedOutput parsed = parse_out("ctest", "ctest.txt", 8);
  EXPECT_EQ(*parsed.tests, (TestCounts{1, 1, 1}));
  EXPECT_EQ(lines(parsed), Lines{"failed test: bad: Failed (bad, t)"});
  const ParsedOutput build = parse("ctest", {"ralph: the build failed\n", "a.c:1:2: error: x\n", 99});
  EXPECT_EQ(build.failure, "the build failed");
  EXPECT_EQ(build.findings.size(), 1u);
}

// Whatever a killed tool leaves, no parser calls it clean.
TEST(Collectors, NothingAtAllIsNeverClean) {
  for (const Collector& collector : all_collectors()) {
    const ParsedOutput parsed = collector.parse({"", "", 1});
    EXPECT_TRUE(!parsed.failure.empty() || !parsed.findings.empty()) << collector.name;
  }
}

struct Recording {
  const char* collector;
  const char* file;
  bool on_err = false;
};
constexpr Recording kRecordings[] = {
    {"ruff", "ruff.json"},
    {"mypy", "mypy.jsonl"},
    {"pyright", "pyright.json"},
    {"eslint", "eslint.json"},
    {"biome", "biome.json"},
    {"go-vet", "go-vet.json"},
    {"go-test", "go-test.jsonl"},
    {"clippy", "clippy.jsonl"},
    {"shellcheck", "shellcheck.json"},
    {"ast-grep", "ast-grep.jsonl"},
    {"pytest", "pytest.xml", true},
    {"vitest", "vitest.json"},
    {"jest", "jest.json"},
    {"tsc", "tsc.txt"},
    {"clang-tidy", "clang-tidy.txt"},
    {"ctest", "ctest.txt"},
    {"cargo-test", "cargo-test.txt"},
};

// A tool that is killed in the middle of its output has an exit code that shows it; a truncated JSON document is
// invalid.
TEST(Collectors, OutputThatIsBrokenOffIsNeverClean) {
  for (const Recording& recording : kRecordings) {
    const std::string whole = recorded(recording.file);
    for (const size_t part : {whole.size() / 7, whole.size() / 2, whole.size() - 3}) {
      const std::string half = whole.substr(0, part);
      const ParsedOutput parsed =
          recording.on_err ? parse(recording.collector, {"", half, 137}) : parse(recording.collector, {half, "", 137});
      EXPECT_TRUE(!parsed.failure.empty() || !parsed.findings.empty()) << recording.collector << " at " << part;
    }
  }
}

TEST(Collectors, SurviveBytesThatMeanNothing) {
  for (const Collector& collector : all_collectors()) {
    for (const std::string& text : {std::string("\xff\xfe\0{[<?xml", 9), std::string(100'000, '['), std::string("{}"),
                                    std::string("[null,1,{\"x\":[]}]"), std::string(1'000'000, ':')})
      static_cast<void>(collector.parse({text, text, 1}));
  }
}

TEST(Collectors, TakeTenThousandFindings) {
  std::string json = "[";
  for (int i = 0; i < 10'000; ++i)
    json +=
        fmt::format(R"({}{{"filename":"/p/a.py","code":"F401","message":"m{}","location":{{"row":{},"column":1}}}})",
                    i == 0 ? "" : ",", i, i + 1);
  Report report;
  report.add({"ruff"}, parse("ruff", {json + "]", "", 1}).findings);
  report.merge();
  EXPECT_EQ(report.findings.size(), 10'000u);
  EXPECT_EQ(report.findings.back().line, 10'000);
}

TEST(Sarif, LevelsKindsAndSuppressions) {
  const char* text = R"(noise before {"version":"2.1.0","runs":[{"tool":{"driver":{"rules":[
    {"id":"R1","defaultConfiguration":{"level":"error"}},{"id":"R2","properties":{"tags":["security"]}}]}},"results":[
    {"ruleId":"R1","message":{"text":"by default an error"},"locations":[{"physicalLocation":{"artifactLocation":
      {"uri":"src/a%20b.c"},"region":{"startLine":3,"startColumn":7}}}]},
    {"ruleId":"R2","ruleIndex":1,"message":{"text":"a warning, about security"}},
    {"ruleId":"R3","message":{"text":"unknown rule"}},
    {"ruleId":"R1","level":"note","message":{"text":"an info"}},
    {"ruleId":"R1","kind":"pass","message":{"text":"passed"}},
    {"ruleId":"R1","kind":"notApplicable","message":{"text":"not for this"}},
    {"ruleId":"R1","kind":"informational","message":{"text":"for your information"}},
    {"ruleId":"R3","kind":"review","level":"none","message":{"text":"look at it"}},
    {"ruleId":"R3","kind":"open","message":{"text":"nobody knows"}},
    {"ruleId":"R1","level":"none","message":{"text":"none"}},
    {"ruleId":"R1","suppressions":[{"kind":"inSource"}],"message":{"text":"suppressed"}},
    {"ruleId":"R1","suppressions":[{"kind":"external","status":"rejected"}],"message":{"text":"not suppressed"}}]}]})";
  EXPECT_EQ(lines(parse_sarif({text, "", 0})),
            (Lines{"src/a b.c:3:7: error: by default an error (R1, t)", "security: a warning, about security (R2, t)",
                   "warning: unknown rule (R3, t)", "info: an info (R1, t)", "warning: look at it (R3, t)",
                   "warning: nobody knows (R3, t)", "error: not suppressed (R1, t)"}));
}

TEST(Sarif, OfARealTool) {
  const ParsedOutput parsed = parse_sarif({recorded("clang.sarif"), "", 1});
  ASSERT_EQ(parsed.findings.size(), 3u);
  EXPECT_EQ(parsed.findings[0].file, "/project/a.c");
  EXPECT_NE(parse_sarif({"", "", 0}).failure, "");
  EXPECT_NE(parse_sarif({"{\"runs\":[", "", 0}).failure, "");
  EXPECT_NE(parse_sarif({R"({"runs":[{"invocations":[{"executionSuccessful":false}]}]})", "", 0}).failure, "");
}

TEST(Sarif, ARunThatFailedOrHasNoResultsIsNotClean) {
  const auto failure = [](std::string_view results, int code) {
    return parse_sarif({fmt::format(R"({{"runs":[{{{}}}]}})", results), "", code}).failure;
  };
  EXPECT_EQ(failure(R"("results":[])", 0), "");
  EXPECT_EQ(failure(R"("results":[])", 2), "it failed without a result");
  EXPECT_EQ(failure(R"("results":[{"kind":"pass"}])", 1), "");
  for (const char* wrong : {R"("results":"boom")", R"("results":null)", R"("tool":{})"})
    EXPECT_EQ(failure(wrong, 0), "its SARIF has a run without results") << wrong;
}

TEST(Sarif, BasesMayBeRelativeToOthers) {
  const char* text =
      R"({"runs":[{"originalUriBaseIds":{"TOP":{"uri":"my%20dir/"},"SRC":{"uri":"src/","uriBaseId":"TOP"},
    "ABS":{"uri":"file:///p/"},"LOOP":{"uri":"x/","uriBaseId":"LOOP"},"HERE":{"description":{"text":"the project"}}},
    "artifacts":[{"location":{"uri":"b.c","uriBaseId":"SRC"}}],"results":[
    {"message":{"text":"1"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c","uriBaseId":"SRC"}}}]},
    {"message":{"text":"2"},"locations":[{"physicalLocation":{"artifactLocation":{"index":0}}}]},
    {"message":{"text":"3"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c","uriBaseId":"ABS"}}}]},
    {"message":{"text":"4"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c","uriBaseId":"HERE"}}}]},
    {"message":{"text":"5"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"/a.c","uriBaseId":"LOOP"}}}]},
    {"message":{"text":"6"},"locations":[{"physicalLocation":{"artifactLocation":{"index":7}}}]}]}]})";
  Lines files;
  for (const Finding& finding : parse_sarif({text, "", 1}).findings) files.push_back(finding.file);
  EXPECT_EQ(files, (Lines{"my dir/src/a.c", "my dir/src/b.c", "/p/a.c", "a.c", "/a.c", ""}));
}

TEST(Sarif, Uris) {
  EXPECT_EQ(path_of_uri("file:///a%20b.c"), "/a b.c");
  EXPECT_EQ(path_of_uri("file://host/a.c"), "/a.c");
  EXPECT_EQ(path_of_uri("src/a%2.c"), "src/a%2.c");
  EXPECT_EQ(path_of_uri("a%00b"), "");
}

}  // namespace
}  // namespace ralph::diagnostics
