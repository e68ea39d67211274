"""An agent that gets past the review by means of processes: what waits for its end, what kills ralph, what else runs ralph. What
it left is judged by this run or by the next."""
import json
import os
import signal
import subprocess

import pytest

from plan_support import Plan, after_the_cheat, are_as_before, python, story
from support import RALPH, wait_until


# ---- processes -------------------------------------------------------------------------------------------------------

APPROVE_ALL = """
def approve_all():
    done = json.loads(text())
    for one in done['userStories']: one.update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')
    write(json.dumps(done))
"""


def test_a_process_that_waits_for_the_agents_end(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat(APPROVE_ALL + """
parent = os.getpid()
read, pipe = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.close(pipe)
    for stream in (0, 1, 2): os.close(stream)
    os.read(read, 1)  # until the agent has ended
    while True:
        try: approve_all()
        except Exception: pass
""", at=1, phase="after")
    plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002"] or plan.violations(1)


def test_a_check_that_edits_the_plan(project):
    """The checks are programs of the project: what they write to the plan is taken back too."""
    edit = ("import json, os; t = json.load(open('ralph/tasks.json')); d = os.path.exists('.ralph/once'); open('.ralph/once', 'w')\n"
            "for s in t['userStories']: s.update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')\n"
            "d or json.dump(t, open('ralph/tasks.json', 'w'))")
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=[python(edit)])
    plan.completes()
    assert "ralph/tasks.json was changed while the checks ran" in plan.violation(1)
    assert "ralph/tasks.json was changed while the checks ran" in plan.prompt(2)
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002"]


def test_a_check_that_leaves_a_process_which_edits_the_plan(project):
    edit = ("import json, os\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    for n in range(3): os.close(n)\n"
            "    while True:\n"
            "        try:\n"
            "            t = json.load(open('ralph/tasks.json'))\n"
            "            for s in t['userStories']: s.update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')\n"
            "            json.dump(t, open('ralph/tasks.json', 'w'))\n"
            "        except Exception: pass\n")
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=[python(edit)])
    plan.completes()


def test_an_agent_that_dies_after_cheating(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    project.settings({"agent": {"retry": {"attempts": 0}}})
    plan.cheat("stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1, notes='x'); save(); commit('x')\n"
               "os.kill(os.getpid(), signal.SIGKILL)", at=1)
    plan.completes()
    assert project.records("agent_ended")[0]["outcome"] != "ok"
    after = after_the_cheat(plan, "Story US-002 had illegal transition")
    assert after["userStories"][0]["reviewStatus"] == "needs_review"


def test_an_agent_that_is_started_again_after_cheating(project):
    """A second try of the same iteration is judged against the time before the first."""
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1, notes='x'); save(); commit('x')\n"
               "os.kill(os.getpid(), signal.SIGKILL)", at=1, phase="before")
    plan.completes()
    assert plan.modes()[:2] == ["implement US-001", "implement US-001"]
    after_the_cheat(plan, "Story US-002 had illegal transition")


def test_an_agent_that_is_ended_after_cheating(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    project.settings({"agent": {"timeoutSeconds": 1}})
    plan.cheat("stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1, notes='x'); save(); commit('x')\n"
               "time.sleep(60)", at=1)
    plan.completes()
    assert project.records("agent_ended")[0]["outcome"] == "timed_out"
    after_the_cheat(plan, "Story US-002 had illegal transition")


def test_a_promise_said_too_early(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("print('<promise>COMPLETE</promise>')", at=1)
    plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002"]
    assert "<promise>COMPLETE</promise> was said too early" in plan.prompt(2)


def test_a_promise_and_a_cheat_do_not_complete(project):
    plan = Plan(project)
    plan.cheat("story.update(passes=True, reviewStatus='approved', reviewCount=1)", always=True, mode="implement")
    result = plan.run("-n", "3")
    assert result.code == 1, result
    assert plan.state("US-001") == (False, None, 0)
    assert plan.modes() == ["implement US-001"] * 3
    assert len(plan.violations()) == 3
    assert "3 rule violations reverted" in result.out


# ---- the run is ended in the middle of it ----------------------------------------------------------------------------

CHEAT_AND_WAIT = """
stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')
story['size'] = 'large'
save(); commit('cheat')
(base / 'cheated').touch()
while not (base / 'go').exists(): time.sleep(0.01)
"""


def started_cheating(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat(CHEAT_AND_WAIT, at=1)
    running = plan.start()
    plan.wait_for("cheated")
    return plan, running


def is_judged_by_the_next_run(plan):
    """What the killed run left is judged, told to the first iteration and committed; then the plan is done."""
    result = plan.completes()
    assert "in the middle of its iteration 1 (implement US-001); that is checked first" in result.out
    assert any("implement iteration 1 of the last run may not change" in subject for _, subject in plan.own_commits())
    return result


def is_checked_by_the_next_run(plan):
    """The run that was asked to stop has judged already; the checks are left to the next."""
    result = plan.completes()
    assert "stopped before the checks of its iteration 1 (implement US-001); that is checked first" in result.out
    assert plan.violations(0) == []
    return result


def test_interrupted_once_the_iteration_is_judged(project):
    plan, running = started_cheating(project)
    running.signal(signal.SIGINT)
    wait_until(lambda: "Received signal, shutting down..." in running.out + running.err, what="the answer to the signal")
    (project.base / "go").touch()
    result = running.wait()
    assert result.code == 130, result
    assert "Story US-002 had illegal transition" in plan.violation(1)
    assert plan.state("US-002") == (False, None, 0)
    assert plan.story("US-001")["size"] == "large"
    assert not plan.marker.exists()
    is_checked_by_the_next_run(plan)
    assert any(subject.startswith("ralph: ") for subject in plan.commits()), plan.commits()


def test_interrupted_twice_the_iteration_is_judged(project):
    plan, running = started_cheating(project)
    running.signal(signal.SIGINT)
    wait_until(lambda: "Received signal, shutting down..." in running.out + running.err, what="the answer to the signal")
    running.signal(signal.SIGINT)
    assert running.wait().code == 130
    assert plan.state("US-002") == (False, None, 0)
    assert not plan.marker.exists()
    is_checked_by_the_next_run(plan)
    assert any(subject.startswith("ralph: ") for subject in plan.commits()), plan.commits()


@pytest.mark.parametrize("victim", ["loop", "guardian"])
def test_killed_the_next_run_judges(project, victim):
    plan, running = started_cheating(project)
    os.kill(running.loop_pid if victim == "loop" else running.pid, signal.SIGKILL)
    running.wait()
    project.nothing_left()
    assert plan.story("US-002")["passes"] is True  # nobody was there to take it back
    is_judged_by_the_next_run(plan)
    violations = plan.violations(0)
    assert any("Story US-002 had illegal transition" in one for one in violations), violations
    assert all(one in plan.prompt(1) for one in violations)
    assert plan.own_commits()
    # What was allowed of it counts: US-001 is not implemented again.
    assert plan.story("US-001")["size"] == "large"
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002"]


def test_killed_by_its_own_agent(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1, notes='x'); save(); commit('x')\n"
               "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)", at=1)
    assert plan.run().code != 0
    project.nothing_left()
    is_judged_by_the_next_run(plan)
    assert any("Story US-002 had illegal transition" in one for one in plan.violations(0))


def test_killed_while_a_check_runs(project):
    """A check is a program of the project, and may kill as well as an agent."""
    edit = ("import json, os; t = json.load(open('ralph/tasks.json')); d = os.path.exists('.ralph/once'); open('.ralph/once', 'w')\n"
            "for s in t['userStories']: s.update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')\n"
            "d or json.dump(t, open('ralph/tasks.json', 'w'))\n"
            "def parent(pid): return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])\n"
            "at = os.getpid()\n"
            "while not d:\n"
            "    at = parent(at)\n"
            f"    if os.readlink(f'/proc/{{at}}/exe') == {str(RALPH)!r}: os.kill(at, 9)")
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=[python(edit)])
    assert plan.run().code != 0
    project.nothing_left()
    is_judged_by_the_next_run(plan)
    assert plan.violations(0)


def test_two_runs_at_once(project):
    plan, running = started_cheating(project)
    second = plan.run()
    assert second.code == 2 and f"pid {running.pid}" in second.err, second
    plan.marker.unlink()  # as an agent might
    second = plan.run()
    assert second.code == 2 and f"pid {running.pid}" in second.err, second
    (project.ralph / "lock").unlink()
    second = plan.run()
    assert second.code == 2, second
    (project.base / "go").touch()
    assert running.wait().code == 0
    plan.is_honest()


def test_many_runs_started_at_once(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("while not (base / 'go').exists(): time.sleep(0.01)", at=1)
    runs = [plan.start() for _ in range(5)]
    wait_until(lambda: sum(run.process.poll() is None for run in runs) == 1, what="four of five refused")
    (project.base / "go").touch()
    codes = sorted(run.wait().code for run in runs)
    assert codes == [0, 2, 2, 2, 2]
    assert not plan.marker.exists()
    plan.is_honest()
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002"]


@pytest.mark.parametrize("command", ["plan run --skip-review", "plan run --accept-tasks -n 1", "plan archive", "plan init --force"])
@pytest.mark.parametrize("first", ["", "os.unlink('.ralph-active')\n"], ids=["", "without the marker"])
def test_the_agent_uses_ralph_itself(project, command, first):
    before = [story("US-001"), story("US-002")]
    plan = Plan(project, before)
    plan.cheat(APPROVE_ALL + first + f"""
approve_all()
commit('all done')
subprocess.run([{str(RALPH)!r}, *{command.split()!r}], timeout=20)
""", at=1, phase="after")
    plan.completes()
    are_as_before(before, json.loads(plan.committed(plan.own_commits()[0][0]))["userStories"], ("US-001",))
    assert plan.modes()[0] == "implement US-001"


def test_ralphs_own_folder_is_deleted(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("import shutil; shutil.rmtree('.ralph')\nstories['US-002']['passes'] = True", at=1)
    plan.run()
    plan.is_honest()
    assert not plan.marker.exists()


def test_interrupted_while_a_check_runs(project):
    """What was taken back is told and committed all the same."""
    wait = "import os, time\nopen('.ralph/checking', 'w')\nwhile not os.path.exists('.ralph/go'): time.sleep(0.01)"
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=[python(wait)])
    plan.cheat("stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')", at=1)
    running = plan.start()
    wait_until(lambda: (project.ralph / "checking").exists(), what="the check")
    running.signal(signal.SIGINT)
    wait_until(lambda: "Received signal, shutting down..." in running.out + running.err, what="the answer to the signal")
    (project.ralph / "go").touch()
    assert running.wait().code == 130
    assert "Story US-002 had illegal transition" in plan.violation(1)
    assert plan.state("US-002") == (False, None, 0) and plan.own_commits()
    is_checked_by_the_next_run(plan)
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002"]


def test_a_full_disk_keeps_nothing_that_was_cheated(project):
    """Where ralph can't put back what was changed, the run fails, and the next one judges."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(project.path)], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip("mount was refused: " + mounted.stderr.strip())
    try:
        plan = Plan(project, [story("US-001"), story("US-002")])
        plan.cheat("""
stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1, notes='x' * 9000)
save(); commit('cheat')
try:
    with open('filler', 'wb', buffering=0) as file:
        while True: file.write(bytes(4096))
except OSError: pass
""", at=1)
        result = plan.run()
        assert result.code == 2 and "No space left" in result.err, result
        assert plan.story("US-002")["passes"] is True  # it could not be put back
        (project.path / "filler").unlink()
        plan.completes()
        assert any("US-002 had illegal transition" in one for one in plan.violations(0))
    finally:
        subprocess.run(["umount", "-l", str(project.path)], check=True)


def test_the_settings_are_read_once(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("""
settings = json.loads(Path('.ralph/settings.json').read_text())
settings['plan'] = {'skipReview': True, 'reviewCap': 1}
Path('.ralph/settings.json').write_text(json.dumps(settings))
story.update(passes=True, reviewStatus=None)
""", at=1)
    plan.completes()
    assert plan.modes() == ["implement US-001", "implement US-001", "review US-001", "implement US-002", "review US-002"]
