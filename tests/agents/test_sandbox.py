"""The real CLIs in a sandbox: their model is reached through the proxy and not otherwise, and they do a whole loop."""
import shutil

import pytest

from support import DONE, PORT

pytestmark = pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")


def into_sandbox(agent):
    """The model is at a name that only the proxy knows."""
    agent.settings({"sandbox": {"mode": "on", "hosts": [f"model.test:{PORT}"], "resolve": {"model.test": "127.0.0.1"},
                                "environment": ["FAKE_API_KEY", "npm_config_offline"]}})
    for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        agent.more_environment[name] = f"http://model.test:{PORT}"
    for config in (agent.home / ".codex/config.toml", agent.home / ".config/opencode/opencode.json"):
        if config.exists():
            config.write_text(config.read_text().replace("http://127.0.0.1:", "http://model.test:"))


@pytest.mark.only("claude", "codex")
def test_a_whole_loop_inside(agent):
    agent.git_init()
    (agent.home / "secret").write_text("hidden\n")
    into_sandbox(agent)
    agent.play(agent.shell("echo $RALPH_SANDBOX > where; cat ~/secret; echo x > ../escaped; git add -A; git commit -q -m inside"),
               agent.says(f"Half. {DONE}"), agent.shell("touch fixed"), agent.says(f"Now it is whole. {DONE}"))
    agent.guardrails("test -e fixed && test \"$RALPH_SANDBOX\" = bubblewrap")
    result = agent.run("run", "-p", "do it")
    assert result.code == 0, result
    assert agent.last("run_ended")["status"] == "complete" and len(agent.records("iteration_started")) == 2
    assert (agent.path / "where").read_text() == "bubblewrap\n"
    assert "inside" in agent.git("log", "--format=%s")
    assert "hidden" not in agent.asked(1) and not (agent.base / "escaped").exists()
    assert "bubblewrap" in agent.records("sandbox_noted")[0]["inForce"]
    agent.nothing_left()


def test_a_session_is_resumed_inside(agent):
    into_sandbox(agent)
    agent.play(agent.shell("touch one"), agent.says("One is there."), agent.shell("touch two"),
               agent.says("<promise>DONE</promise>"), exhausted=agent.says("<promise>DONE</promise>"))
    result = agent.run("loop", "run", "Make one and two", "--max-iterations", "5")
    assert result.code == 0, result
    assert (agent.path / "one").exists() and (agent.path / "two").exists()
    assert len({record["session"] for record in agent.records("agent_ended") if record.get("session")}) <= 1
