"""The group "hooks" of the bench: what a hook costs the host that waits for it, and that the cost does not depend on the length
of the session's transcript. Every hook does its usual work: a loop is active, and before each stop the agent has worked and said
something new. The loop's journal shows whether the work was done: a hook that does nothing would look fast."""
import datetime
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "policy"))
from worst import WORST  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
RECORDED = FOLDER.parent / "fixtures/hooks/claude"
LIMIT = 2.0
WORST_MILLISECONDS, WORST_MEGABYTES = 100, 16
SESSION = "26d69ff4-4761-40bc-82bc-6c8bbd9e5cb3"
# hook, recorded payload
HOOKS = [
    ("stop", "stop"),
    ("user-prompt", "user-prompt-submit"),
    ("pre-tool", "pre-tool-use-bash"),
    ("post-tool", "post-tool-use-bash"),
    ("context-monitor", "post-tool-use-bash"),
    ("session-start", "session-start"),
]


class HookFailed(Exception):
    """A hook did not do its work; the message says which and why."""


class Hooks:
    def __init__(self, bench, sizes, turns, host):
        self.bench = bench
        self.sizes = sizes
        self.turns = turns
        self.project = bench.scratch / "hooks"
        self.state = bench.scratch / "hooks-state"
        self.transcript = bench.scratch / "transcript.jsonl"
        for folder in (self.project / ".ralph", self.state):
            folder.mkdir(parents=True)
        os.environ["XDG_STATE_HOME"] = str(self.state)
        self.turn = (RECORDED / "transcript.jsonl").read_bytes()
        if not self.turn.endswith(b"\n"):
            raise HookFailed("the recorded transcript has no end")
        self.numbers = itertools.count(1)
        self.host = host(bench, self.project)

    def write_transcript(self, size):
        """Whole lines, actually written, and on disk before anything is measured."""
        block = self.turn * (4_000_000 // len(self.turn) + 1)
        with open(self.transcript, "wb") as file:
            while file.tell() < size:
                file.write(block if size - file.tell() > len(block) else self.turn)
        os.sync()

    def add_turn(self, number):
        """Appends the recorded turn again, with new tool calls and the current time: old or known ones would not count."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        turn = re.sub(rb'"timestamp":"[^"]*"', f'"timestamp":"{now}"'.encode(), self.turn)
        with open(self.transcript, "ab") as file:
            file.write(turn.replace(b"toolu_fake", f"toolu_{number}_".encode()))

    def next_stop(self, path):
        """The agent continues working and is about to stop again, with a different message than before."""
        number = next(self.numbers)
        self.add_turn(number)
        fields = json.loads(path.read_text())
        path.write_text(json.dumps({**fields, "last_assistant_message": f"Part {number} is done, the next one is left."}))

    def payload(self, name):
        """A file with the recorded payload, for this project and transcript."""
        fields = json.loads((RECORDED / f"{name}.json").read_text())
        fields.update(session_id=SESSION, transcript_path=str(self.transcript), cwd=str(self.project))
        path = self.bench.scratch / f"{name}.json"
        path.write_text(json.dumps(fields))
        return path

    def ralph(self, *arguments, stdin=subprocess.DEVNULL):
        return subprocess.run([self.bench.ralph, *arguments], cwd=self.project, stdin=stdin, capture_output=True, text=True,
                              check=False)

    def start_loop(self):
        """As a user does it: with a line that the user-prompt hook sees."""
        payload = json.loads(self.payload("user-prompt-submit").read_text())
        path = self.bench.scratch / "start.json"
        for line in ("/ralph:cancel", "/ralph:loop work --completion-promise NEVER --max-iterations 100000"):
            path.write_text(json.dumps({**payload, "prompt": line}))
            with open(path, "rb") as stdin:
                begun = self.ralph("hooks", "user-prompt", stdin=stdin)
        if "NEVER" not in begun.stdout:
            raise HookFailed(f"no loop began: {begun.stdout}{begun.stderr}")

    def side(self, name, command, payload, stops=False):
        def run():
            if stops:
                self.next_stop(payload)
            sample = self.host.measure(command, payload)
            if sample.status != 0:
                raise HookFailed(f"{name} ended with exit code {sample.status}")
            return sample
        return name, run

    def worst(self):
        """(name of the line, samples) for the 100 KB line that takes `hooks pre-tool` longest, and for the one that needs the most
        memory. Every line must be denied: letting it pass would be fast."""
        measured = {}
        for name, command in WORST.items():
            path = self.payload("pre-tool-use-bash")
            path.write_text(json.dumps({**json.loads(path.read_text()), "tool_input": {"command": command}}))
            with open(path, "rb") as stdin:
                if '"deny"' not in self.ralph("hooks", "pre-tool", stdin=stdin).stdout:
                    raise HookFailed(f"ralph hooks pre-tool does not deny the worst line \"{name}\"")
            _, run = self.side("`hooks pre-tool`", [self.bench.ralph, "hooks", "pre-tool"], path)
            measured[name] = [run() for _ in range(max(5, self.turns // 10))]
        slowest = max(measured, key=lambda name: statistics.median(sample.seconds for sample in measured[name]))
        largest = max(measured, key=lambda name: max(sample.peak_mb for sample in measured[name]))
        return (slowest, measured[slowest]), (largest, measured[largest])

    def present(self):
        """The hooks that this ralph has."""
        return [(hook, payload) for hook, payload in HOOKS if f"ralph hooks {hook}" in self.ralph("hooks", hook, "--help").stdout]

    def check_answer(self):
        """The session is continued, for the only possible reason."""
        path = self.payload("stop")
        self.next_stop(path)
        with open(path, "rb") as stdin:
            answer = self.ralph("hooks", "stop", stdin=stdin)
        if '"decision":"block"' not in answer.stdout:
            raise HookFailed(f"ralph hooks stop does not send the session on: {answer.stdout}{answer.stderr}")

    def decisions(self):
        """How many tool calls had been made by each stop, according to the loop's journal."""
        journal = max((self.project / ".ralph/runs").glob("*/journal.jsonl"), key=lambda path: path.stat().st_mtime)
        records = [json.loads(line) for line in journal.read_text().splitlines()]
        return [record["observation"]["signals"]["toolCalls"] for record in records if record["type"] == "decided"]

    def check_stops(self, stops):
        """Checks that each stop was judged once, and with the new calls of its turn."""
        calls = self.decisions()
        if len(calls) != stops or any(after <= before for before, after in zip(calls, calls[1:])):
            raise HookFailed(f"{stops} stops were reported; the journal has {len(calls)}, after {calls} tool calls")

    def rows(self):
        """(what, samples of it, samples of the baseline, limit or None) for each hook and size."""
        rows = []
        for size in self.sizes:
            self.write_transcript(size)
            self.start_loop()
            self.check_answer()
            monitored = self.payload("post-tool-use-bash")
            sides = [self.side(f"`hooks {hook}`", [self.bench.ralph, "hooks", hook], self.payload(payload), hook == "stop")
                     for hook, payload in self.present()]
            others = [self.side("context-monitor in Python", [sys.executable, FOLDER / "context_monitor.py"], monitored),
                      self.side("context-monitor in bash and jq", [FOLDER / "context_monitor.sh"], monitored)]
            hello = self.side("hello", [self.bench.helper("hello_stdin")], monitored)
            every = sides + others + [hello]
            samples = self.bench.take_turns(self.turns, [run for _, run in every])
            self.check_stops(1 + self.turns)
            amount = f"{size / 1e9:g} GB" if size >= 1e9 else f"{size / 1e6:g} MB"
            for i, (name, _) in enumerate(sides + others):
                rows.append((f"{name}, transcript of {amount}; static C hello that reads stdin", samples[i], samples[-1],
                             LIMIT if i < len(sides) else None))
        self.transcript.unlink()
        return rows
