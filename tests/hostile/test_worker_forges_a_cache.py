"""A worker that leaves its error and makes the tool remember that there is none: what is judged, is judged anew."""
import json
import os
import shlex
import subprocess

import pytest

from check_support import check, environment, found, need, path_of, write

DONE = "echo '<response>DONE</response>'"
FILE = {"mypy": "app.py", "tsc": "app.ts"}
GOOD = {"mypy": "x: int = 1  #\n", "tsc": "export const x: number = 1;\n"}
BAD = {"mypy": 'x: int = "a"#\n', "tsc": 'export const x: number = "a";\n'}
LOOK = {"mypy": ["."], "tsc": ["-p", "."]}

# Makes the tool's notes say that it has seen the file as it is, and found nothing.
FORGE = """
import json, os, subprocess, sys
from pathlib import Path
tool, program, file, good, bad = sys.argv[1:]
def write(text):  # mypy goes by size and time
    Path(file).write_text(text)
    os.utime(file, (1_700_000_000, 1_700_000_000))
if tool == "mypy":
    write(good)
    subprocess.run([program, "."], check=True)
    write(bad)
else:
    write(bad)
    subprocess.run([program, "-p", "."])
    for note in Path(".").rglob("*.tsbuildinfo"):
        told = json.loads(note.read_text())
        told.pop("semanticDiagnosticsPerFile")
        note.write_text(json.dumps(told))
"""


def forging(project, tool):
    """The command line that forges."""
    need(tool)
    write(project, FILE[tool], GOOD[tool])
    if tool == "mypy":
        write(project, "mypy.ini", "[mypy]\nexclude = forge\n")
    else:
        options = {"strict": True, "incremental": True, "noEmit": True}
        write(project, "tsconfig.json", json.dumps({"compilerOptions": options, "include": ["app.ts"]}))
    write(project, "forge.py", FORGE)
    return ["python3", "forge.py", tool, path_of(tool)[0], FILE[tool], GOOD[tool], BAD[tool]]


def alone(project, tool):
    """What the tool says by itself."""
    done = subprocess.run([path_of(tool)[0], *LOOK[tool]], cwd=project.path, capture_output=True, text=True)
    return done.returncode


@pytest.mark.parametrize("tool", ["mypy", "tsc"])
def test_no_criterion_believes_it(project, tool):
    forge = shlex.join(forging(project, tool))
    project.settings(diagnostics={"criteria": {}, "exclude": ["ruff"]}, maximumIterations=1)
    project.agent_script(f"{forge} || exit 3; {DONE}")
    result = project.run("run", "-p", "x", env=environment(project, tool), timeout=200)
    assert alone(project, tool) == 0, f"{tool} believes it, so this test is about something"
    assert result.code == 1 and project.last("diagnosed")["snapshot"]["error_count"] == 1, result


@pytest.mark.parametrize("tool", ["mypy", "tsc"])
def test_nor_does_a_check(project, tool):
    done = subprocess.run(forging(project, tool), cwd=project.path, env={**os.environ, **environment(project, tool)}, capture_output=True)
    assert done.returncode == 0 and alone(project, tool) == 0, done
    code, report = check(project, "--only", tool, tools=(tool,))
    assert code == 1 and [file for file, _, _ in found(report, tool)] == [FILE[tool]], report


def test_nor_does_one_of_several_projects_that_are_built_together(project):
    need("tsc")
    write(project, "tsconfig.json", json.dumps({"files": [], "references": [{"path": "./one"}]}))
    write(project, "one/tsconfig.json", json.dumps({"compilerOptions": {"strict": True, "composite": True}, "include": ["a.ts"]}))
    write(project, "one/a.ts", BAD["tsc"])
    assert check(project, "--only", "tsc", tools=("tsc",))[0] == 1
    note = project.path / "one/tsconfig.tsbuildinfo"
    told = json.loads(note.read_text())
    told.pop("semanticDiagnosticsPerFile")
    note.write_text(json.dumps(told))
    code, report = check(project, "--only", "tsc", tools=("tsc",))
    assert code == 1 and found(report, "tsc") == [("one/a.ts", 1, "TS2322")], report


def test_the_tests_of_go_run_though_it_remembers_that_they_passed(project):
    """They depend on a file that go does not see."""
    outside = project.base / "outside"
    outside.write_text("good")
    write(project, "go.mod", "module example.com/p\n\ngo 1.21\n")
    write(project, "a_test.go", 'package p\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestIt(t *testing.T) {\n'
          f'\tif b, _ := os.ReadFile({json.dumps(str(outside))}); string(b) != "good" {{\n\t\tt.Fatal("bad")\n\t}}\n}}\n')
    assert check(project, "--only", "go-test", tools=("go",))[0] == 0
    outside.write_text("bad!")
    code, report = check(project, "--only", "go-test", tools=("go",))
    assert code == 1 and report["collectors"][0]["tests"]["failed"] == 1, report


@pytest.mark.parametrize("tools", [("cargo-check",), ("cargo-check", "clippy")])
def test_a_file_whose_time_was_set_back_is_not_judged(project, tools):
    """cargo takes what it made of the file when it was good."""
    need("cargo", "rustc")
    write(project, "Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n')
    write(project, "src/lib.rs", "pub fn f() -> i32 { 1 }\n")
    write(project, ".gitignore", "target/\n.ralph/\n")
    project.git_init()
    project.git("add", "-A")
    project.git("commit", "-qm", "start")
    left_out = [name for name in ("clippy", "cargo-check") if name not in tools]
    project.settings(diagnostics={"criteria": {}, "exclude": left_out}, maximumIterations=2)
    env = environment(project, "cargo", "rustc", "cargo-clippy", "clippy-driver") if "clippy" in tools else environment(project, "cargo", "rustc")
    project.agent_script(f"echo 'pub fn f() -> i32 {{ \"a\" }}' > src/lib.rs; touch -d 2020-01-01 src/lib.rs; {DONE}")
    result = project.run("run", "-p", "x", env=env, timeout=200)
    assert result.code == 1, result
    said = project.records("diagnosed")
    assert [d["snapshot"]["error_count"] for d in said] == [0, 0, 0], "cargo believes it, so this test is about something"
    assert all("src/lib.rs: it was changed, but its time says that it was not" in str(d["unmet"]) for d in said[1:]), said
    assert "src/lib.rs was changed" in result.out


def test_an_agent_that_touches_it_is_judged(project):
    need("cargo", "rustc")
    write(project, "Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n')
    write(project, "src/lib.rs", "pub fn f() -> i32 { 1 }\n")
    project.settings(diagnostics={"criteria": {}, "exclude": ["clippy"]}, maximumIterations=3)
    project.agent_script("if test -e once; then touch src/lib.rs; else touch once; echo 'pub fn f() -> i32 { 2 }' > src/lib.rs; "
                         f"touch -d 2020-01-01 src/lib.rs; fi; {DONE}")
    result = project.run("run", "-p", "x", env=environment(project, "cargo", "rustc"), timeout=200)
    assert result.code == 0 and project.last("run_ended")["iterations"] == 2, result
