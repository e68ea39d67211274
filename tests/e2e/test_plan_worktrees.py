"""Two features of one repository at the same time, each in a git worktree of its own: their runs don't see each other."""
import copy
import json
import os
import signal

import pytest

from plan_support import Plan, story

# Both agents go on only when both have begun, so that the runs are surely there at the same time.
MEET = """
import shutil
shutil.copy('.ralph-active', base / 'marker.json')
(base / 'begun').touch()
while not (base / 'go').exists(): time.sleep(0.005)
"""


def second_worktree(project, path, branch="two"):
    """The same repository, home and processes; another folder, another branch."""
    project.git("worktree", "add", "-q", "-b", branch, str(path))
    other = copy.copy(project)
    other.path, other.ralph = path, path / ".ralph"
    other.base = project.base / "second"
    other.base.mkdir()
    other._settings = copy.deepcopy(project._settings)
    return other


def two_plans(project, path, **how):
    project.git_init()
    (project.path / ".gitignore").write_text("/trees/\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "before the features")
    other = second_worktree(project, path)
    one = Plan(project, [story("A1"), story("A2")], git=False, branchName="main", reviews={"A1": 2}, **how)
    two = Plan(other, [story("B1"), story("B2", dependsOn=["B1"])], git=False, branchName="two", reviews={"B2": 2}, **how)
    for plan in (one, two):
        with open(plan.project.path / ".gitignore", "a") as file:
            file.write("/trees/\n")
        plan.commit_all("the plan")
    return one, two


@pytest.fixture(params=["beside", "inside"])
def plans(project, request):
    path = project.base / "work tree twö" if request.param == "beside" else project.path / "trees/two"
    return two_plans(project, path)


def start_both(one, two):
    """Both runs, each in its first iteration."""
    runs = [plan.cheat(MEET, at=1, phase="before").start() for plan in (one, two)]
    for plan in (one, two):
        plan.wait_for("begun")
    return runs


def let_go(*plans):
    for plan in plans:
        (plan.project.base / "go").touch()


def commits_of(project, range):
    return project.git("log", "--reverse", "--format=%s", range).splitlines()


def test_both_complete_each_on_its_branch(project, plans):
    one, two = plans
    first, second = start_both(one, two)
    markers = [json.loads((plan.project.base / "marker.json").read_text()) for plan in plans]
    assert [m["pid"] for m in markers] == [first.pid, second.pid] and markers[0]["runId"] != markers[1]["runId"]
    assert [m["ralphDir"] for m in markers] == [str(one.folder), str(two.folder)]
    assert [list(m["preIterationSnapshot"]) for m in markers] == [["A1", "A2"], ["B1", "B2"]]
    # Each knows its own run only.
    for plan, running in ((one, first), (two, second)):
        shown = plan.project.run("plan", "status")
        assert f"pid {running.pid}," in shown.out, shown
        refused = plan.run()
        assert refused.code == 2 and f"pid {running.pid}" in refused.err, refused
    let_go(*plans)
    assert first.wait().code == 0 and second.wait().code == 0, (first.out, second.out)

    for plan in plans:
        plan.is_honest()
        assert all(one_story["reviewStatus"] == "approved" for one_story in plan.stories())
        assert plan.violations() == [] and not plan.marker.exists()
        assert plan.project.git("status", "--porcelain") == ""
        assert len(plan.project.run_folders()) == 1
    assert one.modes() == ["implement A1", "review A1", "review-fix A1", "review A1", "implement A2", "review A2"]
    assert two.modes() == ["implement B1", "review B1", "implement B2", "review B2", "review-fix B2", "review B2"]
    assert commits_of(project, "two..main") == ["the plan", *one.modes()] and commits_of(project, "main..two") == ["the plan", *two.modes()]
    states = sorted((project.home / ".local/state/ralph/plans").glob("*.json"))
    assert len(states) == 2
    assert {json.loads(state.read_text())["ralphDir"] for state in states} == {str(one.folder), str(two.folder)}
    project.nothing_left()


def test_a_cheat_in_one_is_taken_back_there_and_nowhere_else(project, plans):
    one, two = plans
    one.cheat("story.update(passes=True, reviewStatus='approved', reviewCount=1)", at=1)
    first, second = start_both(one, two)
    let_go(*plans)
    assert first.wait().code == 0 and second.wait().code == 0, (first.out, second.out)
    assert "Implement iterations cannot set passes=true" in one.violation(1) and two.violations() == []
    assert [s for s in commits_of(project, "two..main") if s.startswith("ralph: ")]
    assert not [s for s in commits_of(project, "main..two") if s.startswith("ralph: ")]
    one.is_honest()
    two.is_honest()


def test_the_end_of_one_leaves_the_other_alone(project, plans):
    one, two = plans
    first, second = start_both(one, two)
    os.kill(first.loop_pid, signal.SIGKILL)
    assert first.wait().code != 0
    assert not one.marker.exists() and two.marker.exists()
    let_go(two)
    assert second.wait().code == 0
    assert two.modes()[0] == "implement B1" and not two.marker.exists()
    let_go(one)
    again = one.run()
    assert again.code == 0, again
    assert "The last run was ended in the middle of its iteration 1 (implement A1)" in again.out


def test_hooks_of_one_run_do_not_bind_agents_of_the_other(project, plans):
    one, two = plans
    runs = start_both(one, two)
    ids = [json.loads((plan.project.base / "marker.json").read_text())["runId"] for plan in plans]
    for plan in plans:
        (plan.project.path / "half done").touch()

    def blocked(plan, run_id):
        result = project.run("hooks", "stop", stdin=json.dumps({"cwd": str(plan.project.path)}), env={"RALPH_RUN_ID": run_id},
                             cwd=project.base)
        assert result.code == 0, result
        return "half done" in result.out
    assert blocked(one, ids[0]) and blocked(two, ids[1])
    assert not blocked(one, ids[1]) and not blocked(two, ids[0])
    let_go(*plans)
    for running in runs:
        assert running.wait().code == 0, running.out


def test_the_branch_of_another_worktree_is_not_taken(project):
    """Git itself refuses to have one branch in two places; ralph passes that on."""
    one, two = two_plans(project, project.base / "tree")
    tasks = two.tasks()
    tasks["branchName"] = "main"
    two.write(json.dumps(tasks))
    two.commit_all("the wrong branch")
    result = two.run("--switch")
    assert result.code == 2 and "main" in result.err and two.turns() == [], result
    assert one.run("-n", "1").code == 1


# ---- links on the way


@pytest.mark.parametrize("link, arguments", [
    ("project", ["-d", "{link}"]),
    ("base", ["-d", "{link}/{name}"]),
    ("project", ["-d", "{link}", "--ralph-dir", "{link}/ralph"]),
], ids=["the project", "a folder above", "the plan's folder too"])
def test_a_project_behind_a_link_is_the_same_project(project, link, arguments):
    plan = Plan(project, [story("US-001"), story("US-002")])
    here = project.base / "a link"
    here.symlink_to(project.path if link == "project" else project.base)
    words = [word.format(link=here, name=project.path.name) for word in arguments]
    assert plan.run("-n", "1", *words, cwd=project.home).code == 1
    for command in ["check", "status"]:
        assert project.run("plan", command, *words, cwd=project.home).code == 0
    plan.completes()
    assert len(list(plan.state_file().parent.glob("*.json"))) == 1, "one copy of ralph's own"


def test_a_plans_folder_that_is_a_link_itself_is_refused(project):
    Plan(project)
    (project.path / "linked").symlink_to("ralph")
    result = project.run("plan", "check", "--ralph-dir", "linked")
    assert result.code == 2 and "symbolic link" in result.err, result
