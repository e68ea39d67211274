#!/usr/bin/env python3
"""Installs the real agent CLIs from npm, each into a folder of its own: install.py FOLDER.

A CLI that is there in its pinned version is left alone, so a second run does nothing. One that cannot be installed, or
does not start here, is no failure: why is written to FOLDER/NAME.problem, and its tests are skipped with that reason.
"""
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# The one place where versions are pinned.
PACKAGES = {
    "claude": ("@anthropic-ai/claude-code", "2.1.325"),
    "codex": ("@openai/codex", "0.166.0"),
    "opencode": ("opencode-ai", "1.18.33"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
}
# Gemini needs Node 20; Debian 12 has 18. Where it is too old, one from npm is put beside the CLIs.
OLDEST_NODE = 20
NODE_VERSION = "22.23.3"
# All of it takes 40 s on a good day. On a bad one the tests are skipped, and the rest of CI still has its time.
DEADLINE = time.monotonic() + 300


class Problem(Exception):
    """Why a CLI is not there, in a few words."""


def program(folder, name):
    return Path(folder) / name / "node_modules/.bin" / name


def node_folder(folder):
    """Where the node is that CLIs are to be run by: ours if there is one, else the machine's."""
    own = Path(folder) / "node/node_modules/.bin"
    found = shutil.which("node")
    return own if (own / "node").exists() else Path(found).parent if found else None


def clean_environment(folder, home):
    """Nothing of this machine's: no keys, no settings."""
    return {"PATH": f"{node_folder(folder) or '/usr/bin'}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(home),
            "TERM": "dumb", "LANG": "C.UTF-8"}


def first_words(text, limit=200):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() and "complete log" not in line]
    return (errors or lines or ["it said nothing"])[-1][:limit]


def run(command, seconds, **how):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds, **how)
    except subprocess.TimeoutExpired:
        raise Problem(f"{Path(command[0]).name} took more than {seconds} s") from None
    except OSError as error:
        raise Problem(f"{command[0]}: {error.strerror}") from None


def npm_install(folder, package):
    """Always from nothing: an interrupted installation leaves no trace."""
    if not shutil.which("npm"):
        raise Problem("npm is not installed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=3000", "--fetch-timeout=30000"]
    done = run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", *patience, package],
               max(1, int(DEADLINE - time.monotonic())))
    if done.returncode != 0:
        raise Problem(f"npm install {package} failed: {first_words(done.stdout)}")


def installed_version(folder, name):
    """What a CLI says it is, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="ralph-agent-") as home:
        done = run([str(program(folder, name)), "--version"], 60, env=clean_environment(folder, home))
    if done.returncode != 0:
        raise Problem(f"{name} --version failed: {first_words(done.stdout)}")
    return done.stdout


def install(folder, name):
    package, version = PACKAGES[name]
    stamp = folder / f"{name}.version"
    if stamp.exists() and stamp.read_text() == version and program(folder, name).exists():
        return f"{name} {version}: there already"
    stamp.unlink(missing_ok=True)
    npm_install(folder / name, f"{package}@{version}")
    if version not in installed_version(folder, name):
        raise Problem(f"{name} {version} was installed, but says that it is another version")
    stamp.write_text(version)
    return f"{name} {version}: installed"


def node_is_too_old():
    try:
        return int(run(["node", "--version"], 20).stdout.lstrip("v").split(".")[0]) < OLDEST_NODE
    except (Problem, ValueError):
        return True


def install_node(folder):
    if (folder / "node/node_modules/.bin/node").exists() or not node_is_too_old():
        return
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    npm_install(folder / "node", f"node-linux-{machine}@{NODE_VERSION}")
    print(f"node {NODE_VERSION}: installed, as this machine's is older than {OLDEST_NODE}")


def main():
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.umask(0o022)
    try:
        install_node(folder)
    except Problem as problem:  # most CLIs do without
        print(f"node {NODE_VERSION}: NOT installed: {problem}")
    for name in PACKAGES:
        note = folder / f"{name}.problem"
        note.unlink(missing_ok=True)
        try:
            print(install(folder, name), flush=True)
        except Problem as problem:
            note.write_text(str(problem))
            print(f"{name}: NOT installed: {problem}", flush=True)


if __name__ == "__main__":
    main()
