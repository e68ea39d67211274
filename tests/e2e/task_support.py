"""A root of supervised tasks beside a test's project."""
import json
from pathlib import Path

import yaml


class Tasks:
    def __init__(self, project, root=None):
        self.project = project
        self.root = Path(root or project.base / "tasks")

    def folder(self, task="t"):
        return self.root / "p" / task

    def place(self, task="t"):
        return ["--root", self.root, "--project", "p", "--task", task]

    def _words(self, script, options, task):
        delay = [] if "--restart-delay" in options else ["--restart-delay", "10ms"]
        return ["task", "run", *self.place(task), *delay, *options, "--", "sh", "-c", script]

    def run(self, script, *options, task="t", **more):
        """Runs a task whose agent is a sh script."""
        return self.project.run(*self._words(script, options, task), **more)

    def start(self, script, *options, task="t", **more):
        return self.project.start(*self._words(script, options, task), **more)

    def command(self, name, *options, task="t", **more):
        return self.project.run("task", name, *self.place(task), *options, **more)

    def status(self, task="t"):
        result = self.command("status", "--json", task=task)
        assert result.code == 0, result
        return json.loads(result.out)

    def infos(self, task="t"):
        """run-info.yaml of every attempt and child run, oldest first, read by another implementation of YAML."""
        return [yaml.safe_load(path.read_text()) for path in sorted(self.folder(task).glob("runs/*/run-info.yaml"))]

    def bus(self, task="t", path=None):
        result = self.project.run("bus", "read", "--json", "--bus", path or self.folder(task) / "TASK-MESSAGE-BUS.md")
        assert result.code == 0, result
        return json.loads(result.out)

    def records(self, kind=None, task="t"):
        lines = (self.folder(task) / "journal.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        return [r for r in records if kind in (None, r["type"])]
