"""`ralph check` with the real go, cargo, gcc, clang, clang-tidy, shellcheck and ctest."""
import json
import shutil

import pytest

from check_support import check, collector, environment, found, path_of, statuses, write


@pytest.mark.slow
def test_go(project):
    write(project, "go.mod", "module example.com/x\n\ngo 1.20\n")
    write(project, "sub/a.go", 'package sub\n\nimport "fmt"\n\nfunc F() { fmt.Printf("%d\\n", "x") }\n')
    write(project, "sub/a_test.go", 'package sub\n\nimport "testing"\n\nfunc TestOk(t *testing.T) {}\n'
                                    'func TestBad(t *testing.T) { t.Errorf("no") }\n')
    code, report = check(project, "--only", "go-vet", tools=("go",))
    assert code == 1 and found(report, "go-vet") == [("sub/a.go", 5, "printf")]
    write(project, "sub/a.go", 'package sub\n\nfunc F() {}\n')
    code, report = check(project, "--only", "go-vet,go-test", tools=("go",))
    assert code == 1 and statuses(report) == {"go-vet": "clean", "go-test": "findings"}
    assert found(report, "go-test") == [("sub/a_test.go", 6, "TestBad")]
    assert collector(report, "go-test")["tests"] == {"passed": 1, "failed": 1, "skipped": 0}


@pytest.mark.slow
def test_cargo(project):
    write(project, "Cargo.toml", '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n')
    write(project, "src/lib.rs", 'pub fn broken() -> i32 {\n    "x"\n}\n')
    code, report = check(project, "--only", "cargo-check", tools=("cargo",))
    assert code == 1 and found(report, "cargo-check") == [("src/lib.rs", 2, "E0308")]
    write(project, "src/lib.rs", "pub fn fine() -> i32 {\n    1\n}\n#[test]\nfn good() {}\n#[test]\nfn bad() {\n    assert!(false);\n}\n")
    code, report = check(project, "--only", "cargo-check,cargo-test", tools=("cargo",))
    assert code == 1 and statuses(report) == {"cargo-check": "clean", "cargo-test": "findings"}
    assert found(report, "cargo-test") == [("src/lib.rs", 8, "bad")]
    assert collector(report, "cargo-test")["tests"] == {"passed": 1, "failed": 1, "skipped": 0}


@pytest.mark.slow
def test_a_build_script_that_fails_is_not_clean_for_its_warnings(project):
    write(project, "Cargo.toml", '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n')
    write(project, "build.rs", "fn main() {\n    let unused = 1;\n    std::process::exit(3);\n}\n")
    write(project, "src/lib.rs", "\n")
    code, report = check(project, "--only", "cargo-check", tools=("cargo",))
    assert code == 1 and statuses(report) == {"cargo-check": "failed"}, report


@pytest.mark.slow
def test_a_workspace_of_go(project):
    write(project, "go.work", "go 1.20\n\nuse (\n\t./a\n\t./b\n)\n")
    for name in "ab":
        write(project, f"{name}/go.mod", f"module example.com/{name}\n\ngo 1.20\n")
        write(project, f"{name}/x.go", f"package {name}\n\nfunc F() {{}}\n")
    write(project, "b/x_test.go", 'package b\n\nimport "testing"\n\nfunc TestBad(t *testing.T) { t.Errorf("no") }\n')
    code, report = check(project, "--only", "go-vet,go-test", tools=("go",), GOFLAGS="")
    assert code == 1 and statuses(report) == {"go-vet": "clean", "go-test": "findings"}, report
    assert found(report, "go-test") == [("b/x_test.go", 5, "TestBad")]


def database(project, *entries):
    write(project, "build/compile_commands.json", json.dumps([
        {"directory": str(project.path / "build"), "file": f"../{file}", "arguments": [compiler, "-Wall", "-c", f"../{file}", "-o", "x.o"]}
        for compiler, file in entries]))


def test_gcc_and_clang_by_the_compilation_database(project):
    clang = next((name for name in ("clang", "clang-19") if path_of(name)[0]), None)
    write(project, "src/a b.c", "int main(void) { int unused; return undefined_thing; }\n")
    write(project, "src/fine.c", "int f(void) { return 1; }\n")
    entries = [("gcc", "src/a b.c"), ("gcc", "src/fine.c")] + ([(clang, "src/fine.c")] if clang else [])
    database(project, *entries)
    code, report = check(project, "--no-tests", tools=(clang,) if clang else ())
    assert code == 1 and statuses(report)["gcc"] == "findings"
    assert ("src/a b.c", 1, "") in found(report, "gcc") and ("src/a b.c", 1, "-Wunused-variable") in found(report, "gcc")
    assert not (project.path / "build/x.o").exists()


def test_an_error_in_a_vendored_header_keeps_the_project_from_compiling(project):
    write(project, "third_party/foo.h", '#include "gone.h"\n')
    write(project, "src/a.c", '#include "../third_party/foo.h"\nint main(void) { return 0; }\n')
    database(project, ("gcc", "src/a.c"))
    code, report = check(project, "--only", "gcc")
    assert code == 1 and statuses(report) == {"gcc": "findings"}
    assert [file for file, _, _ in found(report, "gcc")] == ["third_party/foo.h"]


def test_a_compiler_that_is_not_there(project):
    write(project, "a.c", "int x;\n")
    database(project, ("arm-none-eabi-gcc-99", "a.c"))
    report = check(project, "--no-tests")[1]
    assert collector(report, "gcc")["reason"] == "arm-none-eabi-gcc-99 is not installed; build/compile_commands.json names it"


def test_a_database_that_cannot_be_read_is_a_failure(project):
    write(project, "a.c", "int x;\n")
    write(project, "build/compile_commands.json", "[{")
    code, report = check(project, "--no-tests")
    assert code == 1 and collector(report, "gcc")["status"] == "failed", report
    assert "build/compile_commands.json" in collector(report, "gcc")["reason"]


def test_clang_tidy_where_it_is_configured(project):
    tidy = next((name for name in ("clang-tidy", "clang-tidy-19") if path_of(name)[0]), None)
    if not tidy:
        pytest.skip("clang-tidy is not installed")
    write(project, "a.cc", "int *f() { return 0; }\n")
    database(project, ("g++", "a.cc"))
    write(project, ".clang-tidy", "Checks: '-*,modernize-use-nullptr'\n")
    code, report = check(project, "--no-tests", tools=(tidy,))
    assert code == 0 and found(report, "clang-tidy") == [("a.cc", 1, "modernize-use-nullptr")], report
    write(project, ".clang-tidy", "Checks: [\n")
    code, report = check(project, "--no-tests", tools=(tidy,))
    assert code == 1 and statuses(report)["clang-tidy"] == "failed", report


def test_shellcheck(project):
    write(project, "a.sh", "#!/bin/sh\ncd foo\n")
    write(project, "tool", "#!/usr/bin/env bash\nif true\n", 0o755)
    write(project, "strict", "#!/bin/bash -e\nif true\n", 0o755)
    write(project, "data", "not a script\n")
    code, report = check(project, "--only", "shellcheck", tools=("shellcheck",))
    assert code == 1
    assert ("a.sh", 2, "SC2164") in found(report, "shellcheck")
    assert {file for file, _, _ in found(report, "shellcheck")} == {"a.sh", "tool", "strict"}


def test_ctest_builds_first(project):
    if not shutil.which("ninja") and not shutil.which("make"):
        pytest.skip("neither make nor ninja is installed")
    write(project, "CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nenable_testing()\nadd_executable(t t.c)\n"
                                     "add_test(NAME good COMMAND t)\nadd_test(NAME bad COMMAND t fail)\n")
    write(project, "t.c", "int main(int n, char **a) { (void)a; return n - 1; }\n")
    env = environment(project, "cmake", "ctest")
    import subprocess
    done = subprocess.run(["cmake", "-S", ".", "-B", "build", "-G", "Unix Makefiles"], cwd=project.path, env=project.environment(**env),
                          capture_output=True, text=True)
    assert done.returncode == 0, done
    code, report = check(project, "--only", "ctest", tools=("cmake", "ctest"))
    assert code == 1 and collector(report, "ctest")["tests"] == {"passed": 1, "failed": 1, "skipped": 0}, report
    assert [f["rule"] for f in report["findings"]] == ["bad"]
    write(project, "t.c", "int main(void) { return oops; }\n")
    code, report = check(project, "--only", "ctest", tools=("cmake", "ctest"))
    assert code == 1 and collector(report, "ctest")["reason"].startswith("the build failed")
    assert found(report, "ctest") == [("t.c", 1, "")]
