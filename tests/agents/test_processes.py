"""Signals and processes: nothing that a real agent starts is left behind."""
import signal

import pytest

from support import DONE, wait_until

HANG = "tail -f /dev/null"


def hanging(agent):
    """Whether the tool's command runs now."""
    return [pid for pid, command in agent.processes().items() if command == HANG]


def mid_tool(agent, *arguments):
    """A loop whose agent is in the midst of a tool that never ends."""
    agent.play(agent.shell(HANG), agent.says("never"))
    running = agent.start("run", "-p", "do it", *arguments)
    wait_until(lambda: hanging(agent), timeout=60, what="the tool's process")
    return running


def test_the_first_interrupt_lets_the_agent_finish(agent):
    agent.play(agent.shell("touch begun; while [ ! -e go ]; do read -t 0.1 x < /dev/zero || true; done"),
               agent.says("Finished in peace."))
    running = agent.start("run", "-p", "do it")
    wait_until((agent.path / "begun").exists, timeout=60, what="the tool's start")
    running.signal(signal.SIGINT)
    wait_until(lambda: "Received signal" in running.err, what="the note")
    (agent.path / "go").touch()
    result = running.wait(60)
    assert result.code == 130, result
    assert len(agent.requests()) == 2, "the agent went on to its end"
    assert agent.last("agent_ended")["outcome"] == "ok" and agent.last("run_ended")["status"] == "interrupted"
    agent.nothing_left()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_the_second_signal_ends_everything(agent, number):
    running = mid_tool(agent)
    running.signal(number)
    wait_until(lambda: "Received signal" in running.err, what="the note")
    assert hanging(agent), "the first one disturbs nobody"
    running.signal(number)
    result = running.wait(30)
    assert result.code == 130 and result.seconds < 60, result
    agent.nothing_left()
    assert agent.last("run_ended")["status"] == "interrupted"


def test_nothing_is_left_when_ralph_is_killed(agent):
    running = mid_tool(agent)
    running.signal(signal.SIGKILL)
    running.wait(20)
    agent.nothing_left(timeout=20)


@pytest.mark.only("claude", "codex")  # the others take too long to begin
def test_nothing_is_left_of_a_turn_that_took_too_long(agent):
    agent.settings({"agent": {"timeoutSeconds": 6, "retry": {"attempts": 0}}})
    running = mid_tool(agent, "-m", "1")
    result = running.wait(60)
    assert result.code == 1, result
    assert agent.last("agent_ended")["outcome"] == "timed_out"
    agent.nothing_left()


@pytest.mark.only("codex")
def test_a_command_that_outlives_its_agent_is_ended(agent):
    agent.play(agent.shell(HANG, yield_time_ms=500), agent.says(f"It runs in the background. {DONE}"))
    result = agent.run("run", "-p", "do it", "-m", "1")
    assert result.code == 0, result
    agent.nothing_left()
