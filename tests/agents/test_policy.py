"""The command policy in real hosts: what it can't know is asked, and a tool call that nobody allows is not made."""
import json
import subprocess

import pytest

from support import e2e

UNKNOWN = "xargs rm -rf < list"
# Bash is allowed by the user's own rules, so that only the hook's word keeps the command from running.
HEADLESS = {"claude": ["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash", "--permission-mode", "acceptEdits"],
            "bold claude": ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
            "codex": ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                      "--dangerously-bypass-hook-trust"]}


def kinds_after(agent, how, command):
    """Has the agent run the command in one session; returns what the hook noted about it."""
    (agent.path / ".ralph").mkdir(exist_ok=True)
    done = subprocess.run([str(e2e.RALPH), "hooks", "install", "--host", agent.name], cwd=agent.path, env=agent.environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done
    (agent.path / "victim").mkdir()
    (agent.path / "list").write_text("victim\n")
    agent.play(agent.shell(command), agent.says("So be it."))
    done = agent.by_hand(*HEADLESS[how], "tidy up")
    assert done.returncode == 0, done
    log = agent.path / ".ralph/loop/hooks.log"
    return [json.loads(line)["kind"] for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.only("claude")
def test_a_question_that_nobody_answers_keeps_the_tool_from_running(agent):
    assert kinds_after(agent, "claude", UNKNOWN) == ["asked"]
    assert (agent.path / "victim").exists()


@pytest.mark.only("claude")
def test_the_same_command_runs_if_the_policy_has_no_question(agent):
    assert kinds_after(agent, "claude", "rm -rf victim") == []
    assert not (agent.path / "victim").exists(), "otherwise the test above proves nothing"


@pytest.mark.only("claude")
def test_where_permissions_are_skipped_it_is_denied(agent):
    assert kinds_after(agent, "bold claude", UNKNOWN) == ["denied"]
    assert (agent.path / "victim").exists()


@pytest.mark.only("codex")
def test_in_a_host_without_questions_it_is_denied(agent):
    assert kinds_after(agent, "codex", UNKNOWN) == ["denied"]
    assert (agent.path / "victim").exists()
