"""An agent writes settings for the next run: a local file that skips the review, other guardrails, or its user's own file that
switches the questions off. Silence accepts none of it."""
import json
import os
import signal

import pytest

from plan_support import Plan, story
from support import wait_until
from terminal import end_of, in_terminal, seen

DONE = "echo '<response>DONE</response>'"
CHANGES = {"local": "echo '{\"plan\": {\"skipReview\": true}}' > .ralph/settings.local.json",
           "guardrails": "sed -i 's/test -d/true;test -d/' .ralph/settings.json",
           "the user's own": "mkdir -p ~/.config/ralph; echo '{\"trust\": \"off\"}' > ~/.config/ralph/settings.json",
           "broken": "echo { > .ralph/settings.local.json"}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_next_run_does_not_use_them(project, change, whoever):
    project.agent_script(f"echo x >> ../calls; {change}; {DONE}")
    project.guardrails("test -d .")
    how = whoever()
    first = project.run("run", "-p", "x", **how)
    assert first.code == 0 and "changed while the agent was running" in first.err, first
    for _ in range(2):
        assert project.run("run", "-p", "x", **how).code == 2
    assert len((project.base / "calls").read_text().splitlines()) == 1
    if "{ >" in change:
        return  # nobody can accept what can't be read
    result = project.run("run", "-p", "x", **how)
    assert "Changed while an agent was running" in result.err and "ralph trust" in result.err, result
    assert project.run("run", "-p", "x", "--trust", **how).code == 0, "for one run"
    assert project.run("run", "-p", "x", **how).code == 2
    assert project.run("trust", **how).code == 0
    assert project.run("run", "-p", "x", **how).code == 0


def test_what_is_changed_back_needs_no_answer(project):
    project.agent_script(f"echo '{{}}' > .ralph/settings.local.json; echo '{{\"maximumIterations\": 3}}' > .ralph/settings.local.json; {DONE}")
    assert project.run("run", "-p", "x").code == 0
    (project.ralph / "settings.local.json").unlink()
    assert project.run("run", "-p", "x").code == 0


def test_a_killed_run_proves_nothing_about_who_changed_them(project):
    project.agent_script("touch ../begun; sleep 60")
    running = project.start("run", "-p", "x")
    wait_until((project.base / "begun").exists, what="the agent")
    loop = running.loop_pid
    os.kill(running.pid, signal.SIGSTOP)
    os.kill(loop, signal.SIGKILL)
    os.kill(running.pid, signal.SIGKILL)
    project.settings(guardrails=[{"command": "true"}])
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "guardrails" in result.err, result


def test_a_person_is_asked(project):
    project.agent_script(f"{CHANGES['guardrails']}; {DONE}")
    project.guardrails("test -d .")
    assert project.run("run", "-p", "x").code == 0
    for answer, code in (("n", 2), ("y", 0)):
        with in_terminal(project, "run", "-p", "x", env={"RALPH_TRUST": ""}, width=200) as child:
            child.expect_exact("Use them anyway? (y/N): ")
            assert "true;test -d ." in seen(child)
            child.sendline(answer)
            assert end_of(child) == code, seen(child)


def test_a_planted_setting_does_not_approve_what_a_reviewer_rejected(project):
    plan = Plan(project, [story("US-001")], reviews={"US-001": 9})
    plan.cheat("Path('.ralph/settings.local.json').write_text('{\"plan\": {\"reviewCap\": 1}}')", mode="implement")
    assert plan.run("-n", "3").code == 1
    second = plan.run("-n", "3")
    assert second.code == 2 and "reviewCap" in second.err, second
    assert not plan.story("US-001")["passes"]


def test_the_record_is_written_from_memory(project):
    """An agent can write to the state folder, but what it writes there is gone when its run ends."""
    state = project.home / ".local/state/ralph/projects"
    project.agent_script(f"{CHANGES['guardrails']}; for f in \"$HOME\"/.local/state/ralph/projects/*/trust.json; do "
                         f"sed -i 's/\"running\": \".*\"/\"running\": \"\"/; s/\"acceptedBy\": \"\"/\"acceptedBy\": \"me\"/' \"$f\"; done; {DONE}")
    project.guardrails("test -d .")
    assert project.run("run", "-p", "x").code == 0
    record = json.loads(next(state.glob("*/trust.json")).read_text())
    assert record["acceptedBy"] == "" and record["running"]
    assert project.run("run", "-p", "x").code == 2
