"""Runs that are killed at an exact point and resumed, and what has to be the same afterwards.

    scenario = SCENARIOS["plan"]
    undisturbed(scenario, folder)                 its points and its outcome, once for each process of the tests
    with fresh(scenario, folder) as project:
        kill(project, scenario.command, Strike(12, "torn", "both"))
        complete(project, scenario)               resumes until it is done
        differences(project, expected)

Agents are functions of the project's files and of what they are told: a turn that is taken twice has the result of one.
Each call of an agent is a line of the file `calls` beside the project.
"""
import contextlib
import functools
import json
import re
import shutil
import subprocess
import tempfile
from collections import namedtuple
from pathlib import Path

import plan_support
from support import HELPERS, RALPH, Project

KILL_AT = HELPERS / "kill_at"
VICTIMS = ("loop", "guardian", "both")
# A write that is cut while its process lives is no kill but a full disk, which has a test of its own.
KINDS = [("before", victim) for victim in VICTIMS] + [("after", victim) for victim in VICTIMS]
KINDS_ALONE = [("before", "guardian"), ("after", "guardian")]
KINDS_OF_WRITE = KINDS + [("torn", "loop"), ("torn", "both")]

Point = namedtuple("Point", "number process call what")  # what: the type of the record that is written, or a path
Strike = namedtuple("Strike", "point kind victim")
Outcome = namedtuple("Outcome", "commits status pushed stories calls")
Killed = namedtuple("Killed", "code out err log")


# ---- scenarios

# What the run has started says where it is: `killer PLACE` kills, once, if this place was chosen by arm().
KILLER = r'''
[ -e '%(base)s/armed' ] || exit 0
read -r place victim < '%(base)s/armed'
[ "$place" = "$1" ] || exit 0
rm '%(base)s/armed'
guardian=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' '%(runs)s'/*/journal.jsonl | head -n 1)
for child in $(cat "/proc/$guardian/task/$guardian/children"); do
  [ "$(cat "/proc/$child/comm")" = loop ] && loop=$child
done
case $victim in loop) kill -9 "$loop" ;; guardian) kill -9 "$guardian" ;; both) kill -9 "$guardian" "$loop" ;; esac
sleep 5  # is ended by the one that is left, or by the resumed run
'''

PROMPT_AGENT = r'''
echo "$RALPH_ITERATION" >> '%(base)s/calls'
rm -f .git/index.lock  # of a git that was killed with an agent before
case "$1" in
  "Provide a short"*) '%(base)s/killer' message; echo "Take step $RALPH_ITERATION" ;;
  *) sleep 300 > /dev/null 2>&1 &  # to be ended with the turn, or with ralph
     echo "step $RALPH_ITERATION" > "step-$RALPH_ITERATION"
     '%(base)s/killer' agent
     if [ "$RALPH_ITERATION" = 3 ]; then echo '<response>DONE</response>'; else echo more; fi ;;
esac
'''

PLAN_AGENT = r'''
import json, os, re, subprocess, sys
from pathlib import Path
with open(%(base)r + "/calls", "a") as file: print(os.environ.get("RALPH_ITERATION"), file=file)
Path(".git/index.lock").unlink(missing_ok=True)  # of a git that was killed with an agent before
prompt = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
mode = re.search(r"^#+ Your assignment: (\w+)", prompt, re.M).group(1)
given = re.search(r"^Story (.+?): ", prompt, re.M).group(1)
path = Path(%(tasks)r)
tasks = json.loads(path.read_text())
story = next(one for one in tasks["userStories"] if one["id"] == given)
work = Path(given + ".txt")
if mode == "IMPLEMENT":
    work.write_text("implemented\n")
    story.update(reviewStatus="needs_review", notes="done")
elif mode == "FIX":
    work.write_text("implemented\nfixed\n")
    story.update(reviewStatus="needs_review", reviewFeedback="")
elif given == "US-001" and "fixed" not in work.read_text():
    story.update(reviewStatus="changes_requested", reviewCount=1, reviewFeedback="make it better", passes=False)
else:
    story.update(reviewStatus="approved", reviewCount=2 if given == "US-001" else 1, passes=True)
path.write_text(json.dumps(tasks, indent=2) + "\n")
subprocess.run([%(base)r + "/killer", "edited"])
subprocess.run(["git", "add", "-A"], check=True)
if subprocess.run(["git", "diff", "--cached", "--quiet"]).returncode:
    subprocess.run(["git", "commit", "-qm", f"{mode} {given}"], check=True)
subprocess.run([%(base)r + "/killer", "committed"])
print("done")
if mode == "REVIEW": print(f'<review story="{given}">{story["reviewStatus"]}\n{story["reviewFeedback"]}</review>')
if all(one["passes"] for one in tasks["userStories"]): print("<promise>COMPLETE</promise>")
'''


class PlanOfTwo(plan_support.Plan):
    def agent(self, **settings):
        self.project.python_agent(PLAN_AGENT % {"base": str(self.project.base), "tasks": str(self.tasks_path)}, **settings)
        return self


def make_killer(project):
    """Returns it as a command of a shell."""
    script = KILLER % {"base": project.base, "runs": project.ralph / "runs"}
    return f"'{project.script(script, 'killer')}'"


def arm(project, place, victim):
    (project.base / "armed").write_text(f"{place} {victim}\n")


def prepare_prompt(project):
    """Three iterations: the checks of the first fail, the others are committed and pushed."""
    killer = make_killer(project)
    project.agent_script(PROMPT_AGENT % {"base": project.base})
    project.guardrails("test -e step-1", f"test -e step-2 && {killer} guardrail")
    project.settings(scm={"command": "git", "tasks": ["commit", "push"]})
    (project.path / ".gitignore").write_text(".ralph/\n")
    project.git_init()
    project.git("init", "-q", "--bare", str(project.base / "remote.git"))
    project.git("remote", "add", "origin", "../remote.git")
    project.git("push", "-qu", "origin", "main")
    for folder, name in (project.path / ".git", "pre-commit"), (project.path / ".git", "post-commit"), \
            (project.path / ".git", "pre-push"), (project.base / "remote.git", "post-receive"):
        hook = folder / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{killer} {name}\n")
        hook.chmod(0o755)


def prepare_plan(project):
    """Two stories through every mode: the first is sent back once. The agent commits."""
    make_killer(project)
    PlanOfTwo(project, [plan_support.story("US-001"), plan_support.story("US-002", priority=2)],
              verifyCommands=["test -e US-001.txt"])


Scenario = namedtuple("Scenario", "name prepare command places")
SCENARIOS = {one.name: one for one in (
    Scenario("prompt", prepare_prompt, ("run", "-p", "take three steps"),
             ("agent", "guardrail", "message", "pre-commit", "post-commit", "pre-push", "post-receive")),
    Scenario("plan", prepare_plan, ("plan", "run"), ("edited", "committed")))}


@contextlib.contextmanager
def fresh(scenario, folder):
    """A project as it is before the run; gone afterwards."""
    base = Path(tempfile.mkdtemp(dir=folder, prefix=scenario.name + "-"))
    project = Project(base)
    try:
        scenario.prepare(project)
        yield project
    finally:
        project.clean_up()
        shutil.rmtree(base, ignore_errors=True)


# ---- killing

def under_kill_at(project, command, *options):
    """Runs ralph under kill_at to its end. The log is what kill_at says of it, by lines."""
    out, err, log = (project.base / name for name in ("kill_at.out", "kill_at.err", "kill_at.log"))
    # Files, not pipes: a loop whose guardian was killed would hold them open, and is not waited for.
    with open(out, "w") as to_out, open(err, "w") as to_err:
        code = subprocess.run([str(KILL_AT), "--log", str(log), *map(str, options), "--", str(RALPH), *command],
                              cwd=project.path, env=project.environment(), stdin=subprocess.DEVNULL, stdout=to_out,
                              stderr=to_err, timeout=90).returncode
    killed = Killed(code, *(path.read_text(errors="replace") for path in (out, err, log)))
    assert code not in (77, 78, 124), killed
    return killed._replace(log=killed.log.splitlines())


def kill(project, command, strike):
    return under_kill_at(project, command, "--victim", strike.victim, "--point", strike.point, "--kind", strike.kind)


def why_not_possible():
    """Why nothing can be traced here; None if it can."""
    assert KILL_AT.exists(), f"{KILL_AT} is missing: build the tests, or set RALPH_HELPERS"
    tried = subprocess.run([str(KILL_AT), "--count", "--", "/bin/true"], capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode == 77 else None


@functools.lru_cache(maxsize=None)
def undisturbed(scenario, folder):
    """(all points, outcome) of the run that nobody kills."""
    with fresh(scenario, folder) as project:
        run = under_kill_at(project, scenario.command, "--count")
        assert run.code == 0, run
        points = [Point(int(words[0]), *words[1:]) for words in (line.split(" ", 3) for line in run.log)]
        types = [record["type"] for record in project.journal()]
        assert f"{len(points)} points" in run.err and len(types) == sum(point.call == "write" for point in points), run
        return [point._replace(what=types.pop(0)) if point.call == "write" else point for point in points], outcome(project)


def strikes(points):
    """For each point every way to kill there. At points of the guardian there is no loop yet, or none any more."""
    def ways(point):
        if point.process == "guardian":
            return KINDS_ALONE
        return KINDS_OF_WRITE if point.call == "write" else KINDS
    return [[Strike(point.number, *how) for how in ways(point)] for point in points]


def sample(points, by_point, count):
    """Spread over the points, and from one to the next over the ways to kill there; and where it went wrong once: before there is a
    record, and between the records that end a run and the seal of them."""
    chosen = [by_point[i * len(by_point) // count] for i in range(count)]
    spread = [ways[5 * i % len(ways)] for i, ways in enumerate(chosen)]  # 5: all of 6 or 8 ways have their turn
    last = {point.what: point.number for point in points if point.call == "write"}
    ends = [Strike(last[what], "after", "both") for what in ("decided", "iteration_ended", "run_ended")]
    return list(dict.fromkeys([*spread, Strike(last["run_started"], "before", "loop"), *ends]))


# ---- going on

RESUME = ("runs", "resume")
NOTHING_TO_RESUME = re.compile(r"can be resumed|there are no runs")


def had_begun(project):
    """Whether an agent was started: then there is something to resume."""
    return any(b'"type":"agent_started"' in path.read_bytes() for path in (project.ralph / "runs").glob("*/journal.jsonl"))


def is_complete(project):
    runs = project.run("runs", "list", "--json")
    assert runs.code == 0, runs
    return any(run["state"] == "complete" for run in json.loads(runs.out))


def complete(project, scenario):
    """Resumes until all is done. What was killed before it had begun, so that it can't be resumed, is started again."""
    taken, command = [], RESUME
    while len(taken) < 5:
        end = project.run(*command)
        taken.append(f"$ ralph {' '.join(command)}\n{end}")
        if end.code == 0:
            return
        if command != RESUME or not NOTHING_TO_RESUME.search(end.err):
            break
        if is_complete(project):  # it was killed when all was done
            return
        if had_begun(project):
            taken.append(f"Why not: {project.run(*RESUME, project.run_folder().name)}")
            break
        command = scenario.command
    raise AssertionError("not completed:\n" + "\n".join(taken))


# ---- what has to be the same

def calls_of(project):
    path = project.base / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def outcome(project):
    remote, tasks = project.base / "remote.git", project.path / "ralph/tasks.json"
    pushed = stories = None
    if remote.exists():
        pushed = project.git("--git-dir", str(remote), "log", "--format=%s %T", "main").splitlines()
    if tasks.exists():
        stories = [{key: one[key] for key in ("id", "reviewStatus", "reviewCount", "passes")}
                   for one in json.loads(tasks.read_text())["userStories"]]
    return Outcome(project.git("log", "--format=%s %T").splitlines(), project.git("status", "--porcelain").splitlines(),
                   pushed, stories, calls_of(project))


def differences(project, expected, kills=1):
    """Sentences on what is not as in the undisturbed run, after this many kills."""
    found = []
    now = outcome(project)
    for name in ("status", "pushed", "stories", "commits"):
        if getattr(now, name) != getattr(expected, name):
            found.append(f"{name}: {getattr(now, name)} instead of {getattr(expected, name)}")
    if now.commits != expected.commits:
        found.append("files: " + project.git("ls-tree", "-r", "--name-only", "HEAD").replace("\n", " "))
    if not expected.calls <= now.calls <= expected.calls + kills:
        found.append(f"{now.calls} calls of the agent; undisturbed there are {expected.calls}")
    shown = project.run("runs", "show", "--json")
    if shown.code != 0:
        found.append(f"runs show: {shown}")
    else:
        run = json.loads(shown.out)
        if run.get("problems") or run["state"] != "complete":
            found.append(f"runs show: {run['state']}, {run.get('problems')}")
    try:
        project.nothing_left()
    except AssertionError as error:
        found.append(str(error))
    return found


def records_before(project):
    """The types of the last records of the last run, for a message."""
    try:
        lines = (project.run_folder() / "journal.jsonl").read_bytes().split(b"\n")
    except (AssertionError, OSError):
        return "no journal"
    words = []
    for line in lines[-6:]:
        try:
            words.append(json.loads(line)["type"])
        except ValueError:
            words += ["torn"] if line else []
    return f"{len(lines) - 1} records, the last: " + " ".join(words)
