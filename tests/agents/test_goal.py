"""ralph beside the hosts' own /goal: what Claude Code says in the agent's name is not the agent's word, what it refuses to do is
said, and a loop that gives up really ends the turn."""
import json
import subprocess

import pytest

from support import DONE, wait_until
from test_session_loops import LOOPED, PROMISE, install, ralph, rules, session, the_loop, told, wait_for, with_hooks

SESSION = "11111111-2222-4333-8444-555555555555"
NOT_MET = {"text": json.dumps({"ok": False, "reason": "the goal is not met"})}
in_claude = pytest.mark.only("claude")


def result_of(done):
    """The last result of Claude Code's stream."""
    return [event for event in map(json.loads, done.stdout.splitlines()) if event["type"] == "result"][-1]


# ---- ralph run

@in_claude
def test_an_echoed_goal_is_no_answer(agent):
    agent.play(agent.says("I looked around."))
    result = agent.run("run", "-p", f"/goal mend it, then answer {DONE}", "-m", "1")
    assert "Goal set" in next(agent.path.glob(".ralph/runs/*/agent_1.out")).read_text(), "the host does echo it"
    assert result.code == 1 and agent.last("run_ended")["status"] == "limit", result


@in_claude
def test_a_goal_that_claude_code_does_not_take_ends_the_run(agent):
    agent.play(agent.says(DONE))
    result = agent.run("run", "-p", "/goal " + "mend it. " * 500, "-m", "3")
    assert result.code == 2 and agent.requests() == [], result
    assert [r["outcome"] for r in agent.records("agent_ended")] == ["refused"], "and it is not tried again"
    assert "4000" in agent.last("run_ended")["reason"], result


# ---- session loops

def start(agent, *more):
    """A loop that waits for the next session, which can then begin with a /goal."""
    install(agent)
    ralph(agent, "loop", "start", "make it", *more)


@in_claude
def test_at_its_limit_a_loop_ends_the_turn_whatever_the_goal_wants(agent):
    start(agent, "--max-iterations", "2")
    agent.play(exhausted=agent.says("I talk and talk."), side=NOT_MET)
    done = session(agent, "/goal make it")
    assert len(agent.requests()) == 3 and the_loop(agent)["status"] == "MAX_ITERATIONS_REACHED", done
    assert result_of(done)["terminal_reason"] == "stop_hook_prevented"
    assert "MAX_ITERATIONS_REACHED" in done.stdout, "the user is told"


@in_claude
def test_a_cancelled_loop_ends_the_turn_too_and_only_that_one(agent, background):
    start(agent)
    agent.play(agent.shell(wait_for("go")), agent.says("I heard nothing."), agent.says("Hello."), side=NOT_MET)
    running = background.submit(session, agent, "/goal make it", "--session-id", SESSION)
    wait_until(lambda: (agent.path / "waiting").exists())
    ralph(agent, "loop", "cancel")
    (agent.path / "go").touch()
    done = running.result()
    assert result_of(done)["terminal_reason"] == "stop_hook_prevented" and len(agent.requests()) == 2
    assert "CANCELLED" in done.stdout
    done = agent.by_hand(*LOOPED["claude"], "--resume", SESSION, "--max-turns", "2", "hello")
    assert result_of(done)["terminal_reason"] != "stop_hook_prevented", "what comes later is the user's"


@in_claude
def test_after_a_kept_promise_the_goal_goes_on(agent):
    start(agent)
    agent.play(agent.shell("touch made"), agent.says(PROMISE), exhausted=agent.says("Still at it."), side=NOT_MET)
    done = agent.by_hand(*LOOPED["claude"], "--max-turns", "4", "/goal make it")
    assert the_loop(agent)["status"] == "PROMISE_ACCEPTED" and rules(the_loop(agent)) == ["promise_accepted"]
    assert result_of(done)["terminal_reason"] == "max_turns" and len(agent.requests()) == 4, done


# ---- a model that claims success while `make test` fails

CLAIM = "I ran make test: 42 passed, 0 failed."
MET = {"text": json.dumps({"ok": True, "reason": "the conversation says 42 passed, 0 failed"})}


def a_failing_project(agent):
    (agent.path / "Makefile").write_text("test:\n\t@test -f mended || { echo '3 failed'; exit 1; }\n")


def make_test(agent):
    return subprocess.run(["make", "-s", "test"], cwd=agent.path, capture_output=True).returncode


@in_claude
def test_a_goal_can_be_met_by_words(agent):
    a_failing_project(agent)
    agent.play(agent.says(CLAIM), side=MET)
    done = session(agent, "/goal make test exits 0")
    assert result_of(done)["subtype"] == "success" and make_test(agent) != 0, "its judge sees the conversation only"


@with_hooks
def test_a_check_cannot(agent):
    a_failing_project(agent)
    start(agent, "--check", "make -s test")
    agent.play(agent.shell("true"), agent.says(f"{CLAIM}\n{PROMISE}"), agent.shell("touch mended"), agent.says(f"Mended.\n{PROMISE}"),
               side=MET)
    session(agent, "/goal make test exits 0" if agent.name == "claude" else "go on")
    loop = the_loop(agent)
    assert rules(loop) == ["checks_due", "checks_unmet", "checks_due", "promise_accepted"] and make_test(agent) == 0
    assert "3 failed" in told(agent, 2) and "they don't pass" in told(agent, 2), "the model is told what failed"
    assert loop["iteration"] == 1 and loop["reason"].endswith("and the check passed")


@with_hooks
def test_words_alone_end_at_the_limit(agent):
    a_failing_project(agent)
    start(agent, "--check", "make -s test", "--max-iterations", "2", "--stagnation-limit", "0")
    agent.play(agent.shell("true"), agent.says(f"{CLAIM}\n{PROMISE}"), agent.says(f"{CLAIM} Again.\n{PROMISE}"),
               exhausted=agent.says(f"{CLAIM} Really.\n{PROMISE}"))
    session(agent, "go on")
    loop = the_loop(agent)
    assert loop["status"] == "MAX_ITERATIONS_REACHED" and "make -s test failed" in loop["reason"] and make_test(agent) != 0
