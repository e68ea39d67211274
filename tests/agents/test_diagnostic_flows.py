"""Loops by diagnostics from end to end: the real Claude Code on a scripted model, and the real tools of five languages. The agent brings an
error, is told of it after its edit and at its stop, mends it, and the loop is complete. And the ways in which it does not come to that."""
import json
import sys
from pathlib import Path

import pytest

from support import e2e
from test_session_loops import in_claude, install, ralph, rules, session, the_loop, told

sys.path.append(str(Path(e2e.__file__).parent))
from check_support import BASICS, environment, path_of, write  # noqa: E402

pytestmark = in_claude
DATABASE = [{"directory": "build", "file": f"../src/{name}", "arguments": ["g++", "-c", f"../src/{name}", "-o", "x.o"]} for name in ("main.cc", "other.cc")]

# By language: the tools, the files of the project, the file that the agent writes, with an error and without, and what it is told of it.
LANGUAGES = {
    "python": (["ruff"], {"app.py": "print('x')\n"}, "other.py", "print(missing)\n", "print('here')\n",
               "other.py:1:7: error: Undefined name `missing` (F821, ruff)"),
    "python types": (["ruff", "mypy"], {"pyproject.toml": "[tool.mypy]\n", "app.py": "print('x')\n"}, "other.py",
                     "count: int = 'three'\n", "count: int = 3\n", "other.py:1:14: error: Incompatible types in assignment"),
    "typescript": (["tsc"], {"tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}}\n', "app.ts": "export const x = 1\n"},
                   "other.ts", "export const y: number = 'three'\n", "export const y: number = 3\n", "other.ts:1:14: error: Type 'string' is not assignable"),
    "go": (["go"], {"go.mod": "module example.com/x\n\ngo 1.20\n", "main.go": "package main\n\nfunc main() {}\n"},
           "other.go", "package main\n\nfunc f() int { return missing }\n", "package main\n\nfunc f() int { return 3 }\n",
           "other.go:3:23: error: undefined: missing"),
    "rust": (["cargo"], {"Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": "pub fn f() {}\n", ".gitignore": "target\n"},
             "src/bin/other.rs", 'fn main() {\n    let _: i32 = "three";\n}\n', "fn main() {\n    let _: i32 = 3;\n}\n",
             "src/bin/other.rs:2:18: error: mismatched types"),
    "c++": (["g++"], {"build/compile_commands.json": json.dumps(DATABASE), "src/main.cc": "int main() {}\n"},
            "src/other.cc", "int f() { return missing; }\n", "int f() { return 3; }\n", "src/other.cc:1:18: error:"),
}


def has_tools(agent, *tools):
    """Only these tools are there, and what the agent itself needs."""
    env = environment(agent, *(tool for tool in tools if tool not in BASICS))
    agent.more_environment.update(env, PATH=f"{env['PATH']}:{agent.environment()['PATH']}" if tools else agent.environment()["PATH"])


def ready(agent, tools, files):
    has_tools(agent, *tools, *(["cargo-clippy"] if "cargo" in tools and path_of("cargo-clippy")[0] else []))
    for name, text in files.items():
        write(agent, name, text.replace('"directory": "build"', f'"directory": "{agent.path}/build"'))
    if "cargo" in tools and not path_of("cargo-clippy")[0]:
        agent.settings({"diagnostics": {"exclude": ["clippy"]}})
    install(agent)
    ralph(agent, "trust")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_error_is_fed_back_mended_and_the_loop_complete(agent, language):
    tools, files, name, bad, good, message = LANGUAGES[language]
    for tool in tools:
        if not path_of(tool)[0]:
            pytest.skip(path_of(tool)[1])
    ready(agent, tools, files)
    ralph(agent, "hooks", "start-loop", "--task", f"write {name}", "--zero-errors")
    agent.play(agent.write(name, bad), agent.says("Done."), agent.write(name, good), agent.says("Mended."))
    session(agent, "go on")
    assert message in told(agent, 1), "right after the edit"
    assert "Ralph Loop: CONTINUE | Iteration: 1/10 | Current: 1 error(s)" in told(agent, 2) and message in told(agent, 2), "at the stop"
    loop = the_loop(agent)
    assert loop["status"] == "COMPLETE" and loop["trend"].startswith("1 → 0 errors"), loop
    assert len(agent.requests()) == 4


# ---- and how else it ends, with a tool of the project's own: a line that opens a brace and does not close it is an error

BAD, GOOD = "greet() { echo hello\n", "greet() { echo hello; }\n"
CHECK = "grep -q '}' a.txt || echo \"a.txt:1: error: the brace is not closed\""
PATTERN = r"^(?<file>[^:]+):(?<line>\d+): (?<severity>\w+): (?<message>.*)$"


def braces(agent, check=CHECK):
    agent.settings({"diagnostics": {"collectors": [{"name": "braces", "command": check, "format": "pattern", "pattern": PATTERN}]}})
    write(agent, "a.txt", BAD)
    install(agent)


def loop(agent, *options, turns=6):
    ralph(agent, "hooks", "start-loop", "--task", "mend a.txt", *options)
    agent.play(*[turn for number in range(turns) for turn in (agent.shell(f"echo {number} >> log"), agent.says(f"Done, for the {number}. time."))])
    session(agent, "go on")
    return the_loop(agent)


def test_the_same_error_again_and_again_ends_it_as_stagnant(agent):
    braces(agent)
    ended = loop(agent, "--stagnation-limit", "2")
    assert ended["status"] == "STAGNANT" and rules(ended)[-1] == "diagnostics_stuck" and ended["trend"] == "1 → 1 → 1 errors", ended


def test_it_ends_at_its_limit(agent):
    braces(agent)
    ended = loop(agent, "--max-iterations", "2", "--stagnation-limit", "0")
    assert ended["status"] == "MAX_ITERATIONS_REACHED" and len(agent.requests()) == 6, ended


def test_a_cancel_ends_it(agent):
    braces(agent)
    ralph(agent, "hooks", "start-loop", "--task", "mend a.txt")
    agent.play(agent.shell("true"), agent.says("Done."))
    agent.more_environment["RALPH_DISABLE_LOOP_CONTROLLER"] = "1"  # the session ends, and its loop waits for the next
    session(agent, "go on")
    assert len(agent.requests()) == 2 and the_loop(agent)["iteration"] == 0, "the variable lets every stop pass"
    del agent.more_environment["RALPH_DISABLE_LOOP_CONTROLLER"]
    ralph(agent, "hooks", "cancel-loop", "--session", the_loop(agent)["session"])
    assert the_loop(agent)["status"] == "CANCELLED"


def test_a_tool_that_crashes_is_never_clean(agent):
    braces(agent, "kill -SEGV $$")
    ended = loop(agent, "--stagnation-limit", "2")
    assert ended["status"] == "STAGNANT" and ended["trend"] == "? → ? → ? errors", ended
    assert "Not known: braces: it was killed by SIGSEGV" in told(agent, 2) and "Progress: unknown" in told(agent, 4)


def test_a_tool_that_is_missing_starts_no_loop(agent):
    write(agent, "app.py", "print(x)\n")
    agent.more_environment["PATH"] = environment(agent)["PATH"]
    agent.play(agent.says("hello"))
    result = agent.run("hooks", "start-loop", "--task", "mend it")
    assert result.code == 2 and "zeroErrors can't be judged: ruff: ruff is not installed" in result.err, result
    result = agent.run("loop", "run", "mend it", "--zero-errors")
    assert result.code == 2 and "ruff is not installed" in result.err and agent.requests() == [], result


def test_ten_thousand_findings_are_a_short_message(agent):
    braces(agent, "i=0; while [ $i -lt 10000 ]; do echo \"a.txt:$i: error: number $i\"; i=$((i+1)); done; test ! -e log || exit 0")
    loop(agent, "--max-iterations", "1", "--stagnation-limit", "0")
    assert "Current: 10000 error(s)" in told(agent, 2) and "… and 9990 more" in told(agent, 2) and len(told(agent, 2)) < 8000


def test_tests_that_collect_nothing_do_not_pass(agent):
    ready(agent, ["pytest"], {"pyproject.toml": "[tool.pytest.ini_options]\n", "test_it.py": "def no_test():\n    pass\n"})
    ralph(agent, "hooks", "start-loop", "--task", "write a test", "--no-zero-errors", "--tests-pass")
    agent.play(agent.shell("true"), agent.says("Done."), agent.shell("printf 'def test_it():\\n    pass\\n' > test_it.py"), agent.says("Now."))
    session(agent, "go on")
    assert "Not known: pytest: no tests" in told(agent, 2) and the_loop(agent)["status"] == "COMPLETE", told(agent, 2)
