#!/usr/bin/env python3
"""Installs the tools whose output ralph reads, from pip, npm and rustup: install_tools.py FOLDER [--gopls].

Those that are there in their pinned versions are left alone, so a second run does nothing. What cannot be installed is no
failure: why is written to FOLDER/pip.problem and the like, and the tests that need it are skipped with that reason.
go, cargo, clang-tidy, clangd and shellcheck are taken from the machine, and rust-analyzer is a component of its toolchain.
gopls is compiled, which takes minutes: only if it is asked for.
"""
import shutil
import subprocess
import sys
import venv
from pathlib import Path

# The one place where versions are pinned.
PIP = ["ruff==0.17.4", "mypy==2.4.1", "ast-grep-cli==0.51.0", "pytest==9.2.0"]
NPM = ["typescript@7.0.2", "eslint@10.15.0", "@biomejs/biome@2.6.7", "vitest@4.1.12", "jest@30.5.2", "pyright@1.1.414",
       "typescript-language-server@6.0.2", "typescript5@npm:typescript@5.9.3"]
RUSTUP = ["rust-analyzer"]
GO = ["golang.org/x/tools/gopls@v0.23.0"]
SECONDS = 180


def run(command, seconds=SECONDS):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"{Path(command[0]).name} took more than {seconds} s"
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()] or ["it said nothing"]
    return f"{Path(command[0]).name} failed: {([l for l in lines if 'error' in l.lower()] or lines)[-1][:200]}"


def install(folder, name, packages, command):
    """Always from nothing: an interrupted installation leaves no trace."""
    mark, problem, target = folder / f"{name}.installed", folder / f"{name}.problem", folder / name
    if mark.exists() and mark.read_text() == "\n".join(packages):
        return
    mark.unlink(missing_ok=True)
    problem.unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    why = command(target)
    if why:
        shutil.rmtree(target, ignore_errors=True)
        problem.write_text(why)
        print(f"{name}: {why}")
    else:
        mark.write_text("\n".join(packages))


def by_pip(target):
    try:
        venv.create(target, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no virtual environment can be made: {error}"
    return run([str(target / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PIP])


def by_npm(target):
    if not shutil.which("npm"):
        return "npm is not installed"
    return run(["npm", "install", "--prefix", str(target), "--no-audit", "--no-fund", "--loglevel=error", *NPM])


def by_rustup(_):
    if not shutil.which("rustup"):
        return "rustup is not installed"
    return run(["rustup", "component", "add", *RUSTUP])


def by_go(target):
    if not shutil.which("go"):
        return "go is not installed"
    return run(["env", f"GOBIN={target}/bin", "GOFLAGS=-modcacherw", "go", "install", *GO], 10 * SECONDS)


def main():
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    install(folder, "pip", PIP, by_pip)
    install(folder, "npm", NPM, by_npm)
    install(folder, "rustup", RUSTUP, by_rustup)
    if "--gopls" in sys.argv:
        install(folder, "go", GO, by_go)


if __name__ == "__main__":
    main()
