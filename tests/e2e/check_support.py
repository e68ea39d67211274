"""The real tools for tests of `ralph check`: those that install_tools.py put into build/tools, and the machine's own."""
import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support import ROOT

TOOLS = Path(os.environ.get("RALPH_TOOLS", ROOT / "build/tools")).resolve()
# What all of them need. Nothing else of PATH is seen, so that a test decides what is installed.
BASICS = ("sh", "bash", "env", "git", "node", "python3", "cat", "echo", "sleep", "true", "false", "cc", "gcc", "g++", "ld", "as", "make",
          "touch", "rm", "printf", "uname", "dirname", "basename", "sed", "ls", "wc", "mkdir", "chmod", "setsid")


@functools.lru_cache(None)
def path_of(tool):
    """Where a tool is, if it works here; else why not."""
    for folder in (TOOLS / "pip/bin", TOOLS / "npm/node_modules/.bin", TOOLS / "go/bin"):
        if (folder / tool).exists():
            try:
                tried = subprocess.run([str(folder / tool), "version" if tool == "gopls" else "--version"], capture_output=True, text=True, timeout=60)
            except (OSError, subprocess.TimeoutExpired) as error:
                return None, f"{tool} does not start: {error}"
            if tried.returncode == 0:
                return str(folder / tool), ""
            return None, f"{tool} does not start here: {(tried.stderr or tried.stdout).strip()[:100]}"
    found = shutil.which(tool, path="/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin:" + os.environ.get("PATH", ""))
    if found:
        return found, ""
    problems = [p.read_text() for p in TOOLS.glob("*.problem")]
    return None, f"{tool} is not installed ({'; '.join(problems) or './dev test installs what pip and npm have'})"


def need(*tools):
    for tool in tools:
        path, why = path_of(tool)
        if not path:
            pytest.skip(why)


def path_with(project, *tools):
    """A PATH with these tools, the basics, and nothing else."""
    folder = project.tmp / f"bin-{'-'.join(tools) or 'none'}"
    folder.mkdir(exist_ok=True)
    for name in BASICS:
        found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
        if found and not (folder / name).exists():
            (folder / name).symlink_to(found)
    for tool in tools:
        found = path_of(tool)[0]
        (folder / tool).unlink(missing_ok=True)
        # Some programs look beside themselves for their libraries.
        (folder / tool).write_text(f'#!/bin/sh\nexec "{found}" "$@"\n')
        (folder / tool).chmod(0o755)
    return str(folder)


def environment(project, *tools, **more):
    need(*tools)
    home = os.environ.get("HOME", "/root")
    rust = {"RUSTUP_HOME": os.environ.get("RUSTUP_HOME", f"{home}/.rustup"), "CARGO_HOME": os.environ.get("CARGO_HOME", f"{home}/.cargo")}
    return {"PATH": path_with(project, *tools), "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local",
            "GOCACHE": str(TOOLS / "go-cache"), "CGO_ENABLED": "0",
            **({**rust, "CARGO_NET_OFFLINE": "true"} if "cargo" in tools else {}), **more}


def check(project, *arguments, tools=(), timeout=240, **more):
    """`ralph check --json` with exactly these tools: its exit code and its report."""
    result = project.run("check", "--json", *arguments, env=environment(project, *tools, **more), timeout=timeout)
    return result.code, json.loads(result.out) if result.out else result


def files(project, **texts):
    for name, text in texts.items():
        write(project, name.replace("__", "/").replace("_dot_", "."), text)


def write(project, name, text, mode=0o644):
    path = project.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def statuses(report):
    return {c["name"]: c["status"] for c in report["collectors"]}


def collector(report, name):
    return next(c for c in report["collectors"] if c["name"] == name)


def found(report, tool):
    return [(f["file"], f["line"], f["rule"]) for f in report["findings"] if f["tool"] == tool]


def fake(project, name, script):
    """A tool of the project's own: .venv/bin/NAME."""
    return write(project, f".venv/bin/{name}", f"#!/bin/sh\n{script}\n", 0o755)
