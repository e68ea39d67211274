"""How a session loop ends the turn of its host: a host with a goal of its own would otherwise go on alone."""
import json
import shlex
import subprocess
import sys

import pytest

from session_support import PROMISE, Session
from support import RALPH


def ends_turn(answer):
    return answer.json.get("continue") is False and not answer.goes_on


def test_a_limit_ends_the_turn_and_a_kept_promise_only_allows_it(project):
    session = Session(project)
    session.starts("fix it", "--max-iterations 1")
    assert session.stops("no").goes_on
    answer = session.stops("no")
    assert ends_turn(answer) and "MAX_ITERATIONS_REACHED" in answer.json["stopReason"], answer
    assert session.stops("no").json == {}, "what comes later is not the loop's"
    session.starts("fix it")
    session.uses_tool()
    answer = session.stops(PROMISE)
    assert "continue" not in answer.json and "PROMISE_ACCEPTED" in answer.message, answer


def test_a_cancelled_session_hears_of_it_once(project):
    session = Session(project)
    session.starts("fix it")
    assert project.run("loop", "cancel").code == 0
    answer = session.stops("no")
    assert ends_turn(answer) and "CANCELLED" in answer.message, answer
    assert session.stops("no").json == {}


def test_what_the_user_types_after_a_cancel_is_no_turn_of_the_loop(project):
    session = Session(project)
    session.starts("fix it")
    assert project.run("loop", "cancel").code == 0
    session.types("/goal something else")
    assert session.stops("no").json == {}


# A host of its own process. Each line that it reads is a shell command; it runs it and says when it has ended.
HOST = """
import subprocess, sys
for line in sys.stdin:
    print(subprocess.run(["sh", "-c", line], stdout=subprocess.DEVNULL).returncode, flush=True)
"""


@pytest.fixture
def host(project):
    """Calls hooks as a host does, through a shell: host(hook, payload). It is killed with host.kill()."""
    process = subprocess.Popen([sys.executable, "-c", HOST], cwd=project.path, env=project.environment(), text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(hook, payload):
        process.stdin.write(f"printf %s {shlex.quote(json.dumps(payload))} | {shlex.quote(str(RALPH))} hooks {hook}; exit $?\n")
        process.stdin.flush()
        assert process.stdout.readline() == "0\n"

    def kill():
        process.kill()
        process.wait()

    call.kill = kill
    yield call
    kill()


@pytest.mark.parametrize("begins", ["typed", "adopted", "resumed"])
def test_a_loop_whose_host_was_killed_is_not_shown_as_active(project, host, begins):
    session = Session(project)
    if begins == "typed":
        host("user-prompt", session.payload("prompt", prompt="/ralph:loop fix it"))
    elif begins == "adopted":
        assert project.run("loop", "start", "fix it").code == 0
        host("session-start", session.payload("start", source="startup"))
    else:  # it began in another process, which still lives: this one
        session.starts("fix it")
        host("session-start", session.payload("start", source="resume"))
    assert session.states()[0]["status"] == "ACTIVE"
    host.kill()
    assert session.states()[0]["status"] == "SESSION_ENDED"
    shown = project.run("loop", "status").out
    assert "goes on when the session is resumed (its process is gone)" in shown, shown
    assert session.stops("no").goes_on, "it is the host's to call hooks"
    session.types("hello")
    assert session.states()[0]["status"] == "ACTIVE", "another process has it now"
    assert project.run("loop", "cancel").out.startswith("Cancelled in iteration 1 of 100: fix it")
