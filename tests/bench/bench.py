#!/usr/bin/env python3
"""Measures ralph against small C programs that do only the same work. See docs/performance.md.

Every figure is a median of repetitions in which both sides take turns. Only the ratio counts: the times depend on the
machine, the ratio on ralph. Speed is shown, never asserted: the exit code is 1 only if something did not run.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import hooks
import sandbox

ITERATIONS = 100
DOCUMENTED_FSYNCS_PER_ITERATION = 2  # used if strace cannot count them
MEMORY_LIMIT_MB = 32
EVENTS_MEMORY_LIMIT_MB = 24
RECORDINGS = pathlib.Path(__file__).resolve().parent.parent / "fixtures/recordings/claude"
CLANGDS_OWN_CHECKS = ("readability-misleading-indentation,readability-deleted-default,bugprone-integer-division,"
                      "bugprone-sizeof-expression,bugprone-suspicious-missing-comma,bugprone-unused-raii,"
                      "bugprone-unused-return-value,misc-unused-using-decls,misc-unused-alias-decls,misc-definitions-in-headers")
SECTIONS = ["startup", "loop", "proof", "stream", "events", "scan", "hooks", "plan", "review", "check", "lsp", "sandbox", "task"]
WATCHED = 1000  # files that must not change
SHORT_TURN = 10  # seconds; an agent that works takes a minute or more
LOG = "a line of a check's output, as long as such lines are\n" * 20_000  # 1 MB
STORIES = 10_000
REVIEWED_FILES = 10_000
LIMIT_REACHED = 1  # ralph's exit code when the iterations are used up, as they are here


class CouldNotRun(Exception):
    """Something to be measured did not do its work; the message says what."""


@dataclasses.dataclass
class Size:
    starts: int
    loops: int
    streams: int
    stream_bytes: int
    event_streams: int
    hooks: int
    transcripts: tuple
    checks: int
    sandboxes: int = 60
    proxied_bytes: int = 1 << 30
    tasks: int = 20
    proofs: int = 5


FULL = Size(starts=400, loops=9, streams=5, stream_bytes=1_000_000_000, event_streams=11, hooks=200,
            transcripts=(1_000_000, 50_000_000, 1_000_000_000), checks=41, tasks=20)
QUICK = Size(starts=60, loops=3, streams=3, stream_bytes=100_000_000, event_streams=5, hooks=30,
             transcripts=(1_000_000, 100_000_000), checks=11,
             sandboxes=15, proxied_bytes=1 << 28, tasks=6, proofs=2)


@dataclasses.dataclass
class Row:
    measure: str
    ralph: str
    baseline: str
    ratio: str
    limit: str
    good: bool

    def cells(self):
        verdict = "good" if self.good else "OVER"
        return [self.measure, self.ralph, self.baseline, self.ratio, self.limit, verdict if self.limit else ""]


HEADINGS = ["measure", "ralph", "baseline", "ratio", "limit", "verdict"]


@dataclasses.dataclass
class Sample:
    seconds: float
    peak_mb: float  # the largest process among the command and those it waited for
    status: int
    own_peak_mb: float = 0  # the command's own process, if it was watched


class Host:
    """One process that starts everything that it measures, as a host agent starts its hooks."""

    def __init__(self, bench, folder):
        self.bench = bench
        self.process = subprocess.Popen([bench.helper("measure"), "--host"], cwd=folder, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def measure(self, command, stdin):
        self.process.stdin.write("\x1f".join(map(str, [stdin, *command])) + "\n")
        self.process.stdin.flush()
        result = self.process.stdout.readline()
        if not result:
            raise CouldNotRun(f"{command[0]} could not be measured")
        return self.bench.sample(result)


class Bench:
    def __init__(self, build, scratch, size, processor_time=False):
        self.processor_time = processor_time
        self.scratch = scratch
        self.size = size
        # Copied, as if installed: the pages of a file that a linker has just written are scattered, which is slower to
        # map.
        self.helpers = scratch / "helpers"
        self.ralph = scratch / "ralph"
        for name in ("ralph", "helpers/hello", "helpers/instant", "helpers/flood", "helpers/bare_loop"):
            if not os.access(build / name, os.X_OK):
                raise CouldNotRun(f"{build / name} is not there; ./dev build makes it")
        shutil.copytree(build / "helpers", self.helpers)
        shutil.copy(build / "ralph", self.ralph)

    def helper(self, name):
        return self.helpers / name

    # ---- running one side once ----------------------------------------------------------------------------------

    def measure(self, command, folder, watch=False, stdin=subprocess.DEVNULL):
        """Runs the command with its output discarded, and returns a Sample."""
        report = self.scratch / "report"
        errors = self.scratch / "stderr"
        with open(errors, "wb") as stderr:
            process = subprocess.Popen(
                [self.helper("measure"), report, *command],
                cwd=folder, stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr)
            own_peak = self.watch_memory(process) if watch else 0
            if process.wait() != 0:
                raise CouldNotRun(f"{command[0]}: {errors.read_text(errors='replace').strip()}")
        return self.sample(report.read_text(), own_peak)

    def sample(self, result, own_peak=0):
        """From a line of measure."""
        nanoseconds, busy, kilobytes, status = (int(word) for word in result.split())
        return Sample((busy if self.processor_time else nanoseconds) / 1e9, kilobytes / 1000, status, own_peak)

    @staticmethod
    def watch_memory(process):
        """The peak memory, in MB, of the one child of `process`; polls until it has ended. The kernel keeps the peak,
        so polling now and then misses only growth in the last moment."""
        peak = 0
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None:
            with contextlib.suppress(OSError):
                for pid in children.read_text().split():
                    found = re.search(r"^VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
                    peak = max(peak, int(found.group(1)) / 1000 if found else 0)
            time.sleep(0.02)
        return peak

    @contextlib.contextmanager
    def project(self, agent, flags, iterations, keep=False):
        """A new project folder with settings for such an agent and one guardrail that passes. It is removed afterwards, or with
        `keep` at the end of the bench: some file systems search long for an inode that was not freed in the last seconds."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch, prefix="project-"))
        (folder / ".ralph").mkdir()
        settings = {
            "maximumIterations": iterations,
            "streamAgentOutput": True,
            "agent": {"command": str(agent), "flags": flags},
            "guardrails": [{"command": "true"}],
        }
        (folder / ".ralph/settings.json").write_text(json.dumps(settings, indent=2))
        try:
            yield folder
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)

    def run_command(self):
        return [self.ralph, "run", "-p", "x"]

    def check_run(self, folder, sample, iterations, output_bytes=0):
        """A run that gave up early would look fast."""
        if sample.status != LIMIT_REACHED:
            errors = (self.scratch / "stderr").read_text(errors="replace").strip()
            raise CouldNotRun(f"ralph run ended with exit code {sample.status}, expected {LIMIT_REACHED}. {errors}")
        runs = folder / ".ralph/runs"
        journal = "".join(path.read_text(errors="replace") for path in runs.glob("*/journal.jsonl"))
        ended = journal.count('"type":"iteration_ended"')
        if ended != iterations:
            raise CouldNotRun(f"the journal tells of {ended} iterations, not of {iterations}")
        kept = sum(path.stat().st_size for path in runs.rglob("*") if path.is_file())
        if kept < output_bytes:
            raise CouldNotRun(f"{kept} bytes were kept of the agent's {output_bytes}")

    @staticmethod
    def take_turns(repetitions, sides):
        """Runs each side `repetitions` times, in turns and in changing order; returns the samples of each side."""
        samples = [[] for _ in sides]
        for repetition in range(repetitions):
            order = range(len(sides)) if repetition % 2 == 0 else reversed(range(len(sides)))
            for i in order:
                samples[i].append(sides[i]())
        return samples

    # ---- the measurements ---------------------------------------------------------------------------------------

    def startup(self):
        ralph, hello = self.take_turns(self.size.starts, [
            lambda: self.measure([self.ralph, "--version"], self.scratch),
            lambda: self.measure([self.helper("hello")], self.scratch),
        ])
        if ralph[0].status != 0:
            raise CouldNotRun(f"ralph --version ended with exit code {ralph[0].status}")
        return [compare("start-up of `ralph --version`, static C hello", ralph, hello, 1e3, "ms", 1.5)]

    def count_syncs(self):
        """(fsyncs, fdatasyncs) of a whole run, as seen by the kernel."""
        trace = self.scratch / "trace"
        with self.project(self.helper("instant"), [], ITERATIONS, keep=True) as folder:
            self.make_repository(folder)
            with contextlib.suppress(OSError):
                subprocess.run(
                    ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", trace, *self.run_command()],
                    cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    check=False)
        text = trace.read_text() if trace.exists() else ""
        fsyncs, fdatasyncs = (len(re.findall(rf"\b{call}\(", text)) for call in ("fsync", "fdatasync"))
        if fsyncs + fdatasyncs > 0:
            return fsyncs, fdatasyncs
        print("strace could not count the syncs; using the documented number", file=sys.stderr)
        return DOCUMENTED_FSYNCS_PER_ITERATION * ITERATIONS, 0

    @staticmethod
    def make_repository(folder):
        """A separate one, like most projects have, not the repository around the build: a large one does not slow down iterations, but
        it does slow down the start, when ralph reads all tracked files."""
        git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-C", folder]
        (folder / "README").write_text("A project.\n")
        for words in (["init", "-q"], ["add", "README"], ["commit", "-qm", "The beginning"]):
            subprocess.run([*git, *words], check=True)

    def loop(self):
        fsyncs, fdatasyncs = self.count_syncs()

        def ralph():
            with self.project(self.helper("instant"), [], ITERATIONS, keep=True) as folder:
                self.make_repository(folder)
                sample = self.measure(self.run_command(), folder)
                self.check_run(folder, sample, ITERATIONS)
                return sample

        def bare():
            with self.project(self.helper("instant"), [], ITERATIONS, keep=True) as folder:
                return self.measure([self.helper("bare_loop"), str(ITERATIONS), str(fsyncs), str(fdatasyncs),
                                     "journal.jsonl", "true", self.helper("instant"), "x"], folder)

        samples = self.take_turns(self.size.loops, [ralph, bare])
        name = f"{ITERATIONS} iterations in a repository, instant agent, one guardrail, {fsyncs + fdatasyncs} syncs; bare C loop"
        return [compare(name, *samples, 1e3, "ms", 1.5)]

    def proof(self):
        """What the evidence adds to an iteration: the receipt, the hashes of logs, watched files, and everything else that ralph
        does."""
        iterations = 20
        (self.scratch / "check.log").write_text(LOG)
        check = f"cat {self.scratch}/check.log"

        def prepare(folder):
            settings = json.loads((folder / ".ralph/settings.json").read_text())
            settings.update(guardrails=[{"command": check, "name": "check"}], protect={"paths": ["tests/**"]})
            (folder / ".ralph/settings.json").write_text(json.dumps(settings))
            (folder / "tests").mkdir()
            for number in range(WATCHED):
                (folder / f"tests/test_{number}.py").write_text(f"def test_{number}(): assert {number} >= 0\n" * 20)

        def ralph():
            with self.project(self.helper("instant"), [], iterations, keep=True) as folder:
                prepare(folder)
                sample = self.measure(self.run_command(), folder)
                self.check_run(folder, sample, iterations)
                self.check_receipt(folder, iterations)
                return sample

        def bare():
            with self.project(self.helper("instant"), [], iterations, keep=True) as folder:
                prepare(folder)
                return self.measure([self.helper("bare_loop"), str(iterations), "0", "0", "journal.jsonl", check,
                                     self.helper("instant"), "x"], folder)

        ours, theirs = (statistics.median(sample.seconds for sample in side)
                        for side in self.take_turns(self.size.proofs, [ralph, bare]))
        added = (ours - theirs) / iterations
        return [Row(f"added to an iteration with {WATCHED} watched files and 1 MB of a check's log; an agent's turn of "
                    f"{SHORT_TURN} s", f"{added * 1e3:.1f} ms", f"{SHORT_TURN} s", f"{added / SHORT_TURN:.2%}", "2 %",
                    added / SHORT_TURN <= 0.02)]

    @staticmethod
    def check_receipt(folder, checks):
        (path,) = (folder / ".ralph/runs").glob("*/receipt.json")
        made = [check for check in json.loads(path.read_text())["checks"] if check.get("logSha256")]
        if len(made) != checks:
            raise CouldNotRun(f"the receipt tells of {len(made)} checks with the hash of a log, not of {checks}")

    def scan(self):
        """Only reading lines, in memory: ralph's own scanner, and simdjson."""
        if not os.access(self.helper("scan_simdjson"), os.X_OK):
            raise CouldNotRun("simdjson is missing; ./dev bench installs it and builds the comparison")
        path = self.scratch / "lines.ndjson"
        recordings = b"".join(path.read_bytes() for path in sorted(RECORDINGS.glob("*.ndjson")))
        path.write_bytes(recordings * (self.size.stream_bytes // 10 // len(recordings) + 1))
        found = set()

        def side(name):
            out = subprocess.run([self.helper(name), path], capture_output=True, text=True, check=False)
            if out.returncode != 0:
                raise CouldNotRun(f"{name} ended with exit code {out.returncode}. {out.stderr}")
            nanoseconds, texts = out.stdout.split()
            found.add(texts)
            return Sample(int(nanoseconds) / 1e9, 0, 0)

        ours, theirs = self.take_turns(self.size.event_streams, [lambda: side("scan_ours"), lambda: side("scan_simdjson")])
        if len(found) != 1:
            raise CouldNotRun(f"the scanners do not find the same texts: {', '.join(sorted(found))} bytes")
        a, b = (statistics.median(sample.seconds for sample in samples) for samples in (ours, theirs))
        size = path.stat().st_size
        return [Row("reading recorded lines in memory, our scanner; simdjson", f"{size / a / 1e9:.2f} GB/s", f"{size / b / 1e9:.2f} GB/s",
                    f"{a / b:.2f}x", "", True)]

    def stream(self):
        size = str(self.size.stream_bytes)

        def ralph():
            with self.project(self.helper("flood"), [size], 1) as folder:
                os.sync()  # pending writes of an earlier turn must not count for this one
                sample = self.measure(self.run_command(), folder, watch=True)
                self.check_run(folder, sample, 1, self.size.stream_bytes)
                return sample

        def tee():
            with self.project(self.helper("flood"), [size], 1) as folder:
                os.sync()
                return self.measure(["sh", "-c", '"$0" "$1" | cat | tee file', self.helper("flood"), size], folder)

        samples = self.take_turns(self.size.streams, [ralph, tee])
        amount = f"{self.size.stream_bytes / 1e9:g} GB"
        return [
            compare(f"{amount} of agent output; `cat | tee file`", *samples, 1, "s", 2.0),
            # Its own process as watched, and the kernel's figure for the largest of ralph and all processes it waited
            # for.
            memory("peak memory meanwhile, ralph's process", [sample.own_peak_mb for sample in samples[0]]),
            memory("peak memory meanwhile, largest process", [sample.peak_mb for sample in samples[0]]),
        ]

    def recorded_stream(self):
        """A file with the recordings of Claude Code, repeated, and the number of repetitions."""
        recordings = b"".join(path.read_bytes() for path in sorted(RECORDINGS.glob("*.ndjson")))
        if not recordings:
            raise CouldNotRun(f"{RECORDINGS} has no recordings")
        results = recordings.count(b'"type":"result"')
        events = subprocess.run([self.ralph, "stream", "--agent", "claude"], input=recordings, capture_output=True,
                                check=False)
        if events.stdout.count(b'{"type":"result"') != results or events.stderr:
            errors = events.stderr.decode(errors="replace").strip()
            raise CouldNotRun(f"ralph stream does not tell of {results} results. {errors}")
        times = self.size.stream_bytes // len(recordings) + 1
        path = self.scratch / "recorded.ndjson"
        with open(path, "wb") as file:
            for _ in range(times):
                file.write(recordings)
        return path

    def events(self):
        path = self.recorded_stream()

        def ralph():
            sample = self.measure(["sh", "-c", 'cat "$1" | "$0" stream --agent claude', self.ralph, path], self.scratch)
            if sample.status != 0:
                raise CouldNotRun(f"ralph stream ended with exit code {sample.status}")
            return sample

        def count_lines():
            return self.measure(["sh", "-c", 'cat "$0" | wc -l', path], self.scratch)

        samples = self.take_turns(self.size.event_streams, [ralph, count_lines])
        amount = f"{self.size.stream_bytes / 1e9:g} GB"
        return [
            compare(f"{amount} of recorded agent streams into events; `cat | wc -l`", *samples, 1, "s", 3.0),
            memory("peak memory meanwhile", [sample.peak_mb for sample in samples[0]], EVENTS_MEMORY_LIMIT_MB),
        ]

    def hooks(self):
        try:
            every = hooks.Hooks(self, self.size.transcripts, self.size.hooks, Host)
            measured = every.rows()
            (slowest, times), (largest, peaks) = every.worst()
        except hooks.HookFailed as error:
            raise CouldNotRun(str(error)) from error
        return [compare(name, ours, theirs, 1e3, "ms", limit) for name, ours, theirs, limit in measured] + [
            duration(f"`hooks pre-tool`, worst command of 100 KB ({slowest})", times, hooks.WORST_MILLISECONDS),
            memory(f"peak memory of `hooks pre-tool`, worst command of 100 KB ({largest})", [sample.peak_mb for sample in peaks],
                   hooks.WORST_MEGABYTES)]

    @staticmethod
    def task_list(first, others):
        """A plan of many stories that await their reviews; `first` and `others` override fields of the stories."""
        stories = []
        for i in range(STORIES):
            story = {"id": f"US-{i:05}", "title": f"Story number {i}", "description": "As a user I want it. " * 5,
                     "acceptanceCriteria": [f"criterion {j} of story {i} holds" for j in range(4)], "priority": i,
                     "passes": False, "reviewStatus": "needs_review", "reviewCount": 0, "reviewFeedback": "",
                     "notes": "done", "dependsOn": [f"US-{i - 1:05}"] if i else []}
            stories.append({**story, **(others if i else first)})
        plan = {"project": "p", "branchName": "b", "description": "d", "verifyCommands": ["make test"]}
        return json.dumps({**plan, "userStories": stories}, indent=2)

    def plan(self):
        """All checks of a large task list, and only reading its JSON: within one process, in turns."""
        approved, wrong = {"passes": True, "reviewStatus": "approved", "reviewCount": 1}, {"passes": "yes"}
        before, after = self.scratch / "before.json", self.scratch / "after.json"
        before.write_text(self.task_list({}, {}))
        rows = []
        for what, first, others, problems in (("one approved", approved, {}, 0),
                                              ("all approved at once", approved, approved, STORIES - 1),
                                              ("one malformed", wrong, {}, 1),
                                              ("all malformed", wrong, wrong, 21)):
            after.write_text(self.task_list(first, others))
            out = subprocess.run([self.helper("plan_check"), before, after, str(self.size.checks)],
                                 capture_output=True, text=True, check=False)
            *times, found = out.stdout.splitlines() or [""]
            if out.returncode != 0 or found != str(problems):
                raise CouldNotRun(f"plan_check found {found or 'no'} problems, not {problems}. {out.stderr}")
            parse, check = zip(*([Sample(int(word) / 1e9, 0, 0) for word in line.split()] for line in times))
            rows.append(compare(f"check of {STORIES} stories, {what}; parsing the file", check, parse, 1e3, "ms", 3.0))
        return rows

    def review(self):
        """Moving a clean checkout to the next commit under review, and git's own checkout of it."""
        folder = self.scratch / "reviewed"
        folder.mkdir()

        def git(*words):
            return subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@localhost", *words], cwd=folder, check=True,
                                  capture_output=True, text=True).stdout.strip()
        git("init", "-q")
        git("config", "gc.auto", "0")  # commits under review are recent, so their objects are loose
        for number in range(REVIEWED_FILES):
            path = folder / f"part{number % 50}" / f"file{number}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{number}\n" * 100)
        commits = []
        for turn in range(self.size.checks):
            for number in range(0, REVIEWED_FILES, 5):
                (folder / f"part{number % 50}" / f"file{number}").write_text(f"{turn} {number}\n" * 100)
            git("add", "-A")
            git("commit", "-q", "-m", str(turn))
            commits.append(git("rev-parse", "HEAD"))
        git("checkout", "-q", "--detach", commits[0])
        for branch in git("for-each-ref", "--format=%(refname:short)", "refs/heads").split():
            git("branch", "-q", "-D", branch)  # each commit must be transferred when its turn comes
        out = subprocess.run([self.helper("clean_move"), folder, self.scratch / "room", *commits], capture_output=True, text=True,
                             check=False)
        if out.returncode != 0:
            raise CouldNotRun(f"clean_move: {out.stderr}")
        chosen = slice(2, 4) if self.processor_time else slice(0, 2)
        ours, theirs = zip(*([Sample(int(word) / 1e9, 0, 0) for word in line.split()[chosen]] for line in out.stdout.splitlines()))
        what = f"clean checkout of the next commit, {REVIEWED_FILES // 5} of {REVIEWED_FILES} files changed; git checkout"
        return [compare(what, ours, theirs, 1e3, "ms", 1.5)]

    def check(self):
        """`ralph check` and the same commands, started side by side by a shell."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch, prefix="check-"))
        # A separate repository: the surrounding one ignores the build folder, and ralph leaves out ignored files.
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        names = [f"part{i}.cc" for i in range(4)]
        for name in names:
            uses = "\n".join(f"int f{i}(std::map<int, std::vector<std::string>>& m) {{ return m[{i}].size(); }}" for i in range(200))
            (folder / name).write_text(f"#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n{uses}\n")
        database = [{"directory": str(folder), "file": name, "arguments": ["g++", "-std=c++17", "-c", name]} for name in names]
        (folder / "compile_commands.json").write_text(json.dumps(database))
        plain = " & ".join(f"g++ -std=c++17 {name} -fsyntax-only -fno-diagnostics-show-caret" for name in names)
        # Like ralph, run no more compilers at once than there are processors.
        width = min(os.cpu_count() or 1, len(names))
        groups = [plain.split(" & ")[i::width] for i in range(width)]
        script = " & ".join("{ " + "; ".join(group) + "; }" for group in groups) + " & wait"
        command = [self.ralph, "check", "--json", "--only", "gcc"]
        if not shutil.which("g++"):
            raise CouldNotRun("g++ is not there")
        first = self.measure(command, folder)
        if first.status != 0:
            raise CouldNotRun(f"ralph check ended with exit code {first.status}")
        ours, theirs = self.take_turns(self.size.loops, [
            lambda: self.measure(command, folder),
            lambda: self.measure(["sh", "-c", script], folder),
        ])
        rows = [compare(f"check of {len(names)} C++ files by gcc, the same commands by a shell", ours, theirs, 1, "s", 1.05)]
        return rows + [self.after_an_edit(folder, names[0], plain.split(" & ")[0])]

    def after_an_edit(self, folder, name, alone):
        """The hook after an edit of one file, and the tool that it runs."""
        payload = folder / "payload.json"
        payload.write_text(json.dumps({"session_id": "bench", "cwd": str(folder), "tool_name": "Edit", "tool_input": {"file_path": str(folder / name)}}))
        hook = ["env", "RALPH_TRUST=1", f"XDG_STATE_HOME={self.scratch}/state", self.ralph, "hooks", "post-tool-lsp"]

        def ours():
            with open(payload, "rb") as stdin:
                return self.measure(hook, folder, stdin=stdin)

        with open(payload, "rb") as stdin:
            told = subprocess.run(hook, cwd=folder, stdin=stdin, capture_output=True, text=True, check=False)
        if told.returncode != 0:
            raise CouldNotRun(f"ralph hooks post-tool-lsp: {told.stderr}")
        hooked, bare = self.take_turns(self.size.loops, [ours, lambda: self.measure(["sh", "-c", alone], folder)])
        return compare("the hook after an edit of one C++ file, gcc alone", hooked, bare, 1, "s", 1.1)

    def lsp(self):
        """clangd's diagnostics for an edited file of 2,000 lines: from a server that is kept, and from one started for it."""
        if not any(shutil.which(name) for name in ("clangd", *(f"clangd-{version}" for version in range(30, 10, -1)))):
            raise CouldNotRun("clangd is missing")
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch, prefix="lsp-"))
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        headers = "algorithm chrono functional iostream map memory regex string thread unordered_map vector".split()
        lines = [f"#include <{header}>" for header in headers]
        while len(lines) < 1990:
            n = len(lines)
            lines += [f"struct Part{n} {{", "  std::string name;", "  std::vector<int> sizes;", "};",
                      f"int total_{n}(const Part{n}& part) {{", "  int sum = 0;", "  for (const int size : part.sizes) {",
                      "    if (size > 3) sum += size;", "  }", "  return sum + static_cast<int>(part.name.size());", "}", ""]
        lines += [""] * (1999 - len(lines))
        (folder / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(folder), "file": "big.cc", "arguments": ["g++", "-std=c++17", "-c", "big.cc"]}]))
        # What clangd does if no parent folder has such a file; this tree has one.
        (folder / ".clang-tidy").write_text(f"Checks: '-*,{CLANGDS_OWN_CHECKS}'\n")
        edits = iter(range(1 << 30))

        def ask(state):
            # An edit in the middle, as an agent makes it; a different one each time, with one error.
            edited = lines[:1000] + [f"int edit_{next(edits)} = missing;"] + lines[1000:]
            (folder / "big.cc").write_text("\n".join(edited) + "\n")
            command = ["env", f"XDG_STATE_HOME={folder / state}", str(self.ralph), "check", "--json", "--only", "clangd"]
            sample = self.measure(command, folder)
            if sample.status != 1:
                raise CouldNotRun(f"ralph check --only clangd ended with exit code {sample.status}, not 1")
            return sample

        def servers(word):
            environment = {**os.environ, "XDG_STATE_HOME": str(folder / "warm")}
            done = subprocess.run([self.ralph, "lsp", word], cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise CouldNotRun(f"ralph lsp {word}: {done.stdout}{done.stderr}")

        (folder / "big.cc").write_text("int nothing;\n")
        servers("start")
        try:
            ask("warm")  # the first query for a file reads its headers
            ours, theirs = self.take_turns(self.size.loops, [lambda: ask("warm"), lambda: ask("cold")])
        finally:
            servers("stop")
        return [compare("clangd on an edited file of 2,000 lines, kept warm; started for it", ours, theirs, 1e3, "ms", 0.1)]

    def sandbox(self):
        """`true` in a sandbox and in bubblewrap alone with the same mounts; bytes through the proxy and without it."""
        if reason := sandbox.missing():
            raise CouldNotRun(reason)
        folder = sandbox.project(self.scratch)
        bare = sandbox.bubblewrap_command(self.ralph, folder)
        self.measure([self.ralph, "sandbox", "run", "--", "true"], folder)  # creates the private home
        ours, theirs = self.take_turns(self.size.sandboxes, [
            lambda: self.measure([self.ralph, "sandbox", "run", "--", "true"], folder),
            lambda: self.measure(bare, folder),
        ])
        for side in (ours, theirs):
            if side[0].status != 0:
                raise CouldNotRun(f"a sandboxed `true` ended with exit code {side[0].status}")
        rows = [compare("start of `true` in a sandbox, bubblewrap with the same mounts", ours, theirs, 1e3, "ms", 2.0)]
        size = self.size.proxied_bytes
        server = sandbox.Server(size)
        proxy = sandbox.Proxy(self.ralph, self.scratch, server.port)

        def time_of(client):
            with client:
                return Sample(sandbox.receive(client, size), 0, 0)
        try:
            through, direct = self.take_turns(self.size.streams, [
                lambda: time_of(proxy.tunnel()),
                lambda: time_of(socket.create_connection(("127.0.0.1", server.port))),
            ])
        finally:
            proxy.close()
            server.listener.close()
        rows.append(compare(f"{size >> 20} MB through the proxy, directly", through, direct, 1e3, "ms", 2.0))
        return rows

    # ---- task ---------------------------------------------------------------------------------------------------

    def done_to_exit(self, command, folder, is_waiting, phase):
        """Seconds from the creation of DONE to the exit of a supervisor that waits for it."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "XDG_STATE_HOME": str(self.scratch / "state")})
        deadline = time.monotonic() + 30
        while not is_waiting():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise CouldNotRun(f"{command[0]} does not wait for DONE")
            time.sleep(0.01)
        time.sleep(phase)  # within the polling period: DONE can come at any time
        began = time.monotonic()
        (folder / "DONE").touch()
        if process.wait() != 0:
            raise CouldNotRun(f"{command[0]} ended with exit code {process.returncode}")
        return time.monotonic() - began

    def task(self):
        """How fast DONE ends a supervisor, and a shell loop that checks once a second."""
        root = self.scratch / "tasks"
        ours, theirs = [], []
        for number in range(self.size.tasks):
            phase = number / self.size.tasks
            folder = root / "bench" / f"t{number}"
            journal = folder / "journal.jsonl"
            command = [self.ralph, "task", "run", "--root", root, "--project", "bench", "--task", f"t{number}",
                       "--restart-delay", "1h", "--", "true"]
            ours.append(self.done_to_exit(command, folder, lambda: journal.exists() and "task_restart_delay" in journal.read_text(),
                                          phase))
            polled = self.scratch / f"polled{number}"
            polled.mkdir()
            command = ["sh", "-c", 'while [ ! -e "$0/DONE" ]; do sleep 1; done', polled]
            theirs.append(self.done_to_exit(command, polled, lambda: True, phase))
        a, b = statistics.mean(ours), statistics.mean(theirs)
        return [Row("task: DONE to exit, on average; a poll of 1 s", f"{a * 1e3:.2f} ms", f"{b * 1e3:.0f} ms",
                    f"{a / b:.4f}x", "0.01x", a / b <= 0.01)]


def compare(name, ours, theirs, scale, unit, limit):
    a, b = (statistics.median(sample.seconds for sample in side) for side in (ours, theirs))
    return Row(name, f"{a * scale:.2f} {unit}", f"{b * scale:.2f} {unit}", f"{a / b:.2f}x", f"{limit:g}x" if limit else "",
               not limit or a / b <= limit)


def duration(name, samples, limit):
    """Without a baseline: a limit in milliseconds that holds on an idle machine."""
    milliseconds = statistics.median(sample.seconds for sample in samples) * 1e3
    return Row(name, f"{milliseconds:.1f} ms", "", "", f"{limit} ms", milliseconds <= limit)


def memory(name, peaks, limit=MEMORY_LIMIT_MB):
    peak = max(peaks)
    return Row(name, f"{peak:.1f} MB", "", "", f"{limit} MB", 0 < peak <= limit)


# ---- showing ----------------------------------------------------------------------------------------------------


def as_text(rows):
    table = [HEADINGS] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table)


def as_markdown(rows):
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row.cells()) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(HEADINGS) + " |", "|---|---|---|---|---|---|"] + lines)


def machine(bench):
    version = subprocess.run([bench.ralph, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    filesystem = subprocess.run(["stat", "-f", "-c", "%T", bench.scratch], capture_output=True, text=True, check=False)
    return (f"{version}; {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}, "
            f"file system {filesystem.stdout.strip() or 'unknown'}; medians of {bench.size.starts} starts, "
            f"{bench.size.loops} loops, {bench.size.streams} streams, {bench.size.event_streams} recorded streams, "
            f"{bench.size.hooks} hooks and {bench.size.checks} checks of a plan a side")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"), help="the build folder")
    parser.add_argument("--scratch", type=pathlib.Path, help="where to create projects instead of in the build folder: another disk")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and a tenth of the stream")
    parser.add_argument("--cpu", action="store_true", help="processor time of the programs instead of wall-clock time, for a "
                        "busy machine; not for the proxy and tasks")
    parser.add_argument("--markdown", action="store_true", help="print the table for docs/performance.md")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="may be repeated")
    arguments = parser.parse_args()

    build = arguments.build.resolve()
    rows, failures = [], []
    # Inside the build folder, so that files are on a disk: /tmp may be in memory, where a sync costs nothing.
    with tempfile.TemporaryDirectory(dir=arguments.scratch or build, prefix="bench-") as scratch:
        try:
            bench = Bench(build, pathlib.Path(scratch), QUICK if arguments.quick else FULL, arguments.cpu)
        except CouldNotRun as error:
            sys.exit(f"bench: {error}")
        for name in arguments.only or SECTIONS:
            try:
                rows += getattr(bench, name)()
            except (CouldNotRun, OSError) as error:
                failures.append(f"bench: {name}: {error}")
        print((as_markdown if arguments.markdown else as_text)(rows))
        print("\n" + machine(bench))
    print("\n".join(failures), file=sys.stderr, end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
