"""Between two plan runs the plan is its user's, however the first one ended: what is edited counts, what is archived or made
anew is gone, and only an iteration that was killed is judged. What nobody has checked counts as nothing."""
import json
import os
import signal

import pytest

from plan_support import Plan, approved, rejected, story, submitted
from support import RALPH, wait_until

WAIT = """
(base / f'begun-{iteration}').touch()
while not (base / 'go').exists(): time.sleep(0.005)
"""
CHECK_THAT_WAITS = "touch ../checking; while [ ! -e ../go ]; do sleep 0.01; done"


def ctrl_c(project, running):
    running.signal(signal.SIGINT)
    wait_until(lambda: "Received signal" in running.err, what="its answer")
    (project.base / "go").touch()


def kill(_, running):
    os.kill(running.loop_pid, signal.SIGKILL)


def is_stopped(project, plan, how=ctrl_c, at=1):
    """A run whose agent has done its work in iteration `at`, and that is ended then, before the checks."""
    plan.cheat(WAIT, at=at, phase="after")
    running = plan.start()
    plan.wait_for(f"begun-{at}")
    how(project, running)
    assert running.wait().code != 0
    (project.base / "go").touch()
    assert not plan.marker.exists()
    return plan


def write_plan(plan, stories, **top):
    plan.write(json.dumps({**plan.tasks(), "branchName": "main", "verifyCommands": [], **top, "userStories": stories}))


# ---- another plan in the place of the first

REPLACED_BY = {"archive": ["archive"], "init": ["init", "--force", "--name", "other"]}


@pytest.mark.parametrize("how", [ctrl_c, kill])
@pytest.mark.parametrize("command", REPLACED_BY.values(), ids=REPLACED_BY.keys())
@pytest.mark.parametrize("new", ["NEW-1", "US-001"])
def test_a_new_plan_has_nothing_of_the_one_before(project, how, command, new):
    plan = is_stopped(project, Plan(project, [story("US-001"), story("US-002")]), how)
    result = project.run("plan", *command)
    assert result.code == 0, result
    assert ("ended before its iteration 1 (implement US-001) was checked" in result.err) == (command == ["archive"])
    write_plan(plan, [story(new, acceptanceCriteria=["of the new plan"])])
    (plan.folder / "prd.md").write_text("# The new plan\n")
    plan.commit_all("a new plan")
    before = len(plan.modes())
    result = plan.completes()
    assert "The last run" not in result.out and plan.violations() == []
    assert [one["id"] for one in plan.stories()] == [new]
    assert plan.story(new)["acceptanceCriteria"] == ["of the new plan"]
    assert (plan.folder / "prd.md").read_text() == "# The new plan\n"
    assert plan.modes()[before:] == [f"implement {new}", f"review {new}"]


def test_a_new_plan_is_on_its_own_branch(project):
    plan = is_stopped(project, Plan(project), kill)
    assert project.run("plan", "init", "--force", "--name", "other").code == 0
    write_plan(plan, [story("NEW-1")], branchName="ralph/other")
    plan.commit_all("a new plan")
    result = plan.completes("--switch")
    assert project.git("branch", "--show-current").strip() == "ralph/other", result


def test_a_plan_that_was_removed_by_hand_and_made_again(project):
    plan = is_stopped(project, Plan(project), kill)
    for path in plan.folder.iterdir():
        path.unlink()
    assert project.run("plan", "init").code == 0
    write_plan(plan, [story("US-001", acceptanceCriteria=["of the new plan"])])
    plan.commit_all("a new plan")
    plan.completes()
    assert plan.story("US-001")["acceptanceCriteria"] == ["of the new plan"]


def test_a_plan_that_was_written_over_by_hand_after_a_kill(project):
    """Nobody told ralph: it asks instead of guessing, and names what it compared with."""
    plan = is_stopped(project, Plan(project), kill)
    write_plan(plan, [story("NEW-1")])
    plan.commit_all("a new plan")
    result = plan.run()
    assert result.code == 2, result
    assert all(words in result.err for words in ("no story of the plan", "US-001", str(plan.state_file()), "--accept-tasks"))
    assert [one["id"] for one in plan.stories()] == ["NEW-1"]
    plan.completes("--accept-tasks")


def test_a_story_of_the_next_plan_is_not_blamed_for_tests_that_its_user_deleted(project):
    plan = Plan(project)
    (project.path / "tests").mkdir()
    (project.path / "tests/test_a.py").write_text("def test_a(): assert True\n")
    plan.commit_all("tests")
    plan.completes()
    write_plan(plan, [story("US-001")])  # by hand: the id is used again
    project.git("rm", "-q", "tests/test_a.py")
    plan.commit_all("another plan, other tests")
    plan.completes()
    assert "removed tests" not in plan.prompt(2), plan.prompt(2)


def test_tests_that_an_unfinished_story_took_away_are_told_by_the_next_run_too(project):
    plan = Plan(project)
    (project.path / "tests").mkdir()
    (project.path / "tests/test_a.py").write_text("def test_a(): assert True\n")
    plan.commit_all("tests")
    plan.cheat("git('rm', '-q', 'tests/test_a.py'); commit('no tests'); print('later'); sys.exit(0)", phase="instead")
    assert plan.run("-n", "1").code == 1
    plan.completes()
    assert "removed tests" in plan.prompt(2), plan.prompt(2)


# ---- edits after a run that was asked to stop

def test_after_ctrl_c_all_of_the_plan_is_the_users(project):
    plan = is_stopped(project, Plan(project, [story("US-001"), story("US-002"), story("US-003")], verifyCommands=["exit 3"]))
    assert plan.state("US-001") == (False, "needs_review", 0), "what it did is kept"
    (plan.folder / "prd.md").write_text("# Clearer words\n")
    tasks = plan.tasks()
    tasks["verifyCommands"] = ["echo ran >> ../ran"]
    tasks["userStories"] = [{**one, "acceptanceCriteria": ["other words"]} for one in tasks["userStories"] if one["id"] != "US-002"]
    plan.write(json.dumps(tasks))
    plan.commit_all("a person repaired the plan")
    result = plan.completes()
    assert "The last run stopped before the checks of its iteration 1 (implement US-001); that is checked first" in result.out
    assert plan.violations() == [] and plan.rejected() == []
    assert (plan.folder / "prd.md").read_text() == "# Clearer words\n"
    assert [(one["id"], one["acceptanceCriteria"]) for one in plan.stories()] == [
        ("US-001", ["other words"]), ("US-003", ["other words"])]
    assert plan.modes()[1] == "review US-001", "it is not implemented again"
    assert (project.base / "ran").read_text().count("ran") == 4, "first thing, and after each of three iterations"


def test_a_budget_that_ends_a_turn_leaves_the_plan_to_its_user(project):
    plan = Plan(project).cheat("time.sleep(100)", at=1, phase="after")
    project.settings(budget={"maxMinutes": 0.01})
    assert plan.run().code == 1
    assert plan.state("US-001") == (False, "needs_review", 0)
    project.settings(budget={"maxMinutes": 0})
    (plan.folder / "prd.md").write_text("# Clearer words\n")
    plan.commit_all("clearer words")
    plan.completes()
    assert plan.violations() == [] and (plan.folder / "prd.md").read_text() == "# Clearer words\n"
    assert plan.modes() == ["implement US-001", "review US-001"]


def test_history_that_a_person_rewrites_between_runs_is_theirs(project):
    plan = is_stopped(project, Plan(project))
    project.git("commit", "-q", "--amend", "-m", "in better words")
    plan.completes()
    assert plan.violations() == []


def test_history_that_the_stopped_iteration_rewrote_is_noticed(project):
    plan = Plan(project).cheat("git('commit', '-q', '--amend', '-m', 'x')", at=1, phase="before")
    is_stopped(project, plan)
    assert "History was rewritten" in plan.violation(1)


# ---- an approval that nobody has checked

@pytest.mark.parametrize("checks", ["true", "exit 3"])
def test_an_approval_waits_for_its_checks(project, checks):
    """Ctrl-C while the review works: its verdict is neither counted nor thrown away."""
    plan = is_stopped(project, Plan(project, [submitted("US-001")], verifyCommands=[checks]))
    assert plan.turns()[-1]["what"] == "approved"
    assert plan.state("US-001") == (False, "needs_review", 0)
    assert json.loads(project.run("plan", "status", "--json").out)["done"] == 0
    assert project.git("status", "--porcelain") == "", "and that is committed"
    result = plan.run("-n", "1")
    assert "stopped before the checks of its iteration 1 (review US-001); that is checked first" in result.out
    if checks == "true":
        assert result.code == 0 and plan.state("US-001") == (True, "approved", 1) and plan.modes() == ["review US-001"]
        assert plan.own_commits()[-1][1] == "ralph: US-001 approved"
        assert project.git("status", "--porcelain") == ""
    else:
        assert result.code == 1 and plan.modes() == ["review US-001", "review-fix US-001"]
        assert plan.checked()[0]["outcome"] == "sent_back"
        assert plan.state("US-001")[:2] == (False, "changes_requested")


def test_an_approval_waits_through_several_interruptions(project):
    plan = Plan(project, [submitted("US-001")], verifyCommands=[CHECK_THAT_WAITS])
    for _ in range(2):
        running = plan.start()
        plan.wait_for("checking")
        ctrl_c(project, running)
        assert running.wait().code == 130
        assert plan.state("US-001") == (False, "needs_review", 0)
        (project.base / "checking").unlink()
        (project.base / "go").unlink()
    (project.base / "go").touch()
    plan.completes()
    assert plan.modes() == ["review US-001"] and plan.state("US-001") == (True, "approved", 1)


def test_a_check_that_kills_ralph_does_not_get_the_approval_through(project):
    plan = is_stopped(project, Plan(project, [submitted("US-001")], verifyCommands=[CHECK_THAT_WAITS]))
    (project.base / "go").unlink()
    running = plan.start()
    plan.wait_for("checking")
    plan.write(plan.text().replace('"passes": false', '"passes": true').replace("needs_review", "approved"))
    kill(project, running)
    assert running.wait().code != 0
    (project.base / "go").touch()
    plan.completes()
    assert plan.violations(0) and plan.modes() == ["review US-001"] * 2


@pytest.mark.parametrize("decided", [story("US-001"), rejected("US-001", reviewFeedback="no, it leaks")], ids=["reset", "rejected"])
def test_what_its_user_decided_meanwhile_counts_more(project, decided):
    plan = is_stopped(project, Plan(project, [submitted("US-001")]))
    write_plan(plan, [decided])
    plan.commit_all("a person looked at it")
    result = plan.completes()
    assert "stopped before the checks" not in result.out
    assert plan.modes()[1] == ("implement US-001" if decided["reviewStatus"] is None else "review-fix US-001")


def test_accept_tasks_leaves_the_checks_out(project):
    plan = is_stopped(project, Plan(project, verifyCommands=["echo ran >> ../ran"]))
    result = plan.completes("--accept-tasks")
    assert "stopped before the checks" not in result.out
    assert (project.base / "ran").read_text() == "ran\n", "after the review alone"


def test_without_reviews_what_passes_waits_for_its_checks(project):
    plan = Plan(project, verifyCommands=["exit 3"]).cheat(WAIT, at=1, phase="after")
    running = plan.start("--skip-review")
    plan.wait_for("begun-1")
    ctrl_c(project, running)
    assert running.wait().code == 130
    assert plan.state("US-001") == (False, None, 0)
    result = plan.run("--skip-review", "-n", "1")
    assert result.code == 1 and plan.checked()[0]["outcome"] == "sent_back"
    assert plan.state("US-001") == (False, None, 0)


# ---- the copy that an iteration is judged by

def test_what_is_wrong_with_the_copy_is_said_of_the_copy(project):
    plan = Plan(project, [story("US-001"), story("US-002")]).cheat(WAIT, at=2, phase="after")
    running = plan.start("--skip-review")
    plan.wait_for("begun-2")
    kill(project, running)
    running.wait()
    result = plan.run()
    assert result.code == 2, result
    assert f"ralph's own copy {plan.state_file()}: Story US-001 has passes=true" in result.err
    assert "--accept-tasks" in result.err and str(plan.tasks_path) in result.err


def test_the_branch_of_the_copy_is_said_to_be_of_the_copy(project):
    plan = is_stopped(project, Plan(project), kill)
    write_plan(plan, plan.stories(), branchName="other")
    project.git("switch", "-q", "-c", "other")
    plan.commit_all("another branch")
    result = plan.run()
    assert result.code == 2 and f"branchName in ralph's own copy {plan.state_file()}" in result.err, result
    assert "--accept-tasks" in result.err
    plan.completes("--accept-tasks")


def test_the_cap_may_be_lowered(project):
    """What was approved under a higher cap stays so; another story gets its last review."""
    plan = Plan(project, [approved("US-001", reviewCount=9), rejected("US-002", reviewCount=4)], reviews={"US-002": 99})
    plan.approved_before |= {"US-002"}  # by the cap
    plan.completes("--review-cap", "2")
    assert plan.state("US-001") == (True, "approved", 9) and plan.state("US-002") == (True, "approved", 5)
    assert plan.story("US-002")["reviewFeedback"].startswith("[AUTO-APPROVED AT CAP]")
    assert plan.modes() == ["review-fix US-002", "review US-002"]


def test_under_a_lowered_cap_the_hook_lets_an_honest_agent_stop(project):

    plan = Plan(project, [rejected("US-001", reviewCount=4)])
    plan.cheat(f"(base / 'hook').write_text(subprocess.run([{str(RALPH)!r}, 'hooks', 'stop'], input='{{}}', text=True,"
               " capture_output=True).stdout)", phase="after")
    plan.completes("--review-cap", "2")
    assert "reviewCount" not in (project.base / "hook").read_text()


# ---- while a plan that is done is checked

@pytest.mark.parametrize("command", [["archive"], ["init", "--force"], ["draft", "--print"]], ids=lambda words: words[0])
def test_a_plan_whose_checks_run_is_held(project, command):
    plan = Plan(project, [approved("US-001")], verifyCommands=[CHECK_THAT_WAITS])
    running = plan.start()
    plan.wait_for("checking")
    for hidden in (False, True):
        if hidden:
            plan.marker.unlink()
            if command[0] == "draft":
                break
        result = project.run("plan", *command)
        assert result.code == 2 and f"pid {running.pid}" in result.err, result
    (project.base / "go").touch()
    assert running.wait().code == 0
    assert plan.state("US-001") == (True, "approved", 1) and not (project.path / "ralph-archive").exists()
    assert project.run("plan", "archive").code == 0
