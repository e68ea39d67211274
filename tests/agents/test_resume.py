"""Going on with a session: the arguments that ralph gives, tried on the CLIs themselves."""
import contextlib
import json
import os
import signal

import pytest

import support


def fresh_arguments(agent):
    """The arguments of a session that is not gone on with, as the adapter builds them."""
    arguments = agent.kind.resume("ID")
    for word in ("resume", "--resume", "-s", "ID"):
        while word in arguments:
            arguments.remove(word)
    return arguments


def session_of(agent, output):
    for line in output.splitlines():
        if line.startswith("{") and agent.kind.session_key in json.loads(line):
            return json.loads(line)[agent.kind.session_key]
    raise AssertionError(f"no session in {output}")


def test_a_session_goes_on_with_its_history(agent):
    agent.play(agent.says("The word is swordfish."), agent.says("As I said."))
    first = agent.by_hand(*fresh_arguments(agent), stdin="what is the word")
    assert first.returncode == 0, first
    session = session_of(agent, first.stdout)
    second = agent.by_hand(*agent.kind.resume(session), stdin="say it again")
    assert second.returncode == 0, second
    assert session_of(agent, second.stdout) == session
    asked = agent.asked(1)
    assert "what is the word" in asked and "swordfish" in asked and "say it again" in asked


def test_an_unknown_session_is_an_error_at_once(agent):
    agent.play(agent.says("Hello."))
    unknown = "ses_doesnotexist0000000000000" if agent.name == "opencode" else "00000000-0000-4000-8000-000000000000"
    result = agent.by_hand(*agent.kind.resume(unknown), stdin="say it again")
    assert result.returncode != 0 and not agent.requests(), result


def test_work_that_was_cut_off_goes_on_in_its_session(agent):
    agent.play(agent.shell("echo the word is swordfish"), agent.overload(), agent.says(f"Done with it. {support.DONE}"))
    result = agent.run("run", "-p", "the first prompt", "-m", "1")
    assert result.code == 0, result
    first, second = agent.records("agent_ended")
    assert [first["outcome"], second["outcome"]] == ["overloaded", "ok"] and first["session"] == second["session"]
    last = agent.asked(-1)
    assert "the first prompt" in last and "the word is swordfish" in last and "Go on with the task" in last
    # The usual 20 for each answer, whatever the agent's own counters do over a session.
    assert first["outputTokens"] + second["outputTokens"] == 40, (first, second)


@pytest.mark.only("codex")
def test_the_sandbox_is_not_remembered_with_a_session(agent):
    """Why the adapter names the sandbox again, and before the word resume: after it, codex refuses the flag."""
    agent.play(agent.says("One."), agent.says("Two."), agent.says("Three."))
    session = session_of(agent, agent.by_hand(*fresh_arguments(agent), stdin="first").stdout)
    assert agent.by_hand("exec", "resume", "--sandbox", "workspace-write", session, "-", stdin="x").returncode == 2
    agent.by_hand("exec", "--json", "--skip-git-repo-check", "resume", session, "-", stdin="second")
    assert "`sandbox_mode` is `read-only`" in agent.asked(1)
    agent.by_hand(*agent.kind.resume(session), stdin="third")
    developer = agent.asked(2)
    assert developer.rindex("`sandbox_mode` is `workspace-write`") > developer.rindex("`sandbox_mode` is `read-only`")


@pytest.mark.only("codex")
def test_full_auto_is_gone(agent):
    agent.play(agent.says("Hello."))
    assert agent.by_hand("exec", "--full-auto", "x").returncode == 2


def test_every_agent_says_the_version_that_is_pinned(agent):
    agent.play()
    assert support.install.PACKAGES[agent.name][1] in agent.by_hand("--version").stdout


def test_a_killed_run_goes_on_in_the_agents_session(agent):
    """SIGKILL in the middle of a tool call, for ralph and for the agent: nobody had time to save anything."""
    agent.play(agent.shell("echo the word is swordfish"), agent.shell("touch begun; sleep 60"),
               agent.says(f"Done with it. {support.DONE}"))
    running = agent.start("run", "-p", "the first prompt", "-m", "1")
    support.wait_until((agent.path / "begun").exists, timeout=60, what="the second tool call")
    kill_all(agent, running)
    result = agent.run("runs", "resume")
    assert result.code == 0, result
    first, second = agent.records("agent_ended")
    assert [first["outcome"], second["outcome"]] == ["interrupted", "ok"] and first["session"] == second["session"], (first, second)
    last = agent.asked(-1)
    assert "the first prompt" in last and "the word is swordfish" in last and "Go on with the task" in last


def kill_all(agent, running):
    """The loop, its guardian and all that they have started."""
    loop = running.loop_pid
    os.kill(running.pid, signal.SIGSTOP)  # so that it can't clean up
    os.kill(loop, signal.SIGKILL)
    os.kill(running.pid, signal.SIGKILL)
    running.process.wait()
    for pid in support.e2e.processes_with_marker(f"RALPH_RUN_ID={agent.run_folder().name}"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
