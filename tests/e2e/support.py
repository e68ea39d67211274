"""What every end-to-end test uses: a fresh project, the real binary in a clean environment, and eyes on all processes.

    def test_a_loop_that_completes(project):
        project.agent_script('echo "<response>DONE</response>"')
        result = project.run("run", "-p", "do it")
        assert result.code == 0, result
        assert project.records("agent_ended")[0]["outcome"] == "ok"

The binary comes from RALPH_BINARY (build/release/ralph), helper programs from RALPH_HELPERS (build/release/helpers).
"""
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RALPH = Path(os.environ.get("RALPH_BINARY", ROOT / "build/release/ralph")).resolve()
HELPERS = Path(os.environ.get("RALPH_HELPERS", ROOT / "build/release/helpers")).resolve()
# ./dev sanitize runs these tests too; a sanitizer's own memory is not ralph's.
SANITIZERS = {name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
SANITIZED = bool(SANITIZERS)
PATIENCE = 4 if SANITIZED else 2  # how much longer than on a good day is waited for what comes by itself
FLAT_KB = (128 if SANITIZED else 32) * 1024
MARKER_VARIABLE = "RALPH_TEST_MARKER"

# In the background of a script, or under nohup, signals are ignored, by ralph and every agent as well.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _usual)


def helper(name, *arguments):
    """The command line of a program of tests/helpers, quoted for a shell."""
    path = HELPERS / name
    assert path.exists(), f"{path} is missing: build the tests, or set RALPH_HELPERS"
    return shlex.join([str(path), *map(str, arguments)])


@dataclass
class Result:
    code: int  # negative: ended by this signal
    out: str
    err: str
    seconds: float
    peak_kb: int  # the largest memory (VmHWM) of any one process of ralph itself

    @property
    def text(self):
        return self.out + self.err

    def __str__(self):
        return f"exit {self.code} after {self.seconds:.1f} s\n--- out\n{self.out[-4000:]}\n--- err\n{self.err[-4000:]}"

    __repr__ = __str__


def _read(path):
    try:
        return Path(path).read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def processes_with_marker(marker):
    """{pid: command line} of every living process with `marker` in its command line or environment, whoever its parent
    is now. Ended ones that nobody collected yet (zombies) are not counted."""
    found = {}
    needle = marker.encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        command = _read(f"/proc/{entry}/cmdline")
        if needle not in command and needle not in _read(f"/proc/{entry}/environ"):
            continue
        if _read(f"/proc/{entry}/stat").rpartition(b")")[2].split()[:1] in ([], [b"Z"], [b"X"]):
            continue
        found[int(entry)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


def watches_files(pid):
    """Whether the process has a file watch by now."""
    def target(fd):
        try:
            return os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:  # closed meanwhile
            return ""

    try:
        return any("inotify" in target(fd) for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # it has ended
        return False


def children_of(pid):
    """Pids of the direct children of a process."""
    return [int(p) for p in _read(f"/proc/{pid}/task/{pid}/children").split()]


def peak_kb(pid):
    """Peak resident memory of one living process, 0 if it has ended."""
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"VmHWM:"):
            return int(line.split()[1])
    return 0


def _program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:  # it has ended meanwhile, or is a zombie
        return ""


def is_ralph(pid):
    """Whether the process runs the program under test (and not yet or no longer another one)."""
    try:
        return os.readlink(f"/proc/{pid}/exe") == str(RALPH)
    except OSError:  # it has ended meanwhile
        return False


def _has_ended(pid):
    """Also if nobody has taken note of it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until(predicate, timeout=15, what=None):
    """Waits for a true value and returns it; fails the test, saying what was awaited."""
    end = time.monotonic() + timeout * PATIENCE
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout * PATIENCE} s: {what or getattr(predicate, '__name__', predicate)}")
        time.sleep(0.01)


def read_lines(path):
    """The lines of a file that an agent appends to; none if it is not there yet."""
    return _read(path).decode(errors="replace").splitlines()


class Running:
    """A ralph in the background, its output in files. Ended at the end of the test, whatever happens."""

    def __init__(self, process, out, err):
        self.process, self._out, self._err = process, out, err
        self.pid = process.pid
        self._began, self._peak = time.monotonic(), 0

    @property
    def out(self):
        return self._out.read_text(errors="replace")

    @property
    def err(self):
        return self._err.read_text(errors="replace")

    @property
    def loop_pid(self):
        """The process in which the loop runs: the child of the one that the user started."""
        return wait_until(lambda: children_of(self.pid), what="the loop process")[0]

    def signal(self, number):
        os.kill(self.pid, number)

    def kill_both(self):
        """SIGKILL for the loop and its guardian, as when the machine runs out of memory: nobody can tidy up. Returns when both have
        let go of all that they held."""
        loop = self.loop_pid
        self.signal(signal.SIGSTOP)  # or it would notice the other's death
        os.kill(loop, signal.SIGKILL)
        self.signal(signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: _has_ended(loop), what="the end of the loop process")

    def _has_ended_within(self, seconds):
        if self.process.poll() is None:
            end = os.pidfd_open(self.pid)
            select.select([end], [], [], seconds)
            os.close(end)
        return self.process.poll() is not None

    def wait(self, timeout=60):
        """Waits for its end and returns the Result. Looks at its memory now and then meanwhile."""
        end = time.monotonic() + timeout * PATIENCE
        while not self._has_ended_within(0.02):
            for pid in [self.pid, *children_of(self.pid)]:
                if _program_of(pid) == str(RALPH):
                    self._peak = max(self._peak, peak_kb(pid))
            if time.monotonic() > end:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"ralph did not end within {timeout} s\n--- out\n{self.out[-4000:]}\n--- err\n{self.err[-4000:]}")
        return Result(self.process.returncode, self.out, self.err, time.monotonic() - self._began, self._peak)


class Project:
    """A fresh folder whose name has a space and a letter beyond ASCII, with a home and a temporary folder beside it."""

    def __init__(self, base):
        self.base = Path(base)
        self.path = self.base / "pro jékt"
        self.home = self.base / "home"
        self.tmp = self.base / "tmp"
        for folder in (self.path, self.home, self.tmp):
            folder.mkdir()
        self.ralph = self.path / ".ralph"
        self.marker = "marker-" + uuid.uuid4().hex
        self._settings = {"agent": {"retry": {"backoffSeconds": 0.02}}}
        self._started = []

    def environment(self, **more):
        """All that ralph and its children see: nothing of this machine's but what ./dev sanitize tells the sanitizers."""
        env = {"HOME": str(self.home), "TMPDIR": str(self.tmp), "LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin",
               "GIT_CONFIG_NOSYSTEM": "1", MARKER_VARIABLE: self.marker, **SANITIZERS}
        return {**env, **{k: str(v) for k, v in more.items()}}

    # What is there before the run

    def settings(self, values=None, **more):
        """Merges into .ralph/settings.json (objects merge, all else replaces) and returns all of it."""
        def merge(old, new):
            for key, value in new.items():
                if isinstance(value, dict) and isinstance(old.get(key), dict):
                    merge(old[key], value)
                else:
                    old[key] = value
        merge(self._settings, {**(values or {}), **more})
        self.ralph.mkdir(exist_ok=True)
        (self.ralph / "settings.json").write_text(json.dumps(self._settings))
        return self._settings

    def own_settings(self, **values):
        """Writes the user's own settings, outside of the project."""
        path = self.home / ".config/ralph/settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
        return path

    def script(self, text, name="script"):
        """An executable script outside the project: sh, unless the text begins with #!. Returns its path."""
        path = self.base / name
        path.write_text(text if text.startswith("#!") else "#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return path

    def agent_script(self, text, name="agent", **agent):
        """Writes a script and makes it the agent; more keys of settings.agent as keywords. A sh script finds the prompt
        in "$1", the iteration in $RALPH_ITERATION, and is started in the project folder."""
        path = self.script(text, name)
        self.settings({"agent": {"command": str(path), **agent}})
        return path

    def session_agent(self, work, says):
        """An agent with a session, for `ralph loop run`: a sh script works, between words that claude would print."""
        def out(**event):
            return f"echo '{json.dumps({**event, 'session_id': 's'})}'"
        return self.agent_script(
            '[ "$1" = --help ] && exit; cat > /dev/null\n' + out(type="system", subtype="init") + f"\n{work}\n" + out(
                type="result", subtype="success", is_error=False, result=says), kind="claude")

    def python_agent(self, text, **agent):
        return self.agent_script(f"#!{sys.executable} -S\n{text}\n", **agent)

    def guardrails(self, *commands, **more):
        """Each a command or a dict; more keys for all of them as keywords."""
        self.settings(guardrails=[{**(c if isinstance(c, dict) else {"command": str(c)}), **more} for c in commands])

    def git_init(self):
        """A repository with one commit and an identity. Commits start no second git that would tidy up."""
        (self.home / ".gitconfig").write_text("[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n"
                                              "[maintenance]\nauto = false\n")
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "start")

    def git(self, *arguments):
        # The project may be another user's: see ordinary_user().
        return subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=self.path, env=self.environment(), check=True,
                              capture_output=True, text=True).stdout

    # Running

    def start(self, *arguments, env=None, stdin=None, stdout=None, stderr=None, cwd=None, **popen):
        """Starts ralph in the background; env is added to the clean environment, stdin is text. Returns a Running."""
        assert RALPH.exists(), f"{RALPH} is missing: build it, or set RALPH_BINARY"
        out, out_path = tempfile.mkstemp(prefix="out.", dir=self.base)
        err, err_path = tempfile.mkstemp(prefix="err.", dir=self.base)
        feed = subprocess.DEVNULL
        if stdin is not None:
            feed = tempfile.TemporaryFile()
            feed.write(stdin.encode() if isinstance(stdin, str) else stdin)
            feed.seek(0)
        process = subprocess.Popen([str(RALPH), *map(str, arguments)], cwd=cwd or self.path,
                                   env=self.environment(**(env or {})), stdin=feed, stdout=out if stdout is None else stdout,
                                   stderr=err if stderr is None else stderr, **popen)
        os.close(out)
        os.close(err)
        running = Running(process, Path(out_path), Path(err_path))
        self._started.append(running)
        return running

    def run(self, *arguments, timeout=60, **how):
        """Runs ralph to its end and returns the Result."""
        return self.start(*arguments, **how).wait(timeout)

    # What is there afterwards

    def run_folders(self):
        return sorted((self.ralph / "runs").glob("*/"))

    def run_folder(self):
        folders = self.run_folders()
        assert folders, "no run folder was made"
        return folders[-1]

    def journal(self, folder=None):
        """All records of the last run; every line must parse and the numbers have no gap."""
        lines = ((folder or self.run_folder()) / "journal.jsonl").read_bytes().split(b"\n")
        assert lines[-1] == b"", f"torn record at the end of the journal: {lines[-1]!r}"
        records = [json.loads(line) for line in lines[:-1]]
        assert [r["seq"] for r in records] == list(range(1, len(records) + 1))
        return records

    def records(self, kind, folder=None):
        return [r for r in self.journal(folder) if r["type"] == kind]

    def last(self, kind):
        found = self.records(kind)
        assert found, f"no {kind} in the journal"
        return found[-1]

    def everything_on_disk(self):
        """{path: bytes} of every file below .ralph."""
        return {p: p.read_bytes() for p in self.ralph.rglob("*") if p.is_file() and not p.is_symlink()}

    def processes(self):
        """Processes of this test that live, ralph's own included."""
        return processes_with_marker(self.marker)

    def nothing_left(self, timeout=8):
        """Waits until no process of this test is left; fails and names those that are."""
        end = time.monotonic() + timeout
        while self.processes():
            assert time.monotonic() < end, f"left behind: {self.processes()}"
            time.sleep(0.02)

    def clean_up(self):
        for pid in [p for r in self._started if r.process.poll() is None for p in [r.pid]]:
            os.kill(pid, signal.SIGKILL)
        for running in self._started:
            running.process.wait()
        for pid in self.processes():  # only ours: the marker is unique
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


# ---- other users

NOBODY = 65534


def program_for_others(project):
    """A copy of ralph that every user can run: the checkout may be in a folder that is closed to them."""
    copy = project.base / "ralph"
    if not copy.exists():
        shutil.copy(RALPH, copy)
        copy.chmod(0o755)
    return copy


def ordinary_user(project, *owned):
    """Keywords for run(): as an ordinary user, who owns these paths and may enter the project and read the program there.
    Skips where that can't be."""
    if os.geteuid() != 0:
        pytest.skip("changing the user needs root")
    for folder in [project.base, *project.base.parents]:
        if folder.stat().st_mode & 0o001:
            continue
        if folder != project.base and not folder.name.startswith(("pytest-", "popen-")):
            pytest.skip(f"{folder} is closed to other users, and is not ours to open")
        folder.chmod(folder.stat().st_mode | 0o011)
    for path in owned:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return dict(user=NOBODY, group=NOBODY, extra_groups=[], executable=program_for_others(project))
