#!/usr/bin/env python3
"""Fails if a file of src/ includes one that it must not know, or if two types have one name.

    base <- {json, os} <- git <- {settings, agents, checks, policy, sandbox, journal} <- engine
         <- {plan, task, session, history} <- hooks <- cli

A folder sees those left of it and itself; folders within one pair of braces do not see each other. ui sees events, the
journal and the read-only views of a run, and main.cc sees cli alone. A new folder must be entered here before it can
include anything.

Two types of one name in one program are undefined behaviour that linkers do not see. Those in anonymous namespaces and
within other types are nobody else's business; all others must have names of their own.

include_direction.py [--self-test] [--junit FILE] [SOURCE FOLDER]
"""
import argparse
import pathlib
import re
import sys
import tempfile
from xml.sax.saxutils import quoteattr

sys.dont_write_bytecode = True
import git_room
import one_row

FOUNDATION = {"base", "json", "os"}
PARTS = {"settings", "agents", "checks", "policy", "sandbox", "journal"}
WAYS_IN = {"plan", "task", "session", "history"}
BELOW_ENGINE = FOUNDATION | {"git"} | PARTS

SEES = {
    "base": set(),
    "json": {"base"},
    "os": {"base"},
    "git": FOUNDATION,
    **{part: FOUNDATION | {"git"} for part in PARTS},
    "engine": BELOW_ENGINE,
    **{way: BELOW_ENGINE | {"engine"} for way in WAYS_IN},
    "hooks": BELOW_ENGINE | {"engine"} | WAYS_IN,
    "ui": FOUNDATION | {"agents", "journal"},
    "cli": BELOW_ENGINE | WAYS_IN | {"engine", "hooks", "ui"},
    "main.cc": {"cli"},
}
# What a room may see of one that it does not see: the console shows how far a run has come.
VIEWS = {"ui": {"engine/progress.h", "engine/listener.h"}}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
# What is no code: comments, raw strings, strings, characters (but not the ' of 1'000).
NOT_CODE = re.compile(r"""//[^\n]* | /\*.*?\*/ | R"([^(\s]*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*"
                        | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*' """, re.S | re.X)
# A namespace, a type's definition (specialisations have no name of their own), or any other brace.
SCOPE = re.compile(r"""\bnamespace\s*(?P<namespace>[\w:]*)\s*\{
                     |\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[\w+\]\]\s*)?
                       (?P<type>\w+)(?:\s+final)?\s*(?::[^:][^;{}()=]*)?\{
                     |\{|\}""", re.X)
GENERATED = re.compile(r"^(version|embedded_\w+)\.h$")


def fault_of(room, quote, target):
    """Why `room` (a folder, or main.cc) may not include `target`; None if it may."""
    folder, slash, _ = target.partition("/")
    if quote == "<":
        # The system's own: <sys/wait.h>, <boost/json.hpp>. Ours are always written in quotes.
        return f"write \"{target}\" in quotes" if folder in SEES and slash else None
    if not slash:
        return None if GENERATED.match(target) else f"write the folder too: \"{room}/{target}\""
    if folder not in SEES:
        return f"{folder}/ is not in the table of {pathlib.Path(__file__).name}"
    if target in VIEWS.get(room, ()):
        return None
    if folder != room and folder not in SEES[room]:
        seen = ", ".join(sorted(SEES[room])) or "nothing else"
        return f"{room} must not know {folder}; it sees {seen}"
    return None


def faults_in(source):
    """One line per forbidden include below the folder `source`, as "file:line: why"."""
    faults = []
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        room = path.relative_to(source).parts[0]
        if room not in SEES:
            faults.append(f"{path}:1: {room} is not in the table of {pathlib.Path(__file__).name}")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            include = INCLUDE.match(line)
            fault = include and fault_of(room, *include.groups())
            if fault:
                faults.append(f"{path}:{number}: {fault}")
    return faults


def types_in(text):
    """(qualified name, line) of every type that `text` defines within named namespaces only."""
    code = NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    scopes = []  # for each open brace its namespace; "" hides from other files what is defined within
    for found in SCOPE.finditer(code):
        if found[0] == "}":
            del scopes[-1:]
            continue
        if found["type"] and all(scopes):
            yield "::".join([*scopes, found["type"]]), code.count("\n", 0, found.start()) + 1
        scopes.append(found["namespace"])


def equal_names_in(source):
    """One line per type below the folder `source` whose name another has too, as "file:line: why"."""
    faults, first = [], {}
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        for name, line in types_in(path.read_text(encoding="utf-8")):
            place = f"{path}:{line}"
            if first.setdefault(name, place) != place:
                faults.append(f"{place}: {name} is the name of another type too: {first[name]}")
    return faults


# Run::ask() records what was seen and decided; a second caller would decide in secret.
DECIDES = re.compile(r"(?<![\w.:>])decide\(")
MAY_DECIDE = {"engine/decide.h", "engine/decide.cc", "engine/run.cc", "engine/decide_test.cc",
              "engine/task_model_test.cc"}


def second_deciders_in(source):
    """One line per file that calls decide() and is not Run::ask()."""
    faults = []
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.suffix not in (".cc", ".h") or name in MAY_DECIDE:
            continue
        if DECIDES.search(NOT_CODE.sub("", path.read_text(encoding="utf-8"))):
            faults.append(f"{path}:1: only Run::ask() calls decide()")
    return faults


# (file, its line, whether that is forbidden)
SAMPLES = [
    ("base/text.cc", '#include "base/text.h"', False),
    ("base/text.cc", '#include "os/files.h"', True),
    ("os/files.h", '#include "base/result.h"', False),
    ("settings/settings.cc", '#include "embedded_schemas.h"', False),
    ("settings/settings.cc", '#include "settings.h"', True),
    ("settings/settings.cc", '#include "agents/agent.h"', True),
    ("checks/guardrail.cc", '#include <sys/wait.h>', False),
    ("checks/guardrail.cc", '#include <os/files.h>', True),
    ("checks/diagnostics/eslint.cc", '#include "checks/snapshot.h"', False),
    ("engine/engine.cc", '#include "journal/records.h"', False),
    ("engine/engine.cc", '#include "ui/console.h"', True),
    ("engine/engine.cc", '  #  include "cli/command.h"', True),
    ("plan/story.cc", '#include "engine/decide.h"', False),
    ("plan/story.cc", '#include "task/supervisor.h"', True),
    ("ui/console.cc", '#include "journal/records.h"', False),
    ("ui/console.cc", '#include "engine/engine.h"', True),
    ("ui/console.cc", '#include "engine/progress.h"', False),
    ("session/stop.cc", '#include "hooks/payload.h"', True),
    ("hooks/reply.cc", '#include "session/stop.h"', False),
    ("git/repository.cc", '#include "journal/records.h"', True),
    ("cli/run.cc", '#include "ui/console.h"', False),
    ("main.cc", '#include "cli/command.h"', False),
    ("main.cc", '#include "base/text.h"', True),
    ("novel/thing.cc", "int x;", True),
    ("cli/run.cc", '#include "novel/thing.h"', True),
    ("cli/run.cc", '// #include "novel/thing.h"', False),
    ("session/stop.cc", "auto d = decide(policy, progress, now);", True),
    ("session/stop.cc", "// decide() is asked", False),
    ("engine/run.cc", "auto d = decide(policy, progress, now);", False),
]


# (a line of one file, a line of another, whether that is forbidden), both in namespace ralph
TYPE_SAMPLES = [
    ("struct List { int a; };", "class List { int b; };", True),
    ("enum class Word { kA };", "enum class Word : int { kB };", True),
    ("class [[nodiscard]] List final : Base<int> {};", "struct List : std::string {};", True),
    ("namespace inner { struct List {}; }", "struct List {};", False),
    ("template <class T> struct List {};", "struct List {};", True),
    ("struct List;", "struct List {};", False),
    ("namespace { struct List {}; }", "struct List {};", False),
    ("struct Outer { enum class Kind { kA }; };", "struct Kind {};", False),
    ("void f() { struct List {}; }", "struct List {};", False),
    ("struct List f();  // struct List {};", "struct List {};", False),
    ('auto text = R"(struct List {};)"; char brace = \'{\'; int n = 1\'000;', "struct List {};", False),
    ("char brace = '}'; namespace { int x; } struct List {};", "struct List {};", True),
    ("template <> struct hash<List> {};", "template <> struct hash<Word> {};", False),
]


def self_test():
    """Plants every sample in a tree of its own; one line per sample that was judged wrongly."""
    wrong = []
    for one, other, forbidden in TYPE_SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            for name, line in (("one.h", one), ("other.cc", other)):
                pathlib.Path(folder, name).write_text(f"namespace ralph {{\n{line}\n}}\n", encoding="utf-8")
            if bool(equal_names_in(pathlib.Path(folder))) != forbidden:
                wrong.append(f"self-test: {one!r} and {other!r} should be {'forbidden' if forbidden else 'allowed'}")
    for name, line, forbidden in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"// first\n{line}\n", encoding="utf-8")
            root = pathlib.Path(folder)
            if bool(faults_in(root) + second_deciders_in(root)) != forbidden:
                wrong.append(f"self-test: {line!r} in {name} should be {'forbidden' if forbidden else 'allowed'}")
    return wrong


def write_junit(path, cases):
    """`cases` is a list of (name, faults)."""
    failures = sum(1 for _, faults in cases if faults)
    lines = [f'<testsuite name="include_direction" tests="{len(cases)}" failures="{failures}">']
    for name, faults in cases:
        failure = f"<failure message={quoteattr('; '.join(faults))}/>" if faults else ""
        lines.append(f"<testcase name={quoteattr(name)}>{failure}</testcase>")
    path.write_text("\n".join(lines + ["</testsuite>", ""]), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true", help="first check that planted violations are found")
    parser.add_argument("--junit", type=pathlib.Path, metavar="FILE", help="write a report for machines")
    default = pathlib.Path(__file__).resolve().parent.parent / "src"
    parser.add_argument("source", nargs="?", type=pathlib.Path, default=default)
    arguments = parser.parse_args()

    cases = [("planted violations are found", self_test() + one_row.self_test() + git_room.self_test())] if arguments.self_test else []
    cases.append(("no file includes what it must not know", faults_in(arguments.source)))
    cases.append(("no file names an agent or a host that is not its own", one_row.faults_in(arguments.source)))
    cases.append(("only src/git says what git is told", git_room.faults_in(arguments.source)))
    cases.append(("only Run::ask() calls decide()", second_deciders_in(arguments.source)))
    cases.append(("no two types have one name", equal_names_in(arguments.source)))
    if arguments.junit:
        write_junit(arguments.junit, cases)
    faults = [fault for _, faults in cases for fault in faults]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
