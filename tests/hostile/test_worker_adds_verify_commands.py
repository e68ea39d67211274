"""A worker that adds verify commands, to undo what the pinned ones find, or removes and reorders the pinned ones."""
import json

from plan_support import Plan, approved, story


def commands_run(project, iteration):
    return [r["command"] for r in project.records("guardrail_started") if r["iteration"] == iteration]


def test_added_commands_run_after_the_pinned_ones_and_are_announced(project):
    plan = Plan(project, [story("US-001")], verifyCommands=["echo one", "echo two"])
    plan.cheat("tasks['verifyCommands'] = ['echo first', 'echo one', 'echo two']", mode="implement")
    result = plan.completes()
    assert commands_run(project, 1) == commands_run(project, 2) == ["echo one", "echo two", "echo first"]
    assert "verify command added by implement iteration 1: echo first" in result.out
    assert "- echo first   (added by an agent; an iteration may remove it)" in plan.prompt(2)
    assert "- echo one\n" in plan.prompt(2)
    assert plan.checked()[-1]["added"] == ["echo first"]


def test_the_order_of_the_pinned_ones_is_put_back(project):
    plan = Plan(project, [story("US-001")], verifyCommands=["echo one", "echo two"])
    plan.cheat("tasks['verifyCommands'].reverse()", mode="implement")
    plan.completes()
    assert plan.tasks()["verifyCommands"] == ["echo one", "echo two"]
    assert "verifyCommands may be added, never removed or changed; they and their order were put back" in plan.violation(1)


def test_a_later_iteration_may_remove_what_another_added(project):
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=["true"])
    plan.cheat("tasks['verifyCommands'].append('echo added')", at=1)
    plan.cheat("tasks['verifyCommands'].remove('echo added')", at=3)
    result = plan.completes()
    assert plan.violations() == [] and plan.tasks()["verifyCommands"] == ["true"]
    assert "verify command of an agent removed by implement iteration 3: echo added" in result.out


def test_what_is_pinned_is_remembered_over_runs(project):
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=["true"])
    plan.cheat("tasks['verifyCommands'].append('echo added')", at=1)
    assert plan.run("-n", "2").code == 1
    # The next run still knows whose command is whose.
    plan.cheat("tasks['verifyCommands'] = []", at=1, mode="implement")
    plan.completes()
    assert plan.tasks()["verifyCommands"] == ["true"]
    assert "verifyCommands may be added, never removed" in plan.violation(1)


def test_what_the_user_accepts_is_pinned(project):
    plan = Plan(project, [approved("US-001"), story("US-002")], verifyCommands=["true"])
    plan.cheat("tasks['verifyCommands'].append('echo added')", at=1)
    assert plan.run("-n", "1").code == 1
    assert json.loads(plan.state_file().read_text())["added"] == ["echo added"]
    plan.cheat("tasks['verifyCommands'].remove('echo added')", at=1, mode="review")
    plan.run("--accept-tasks")
    assert plan.tasks()["verifyCommands"] == ["true", "echo added"]


def test_a_file_that_a_check_leaves_does_not_help_the_next_check(project):
    """The first check makes a file that lets the second succeed: it is not in the commit, so it does not count."""
    plan = Plan(project, [story("US-001")], verifyCommands=["test -e pass || { touch pass; false; }"])
    plan.cheat("do_honest(); save(); git('commit', '-qam', mode)", phase="instead", always=True)
    result = plan.run("-n", "4")
    assert result.code == 1, result
    assert plan.state("US-001")[0] is False
    assert list(project.run_folder().glob("made/*/pass"))
