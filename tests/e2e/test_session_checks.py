"""Loops of a session with checks: ralph runs them itself at the promise, and only what passes is complete."""
import json
import os
import signal
import subprocess
import time

import pytest

from session_support import PROMISE, Session
from support import wait_until

CHECK = "--check 'sh check.sh'"


@pytest.fixture
def session(project):
    """check.sh passes once there is a file `good`."""
    (project.path / "check.sh").write_text("echo looked >> looks; test -f good || { echo 'good is missing'; exit 3; }\n")
    made = Session(project)
    made.used_tool()
    return made


def looks(session):
    file = session.project.path / "looks"
    return len(file.read_text().splitlines()) if file.exists() else 0


def checks_of(session):
    return [(record["outcome"], record["exitCode"]) for record in session.project.records("guardrail_ended", session.folder)]


def keeper(session):
    """The process that holds the checks."""
    return json.loads(session.note.with_name(session.id + ".checks").read_text())["pid"]


def lives(pid):
    try:
        return "\nState:\tZ" not in open(f"/proc/{pid}/status").read()
    except OSError:
        return False


def test_a_promise_counts_only_when_the_check_passes(session):
    told = session.starts("mend it", CHECK)
    assert "`sh check.sh`" in told and "ralph runs this check itself" in told
    session.used_tool()
    answer = session.stops(f"All 42 tests pass.\n{PROMISE}")
    assert answer.goes_on and answer.rule == "checks_unmet", answer
    assert "good is missing" in answer.reason and "exit code 3" in answer.reason, "the model is told what failed"
    assert "Output file: .ralph/guardrail_1_sh_check_sh.log" in answer.reason
    assert (session.project.path / ".ralph/guardrail_1_sh_check_sh.log").read_text() == "good is missing\n"
    assert answer.state["iteration"] == 1 and checks_of(session) == [("failed", 3)]
    (session.project.path / "good").touch()
    folder = session.folder
    answer = session.stops(PROMISE)
    assert not answer.goes_on and answer.status == "PROMISE_ACCEPTED" and answer.rule == "promise_accepted", answer
    assert answer.state["reason"].endswith("and the check passed")
    assert looks(session) == 2 and not (folder / "request.json").exists()


def test_without_a_promise_nothing_is_checked(session):
    session.starts("mend it", CHECK)
    session.used_tool()
    assert session.stops("I think it is done.").rule == "promise_missing" and looks(session) == 0


def test_a_promise_without_work_is_not_checked(session):
    session.starts("mend it", CHECK)
    assert session.stops(PROMISE, tool_calls_counted=True).rule == "promise_without_work" and looks(session) == 0


def test_a_loop_without_a_promise_is_checked_at_every_stop(session):
    told = session.types(f"/ralph:loop mend it --no-promise {CHECK}")
    assert "The loop ends when it passes" in told and "promise" not in told, told
    answer = session.stops("Hm.")
    assert answer.rule == "checks_unmet" and "good is missing" in answer.reason and "promise" not in answer.reason, answer
    session.used_tool()
    (session.project.path / "good").touch()
    answer = session.stops("Hm.")
    assert not answer.goes_on and answer.status == "COMPLETE" and "COMPLETE" in answer.message, answer


def test_all_checks_run_and_all_failures_are_told(session):
    session.starts("mend it", "--check 'echo one; exit 1' --check true --check 'echo three; exit 1'")
    session.used_tool()
    answer = session.stops(PROMISE)
    assert "one\n" in answer.reason and "three\n" in answer.reason and 'Guardrail "true"' not in answer.reason
    assert [outcome for outcome, _ in checks_of(session)] == ["failed", "passed", "failed"]
    text = session.project.run("loop", "status", "--session", session.id).out
    assert "check      true (passed at" in text and "check      echo one; exit 1 (failed at" in text, text


def test_the_output_of_a_check_is_bounded_and_cannot_keep_the_promise(session):
    session.starts("mend it", f"--check 'yes \"{PROMISE}\" | head -c 3000000; exit 1'")
    session.used_tool()
    answer = session.stops(PROMISE)
    assert answer.rule == "checks_unmet" and len(answer.reason) < 12000
    assert answer.reason.count(PROMISE) == 1, "only where ralph says how to end the loop"
    log = next(session.folder.glob("checks_1/guardrail_*.log"))
    assert log.stat().st_size == 3000000
    session.used_tool()
    assert session.stops(f"It printed:\n{answer.reason}").rule != "promise_accepted", "an echo is no promise"


def test_no_test_that_ran_is_no_success(session):
    session.starts("mend it", "--check \"echo '===== no tests ran in 0.01s ====='\"")
    session.used_tool()
    answer = session.stops(PROMISE)
    assert answer.rule == "checks_unmet" and "ran no tests" in answer.reason, answer


def test_a_deleted_test_is_no_success(session):
    (session.project.path / "tests").write_text("echo '===== 5 passed in 0.01s ====='; test -f good")
    session.starts("mend it", "--check 'sh tests' --check 'test -f better'")
    session.used_tool()
    (session.project.path / "good").touch()
    assert session.stops(PROMISE).rule == "checks_unmet"
    (session.project.path / "better").touch()
    (session.project.path / "tests").write_text("echo '===== 4 passed in 0.01s ====='")
    session.used_tool()
    answer = session.stops(f"Now.\n{PROMISE}")
    assert answer.rule == "checks_unmet" and "4 tests" in answer.reason and "Bring back the tests" in answer.reason, answer
    assert "tests" in answer.reason and "decide what the checks prove" in answer.reason, "its change is reported too"


def test_the_limit_comes_with_the_failing_check_as_its_reason(session):
    session.starts("mend it", CHECK, "--max-iterations 1")
    session.used_tool()
    assert session.stops(PROMISE).goes_on
    session.used_tool()
    answer = session.stops(f"Now.\n{PROMISE}")
    assert answer.status == "MAX_ITERATIONS_REACHED" and "sh check.sh failed" in answer.state["reason"], answer


@pytest.mark.parametrize("line, wrong", [
    ("/ralph:loop mend it --check ''", "--check is blank"),
    ("/ralph:loop mend it --check 'make test", "its quote is not closed"),
    ("/ralph:loop mend it --no-promise", "what ends the loop then"),
    ("/ralph:loop mend it --chek 'make test'", "did you mean --check?"),
])
def test_bad_input(session, line, wrong):
    assert wrong in session.types(line) and session.states() == []


# ---- checks that take longer than the hook may

@pytest.fixture
def slow(session):
    """Its check waits for the file `go`. The project is a repository, in which a changed file is seen."""
    path = session.project.path
    (path / "check.sh").write_text("echo looked >> .git/looks; while ! test -f .git/go; do sleep 0.05; done; test -f good\n")
    for line in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *line], cwd=path, check=True)
    session.starts("mend it", CHECK)
    session.used_tool()
    (path / "good").touch()
    session.git = path / ".git"
    return session


def test_a_long_check_is_held_and_the_next_stop_gets_its_result(slow):
    answer = slow.stops(PROMISE, "--deadline", "1")
    assert answer.goes_on and answer.rule == "checks_running" and answer.state["iteration"] == 0, answer
    assert "still running" in answer.reason and answer.state["checking"] is True
    assert "running now" in slow.project.run("loop", "status", "--session", slow.id).out
    answer = slow.stops("I wait.", "--deadline", "1")
    assert answer.rule == "checks_running" and answer.state["iteration"] == 0, "nor is the next one counted"
    pid = keeper(slow)
    (slow.git / "go").touch()
    answer = slow.stops("I still wait.")
    assert answer.status == "PROMISE_ACCEPTED" and answer.rule == "promise_accepted", answer
    assert len((slow.git / "looks").read_text().splitlines()) == 1, "it ran once"
    wait_until(lambda: not lives(pid))
    assert not list(slow.note.parent.glob("*.checks*"))


def test_files_that_change_under_a_check_void_promise_and_result(slow):
    slow.stops(PROMISE, "--deadline", "1")
    pid = keeper(slow)
    (slow.project.path / "other").write_text("changed")
    slow.used_tool()
    answer = slow.stops("I found something.", "--deadline", "1")
    assert answer.rule == "promise_missing" and answer.state["iteration"] == 1, answer
    wait_until(lambda: not lives(pid))
    (slow.git / "go").touch()
    assert slow.stops(PROMISE).status == "PROMISE_ACCEPTED"
    assert len((slow.git / "looks").read_text().splitlines()) == 2


@pytest.mark.parametrize("how", ["cancel", "end"])
def test_held_checks_end_with_the_loop_and_with_the_session(slow, how):
    slow.stops(PROMISE, "--deadline", "1")
    pid = keeper(slow)
    if how == "cancel":
        assert slow.project.run("loop", "cancel", "--session", slow.id).code == 0
    else:
        assert slow.hook("session-end", slow.payload("end", reason="other")).code == 0
    wait_until(lambda: not lives(pid))
    assert not list(slow.note.parent.glob("*.checks*"))


def test_held_checks_end_with_a_host_that_was_killed(slow):
    with subprocess.Popen(["sleep", "600"]) as host:
        start = open(f"/proc/{host.pid}/stat").read().rsplit(")", 1)[1].split()[19]
        project, run = slow.note.read_text().split("\n")[:2]
        slow.note.write_text(f"{project}\n{run}\n{host.pid} {start}\n")
        slow.stops(PROMISE, "--deadline", "1")
        pid = keeper(slow)
        assert lives(pid)
        host.kill()
    wait_until(lambda: not lives(pid))


def test_checks_whose_keeper_was_killed_have_failed(slow):
    slow.stops(PROMISE, "--deadline", "1")
    os.kill(keeper(slow), signal.SIGKILL)
    answer = slow.stops("I wait.")
    assert answer.rule == "checks_unmet" and "did not finish" in answer.reason, answer
    assert answer.state["iteration"] == 1


def test_two_hooks_of_one_stop_run_the_checks_once(slow):
    call = {"last_assistant_message": PROMISE, "prompt_id": "p1"}
    payload = json.dumps(slow.payload("stop", **call))
    both = [slow.project.start("hooks", "stop", stdin=payload) for _ in range(2)]
    wait_until(lambda: (slow.git / "looks").exists())
    (slow.git / "go").touch()
    outs = [process.wait().out for process in both]
    assert sum("PROMISE_ACCEPTED" in out for out in outs) == 1, outs
    assert len((slow.git / "looks").read_text().splitlines()) == 1


def say_it_again(session):
    time.sleep(0.05)  # no agent is as quick as the clock of processes, which has ticks of 10 ms
    session.uses_tool()
    session.says(PROMISE)


def test_the_same_promise_again_is_checked_again(session):
    session.starts("mend it", CHECK)
    for looked in 1, 2:
        say_it_again(session)
        answer = session.stops(PROMISE, prompt_id="p1")
        assert answer.goes_on and answer.rule == "checks_unmet" and looks(session) == looked, answer
    (session.project.path / "good").touch()
    say_it_again(session)
    assert session.stops(PROMISE, prompt_id="p1").status == "PROMISE_ACCEPTED"


@pytest.mark.parametrize("words", [PROMISE, None], ids=["reported", "in the transcript alone"])
def test_work_that_only_a_transcript_shows_which_the_loop_did_not_know_counts(session, words):
    (session.project.path / "good").touch()
    session.env["CLAUDE_CODE_SESSION_ID"] = session.id
    begun = session.project.run("loop", "start", "mend it", "--check", "sh check.sh", env=session.env)
    assert begun.code == 0, begun
    session.uses_tool()
    session.says(PROMISE)
    answer = session.stops(words)
    assert answer.status == "PROMISE_ACCEPTED" and looks(session) == 1, answer


def test_a_new_loop_is_not_ended_by_the_cancelling_of_the_one_before(session):
    session.starts("mend it", CHECK)
    assert session.project.run("loop", "cancel", "--session", session.id).code == 0
    session.env["CLAUDE_CODE_SESSION_ID"] = session.id
    assert session.project.run("loop", "start", "mend it", "--check", "sh check.sh", env=session.env).code == 0
    session.used_tool()
    assert session.stops("no").rule == "promise_missing"
