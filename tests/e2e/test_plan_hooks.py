"""ralph hooks stop and ralph plan check: the same rules, asked by a host agent and by a person. The table is that of the
seed's verification plan."""
import json
import os
import signal
import subprocess
import uuid
from pathlib import Path

import pytest

from plan_support import Plan, approved, as_nobody, rejected, story, submitted
from support import RALPH

TOP = {"project": "Demo", "branchName": "main", "description": "A demo."}


def snapshot(stories):
    return {one["id"]: {key: one[key] for key in ("passes", "reviewStatus", "reviewCount")} for one in stories}


def marker(mode=None, before=None, **more):
    """A marker as the seed's: it names no run, so it binds everybody, and a process that lives."""
    fields = {"timestamp": "2026-11-15T10:30:00Z", "pid": os.getpid(), "max_iterations": 15, "mode": "direct", "skipReview": False, "reviewCap": 5}
    if mode:
        fields["iterationMode"] = mode
    if before is not None:
        fields["preIterationSnapshot"] = snapshot(before)
    return {**fields, **more}


def stop(project, payload=None, protocol=None, env=None, cwd=None):
    """Asks as a host agent would, each time in another session. Returns (reason or None, Result)."""
    if not isinstance(payload, (str, bytes)):
        payload = json.dumps({"cwd": str(project.path), "session_id": uuid.uuid4().hex, **(payload or {})})
    words = ["hooks", "stop", *(["--protocol", protocol] if protocol else [])]
    result = project.run(*words, stdin=payload, env=env, cwd=cwd or project.base)
    if protocol == "exit":
        assert result.out == "" and result.code in (0, 1), result
        return (result.err if result.code == 1 else None), result
    assert result.code == 0, result
    if not result.out:
        return None, result
    decision = json.loads(result.out)
    assert set(decision) == {"decision", "reason"} and decision["decision"] == "block", result
    return decision["reason"], result


def all_ways(project, **how):
    """Asks in every way that there is; they have to agree. Returns (problems as plan check has them, warnings)."""
    by_claude, _ = stop(project, **how)
    by_exit, _ = stop(project, protocol="exit", **how)
    by_hand = project.run("plan", "check")
    as_json = project.run("plan", "check", "--json")
    report = json.loads(as_json.out)
    assert set(report) == {"ok", "checks", "problems", "warnings"}
    assert report["ok"] == (report["problems"] == [])
    assert by_hand.code == as_json.code == (0 if report["ok"] else 1), by_hand
    assert (by_claude is None) == (by_exit is None) == report["ok"], (by_claude, by_exit, report)
    for problem in report["problems"]:
        assert problem["message"] in by_claude and problem["message"] in by_exit
        assert problem["check"] in ("1", "2", "2.5", "3")
        assert " ".join(problem["message"].split()) in " ".join(by_hand.out.split())
    if report["ok"]:
        assert "The plan is in order" in by_hand.out
    return report["problems"], report["warnings"]


def place(project, stories, active=None, **top):
    plan = Plan(project, stories, **top)
    if active is not None:
        plan.marker.write_text(json.dumps(active))
    return plan


# ---- check 1: the schema

def without(key):
    return lambda tasks: tasks.pop(key)


def story_without(key):
    return lambda tasks: tasks["userStories"][0].pop(key)


def story_with(**fields):
    return lambda tasks: tasks["userStories"][0].update(fields)


SCHEMA = [
    (without("project"), "project"), (without("branchName"), "branchName"), (without("description"), "description"),
    (without("userStories"), "userStories"), (lambda t: t.update(userStories={}), "userStories"),
    (lambda t: t.update(userStories=[]), "userStories"), (lambda t: t.update(userStories=["US-001"]), "userStories"),
    *[(story_without(key), key) for key in ("id", "title", "passes", "priority", "acceptanceCriteria", "reviewStatus",
                                            "reviewCount", "reviewFeedback")],
    (story_with(id=1), "id"), (story_with(title=None), "title"), (story_with(passes="true"), "passes"), (story_with(passes=1), "passes"),
    (story_with(priority="1"), "priority"), (story_with(acceptanceCriteria=[]), "acceptanceCriteria"),
    (story_with(acceptanceCriteria="works"), "acceptanceCriteria"), (story_with(reviewStatus="done"), "reviewStatus"),
    (story_with(reviewStatus=""), "reviewStatus"), (story_with(reviewStatus=False), "reviewStatus"),
    (story_with(reviewCount=-1), "reviewCount"), (story_with(reviewCount=1.5), "reviewCount"),
    (story_with(reviewCount="1"), "reviewCount"), (story_with(reviewFeedback=None), "reviewFeedback"),
    (story_with(passes=True, reviewStatus="approved", notes=""), "notes is empty"),
    (story_with(passes=True, reviewStatus="approved", notes=" \n"), "notes is empty"),
    (lambda t: t["userStories"].append(dict(t["userStories"][0])), "appears twice"),
]


@pytest.mark.parametrize("spoil, words", SCHEMA, ids=range(len(SCHEMA)))
def test_check_1_blocks_on_a_list_that_is_malformed(project, spoil, words):
    stories = [story("US-001"), story("US-002")]
    plan = place(project, stories, marker("implement", stories))
    assert all_ways(project) == ([], [])
    tasks = plan.tasks()
    spoil(tasks)
    plan.write(json.dumps(tasks, indent=2))
    plan.commit_all("spoilt")
    problems, _ = all_ways(project)
    assert problems and all(problem["check"] == "1" for problem in problems), problems
    assert words in problems[0]["message"] and "tasks.json" in problems[0]["message"]


@pytest.mark.parametrize("text", ["", "{", "not JSON", "[]", "null", '{"userStories": [}', "\ufeff"])
def test_check_1_blocks_on_what_is_no_list_at_all(project, text):
    plan = place(project, [story("US-001")], marker("implement", [story("US-001")]))
    plan.write(text)
    plan.commit_all("spoilt")
    problems, _ = all_ways(project)
    assert {problem["check"] for problem in problems} == {"1"}


@pytest.mark.parametrize("spoil", ["rm ralph/tasks.json", "rm -r ralph", "rm ralph/tasks.json && ln -s prd.md ralph/tasks.json",
                                   "rm ralph/tasks.json && mkdir ralph/tasks.json"])
def test_check_1_blocks_when_the_list_is_gone(project, spoil):
    place(project, [story("US-001")], marker("implement", [story("US-001")]))
    os.system(f"cd {str(project.path)!r} && {spoil}")
    problems, _ = all_ways(project)
    assert [problem["check"] for problem in problems] == ["1"] and "tasks.json" in problems[0]["message"]
    assert "plan init" not in problems[0]["message"], "an agent is not sent to make a new plan"


# ---- check 2: the review fields by themselves

INVARIANTS = [
    ("passes, null", story("US-001", passes=True, notes="done"), "not 'approved'"),
    ("passes, needs_review", story("US-001", passes=True, notes="done", reviewStatus="needs_review"), "not 'approved'"),
    ("passes, changes_requested", rejected("US-001", passes=True), "not 'approved'"),
    ("passes, approved", approved("US-001"), None),
    ("changes_requested without feedback", rejected("US-001", reviewFeedback=""), "feedback is required"),
    ("changes_requested with blank feedback", rejected("US-001", reviewFeedback=" \n"), "feedback is required"),
    ("approved without passes", approved("US-001", passes=False), "out of sync"),
    ("count at the cap and one", rejected("US-001", reviewCount=6), None),
    ("count beyond", rejected("US-001", reviewCount=7), "reviewCount 7"),
    ("new", story("US-001"), None),
    ("submitted", submitted("US-001"), None),
    ("rejected", rejected("US-001"), None),
]


@pytest.mark.parametrize("one, words", [row[1:] for row in INVARIANTS], ids=[row[0] for row in INVARIANTS])
def test_check_2_review_integrity(project, one, words):
    """The snapshot is the same as the list: only what holds of every list is asked."""
    before = marker("implement", [one])
    place(project, [one], before)
    problems, warnings = all_ways(project)
    assert [problem["check"] for problem in problems] == ([] if words is None else ["2"]) and warnings == []
    if words:
        assert problems[0]["story"] == "US-001" and words in problems[0]["message"] and "US-001" in problems[0]["message"]
    # Without a run the same holds, as far as `plan check` is concerned; a hook has no say.
    os.unlink(project.path / ".ralph-active")
    alone = json.loads(project.run("plan", "check", "--json").out)
    assert alone["problems"] == problems and alone["checks"] == ["1", "2", "3"]
    assert stop(project)[0] is None
    # And with reviews switched off none of it does.
    (project.path / ".ralph-active").write_text(json.dumps({**before, "skipReview": True}))
    assert all_ways(project) == ([], [])


def test_check_2_says_it_in_the_words_of_the_seed(project):
    place(project, [story("US-001", passes=True, notes="done", reviewStatus="needs_review")], marker())
    reason, _ = stop(project)
    assert ("Story US-001 has passes=true but reviewStatus is 'needs_review', not 'approved'. Only review iterations may approve "
            "stories. Set passes back to false or complete the review cycle.") in reason


def test_the_cap_of_the_marker_counts(project):
    plan = place(project, [rejected("US-001", reviewCount=3)], marker(reviewCap=1))
    assert "reviewCount 3" in stop(project)[0]
    plan.marker.write_text(json.dumps(marker(reviewCap=2)))
    assert stop(project)[0] is None


# ---- check 2.5: what the iteration changed

A, B = story("US-001"), story("US-002")
WAITING = submitted("US-001", reviewCount=1)
SENT_BACK = rejected("US-001")

TRANSITIONS = [
    # mode, before, after, what is said (None: it is legal)
    ("implement passes", "implement", [A], [{**A, "passes": True, "notes": "x"}], "cannot set passes=true"),
    ("implement approves", "implement", [A], [{**A, "reviewStatus": "approved"}], "approve stories"),
    ("implement passes and approves", "implement", [A], [approved("US-001", reviewCount=0)], "Only review iterations may approve"),
    ("implement counts", "implement", [A], [{**A, "reviewCount": 1}], "increment reviewCount"),
    ("implement submits", "implement", [A], [submitted("US-001")], None),
    ("implement does nothing", "implement", [A], [A], None),
    ("implement submits two", "implement", [A, B], [submitted("US-001"), submitted("US-002")], "one story only"),
    ("implement rejects", "implement", [A], [rejected("US-001", reviewCount=0)], "illegal transition"),
    ("implement takes an approval away", "implement", [A, approved("US-002")], [A, B], "US-002"),
    ("implement adds a story", "implement", [A], [A, B], None),
    ("implement adds a story that passes", "implement", [A], [A, approved("US-002")], "New stories must start incomplete"),
    ("implement adds a submitted story", "implement", [A], [A, submitted("US-002")], "New stories must start incomplete"),
    ("implement adds a counted story", "implement", [A], [A, {**B, "reviewCount": 1}], "New stories must start incomplete"),
    ("implement deletes a story", "implement", [A, B], [A], "never deleted"),
    ("implement renames a story", "implement", [A, B], [A, story("US-003")], "never deleted"),
    ("review approves", "review", [WAITING], [approved("US-001", reviewCount=2)], None),
    ("review rejects", "review", [WAITING], [rejected("US-001", reviewCount=2)], None),
    ("review rejects without words", "review", [WAITING], [rejected("US-001", reviewCount=2, reviewFeedback="")], "reviewFeedback is empty"),
    ("review does nothing", "review", [WAITING], [WAITING], "must increment reviewCount"),
    ("review approves without counting", "review", [WAITING], [approved("US-001")], "must increment reviewCount"),
    ("review rejects without counting", "review", [WAITING], [rejected("US-001")], "must increment reviewCount"),
    ("review only counts", "review", [WAITING], [submitted("US-001", reviewCount=2)], "a review ends in"),
    ("review counts two", "review", [WAITING], [approved("US-001", reviewCount=3)], "must increment reviewCount by 1"),
    ("review counts down", "review", [WAITING], [approved("US-001", reviewCount=0)], "must increment reviewCount by 1"),
    ("review of two stories", "review", [WAITING, submitted("US-002")], [approved("US-001", reviewCount=2), approved("US-002")],
     "may only modify one story"),
    ("review of a story that waits for none", "review", [WAITING, B], [approved("US-001", reviewCount=2), approved("US-002")],
     "only a story whose reviewStatus is needs_review"),
    ("review touches another", "review", [WAITING, approved("US-002")], [approved("US-001", reviewCount=2), {**B, "reviewCount": 1}],
     "US-002"),
    ("review adds a story", "review", [WAITING], [approved("US-001", reviewCount=2), B], None),
    ("review approves without passing", "review", [WAITING], [approved("US-001", reviewCount=2, passes=False)], "US-001"),
    ("review submits", "review", [WAITING, B], [WAITING, submitted("US-002")], "US-002"),
    ("fix passes", "review-fix", [SENT_BACK], [approved("US-001")], "cannot approve"),
    ("fix resubmits", "review-fix", [SENT_BACK], [submitted("US-001", reviewCount=1)], None),
    ("fix counts", "review-fix", [SENT_BACK], [submitted("US-001", reviewCount=2)], "increment reviewCount"),
    ("fix counts and nothing else", "review-fix", [SENT_BACK], [rejected("US-001", reviewCount=2)], "increment reviewCount"),
    ("fix does nothing", "review-fix", [SENT_BACK], [SENT_BACK], None),
    ("fix touches another", "review-fix", [SENT_BACK, B], [submitted("US-001", reviewCount=1), submitted("US-002")], "US-002"),
    ("fix of two", "review-fix", [SENT_BACK, rejected("US-002")],
     [submitted("US-001", reviewCount=1), submitted("US-002", reviewCount=1)], "one story only"),
    ("fix of a story that nobody rejected", "review-fix", [SENT_BACK, approved("US-002")],
     [submitted("US-001", reviewCount=1), submitted("US-002", reviewCount=1)], "US-002"),
]


@pytest.mark.parametrize("mode, before, after, words", [row[1:] for row in TRANSITIONS], ids=[row[0] for row in TRANSITIONS])
def test_check_2_5_transitions(project, mode, before, after, words):
    plan = place(project, after, marker(mode, before, story="US-001"))
    problems, warnings = all_ways(project)
    assert warnings == []
    if words is None:
        assert problems == []
    else:
        found = [problem for problem in problems if problem["check"] == "2.5"]
        assert found and any(words in problem["message"] for problem in found), problems
    # With reviews switched off transitions are not looked at.
    plan.marker.write_text(json.dumps(marker(mode, before, story="US-001", skipReview=True)))
    assert all_ways(project) == ([], [])


@pytest.mark.parametrize("active, missing", [
    (marker("implement"), "preIterationSnapshot"), (marker(None, [A]), "iterationMode"), (marker(), "preIterationSnapshot"),
    (marker("implement", preIterationSnapshot=[]), "preIterationSnapshot"), (marker("dance", [A]), "iterationMode"),
], ids=["no snapshot", "no mode", "neither", "a list", "a mode that is none"])
def test_without_a_snapshot_the_invariants_are_still_checked_and_a_warning_is_given(project, active, missing):
    plan = place(project, [approved("US-001")], active)
    problems, warnings = all_ways(project)
    assert problems == [] and len(warnings) == 1 and missing in warnings[0], "an approval that nobody can check"
    assert missing in stop(project)[1].err
    plan.write(json.dumps({**plan.tasks(), "userStories": [approved("US-001", passes=False)]}))
    plan.commit_all("out of sync")
    problems, warnings = all_ways(project)
    assert [problem["check"] for problem in problems] == ["2"] and len(warnings) == 1


# ---- check 3: uncommitted work

@pytest.mark.parametrize("work", ["echo x > new.txt", "echo x >> ralph/prd.md", "echo x > staged && git add staged", "git rm -q ralph/prd.md",
                                  "mkdir -p 'deep er' && touch 'deep er/new.txt'"])
def test_check_3_blocks_on_uncommitted_work_and_says_what_to_do(project, work):
    place(project, [A], marker("implement", [A]))
    assert all_ways(project) == ([], [])
    assert os.system(f"cd {str(project.path)!r} && {work}") == 0
    problems, _ = all_ways(project)
    assert [problem["check"] for problem in problems] == ["3"]
    assert "uncommitted changes" in problems[0]["message"] and "Before you stop" not in problems[0]["message"]
    for words in ["uncommitted changes", "progress.txt", "CLAUDE.md", ".claude/rules/", "commit ALL changes", "tasks.json"]:
        assert words in stop(project)[0]
    plan_commit(project)
    assert all_ways(project) == ([], [])


def plan_commit(project):
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "all")


def test_check_3_does_not_count_ralphs_own_files(project):
    plan = place(project, [A], marker("implement", [A]))
    (project.path / ".gitignore").write_text("nothing\n")
    plan_commit(project)
    project.git("rm", "-q", "--cached", ".ralph-active", "-r", ".ralph")
    project.git("commit", "-q", "-m", "not tracked")
    (plan.folder / "tasks.json.rejected-20261115-1").write_text("x")
    assert "?? .ralph-active" in project.git("status", "--porcelain")
    assert all_ways(project) == ([], [])


HIDDEN = {
    "by a setting": "git config status.showUntrackedFiles no; touch work.txt",
    "by a name of ralph's": "touch notes.rejected-by-nobody.py",
    "in a folder with such a name": "mkdir -p src.rejected-1 && touch src.rejected-1/work.py",
    "moved among ralph's files": "mkdir -p .ralph && git mv -f ralph/prd.md .ralph/prd.md",
}


@pytest.mark.parametrize("work", HIDDEN.values(), ids=HIDDEN.keys())
def test_check_3_sees_work_that_hides(project, work):
    plan = place(project, [A], marker("implement", [A]))
    (project.path / ".gitignore").write_text(".ralph-active\n")
    (project.ralph / ".gitignore").write_text("*\n")
    plan.commit_all("less is ignored")
    assert all_ways(project) == ([], [])
    assert os.system(f"cd {str(project.path)!r} && {work}") == 0
    assert [problem["check"] for problem in all_ways(project)[0]] == ["3"]


@pytest.mark.parametrize("name", ["a b.txt", 'quote".txt', "back\\slash", "tab\there", "line\nend", "größer.txt",
                                  "an -> arrow"])
def test_check_3_names_a_file_as_it_is_called(project, name):
    place(project, [A], marker("implement", [A]))
    (project.path / name).touch()
    problems, _ = all_ways(project)
    assert f"({name.replace(chr(9), ' ').replace(chr(10), ' ')})" in problems[0]["message"]


def test_check_3_in_a_folder_of_a_repository_whose_name_has_a_blank(project):
    inner = project.path / "my proj"
    Plan(project, [A], folder="my proj/ralph")
    (inner / ".ralph-active").write_text(json.dumps(marker("implement", [A])))
    (project.path / ".gitignore").write_text(".ralph/\n")
    plan_commit(project)
    project.git("rm", "-q", "--cached", "my proj/.ralph-active")
    project.git("commit", "-q", "-m", "not tracked")
    assert stop(project, {"cwd": str(inner)})[0] is None
    assert project.run("plan", "check", "-d", inner).code == 0
    (inner / "work.txt").touch()
    assert "(my proj/work.txt)" in stop(project, {"cwd": str(inner)})[0]


def in_order(project, **how):
    """plan check and the hook see all files as committed, and have looked."""
    report = project.run("plan", "check", "--json", **how)
    assert report.code == 0 and json.loads(report.out)["checks"][-1] == "3", report
    said = project.run("hooks", "stop", stdin=json.dumps({"cwd": str(project.path)}), **how)
    assert said.code == 0 and said.out == "", said


def test_what_git_warns_of_is_no_work(project):
    place(project, [A], marker("implement", [A]))
    project.git("update-ref", "refs/heads/HEAD", "HEAD")
    in_order(project)
    in_order(project, env={"GIT_TRACE": "1", "GIT_TRACE_SETUP": "1"})


@pytest.mark.parametrize("closed", ["path", "home"])
def test_a_folder_that_git_may_not_read_is_no_work(project, closed):
    place(project, [A], marker("implement", [A]))
    (project.home / ".config").mkdir(exist_ok=True)
    user = as_nobody(project)
    folder = project.path / "pgdata" if closed == "path" else project.home / ".config/git"
    folder.mkdir()
    folder.chmod(0o700)
    in_order(project, **user)


REFUSED = {
    "of somebody else's": (None, {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"},
                           ["dubious ownership", "git config --global --add safe.directory"]),
    "with broken settings": ("echo '[core' > .git/config", {},
                             ["bad config line 1 in file .git/config", "fix that first"]),
    "with a lost half": ("mv .git ../.git.away; echo 'gitdir: /no/such' > .git", {},
                         ["not a git repository: /no/such"]),
    "without HEAD": ("rm .git/HEAD", {}, [".git exists", "no repository in it"]),
    "with another work tree": ("git config core.worktree /usr", {}, ["core.worktree"]),
}


@pytest.mark.parametrize("spoil, env, words", REFUSED.values(), ids=REFUSED.keys())
def test_a_repository_that_git_refuses_is_an_error_and_no_missing_one(project, spoil, env, words):
    plan = place(project, [A])
    assert spoil is None or os.system(f"cd {str(project.path)!r} && {spoil}") == 0
    check = project.run("plan", "check", env=env)
    assert check.code == 2 and check.out == "" and all(word in check.err for word in words), check
    run = plan.run(env=env)
    assert run.code == 2 and not plan.turns() and not (project.ralph / "runs").exists(), run
    plan.marker.write_text(json.dumps(marker("implement", [A])))
    reason, said = stop(project, env=env)
    assert reason is None and all(word in said.err for word in words), said
    plan.marker.unlink()
    if "HEAD" in str(spoil):
        return  # for all that git says there is no repository: only who looks for uncommitted work minds
    assert all(word in run.err for word in words), run
    archive = project.run("plan", "archive", env=env)
    assert archive.code == 2 and all(word in archive.err for word in words), archive
    assert plan.tasks_path.exists() and not (project.path / "ralph-archive").exists()


def test_a_project_without_git_is_not_asked_for_commits(project):
    Plan(project, [A], git=False).marker.write_text(json.dumps(marker("implement", [A])))
    assert all_ways(project) == ([], [])
    assert json.loads(project.run("plan", "check", "--json").out)["checks"] == ["1", "2", "2.5"]


def test_several_problems_are_told_at_once(project):
    place(project, [approved("US-001"), rejected("US-002", reviewFeedback="")], marker("implement", [A, rejected("US-002")]))
    (project.path / "new.txt").touch()
    reason, _ = stop(project)
    assert reason.startswith("You can't stop yet:\n- ") and reason.count("\n- ") == 3
    problems, _ = all_ways(project)
    assert [problem["check"] for problem in problems] == ["2", "2.5", "3"]


# ---- whom a marker binds

@pytest.fixture
def broken(project):
    """A project whose plan is out of order; how its marker is depends on the test."""
    return place(project, [approved("US-001", passes=False)], None)


@pytest.mark.parametrize("run_id, env, binds", [
    (None, None, True), (None, "R1", True), ("", "R1", True), ("R1", "R1", True),
    ("R1", None, False), ("R1", "R2", False), ("R1", "", False),
])
def test_a_marker_with_a_run_binds_only_the_agents_of_that_run(project, broken, run_id, env, binds):
    broken.marker.write_text(json.dumps(marker(**({} if run_id is None else {"runId": run_id}))))
    environment = {} if env is None else {"RALPH_RUN_ID": env}
    for protocol in ("claude", "exit"):
        assert (stop(project, protocol=protocol, env=environment)[0] is not None) == binds


def test_a_marker_of_a_living_process_binds_and_a_stale_one_does_not(project, broken):
    for pid, binds in ((os.getpid(), True), (2**22 + 5, False)):
        broken.marker.write_text(json.dumps(marker(pid=pid)))
        assert (stop(project)[0] is not None) == binds
    broken.marker.write_text(json.dumps(marker(pid=os.getpid(), pidStart=1)))
    assert stop(project)[0] is None, "another process has the number now"


def test_without_a_marker_nobody_is_bound(project, broken):
    reason, result = stop(project)
    assert reason is None and result.err == ""
    assert stop(project, protocol="exit")[0] is None


def test_the_project_is_found_from_a_folder_below_it(project, broken):
    broken.marker.write_text(json.dumps(marker()))
    below = project.path / "src/deep er"
    below.mkdir(parents=True)
    assert stop(project, {"cwd": str(below)})[0]
    assert stop(project, {"cwd": str(below / "gone")})[0]
    assert stop(project, "{}", cwd=below)[0], "no cwd: where the hook itself stands"
    assert stop(project, {"cwd": "src"}, cwd=below)[0], "no absolute path is as good as none"
    assert stop(project, {"cwd": str(project.base)})[0] is None
    assert stop(project, {"cwd": "/"})[0] is None


def test_a_marker_nearer_by_is_the_one_that_counts(project, broken):
    broken.marker.write_text(json.dumps(marker()))
    inner = project.path / "inner"
    (inner / "ralph").mkdir(parents=True)
    (inner / "ralph/tasks.json").write_text(json.dumps({**TOP, "userStories": [A]}))
    (inner / ".ralph-active").write_text(json.dumps(marker("implement", [A])))
    broken.commit_all("inner plan")
    assert stop(project, {"cwd": str(inner)})[0] is None
    assert stop(project, {"cwd": str(project.path)})[0]


def test_the_plan_is_where_the_marker_says(project, broken):
    elsewhere = project.path / "plans"
    elsewhere.mkdir()
    (elsewhere / "tasks.json").write_text(json.dumps({**TOP, "userStories": [A]}))
    broken.commit_all("another plan")
    broken.marker.write_text(json.dumps(marker("implement", [A], ralphDir=str(elsewhere))))
    assert stop(project)[0] is None
    assert project.run("plan", "check", "--ralph-dir", "plans").code == 0


@pytest.mark.parametrize("payload", ["", "garbage", "{", "[]", "null", "17", '"text"', '{"cwd": 5}', '{"cwd": null}', b"\xff\xfe\0",
                                     '{"cwd": ""}', "[" * 5000, '{"messages": [{"role": "assistant", "content": "bye"}]}'],
                         ids=range(13))
def test_whatever_the_host_sends_the_rules_hold_where_the_hook_stands(project, broken, payload):
    broken.marker.write_text(json.dumps(marker()))
    assert "out of sync" in stop(project, payload, cwd=project.path)[0]
    broken.marker.unlink()
    assert stop(project, payload, cwd=project.path)[0] is None


@pytest.mark.parametrize("make", [lambda p: p.write_text("{"), lambda p: p.write_text("[]"), lambda p: p.write_text(""),
                                  lambda p: p.mkdir(), lambda p: p.symlink_to("/dev/null"), lambda p: p.write_bytes(b"\xff"),
                                  lambda p: p.write_text("[" * 100000)],
                         ids=["torn", "a list", "empty", "a folder", "a link", "bytes", "deep"])
def test_a_marker_that_cannot_be_read_allows_the_stop_and_says_why(project, broken, make):
    make(broken.marker)
    for protocol in (None, "claude", "exit"):
        reason, result = stop(project, protocol=protocol)
        assert reason is None and ".ralph-active" in result.err and result.out == "", result
    assert project.run("plan", "check").code == 2


def test_a_hook_in_a_folder_that_is_gone_allows_the_stop(project):
    gone = project.base / "gone"
    gone.mkdir()
    script = project.script(f"rmdir {str(gone)!r}; echo '{{}}' | {RALPH} hooks stop; echo code=$?")
    end = subprocess.run([str(script)], cwd=gone, env=project.environment(), capture_output=True, text=True)
    assert end.stdout == "code=0\n", end


@pytest.mark.parametrize("value, off", [("1", True), ("true", True), ("0", False), ("", False), ("false", False)])
def test_the_hook_can_be_switched_off(project, broken, value, off):
    broken.marker.write_text(json.dumps(marker()))
    assert (stop(project, env={"RALPH_DISABLE_LOOP_CONTROLLER": value})[0] is None) == off


def test_the_hook_changes_nothing(project, broken):
    broken.marker.write_text(json.dumps(marker("implement", [A])))
    before = {p: p.read_bytes() for p in project.path.rglob("*") if p.is_file()}
    assert stop(project)[0] and project.run("plan", "check").code == 1
    assert {p: p.read_bytes() for p in project.path.rglob("*") if p.is_file()} == before


# ---- plan check by itself

def test_exit_codes_and_shape_of_plan_check(project):
    plan = place(project, [A])
    good = project.run("plan", "check")
    assert good.code == 0 and "The plan is in order (checks 1, 2 and 3): 0 of 1 story done" in good.out, good
    assert json.loads(project.run("plan", "check", "--json").out) == {"ok": True, "checks": ["1", "2", "3"], "problems": [], "warnings": []}
    plan.write(json.dumps({**plan.tasks(), "userStories": [rejected("US-001", reviewFeedback="")]}))
    bad = json.loads(project.run("plan", "check", "--json").out)
    assert [(problem["check"], problem.get("story")) for problem in bad["problems"]] == [("2", "US-001"), ("3", None)]
    assert project.run("plan", "check").code == 1
    plan.tasks_path.unlink()
    gone = project.run("plan", "check")
    assert gone.code == 2 and gone.out == "" and "tasks.json is missing" in gone.err
    os.system(f"rm -r {str(plan.folder)!r}")
    none = project.run("plan", "check", "--json")
    assert none.code == 2 and none.out == "" and "ralph plan init" in none.err


def test_plan_check_takes_its_settings(project):
    plan = place(project, [story("US-001", passes=True, notes="x")])
    assert project.run("plan", "check").code == 1
    project.settings(plan={"skipReview": True})
    good = project.run("plan", "check")
    assert good.code == 0 and "(checks 1 and 3): 1 of 1 story done" in good.out, good
    project.settings(plan={"skipReview": False, "reviewCap": 2})
    plan.write(json.dumps({**plan.tasks(), "userStories": [rejected("US-001", reviewCount=4)]}))
    plan.commit_all("many reviews")
    assert "reviewCount 4" in project.run("plan", "check").out


def test_plan_check_from_elsewhere(project):
    place(project, [A])
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    assert project.run("plan", "check", "-d", project.path, cwd=elsewhere).code == 0
    assert project.run("-C", project.path, "plan", "check", cwd=elsewhere).code == 0
    assert project.run("plan", "check", cwd=elsewhere).code == 2


def test_escape_sequences_of_a_story_do_not_reach_the_terminal(project):
    evil = "US\x1b[2J\x1b]0;owned\x07-1"
    place(project, [rejected(evil, reviewFeedback="")], marker("implement", [rejected("gone")]))
    result = project.run("plan", "check")
    assert result.code == 1 and "\x1b" not in result.out and "\x07" not in result.out


@pytest.mark.slow  # without optimisation it takes longer than anybody waits
def test_ten_thousand_stories(project):
    stories = [approved(f"US-{n:05}", notes="done " * 20, dependsOn=[f"US-{n - 1:05}"] if n else []) for n in range(9999)]
    stories.append(story("US-09999"))
    plan = place(project, stories, marker("implement", stories, story="US-09999"))
    assert all_ways(project) == ([], [])
    tasks = plan.tasks()
    for one in tasks["userStories"][::2]:
        one.update(passes=False, reviewStatus=None)
    plan.write(json.dumps(tasks))
    reason, _ = stop(project)
    assert reason.count("illegal transition") == 5000 or "more" in reason, "all of them are found"


# ---- in a real run: the agent's own hook

ASK = f"""
def hook(cwd=None, **env):
    end = subprocess.run([{str(RALPH)!r}, "hooks", "stop"], input=json.dumps({{"cwd": cwd or os.getcwd()}}), cwd="/",
                         env={{**os.environ, **env}}, capture_output=True, text=True)
    return end.stdout + end.stderr
def note(name, **how): (base / name).write_text(hook(**how))
"""


def asked(project, name):
    text = (project.base / name).read_text()
    return json.loads(text)["reason"] if text else None


def test_an_agent_is_told_before_it_stops(project):
    plan = Plan(project, reviews={"US-001": 2})
    plan.cheat(ASK + "note(f'before-{iteration}')", phase="before", always=True)
    plan.cheat("note(f'after-{iteration}')", phase="after", always=True)
    plan.cheat("save(); note(f'uncommitted-{iteration}')", phase="edit", always=True)
    plan.completes()
    assert [asked(project, f"after-{i}") for i in (1, 2, 3, 4)] == [None] * 4
    assert asked(project, "before-1") is None and asked(project, "before-3") is None
    for i in (2, 4):
        assert "The review gave no verdict" in asked(project, f"before-{i}")
    for i in (1, 2, 3, 4):
        assert "uncommitted changes" in asked(project, f"uncommitted-{i}")


def test_an_implementer_that_approves_is_blocked_by_its_hook(project):
    plan = Plan(project)
    plan.cheat(ASK, phase="before", always=True)
    plan.cheat("story.update(passes=True, reviewStatus='approved', reviewCount=1)", at=1)
    plan.cheat("note('said', cwd=str(ralph))", at=1, phase="after")
    plan.completes()
    reason = asked(project, "said")
    assert "Implement iterations cannot set passes=true" in reason and "reviewStatus null → approved" in reason


def test_the_hook_knows_more_than_the_marker(project):
    """Criteria and commands are in ralph's own copy only."""
    plan = Plan(project, verifyCommands=["true"])
    plan.cheat(ASK, phase="before", always=True)
    plan.cheat("story['acceptanceCriteria'].pop(); tasks['verifyCommands'].clear(); tasks['branchName'] = 'x'", at=1)
    plan.cheat("note('said')", at=1, phase="after")
    assert plan.run().code == 0
    reason = asked(project, "said")
    for words in ["US-001 is quick", "verifyCommands may be added", "branchName was changed"]:
        assert words in reason, reason


TAMPER = {
    "removed": "Path('.ralph-active').unlink()",
    "garbage": "Path('.ralph-active').write_text('{{{')",
    "skips reviews": "Path('.ralph-active').write_text(json.dumps({**active, 'skipReview': True}))",
    "no snapshot": "del active['preIterationSnapshot']; Path('.ralph-active').write_text(json.dumps(active))",
    "snapshot that fits": "active['preIterationSnapshot'] = {one['id']: {'passes': True, 'reviewStatus': 'approved', 'reviewCount': 1} "
                          "for one in tasks['userStories']}; Path('.ralph-active').write_text(json.dumps(active))",
    "another mode": "active['iterationMode'] = 'review'; Path('.ralph-active').write_text(json.dumps(active))",
    "another run": "Path('.ralph-active').write_text(json.dumps({**active, 'runId': 'another'}))",
    "another plan": "other = base / 'other'; other.mkdir(); (other / 'tasks.json').write_text(text()); "
                    "Path('.ralph-active').write_text(json.dumps({**active, 'ralphDir': str(other), 'skipReview': True}))",
    "dead process": "Path('.ralph-active').write_text(json.dumps({**active, 'pid': 4194309}))",
    "a folder": "Path('.ralph-active').unlink(); Path('.ralph-active').mkdir()",
    "a link": "Path('.ralph-active').unlink(); Path('.ralph-active').symlink_to('/dev/null')",
    "another one below": "Path('sub').mkdir(); Path('sub/.ralph-active').write_text('{}'); os.chdir('sub')",
}


@pytest.mark.parametrize("folder", ["ralph", "plans/next"])
@pytest.mark.parametrize("tamper", TAMPER.values(), ids=TAMPER.keys())
def test_ralphs_own_copy_outranks_a_marker_that_the_agent_spoiled(project, tamper, folder):
    plan = Plan(project, folder=folder)
    plan.cheat(ASK, phase="before", always=True)
    plan.cheat("story.update(passes=True, reviewStatus='approved', reviewCount=1)", at=1)
    plan.cheat("active = json.loads(Path('.ralph-active').read_text())\n" + tamper + "\nnote('said', cwd=os.getcwd())\n"
               f"os.chdir({str(project.path)!r})", at=1, phase="after")
    result = plan.run("-n", "1", "--ralph-dir", folder)
    assert result.code == 1, result
    assert "Implement iterations cannot set passes=true" in asked(project, "said")
    assert plan.state("US-001") == (False, None, 0) and not os.path.lexists(plan.marker)


def test_the_agent_that_writes_a_commit_message_may_stop(project):
    """Its work is uncommitted: that is why it is asked."""
    plan = Plan(project)
    plan.otherwise = ASK + "note('said')\nprint('A commit message')"
    plan.cheat("do_honest(); save()", at=1, phase="instead")
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    plan.completes()
    assert asked(project, "said") is None and "A commit message" in plan.commits()


def test_an_agent_is_not_sent_back_for_ever(project):
    plan = Plan(project)
    plan.cheat(ASK + "(base / 'said').write_text(json.dumps([hook() for _ in range(10)]))", mode="review", phase="before")
    plan.completes()
    said = json.loads((project.base / "said").read_text())
    assert all("The review gave no verdict" in one for one in said[:8])
    assert all("sent back as often as allowed" in one and "block" not in one for one in said[8:])


def test_an_agent_that_is_let_go_is_in_the_hooks_documentation():
    text = (Path(__file__).parents[2] / "docs/formats/hooks.md").read_text()
    assert "may stop after 8 refusals in a row" in text


@pytest.mark.parametrize("waiting, named", [(["US-002"], "reviewCount of story US-002 and"),
                                            (["US-002", "US-003"], "the reviewed story (one of US-002 and US-003) and")],
                         ids=["one", "two"])
def test_with_the_seeds_marker_the_hook_names_the_stories_that_wait(project, waiting, named):
    """That marker does not say which story the iteration has."""
    stories = [story("US-001"), *[submitted(id) for id in waiting]]
    place(project, stories, marker("review", stories))
    reason = stop(project)[0]
    assert "The review gave no verdict" in reason and named in reason and "story  " not in reason, reason


def test_a_persons_own_session_is_left_alone_while_a_run_works(project):
    plan = Plan(project)
    plan.cheat("Path('half done').touch()\n(base / 'begun').touch()\nwhile not (base / 'go').exists(): time.sleep(0.005)",
               at=1, phase="before")
    running = plan.start()
    plan.wait_for("begun")
    run = json.loads(plan.marker.read_text())["runId"]
    assert stop(project)[0] is None
    assert stop(project, env={"RALPH_RUN_ID": "another"})[0] is None
    assert "half done" in stop(project, env={"RALPH_RUN_ID": run})[0]
    by_hand = json.loads(project.run("plan", "check", "--json").out)
    assert by_hand["checks"] == ["1", "2", "2.5", "3"] and [p["check"] for p in by_hand["problems"]] == ["3"]
    (project.base / "go").touch()
    assert running.wait().code == 0
    assert stop(project, env={"RALPH_RUN_ID": run})[0] is None, "it is over"
    project.nothing_left()


def test_a_run_that_was_killed_binds_nobody(project):
    plan = Plan(project)
    plan.cheat("Path('half done').touch()\n(base / 'begun').touch()\nwhile not (base / 'go').exists(): time.sleep(0.005)",
               at=1, phase="before")
    running = plan.start()
    plan.wait_for("begun")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    assert stop(project)[0] is None
    by_hand = project.run("plan", "check", "--json")
    assert json.loads(by_hand.out)["checks"] == ["1", "2", "3"]
