"""A clone brings `.ralph-active`, which would refuse every stop of every session, and every plan run."""
import json
import os

import pytest

from plan_support import Plan, story


def stop(project, **env):
    return project.run("hooks", "stop", stdin=json.dumps({"session_id": "s1", "cwd": str(project.path)}), env=env)


def commit_marker(project, **content):
    plan = Plan(project, [story("US-001")])
    plan.marker.write_text(json.dumps({"iterationMode": "implement", "ralphDir": str(plan.folder), "preIterationSnapshot": {},
                                       **content}))
    project.git("add", "-f", ".ralph-active")
    project.git("commit", "-qm", "a marker")
    (project.path / "dirty").touch()  # what a live marker would object to
    return plan


@pytest.mark.parametrize("pid", [{}, {"pid": 1}, {"pid": os.getpid()}], ids=["no pid", "pid 1", "a living pid"])
def test_a_tracked_marker_holds_nobody(project, pid):
    plan = commit_marker(project, **pid)
    assert stop(project).out == ""
    assert json.loads(project.run("plan", "status", "--json").out)["running"] is False
    (project.path / "dirty").unlink()
    assert plan.run().code == 0


def test_once_it_is_not_tracked_it_counts(project):
    """What was remembered of it is looked at again, because the index is another."""
    commit_marker(project, pid=os.getpid())
    assert stop(project).out == ""
    project.git("rm", "-q", "--cached", ".ralph-active")
    assert "block" in stop(project).out


def test_a_marker_counts_for_the_agents_of_its_run(project):
    commit_marker(project, runId="20260101-000000-abcd")
    assert stop(project, RALPH_RUN_ID="20260101-000000-ffff").out == ""
    assert "block" in stop(project, RALPH_RUN_ID="20260101-000000-abcd").out


def test_a_marker_of_another_user_holds_nobody(project):
    if os.geteuid() != 0:
        pytest.skip("changing the owner needs root")
    plan = Plan(project)
    plan.marker.write_text(json.dumps({"pid": os.getpid(), "ralphDir": str(plan.folder)}))
    (project.path / "dirty").touch()
    assert "block" in stop(project).out
    os.chown(plan.marker, 65534, 65534)
    assert stop(project).out == ""
