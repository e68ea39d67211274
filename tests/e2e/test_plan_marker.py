""".ralph-active and the ways out of a plan run: the note is right while an iteration runs, gone afterwards, and a run
that was ended in the middle is judged by the next."""
import json
import os
import re
import signal

import pytest

from plan_support import Plan, approved, story
from support import is_ralph, wait_until
from terminal import end_of, in_terminal, seen

NOTE_MARKER = "(base / f'marker-{iteration}.json').write_text(Path('.ralph-active').read_text())"
# Says that it has begun, and goes on when the test lets it.
WAIT = """
(base / f'begun-{iteration}').touch()
while not (base / 'go').exists(): time.sleep(0.005)
"""
APPROVE_ITSELF = "story.update(passes=True, reviewStatus='approved', reviewCount=1)"


def marker(project, iteration):
    return json.loads((project.base / f"marker-{iteration}.json").read_text())


def start_time_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[19])


def go(project):
    (project.base / "go").touch()


def waiting(project, *arguments, at=1, phase="before", **how):
    """A plan whose agent waits in iteration `at`; a run of it that has come so far."""
    plan = Plan(project, **how).cheat(WAIT, at=at, phase=phase, always=True)
    running = plan.start(*arguments)
    plan.wait_for(f"begun-{at}")
    return plan, running


# ---- the payload

def test_the_marker_has_all_of_the_seeds_fields_and_follows_the_iterations(project):
    plan = Plan(project, [story("US-001"), approved("US-002", reviewCount=3)], reviews={"US-001": 2})
    plan.cheat(NOTE_MARKER, phase="before", always=True)
    plan.cheat(WAIT, at=1, phase="before")
    running = plan.start("-n", "9", "--review-cap", "4")
    plan.wait_for("begun-1")
    start = start_time_of(running.pid)
    go(project)
    assert running.wait().code == 0
    first = marker(project, 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", first.pop("timestamp"))
    assert first == {
        "pid": running.pid, "pidStart": start, "max_iterations": 9, "mode": "direct", "skipReview": False, "reviewCap": 4,
        "runId": project.run_folder().name, "ralphDir": str(plan.folder), "iteration": 1, "iterationMode": "implement",
        "story": "US-001", "preIterationSnapshot": {
            "US-001": {"passes": False, "reviewStatus": None, "reviewCount": 0},
            "US-002": {"passes": True, "reviewStatus": "approved", "reviewCount": 3}}}
    of_001 = [(marker(project, i)["iteration"], marker(project, i)["iterationMode"],
               *marker(project, i)["preIterationSnapshot"]["US-001"].values()) for i in (2, 3, 4)]
    assert of_001 == [(2, "review", False, "needs_review", 0), (3, "review-fix", False, "changes_requested", 1),
                      (4, "review", False, "needs_review", 1)]
    assert len({marker(project, i)["timestamp"] for i in (1, 2, 3, 4)}) == 1, "when the run began"
    assert not plan.marker.exists()


def test_a_new_story_is_in_the_next_snapshot(project):
    plan = Plan(project)
    plan.cheat(NOTE_MARKER, phase="before", always=True)
    plan.cheat("tasks['userStories'].append({**story, 'id': 'new', 'reviewStatus': None})", at=1)
    plan.completes()
    assert list(marker(project, 1)["preIterationSnapshot"]) == ["US-001"]
    assert list(marker(project, 2)["preIterationSnapshot"]) == ["US-001", "new"]


def test_git_does_not_see_the_marker_even_if_it_is_not_ignored(project):
    plan = Plan(project)
    (project.path / ".gitignore").write_text(".ralph/\n")
    plan.commit_all("no entry for the marker")
    plan.cheat("""
subprocess.run(["git", "rm", "-q", "--cached", "--ignore-unmatch", ".ralph-active"])
git("commit", "-q", "--allow-empty", "-m", "without the marker")
""", phase="after", always=True)
    result = plan.run()
    assert result.code == 0 and "uncommitted" not in result.out, result


# ---- every way out

def ask_to_stop(running, number):
    running.signal(number)
    wait_until(lambda: "Received signal" in running.err, what="its answer")


def ctrl_c_once(project, running):
    ask_to_stop(running, signal.SIGINT)
    go(project)


def ctrl_c_twice(project, running):
    ask_to_stop(running, signal.SIGINT)
    running.signal(signal.SIGINT)


def terminate_once(project, running):
    ask_to_stop(running, signal.SIGTERM)
    go(project)


def hang_up(_, running):
    running.signal(signal.SIGHUP)


def kill_the_loop(_, running):
    os.kill(running.loop_pid, signal.SIGKILL)


WAYS_OUT = [ctrl_c_once, ctrl_c_twice, terminate_once, hang_up, kill_the_loop]


@pytest.mark.parametrize("way_out", WAYS_OUT)
@pytest.mark.parametrize("at", [1, 2])
def test_the_marker_is_gone_on_every_way_out(project, way_out, at):
    plan, running = waiting(project, at=at)
    assert plan.marker.exists()
    way_out(project, running)
    result = running.wait()
    assert result.code == 130 or way_out is kill_the_loop and result.code != 0, result
    assert not plan.marker.exists()
    project.nothing_left()


def test_the_marker_is_gone_after_a_fatal_error(project):
    plan = Plan(project)
    plan.cheat("import shutil\nplans = Path.home() / '.local/state/ralph/plans'\nshutil.rmtree(plans)\nplans.touch()", phase="after")
    result = plan.run()
    assert result.code == 2 and ".local/state/ralph/plans" in result.err, result
    assert not plan.marker.exists()
    assert project.last("run_ended")["status"] == "fatal"
    project.nothing_left()


def test_the_marker_is_gone_when_the_journal_cannot_be_written(project):
    plan = Plan(project)
    plan.cheat("for run in Path('.ralph/runs').iterdir():\n    for file in run.iterdir(): file.unlink()\n    run.rmdir()\n"
               "Path('.ralph/runs').rmdir()\nPath('.ralph/runs').touch()", phase="after")
    result = plan.run("-n", "3")
    assert not plan.marker.exists(), result
    project.nothing_left()


def test_ctrl_c_in_a_terminal_lets_the_agent_finish(project):
    plan = Plan(project).cheat(WAIT, at=1, phase="before")
    with in_terminal(project, "plan", "run") as child:
        plan.wait_for("begun-1")
        child.sendintr()
        child.expect_exact("Received signal, shutting down...")
        go(project)
        assert end_of(child) == 130, seen(child)
    assert plan.state("US-001") == (False, "needs_review", 0), "what it did is kept"
    assert not plan.marker.exists() and len(plan.modes()) == 1
    project.nothing_left()


def test_a_signal_while_the_checks_run(project):
    plan = Plan(project, verifyCommands=["touch ../checking; while [ ! -e ../go ]; do sleep 0.01; done"])
    running = plan.start()
    plan.wait_for("checking")
    ask_to_stop(running, signal.SIGINT)
    go(project)
    assert running.wait().code == 130
    assert not plan.marker.exists() and plan.state("US-001") == (False, "needs_review", 0)
    plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001"], "what was submitted is checked, not done again"


@pytest.mark.parametrize("tamper", [
    "Path('.ralph-active').write_text('{\"pid\": 1}')",
    "Path('.ralph-active').write_text('no marker at all')",
    "Path('.ralph-active').unlink(); Path('.ralph-active').symlink_to('/etc/passwd')",
], ids=["another pid", "garbage", "a link"])
def test_the_marker_is_gone_even_if_the_agent_spoiled_it_and_the_loop_was_killed(project, tamper):
    plan = Plan(project).cheat(tamper + WAIT, at=1, phase="before")
    running = plan.start()
    plan.wait_for("begun-1")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    assert not os.path.lexists(plan.marker) and os.path.exists("/etc/passwd")
    go(project)
    plan.completes()


# ---- kill -9 of everything

@pytest.mark.parametrize("collected", [True, False], ids=["collected", "zombie"])
def test_a_stale_marker_is_taken_over(project, collected):
    plan, running = waiting(project)
    running.kill_both()
    if collected:
        running.process.wait()
    wait_until(lambda: not is_ralph(running.pid), what="its end")
    assert json.loads(plan.marker.read_text())["pid"] == running.pid
    for pid in project.processes():  # there is nobody who could have ended the agent
        os.kill(pid, signal.SIGKILL)
    project.nothing_left()
    go(project)
    result = plan.completes()
    assert "The last run was ended in the middle of its iteration 1 (implement US-001); that is checked first" in result.out


def test_the_guardian_alone_killed_ends_the_run_and_leaves_a_stale_marker(project):
    plan, running = waiting(project)
    running.signal(signal.SIGKILL)
    running.process.wait()
    project.nothing_left()
    go(project)
    plan.completes()


@pytest.mark.parametrize("text", [
    lambda me: {"pid": me, "pidStart": start_time_of(me) + 1},
    lambda me: {"pid": me, "pidStart": 1, "timestamp": "2020-01-01T00:00:00Z"},
    lambda me: {"pid": 2**22 + 5},
    lambda me: {"pid": 2**32 + me},
], ids=["reused pid", "reused pid, old", "no such process", "no possible process"])
def test_a_marker_of_a_process_that_is_not_there_is_stale(project, text):
    plan = Plan(project)
    plan.marker.write_text(json.dumps(text(os.getpid())))
    plan.completes()


# ---- one run at a time

def test_a_second_run_is_refused_with_pid_and_time(project):
    plan, running = waiting(project)
    before = plan.marker.read_text()
    second = plan.run()
    assert second.code == 2 and second.out == "", second
    assert f"pid {running.pid}, since {json.loads(before)['timestamp']}" in second.err and f"kill {running.pid}" in second.err
    third = project.run("run", "-p", "x")
    assert third.code == 2 and str(running.pid) in third.err, third
    assert plan.marker.read_text() == before and len(project.run_folders()) == 1
    go(project)
    assert running.wait().code == 0
    assert not plan.marker.exists() and plan.violations() == []


def test_a_run_is_refused_while_a_prompt_loop_works_in_the_project(project):
    plan = Plan(project)
    project.agent_script("touch ../begun-0; while [ ! -e ../go ]; do sleep 0.01; done; echo '<response>DONE</response>'")
    running = project.start("run", "-p", "x")
    plan.wait_for("begun-0")
    result = plan.run()
    assert result.code == 2 and f"pid {running.pid}" in result.err, result
    assert not plan.marker.exists()
    go(project)
    assert running.wait().code == 0


def test_a_marker_that_ralph_did_not_make_is_respected(project):
    plan = Plan(project)
    content = {"pid": os.getpid()}
    plan.marker.write_text(json.dumps(content))
    result = plan.run()
    assert result.code == 2 and plan.turns() == [], result
    assert json.loads(plan.marker.read_text()) == content


@pytest.mark.parametrize("content", [{"timestamp": "2026-01-01T00:00:00Z"}, {}], ids=["no pid", "nothing"])
def test_a_marker_without_a_process_is_nobodys(project, content):
    plan = Plan(project)
    plan.marker.write_text(json.dumps(content))
    plan.completes()


@pytest.mark.parametrize("make", [lambda path: path.write_text("{"), lambda path: path.write_text("[]"), lambda path: path.mkdir(),
                                  lambda path: path.symlink_to("/etc/passwd"), lambda path: path.write_bytes(b"\xff\0")],
                         ids=["torn", "a list", "a folder", "a link", "bytes"])
def test_a_marker_that_is_none_is_named_and_left(project, make):
    plan = Plan(project)
    make(plan.marker)
    result = plan.run()
    assert result.code == 2 and ".ralph-active" in result.err and "remove it" in result.err, result
    assert plan.turns() == [] and os.path.lexists(plan.marker)


# ---- what an interrupted iteration did is judged by the next run

def test_an_illegal_change_of_a_killed_iteration_is_taken_back_by_the_next_run(project):
    plan = Plan(project).cheat(APPROVE_ITSELF, at=1).cheat(WAIT, at=1, phase="after")
    running = plan.start()
    plan.wait_for("begun-1")
    os.kill(running.loop_pid, signal.SIGKILL)
    assert running.wait().code != 0
    assert plan.state("US-001") == (True, "approved", 1), "nobody could judge it"
    go(project)
    plan.completes()
    first = plan.checked()[0]
    assert first["iteration"] == 0 and "Implement iterations cannot set passes=true" in first["violations"][0]
    assert "Implement iterations cannot set passes=true" in plan.prompt(1), "the next one is told"
    assert plan.modes() == ["implement US-001", "implement US-001", "review US-001"]


def test_an_honest_step_of_a_killed_iteration_is_kept_by_the_next_run(project):
    plan = Plan(project).cheat(WAIT, at=1, phase="after")
    running = plan.start()
    plan.wait_for("begun-1")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    go(project)
    plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001"] and plan.violations() == []


def test_a_step_of_a_killed_iteration_has_to_pass_the_checks_too(project):
    plan = Plan(project, verifyCommands=["test -e mended"]).cheat(WAIT, at=1, phase="after")
    plan.cheat("Path('mended').touch()", mode="review-fix", phase="before")
    running = plan.start()
    plan.wait_for("begun-1")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    go(project)
    plan.completes()
    assert plan.modes() == ["implement US-001", "review-fix US-001", "review US-001"]


def test_the_same_after_ctrl_c(project):
    plan = Plan(project).cheat(WAIT + APPROVE_ITSELF, at=1)
    running = plan.start()
    plan.wait_for("begun-1")
    ctrl_c_once(project, running)
    assert running.wait().code == 130
    assert plan.state("US-001") == (False, None, 0), "taken back at once"
    plan.completes()


def test_an_unfinished_iteration_may_be_interrupted_again(project):
    plan = Plan(project).cheat(WAIT + APPROVE_ITSELF, at=1)
    running = plan.start()
    plan.wait_for("begun-1")
    go(project)
    running.signal(signal.SIGHUP)
    assert running.wait().code == 130
    (project.base / "go").unlink()
    again = plan.cheat(WAIT, at=1, phase="before", always=True).start()
    (project.base / "begun-1").unlink(missing_ok=True)
    plan.wait_for("begun-1")
    again.signal(signal.SIGHUP)
    assert again.wait().code == 130
    go(project)
    plan.completes()


def test_accept_tasks_takes_the_list_as_it_is(project):
    plan = Plan(project).cheat(APPROVE_ITSELF, at=1).cheat(WAIT, at=1, phase="after")
    running = plan.start()
    plan.wait_for("begun-1")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    result = plan.run("--accept-tasks")
    assert result.code == 0 and "US-001 was marked as passing since the last run ended, not by a review of ralph's" in result.err
    assert len(plan.modes()) == 1 and plan.violations() == []


def test_between_runs_the_list_is_the_users(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    assert plan.run("-n", "2").code == 1
    tasks = plan.tasks()
    tasks["userStories"] = [{**one, "acceptanceCriteria": ["another"]} for one in tasks["userStories"]] + [story("US-003")]
    tasks["verifyCommands"] = ["true"]
    plan.write(json.dumps(tasks))
    (plan.folder / "prd.md").write_text("# Something else\n")
    plan.commit_all("a person changed the plan")
    result = plan.completes()
    assert plan.violations() == [] and "marked as passing" not in result.err
    assert (plan.folder / "prd.md").read_text() == "# Something else\n"


def test_every_kill_at_any_moment_leaves_a_plan_that_goes_on(project):
    """The loop is killed at its 1st, 2nd, ... step until it gets through: whatever was half done, no story is approved
    without a review and the plan completes."""
    plan = Plan(project, [story("US-001"), story("US-002")], reviews={"US-001": 2}, verifyCommands=["test -d ralph"])
    for kills in range(1, 30):
        running = plan.start("-n", "12")
        journal = None

        def records():
            nonlocal journal
            folders = project.run_folders()
            journal = folders[-1] / "journal.jsonl" if len(folders) >= kills else None
            return running.process.poll() is not None or journal and journal.exists() and len(
                journal.read_bytes().splitlines()) >= 2 + 3 * kills
        wait_until(records, what=f"record {2 + 3 * kills}")
        if running.process.poll() is None:
            try:
                os.kill(running.loop_pid, signal.SIGKILL)
            except (ProcessLookupError, AssertionError):
                pass
        result = running.wait()
        assert not plan.marker.exists()
        project.nothing_left()
        plan.is_honest()
        if result.code == 0:
            break
    assert result.code == 0, result
    assert all(one["reviewStatus"] == "approved" for one in plan.stories())
