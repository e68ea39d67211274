"""An agent accepts commands in its user's name: by `ralph trust`, --trust and RALPH_TRUST, also from a process that has left
its session and cleaned its environment."""
import json

import pytest

from support import RALPH

WAYS = {"ralph trust": f"'{RALPH}' trust", "revoke": f"'{RALPH}' trust --revoke", "owner": f"'{RALPH}' trust --owner /tmp",
        "--trust": f"'{RALPH}' -C ../other run -p x --trust", "RALPH_TRUST": f"RALPH_TRUST=1 '{RALPH}' -C ../other run -p x"}


@pytest.mark.parametrize("escape", ["sh -c", "env -u RALPH_RUN_ID sh -c", "env -i setsid -w sh -c"],
                         ids=["plainly", "without the id", "without environment and session"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_it_is_refused(project, way, escape):
    other = project.base / "other"
    (other / ".ralph").mkdir(parents=True)
    (other / ".ralph/settings.json").write_text('{"agent": {"command": "true"}}')
    quoted = way.replace("'", "'\\''")
    project.agent_script(f"export HOME='{project.home}'; {escape} '{quoted}' > ../said 2>&1; echo $? > ../code; "
                         "echo '<response>DONE</response>'")
    assert project.run("run", "-p", "x").code == 0
    said = (project.base / "said").read_text()
    assert (project.base / "code").read_text() == "2\n" and "started by an agent that ralph runs" in said, said
    assert json.loads(project.run("trust", "--list", "--json").out)["accepted"] is False


def test_its_environment_has_no_ralph_trust(project):
    project.agent_script("env > ../env; echo '<response>DONE</response>'")
    project.guardrails("env > ../env-of-check")
    assert project.run("run", "-p", "x", env={"RALPH_TRUST": "1"}).code == 0
    for name in ("env", "env-of-check"):
        assert "RALPH_RUN_ID" in (project.base / name).read_text() and "RALPH_TRUST" not in (project.base / name).read_text()


def test_what_an_agent_initialises_is_not_accepted(project):
    other = project.base / "other"
    other.mkdir()
    project.agent_script(f"'{RALPH}' -C ../other init --agent evil; echo '<response>DONE</response>'")
    assert project.run("run", "-p", "x").code == 0
    assert (other / ".ralph/settings.json").exists()
    assert json.loads(project.run("trust", "--list", "--json", cwd=other).out)["accepted"] is False


@pytest.mark.parametrize("command", ["ralph trust", "ralph run --trust -p x", "RALPH_TRUST=1 ralph run -p x", "export RALPH_TRUST=1",
                                     "ralph plan run --accept-tasks", "echo '{}' > ~/.config/ralph/settings.json",
                                     "rm -rf ~/.local/state/ralph/projects"])
def test_the_command_policy_denies_it(project, command):
    payload = {"session_id": "s", "cwd": str(project.path), "tool_name": "Bash", "tool_input": {"command": command}}
    assert "tamper-ralph" in project.run("hooks", "pre-tool", stdin=json.dumps(payload)).out
    payload["tool_input"]["command"] = "ralph trust --list"
    assert project.run("hooks", "pre-tool", stdin=json.dumps(payload)).out == ""
