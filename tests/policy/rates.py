#!/usr/bin/env python3
"""Judges dangerous.txt and everyday.txt with the real binary, one `ralph hooks explain` a line, and prints the rates:
rates.py [--junit FILE] [--all] RALPH

A dangerous line that would run is missed: at most 3 % may be. An everyday line may never be denied, and at most 1 % of them may be
asked about. The exit code is 1 if a rate is over its limit, and the lines in question are printed; --all prints them always.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.sax.saxutils import quoteattr

FOLDER = pathlib.Path(__file__).resolve().parent
MOST_MISSED, MOST_ASKED = 0.03, 0.01
LEAST_DANGEROUS, LEAST_EVERYDAY = 400, 300
GIT_CONFIG = """[core]
\trepositoryformatversion = 0
[remote "origin"]
\turl = https://github.com/me/app.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""


def lines_of(name):
    """(family, line) for each line of the data."""
    family, found = "", []
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            family = line[3:]
        elif line.strip() and not line.startswith("# "):
            found.append((family, line))
    return found


class Judge:
    """A project with a home of its own, which is not below /tmp: there the policy allows more."""

    def __init__(self, ralph, base):
        self.ralph, self.project, home = ralph, base / "home/app", base / "home"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git/config").write_text(GIT_CONFIG)
        (self.project / ".git/HEAD").write_text("ref: refs/heads/main\n")
        self.environment = {"HOME": str(home), "USER": "dev", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

    def decision(self, line):
        """allow, ask or deny."""
        done = subprocess.run([self.ralph, "hooks", "explain", "--json", line], cwd=self.project, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        return json.loads(done.stdout)["decision"] if done.stdout else f"no answer: {done.stderr}"

    def decisions(self, lines):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(self.decision, [line for _, line in lines]))


def percent(part, whole):
    return f"{100 * part / whole:.1f} %"


def lasting_folder(first):
    """A folder that is not below /tmp, wherever the checkout is."""
    for folder in (first, pathlib.Path.home(), pathlib.Path("/srv"), pathlib.Path("/var/lib")):
        if not any(folder.is_relative_to(tmp) for tmp in ("/tmp", "/var/tmp", tempfile.gettempdir())) and os.access(folder, os.W_OK):
            return folder
    sys.exit("no folder outside of /tmp can be written to")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--junit", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("ralph", type=pathlib.Path)
    arguments = parser.parse_args()

    dangerous, everyday = lines_of("dangerous.txt"), lines_of("everyday.txt")
    with tempfile.TemporaryDirectory(dir=lasting_folder(arguments.ralph.resolve().parent), prefix="policy-") as base:
        judge = Judge(arguments.ralph.resolve(), pathlib.Path(base))
        hard, easy = judge.decisions(dangerous), judge.decisions(everyday)
    missed = [entry for entry, decision in zip(dangerous, hard) if decision not in ("ask", "deny")]
    denied = [entry for entry, decision in zip(everyday, easy) if decision not in ("allow", "ask")]
    asked = [entry for entry, decision in zip(everyday, easy) if decision == "ask"]
    rates = [  # name, lines in question, whether the limit is kept, what is printed
        ("dangerous lines missed", missed, len(missed) <= MOST_MISSED * len(dangerous) and len(dangerous) >= LEAST_DANGEROUS,
         f"{len(missed)} of {len(dangerous)} dangerous lines missed ({percent(len(missed), len(dangerous))}, limit 3 %; "
         f"{hard.count('ask')} asked)"),
        ("everyday lines denied", denied, not denied and len(everyday) >= LEAST_EVERYDAY,
         f"{len(denied)} of {len(everyday)} everyday lines denied (limit 0)"),
        ("everyday lines asked", asked, len(asked) <= MOST_ASKED * len(everyday),
         f"{len(asked)} asked ({percent(len(asked), len(everyday))}, limit 1 %)"),
    ]
    print("command policy: " + ", ".join(told for *_, told in rates))
    for name, entries, kept, _ in rates:
        for family, line in entries if arguments.all or not kept else []:
            print(f"  {name}: [{family}] {line}")
    if arguments.junit:
        failures = sum(not kept for *_, kept, _ in rates)
        cases = "".join(f"<testcase name={quoteattr(name)}>{'' if kept else f'<failure message={quoteattr(told)}/>'}</testcase>"
                        for name, _, kept, told in rates)
        arguments.junit.write_text(f'<testsuite name="policy" tests="{len(rates)}" failures="{failures}">{cases}</testsuite>\n')
    return 0 if all(kept for *_, kept, _ in rates) else 1


if __name__ == "__main__":
    sys.exit(main())
