"""A plan in a fresh project, with a scripted agent that does honest work unless a test makes it cheat.

    def test_an_implementer_cannot_approve(project):
        plan = Plan(project, [story("US-001"), story("US-002")])
        plan.cheat("story.update(passes=True, reviewStatus='approved', reviewCount=1)", mode="implement")
        plan.completes()
        assert "Implement iterations cannot set passes=true" in plan.violation(1)

The honest agent reads its assignment from the prompt, edits ralph/tasks.json, commits, and says <promise> when all
stories are approved. A bit of Python that a test adds runs inside it, with these at hand:

    mode         "implement", "review" or "review-fix"; iteration, prompt, ralph (the plan's folder, a Path)
    tasks        tasks.json as parsed; story: the one that was given; stories: all of them by id
    git(*words)  runs git; commit(message) commits everything
    said         the verdict that its last message gives, in a review: "approved", "changes_requested\nwhy" or None
    save()       writes `tasks`; text() and write(text) are the file as it is
    do_honest()  makes the edit that is asked for, in `tasks`
    base         the folder around the project, for notes between agent and test
    project      the project's folder, also where the agent works in a clean checkout of it
"""
import json
import os
import shlex
import sys
from pathlib import Path

from support import ordinary_user, wait_until

MODES = {"IMPLEMENT": "implement", "REVIEW": "review", "FIX": "review-fix"}

AGENT = r'''
import json, os, re, signal, subprocess, sys, time
from pathlib import Path
base = Path(%(base)r)
project = Path(%(project)r)
ralph = Path(%(ralph)r)
if "/ralph/rooms/" in os.getcwd(): ralph = Path(%(below)r)  # a review in its clean checkout
TASKS = ralph / "tasks.json"
INDENT = %(indent)r
REVIEWS = %(reviews)r
prompt = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()  # long ones come that way
iteration = int(os.environ.get("RALPH_ITERATION", "0"))

def git(*words, check=True):
    end = subprocess.run(["git", *words], capture_output=True, text=True)
    if check and end.returncode: sys.exit(f"git {words}: {end.stderr}")
    return end.stdout.strip()

def commit(message="work"):
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", message)

def text(): return TASKS.read_text()
def write(new): TASKS.write_text(new)
def save(): write(json.dumps(tasks, indent=INDENT, ensure_ascii=False) + "\n")
def load():
    global tasks, stories, story
    tasks = json.loads(text())
    stories = {one["id"]: one for one in tasks["userStories"]}
    story = stories[given]

found = re.search(r"^#+ Your assignment: (\w+)", prompt, re.M)
if not found:  # asked for something else, such as a commit message
    exec(compile(%(otherwise)r, "otherwise", "exec"))
    sys.exit(0)
mode = %(modes)r[found.group(1)]
skip_review = "reviews are switched off" in prompt
given = re.search(r"^Story (.+?): ", prompt, re.M).group(1)
load()

said = None

def do_honest():
    global said
    if skip_review:
        story.update(passes=True, notes="done")
    elif mode == "implement":
        story["reviewStatus"] = "needs_review"
        story["notes"] = (story.get("notes", "") + " done").strip()
    elif mode == "review":
        story["reviewCount"] += 1
        if story["reviewCount"] >= REVIEWS.get(given, 1):
            story.update(reviewStatus="approved", passes=True, notes=story.get("notes") or "reviewed")
            log("approved")
            said = "approved"
        else:
            story.update(reviewStatus="changes_requested", reviewFeedback="make it better")
            log("changes_requested")
            said = "changes_requested\nmake it better"
    else:
        story.update(reviewStatus="needs_review", reviewFeedback="")

def log(what):
    with open(base / "agent.log", "a") as file:
        print(json.dumps({"iteration": iteration, "mode": mode, "story": given, "what": what}), file=file)

log("started")
cheats = []
for number, (at, which, phase, always, code) in enumerate(%(cheats)r):
    done = base / f"cheated-{number}"
    if (at is None or iteration == at) and which in (None, mode) and (always or not done.exists()):
        done.touch()
        cheats.append((phase, code))

def cheat(phase):
    chosen = [code for when, code in cheats if when == phase]
    for code in chosen: exec(compile(code, phase, "exec"), globals())
    return bool(chosen)

cheat("before")
if not cheat("instead"):
    if mode != "review":
        with open("work.txt", "a") as file: print(iteration, mode, given, file=file)
    with open(ralph / "progress.txt", "a") as file: print(iteration, mode, given, file=file)
    do_honest()
    cheat("edit")
    save()
    commit(f"{mode} {given}")
    cheat("after")
print(f"{mode} {given}: done")
if said: print(f'<review story="{given}">{said}</review>')
try:
    if TASKS.is_file() and all(one["passes"] for one in json.loads(text())["userStories"]):
        print("<promise>COMPLETE</promise>")
except Exception: pass
'''


def story(id, **fields):
    """A story as it is at the beginning; fields replace or add."""
    return {"id": id, "title": f"Title of {id}", "description": "", "acceptanceCriteria": [f"{id} works", f"{id} is quick"],
            "priority": 1, "passes": False, "reviewStatus": None, "reviewCount": 0, "reviewFeedback": "", "notes": "",
            "dependsOn": [], **fields}


def approved(id, **fields):
    return story(id, **{"passes": True, "reviewStatus": "approved", "reviewCount": 1, "notes": "done", **fields})


def rejected(id, **fields):
    return story(id, **{"reviewStatus": "changes_requested", "reviewCount": 1, "reviewFeedback": "it leaks", "notes": "done",
                        **fields})


def submitted(id, **fields):
    return story(id, **{"reviewStatus": "needs_review", "notes": "done", **fields})


class Plan:
    def __init__(self, project, stories=None, *, indent=2, tasks=None, folder="ralph", reviews=None, git=True, **top):
        """`tasks`: tasks.json as text, instead of `stories`. `reviews`: {id: how many reviews until the honest agent
        approves it}, 1 if not said. More keywords are top-level members of tasks.json."""
        self.project = project
        self.folder, self.below = project.path / folder, folder
        self.tasks_path = self.folder / "tasks.json"
        self.marker = project.path / ".ralph-active"
        self.indent, self.reviews = indent, reviews or {}
        self.otherwise = 'print("A commit message")'
        self._cheats = []
        self._was_run = False
        stories = stories if stories is not None else [story("US-001")]
        self.folder.mkdir(parents=True)
        document = {"project": "Demo", "branchName": "main", "description": "A demo.", "verifyCommands": [], **top,
                    "userStories": stories}
        self.write(tasks if tasks is not None else json.dumps(document, indent=indent) + "\n")
        (self.folder / "prd.md").write_text("# Requirements\nIt has to work.\n")
        (self.folder / "prompt.md").write_text("Iteration {{RALPH_ITERATION}}.\n\n{{RALPH_ASSIGNMENT}}\n")
        (self.folder / "progress.txt").write_text("# Progress\n")
        (project.path / ".gitignore").write_text(".ralph-active\n.ralph/\n*.rejected-*\n")
        self.approved_before = {one["id"] for one in stories if one.get("passes")} if tasks is None else set()
        # The agent notes what it did beside the project. The tests of the sandbox (test_sandbox_runs.py) switch it on.
        project.settings({"sandbox": {"mode": "off"}})
        self.agent()
        if git:
            project.git_init()
            self.commit_all("the plan")

    # The agent

    def cheat(self, code, *, at=None, mode=None, phase="edit", always=False):
        """Adds Python to the agent: in iteration `at` and/or in `mode`, else in the first; once, unless `always`.
        phase: "before" the honest work, "edit" `tasks` after the honest edit and before it is saved and committed,
        "after" the commit, or "instead" of all of it (then the code has to save and commit by itself)."""
        self._cheats.append((at, mode, phase, always, code))
        self.agent()
        return self

    def agent(self, **settings):
        """Writes the agent's script again; keywords are keys of settings.agent."""
        self.project.python_agent(AGENT % {
            "base": str(self.project.base), "project": str(self.project.path), "ralph": str(self.folder),
            "below": self.below, "indent": self.indent, "reviews": self.reviews, "otherwise": self.otherwise, "modes": MODES, "cheats": self._cheats}, **settings)
        return self

    def turns(self):
        """What the agent did, in order: {"iteration", "mode", "story", "what": "started" | "approved" |
        "changes_requested"}; a turn has one "started"."""
        path = self.project.base / "agent.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def modes(self):
        """["implement US-001", "review US-001", ...], one for each time that the agent was started."""
        return [f"{turn['mode']} {turn['story']}" for turn in self.turns() if turn["what"] == "started"]

    # Running

    def run(self, *arguments, **how):
        return self.project.run("plan", "run", *self._words(arguments), **how)

    def start(self, *arguments, **how):
        return self.project.start("plan", "run", *self._words(arguments), **how)

    def _words(self, arguments):
        """Approvals that a plan begins with are nobody's until a person accepts them."""
        first = self.approved_before and not self._was_run
        self._was_run = self._was_run or "--dry-run" not in arguments
        return [*arguments, "--accept-tasks"] if first and "--accept-tasks" not in arguments else arguments

    def completes(self, *arguments, **how):
        """Runs to the end, which has to be a completion that every rule agrees with. Returns the Result."""
        ids = {one["id"] for one in self.stories()} if self.tasks_path.is_file() else set()
        result = self.run(*arguments, **how)
        assert result.code == 0, result
        assert ids <= {one["id"] for one in self.stories()}
        self.is_honest()
        assert all(one["reviewStatus"] == "approved" for one in self.stories()), self.stories()
        assert not self.marker.exists()
        assert self.project.git("status", "--porcelain") == ""
        self.project.nothing_left()
        return result

    def is_honest(self):
        """No story is approved that was not so from the beginning, and that no honest review has approved."""
        reviewed = {turn["story"] for turn in self.turns() if turn["what"] == "approved"} | self.approved_before
        for one in self.stories():
            done = one["passes"] or one["reviewStatus"] == "approved"
            assert not done or one["id"] in reviewed, f"{one['id']} was approved without a review: {one}"
            assert one["passes"] == (one["reviewStatus"] == "approved"), one

    def wait_for(self, name, timeout=15):
        """Waits until the agent has made this file in `base`."""
        return wait_until(lambda: (self.project.base / name).exists(), timeout, f"the agent's file {name}")

    # What is there

    def write(self, text):
        self.tasks_path.write_text(text)

    def text(self):
        return self.tasks_path.read_text()

    def tasks(self):
        return json.loads(self.text())

    def stories(self):
        return self.tasks()["userStories"]

    def story(self, id):
        return next(one for one in self.stories() if one["id"] == id)

    def state(self, id):
        """(passes, reviewStatus, reviewCount)"""
        one = self.story(id)
        return one["passes"], one["reviewStatus"], one["reviewCount"]

    def checked(self, folder=None):
        """The plan_checked records of the last run (or that of the run folder)."""
        return self.project.records("plan_checked", folder)

    def violations(self, iteration=None, folder=None):
        """All that was taken back, or what was in that iteration."""
        return [text for record in self.checked(folder) if iteration in (None, record["iteration"])
                for text in record.get("violations", [])]

    def violation(self, iteration=None):
        return "\n".join(self.violations(iteration))

    def prompt(self, iteration, folder=None):
        return ((folder or self.project.run_folder()) / f"prompt_{iteration}.txt").read_text()

    def commit_all(self, message):
        self.project.git("add", "-A")
        self.project.git("commit", "-q", "--allow-empty", "-m", message)

    def commits(self):
        """Subjects, the oldest first."""
        return self.project.git("log", "--reverse", "--format=%s").splitlines()

    def own_commits(self):
        """(hash, subject) of ralph's own commits, the oldest first."""
        lines = self.project.git("log", "--reverse", "--format=%H %s").splitlines()
        return [tuple(line.split(" ", 1)) for line in lines if line.split(" ", 1)[1].startswith("ralph: ")]

    def committed(self, commit="HEAD", name="tasks.json"):
        """A file of the plan as it is in a commit."""
        return self.project.git("show", f"{commit}:{(self.folder / name).relative_to(self.project.path)}")

    def rejected(self):
        """What ralph kept beside the plan's files."""
        return sorted(self.project.path.rglob("*.rejected-*"))

    def state_file(self):
        """ralph's own copy of this plan, outside the project."""
        return next((self.project.home / ".local/state/ralph/plans").glob("*.json"))


REVIEW_FIELDS = ("passes", "reviewStatus", "reviewCount", "reviewFeedback")


def after_the_cheat(plan, *said, at=1, folder=None):
    """Checks that what happened in iteration `at` is in the journal, in the next prompt and in a commit of ralph's own, and
    returns tasks.json as it is in that commit."""
    violations = plan.violations(at, folder)
    for words in said:
        assert any(words in violation for violation in violations), (words, violations)
    told = plan.prompt(at + 1, folder)
    assert all(f"- {violation}" in told for violation in violations), told
    commit, subject = plan.own_commits()[0]
    assert f"iteration {at} may not change" in subject, plan.own_commits()
    names = plan.project.git("show", "--format=", "--name-only", commit).split()
    assert names and all(name.startswith("ralph") for name in names), names
    return json.loads(plan.committed(commit))


def review_of(one):
    return {field: one[field] for field in REVIEW_FIELDS}


def are_as_before(before, after, moved=()):
    """Every story is there, once, and those that did not move legally have their old review fields and criteria."""
    ids = [one["id"] for one in after]
    assert len(ids) == len(set(ids))
    found = {one["id"]: one for one in after}
    for was in before:
        now = found[was["id"]]
        assert set(was["acceptanceCriteria"]) <= set(now["acceptanceCriteria"])
        if was["id"] not in moved:
            assert review_of(now) == review_of(was)


def as_nobody(project):
    """The whole project is an ordinary user's."""
    return ordinary_user(project, project.base, *project.base.rglob("*"))



def python(code):
    """A shell command that runs this Python in the project's folder, for verifyCommands."""
    return shlex.join([sys.executable, "-S", "-c", code])


def files_below(path):
    """{relative path: content} of all files of a project but git's own, links as where they lead."""
    return {str(p.relative_to(path)): os.readlink(p) if p.is_symlink() else p.read_bytes()
            for p in Path(path).rglob("*") if (p.is_symlink() or p.is_file()) and ".git" not in p.relative_to(path).parts}
