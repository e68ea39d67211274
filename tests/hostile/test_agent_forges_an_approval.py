"""An agent kills ralph, removes ralph's own copy of the plan, and approves its story: nobody knows of a review."""
import json
import shutil

from plan_support import Plan, story
from terminal import end_of, in_terminal, seen


def forged(project):
    """A plan that a run has left unfinished, whose copy is gone, and whose story was approved by nobody."""
    plan = Plan(project, [story("US-001"), story("US-002")])
    assert plan.run("-n", "1").code == 1
    shutil.rmtree(project.home / ".local/state/ralph/plans")
    tasks = plan.tasks()
    tasks["userStories"][0].update(passes=True, reviewStatus="approved", reviewCount=1, notes="x")
    plan.write(json.dumps(tasks))
    plan.commit_all("forged")
    return plan


def test_an_approval_that_nobody_knows_is_not_taken(project):
    plan = forged(project)
    result = plan.run()
    assert result.code == 2 and "US-001" in result.err and "--accept-tasks" in result.err, result
    assert len(plan.modes()) == 1


def test_a_person_may_take_it_and_the_answer_is_kept(project):
    plan = forged(project)
    with in_terminal(project, "plan", "run", "-n", "1", width=200) as child:
        child.expect_exact("Accept these approvals as they are? (y/N): ")
        child.sendline("n")
        assert end_of(child) == 2, seen(child)
    assert len(plan.modes()) == 1
    assert plan.run("--accept-tasks", "-n", "1").code == 1
    assert project.run("runs", "gc", "--keep", "1", "--yes").code == 0
    assert plan.run("-n", "1").code == 0, "gc leaves the copy that knows the answer"


def test_an_approval_between_runs_is_asked_about_too(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    assert plan.run("-n", "1").code == 1
    tasks = plan.tasks()
    tasks["userStories"][0].update(passes=True, reviewStatus="approved", reviewCount=1, notes="x")
    plan.write(json.dumps(tasks))
    plan.commit_all("by whom?")
    result = plan.run()
    assert result.code == 2 and "US-001" in result.err, result
    assert plan.run("--accept-tasks", "-n", "1").code == 1
    assert plan.run("-n", "1").code == 0, "the answer is kept"
