#!/usr/bin/env python3
"""Uses valgrind to find the functions that hooks and short commands execute, and prints their symbols in the order in which the
linker should place them: first those shared by all, then those of each. For cmake/hot_symbols.txt:

  tests/bench/hot_symbols.py > cmake/hot_symbols.txt

A symbol that no longer exists does no harm, and a new function only costs the page fault that it would have cost anyway: running
this once in a while is often enough."""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import bench
import hooks

# In order of importance: a host waits for the first ones at every tool call.
ORDER = ["pre-tool", "post-tool", "context-monitor", "stop", "user-prompt", "session-start"]
# On a processor with instructions that valgrind does not know, programs execute other functions.
ALSO = ["_ZN5ralph12_GLOBAL__N_119add_by_instructionsERSt5arrayIjLm8EEPKc", "__memmove_avx512_unaligned_erms",
        "__memset_avx512_unaligned_erms", "__memcmp_evex_movbe", "__memchr_evex", "__memrchr_evex", "__strlen_evex",
        "__strchr_evex", "__strrchr_evex", "__strncmp_evex", "__strcmp_evex"]


def executed(command, folder, stdin):
    """The mangled names of the functions that the command and its forks execute, in the order of their first calls."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={place}/out.%p", "--demangle=no", *command],
                              cwd=folder, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        texts = [path.read_text() for path in sorted(pathlib.Path(place).iterdir())]
    if done.returncode != 0 or not texts:
        sys.exit(f"hot_symbols: valgrind could not run {command[0]}: {done.stderr}")
    names = re.findall(r"^c?fn=\(\d+\) (\S+)$", "\n".join(texts), re.M)
    return list(dict.fromkeys(re.sub(r"'\d+$", "", name) for name in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"), help="the build folder")
    build = parser.parse_args().build.resolve()
    users, first = collections.defaultdict(set), {}

    def note(user, names):
        for name in names:
            users[name].add(user)
            first.setdefault(name, len(first))

    with tempfile.TemporaryDirectory(prefix="hot-") as scratch:
        place = hooks.Hooks(bench.Bench(build, pathlib.Path(scratch), bench.QUICK), (), 1, bench.Host)
        place.write_transcript(1_000_000)
        place.start_loop()
        payloads = dict(hooks.HOOKS)
        for hook in ORDER:
            payload = place.payload(payloads[hook])
            if hook == "stop":
                place.next_stop(payload)
            with open(payload, "rb") as stdin:
                note(hook, executed([build / "ralph", "hooks", hook], place.project, stdin))
        note("version", executed([build / "ralph", "--version"], place.project, subprocess.DEVNULL))
    names = sorted(users, key=lambda name: (-len(users[name]), sorted(users[name]), first[name]))
    # Functions missing from the symbol table (valgrind calls them 0x...) can't be named.
    print("\n".join([name for name in names if not name.startswith("0x")] + ALSO))


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    main()
