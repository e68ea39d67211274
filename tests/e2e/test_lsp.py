"""`ralph lsp` and the collectors that ask language servers: with the real ones, and with one that misbehaves."""
import json
import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from check_support import TOOLS, environment, need, path_of, path_with, write
from lsp_support import Servers
from support import RALPH, children_of, wait_until

@pytest.fixture
def servers(project):
    return Servers(project)


FOUND = [("a.c", 1, 5, "bad-word")]


# ---- keeping them

def test_start_status_stop(servers):
    assert "No language servers" in servers.lsp("status", code=1).out
    assert "ready" in servers.lsp("start").out
    status = json.loads(servers.lsp("status", "--json").out)
    assert [(s["name"], s["state"]) for s in status["servers"]] == [("clangd", "ready")]
    socket, = servers.project.home.rglob("lsp.sock")
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert servers.lsp("stop").out == "Stopped.\n" and not socket.exists()
    servers.project.nothing_left()
    servers.lsp("stop")


def test_two_starts_at_once_make_one(servers):
    both = [servers.project.start("lsp", "start", env={"PATH": servers.path}) for _ in range(4)]
    assert [one.wait().code for one in both] == [0] * 4
    assert len(servers.starts()) == 1
    servers.lsp("stop")
    servers.project.nothing_left()


def test_a_second_server_is_added(servers):
    servers.lsp("start", "clangd")
    servers.install(f'exec "{servers.path}/clangd" "$@"', "pyright-langserver")
    out = servers.lsp("start", "pyright-langserver").out
    assert "clangd" in out and "pyright-langserver" in out and "failed" not in out
    servers.lsp("stop")
    servers.project.nothing_left()


def test_they_end_when_nobody_asks(servers):
    servers.lsp("start", "--idle", "2s")
    servers.project.nothing_left(timeout=30)
    servers.lsp("status", code=1)


def test_another_idle_time_beside_a_running_keeper_is_said_not_to_count(servers):
    servers.lsp("start", "--idle", "1h")
    assert "--idle 1s has no effect" in servers.lsp("start", "--idle", "1s").err
    assert servers.lsp("start", "--idle", "1h").err == ""
    servers.lsp("stop")


def pids(servers):
    status = json.loads(servers.lsp("status", "--json").out)
    guardian = status["pid"]
    loop, = children_of(guardian)
    return guardian, loop


@pytest.mark.parametrize("victim", ["guardian", "loop", "both"])
def test_a_killed_keeper_leaves_nothing_and_the_next_start_heals(servers, victim):
    (servers.folder / "child").touch()
    servers.lsp("start")
    guardian, loop = pids(servers)
    for pid in {"guardian": [guardian], "loop": [loop], "both": [loop, guardian]}[victim]:
        os.kill(pid, signal.SIGKILL)
    first, = servers.starts()
    wait_until(lambda: not Path(f"/proc/{first}").exists(), 30, "the server ends")
    if victim != "both":  # somebody is left to end what the server has started
        servers.project.nothing_left(timeout=30)
    servers.lsp("status", code=1)
    assert servers.check()[3] == FOUND
    servers.lsp("start")
    assert servers.check()[3] == FOUND
    servers.lsp("stop")


def test_one_that_does_not_end_is_killed(servers):
    servers.mode("stubborn")
    (servers.folder / "child").touch()
    servers.lsp("start")
    servers.lsp("stop")
    servers.project.nothing_left()


def test_a_keeper_that_is_stopped_is_killed_by_stop(servers):
    servers.lsp("start")
    guardian, loop = pids(servers)
    os.kill(guardian, signal.SIGSTOP)
    os.kill(loop, signal.SIGSTOP)
    assert "killed" in servers.lsp("stop").out
    servers.project.nothing_left(timeout=30)


@pytest.mark.parametrize("words, told", [
    (("start", "clangt"), "did you mean clangd?"),
    (("start", "clangd", "gopl"), "did you mean 'gopls'?"),
    (("start", "--idle", "soon"), "--idle"),
    (("start", "gopls"), "gopls is not installed"),
    (("begin",), "unknown command"),
])
def test_bad_words(servers, words, told):
    result = servers.project.run("lsp", *words, env={"PATH": servers.path})
    assert result.code == 2 and told in result.err, result
    assert servers.starts() == []


def test_the_help_lists_what_is_for_people(servers):
    listed = servers.lsp("--help").out
    assert [line.split(":")[0] for line in listed.splitlines() if not line.startswith(" ")] == ["ralph lsp start", "ralph lsp status", "ralph lsp stop"]


def test_nothing_here_is_for_a_server(project):
    result = project.run("lsp", "start")
    assert result.code == 2 and "compile_commands.json" in result.err


def test_an_agent_that_ralph_runs_starts_none(servers):
    servers.project.agent_script(f'PATH="{servers.path}:$PATH" "$RALPH" lsp start > "{servers.project.base}/said" 2>&1\n'
                                 'echo "<response>DONE</response>"')
    assert servers.project.run("run", "-p", "x", env={"RALPH": RALPH}).code == 0
    assert "ended with its turn" in (servers.project.base / "said").read_text() and servers.starts() == []


# ---- asking them

def test_warm_and_cold_find_the_same(servers):
    assert servers.check() == (1, "findings", "", FOUND)
    assert len(servers.starts()) == 1
    servers.project.nothing_left()
    servers.lsp("start")
    assert servers.check() == (1, "findings", "", FOUND)
    servers.say("\n\nint x;  // BAD\n")
    assert servers.check()[3] == [("a.c", 3, 12, "bad-word")]
    servers.say("int fine;\n")
    assert servers.check() == (0, "clean", "", [])
    assert servers.check() == (0, "clean", "", []), "the same text again"
    assert len(servers.starts()) == 2, "one was kept"
    servers.lsp("stop")


def test_it_hears_of_changes_elsewhere(servers):
    servers.lsp("start")
    servers.check()
    servers.say("int h;\n", "other.h")
    servers.check()
    assert "workspace/didChangeWatchedFiles" in (servers.folder / "log").read_text()
    servers.lsp("stop")


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("mode, told", [("crash", "killed by SIGSEGV: stack smashing"), ("noise", "sent a header"),
                                        ("huge", "1000000000000 bytes"), ("refuse", "not today")])
def test_one_that_misbehaves_has_failed_and_is_not_clean(servers, mode, told, warm):
    servers.say("int fine;\n")
    if warm and mode != "refuse":
        servers.lsp("start")
    servers.mode(mode)
    code, status, reason, found = servers.check()
    assert (code, status, found) == (1, "failed", []) and told in reason and "{" not in reason, reason
    servers.mode("")
    assert servers.check()[:2] == (0, "clean"), "the next question heals it"
    servers.lsp("stop")
    servers.project.nothing_left()


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("mode", ["mute", "stale"])
def test_one_that_has_not_finished_has_timed_out(servers, mode, warm):
    servers.project.settings({"diagnostics": {"timeoutSeconds": 1}})
    servers.say("int fine;\n")
    if warm:
        servers.lsp("start")
    servers.mode(mode)
    assert servers.check()[:2] == (1, "timed_out")
    servers.lsp("stop")
    servers.project.nothing_left()


def test_a_start_that_fails_says_so(servers):
    servers.mode("refuse")
    assert "not today" in servers.lsp("start", code=1).out
    servers.install("exit 3")
    assert "exit code 3" in servers.lsp("start", code=1).out
    servers.install("echo Loading the project; echo 'error: no database' >&2; exec sleep 1000")
    assert 'clangd sent a header without a colon: "Loading the project"' in servers.lsp("start", code=1).out
    servers.lsp("stop")
    servers.project.nothing_left()


def test_one_that_is_not_installed_is_unavailable(servers):
    (Path(servers.path) / "clangd").unlink()
    code, status, reason, _ = servers.check()
    assert (code, status) == (1, "unavailable") and "clangd is not installed" in reason


def test_generated_and_ignored_files_are_left_out(servers):
    servers.project.git_init()
    write(servers.project, ".gitignore", "ignored.c\n")
    servers.say("// @generated\nint BAD;\n", "generated.c")
    servers.say("int BAD;\n", "ignored.c")
    assert servers.check()[3] == FOUND


# ---- whose program it is

def test_a_program_in_the_project_needs_acceptance(servers):
    own = servers.project.path / ".venv/bin"
    own.mkdir(parents=True)
    (Path(servers.path) / "clangd").rename(own / "clangd")
    result = servers.lsp("start", code=2)
    assert "ralph trust" in result.err and str(own / "clangd") in result.err
    assert servers.check()[1] == "failed" and servers.starts() == []
    servers.lsp("start", "--trust")
    servers.lsp("stop")
    assert servers.project.run("trust").code == 0
    servers.lsp("start")
    servers.lsp("stop")


def test_a_link_to_a_program_in_the_project_needs_it_too(servers):
    own = write(servers.project, "tools/clangd", (Path(servers.path) / "clangd").read_text(), 0o755)
    (Path(servers.path) / "clangd").unlink()
    (Path(servers.path) / "clangd").symlink_to(own)
    servers.lsp("start", code=2)
    assert servers.starts() == []


# ---- after an edit

def test_after_an_edit_the_warm_server_answers_instead_of_the_compiler(servers):
    assert servers.project.run("trust").code == 0
    servers.say("int BAD = undefined_thing;\n")
    assert "(gcc)" in servers.after_edit() and servers.starts() == [], "no server: a compiler answers"
    servers.lsp("start")
    told = servers.after_edit()
    assert "a.c:1:5: error: a bad word (bad-word, clangd)" in told and "gcc" not in told, told
    assert "clangd" in servers.after_edit(hook="post-tool")
    servers.mode("crash")
    servers.say("int BAD, x;\n")
    assert "not known: clangd" in servers.after_edit()
    servers.mode("")
    servers.say("int fine;\n")
    assert servers.after_edit() == ""
    servers.lsp("stop")


# ---- the real ones

def real(project, name):
    need(name)
    return Servers(project, f'exec "{path_of(name)[0]}" "$@"')


def test_real_clangd(project):
    name = next((name for name in ("clangd", "clangd-19") if path_of(name)[0]), "clangd")
    servers = real(project, name)
    servers.say('#include "a.h"\nint main(void) { return f() + g(); }\n')
    servers.say("int f(void);\n", "a.h")
    servers.lsp("start")
    code, status, reason, found = servers.check()
    assert (code, status) == (1, "findings"), reason
    assert [(file, line) for file, line, _, _ in found] == [("a.c", 2)]
    servers.say("int f(void);\nint g(void);\n", "a.h")
    assert servers.check()[:2] == (0, "clean"), "it has read the header again"
    servers.say('#include "a.h"\nint main(void) { return f() + g() + h(); }\n')
    assert project.run("trust").code == 0
    assert "'h'" in servers.after_edit()
    servers.lsp("stop")
    project.nothing_left()


class Real:
    """A real server, kept warm in a project."""

    def __init__(self, project, name, env):
        self.project, self.name, self.env = project, name, env
        started = project.run("lsp", "start", name, env=env, timeout=200)
        assert started.code == 0 and "ready" in started.out, started

    def check(self):
        result = self.project.run("check", "--json", "--only", self.name, env=self.env, timeout=200)
        report = json.loads(result.out)
        one, = report["collectors"]
        assert one["status"] in ("clean", "findings"), one
        return [(f["file"], f["line"], f["rule"]) for f in report["findings"]]

    def stop(self):
        assert self.project.run("lsp", "stop", env=self.env).code == 0
        self.project.nothing_left()


def of_npm(project, name):
    """A PATH with a server from npm."""
    need("node")
    program = TOOLS / "npm/node_modules/.bin" / name
    if not program.exists():
        pytest.skip(f"{name} is not installed: {path_of(name)[1]}")
    path = path_with(project, "node")
    (Path(path) / name).symlink_to(program)
    return {"PATH": path}


def test_real_pyright(project):
    env = of_npm(project, "pyright-langserver")
    write(project, "pyrightconfig.json", "{}")
    write(project, "b.py", "def g(x: int) -> int:\n    return x\n")
    write(project, "a.py", 'from b import g\nx: int = g("a")\n')
    server = Real(project, "pyright-langserver", env)
    assert server.check() == [("a.py", 2, "reportArgumentType")]
    write(project, "b.py", "def g(x: str) -> int:\n    return 1\n")
    assert server.check() == [], "it has heard of the other file"
    write(project, "a.py", 'from b import g\nx: str = g("a")\n')
    assert server.check() == [("a.py", 2, "reportAssignmentType")]
    server.stop()


def test_real_typescript_language_server(project):
    env = of_npm(project, "typescript-language-server")
    compiler = TOOLS / "npm/node_modules/typescript5"  # the last one that has a tsserver
    (project.path / "node_modules").mkdir()
    (project.path / "node_modules/typescript").symlink_to(compiler)
    assert project.run("trust").code == 0  # the server loads it from the project
    write(project, "tsconfig.json", '{"compilerOptions": {"strict": true}, "include": ["*.ts"]}')
    write(project, "b.ts", "export function g(x: number): number { return x; }\n")
    write(project, "a.ts", 'import { g } from "./b";\nexport const x: number = g("a");\n')
    server = Real(project, "typescript-language-server", env)
    assert server.check() == [("a.ts", 2, "TS2345")]
    write(project, "b.ts", "export function g(x: string): number { return x.length; }\n")
    assert server.check() == [], "it has heard of the other file"
    write(project, "a.ts", 'import { g } from "./b";\nexport const x: string = g("a"\n')
    assert ("a.ts", 2, "TS2322") in server.check()
    server.stop()


def test_real_rust_analyzer(project):
    env = environment(project, "cargo", "rust-analyzer", "rustc")
    tried = subprocess.run([path_of("rust-analyzer")[0], "--version"], capture_output=True, text=True)
    if tried.returncode:  # rustup's own, which starts the component if it is there
        pytest.skip(f"rust-analyzer does not start: {tried.stderr.splitlines()[0]}")
    write(project, "Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n')
    write(project, "src/b.rs", "pub fn g(x: i32) -> i32 { x }\n")
    write(project, "src/lib.rs", 'mod b;\npub fn f() -> i32 { b::g("a") }\n')
    write(project, ".gitignore", "target/\n")
    project.git_init()
    server = Real(project, "rust-analyzer", env)
    assert ("src/lib.rs", 2, "E0308") in server.check()
    write(project, "src/b.rs", "pub fn g(x: &str) -> i32 { x.len() as i32 }\n")
    assert server.check() == [], "it has heard of the other file"
    write(project, "src/lib.rs", 'mod b;\npub fn f() -> i32 { let y = 1; b::g("a") }\n')
    assert [(file, line) for file, line, _ in server.check()] == [("src/lib.rs", 2)], "a warning of the compiler"
    server.stop()


def test_real_gopls(project):
    env = environment(project, "go", "gopls")
    write(project, "go.mod", "module example.com/p\n\ngo 1.21\n")
    write(project, "b.go", "package p\n\nfunc g(x int) int { return x }\n")
    write(project, "a.go", 'package p\n\nfunc F() int { return g("a") }\n')
    server = Real(project, "gopls", env)
    assert server.check() == [("a.go", 3, "IncompatibleAssign")]
    write(project, "b.go", "package p\n\nfunc g(x string) int { return len(x) }\n")
    assert server.check() == [], "it has heard of the other file"
    write(project, "a.go", 'package p\n\nimport "fmt"\n\nfunc F() int { fmt.Printf("%d", "a"); return g("a") }\n')
    assert ("a.go", 5, "default") in server.check(), "an analysis of go vet"
    server.stop()
