"""The plugin and the hooks that `ralph hooks install` writes, with the real hosts: they take them, and they run them."""
import json
import subprocess

import pytest
import support

ROOT = support.e2e.ROOT
PLUGIN = ROOT / "share/claude-plugin"
STREAM = ["--output-format", "stream-json", "--verbose"]
BOLD = ["--dangerously-skip-permissions"]
CONTRACT = ["output the completion promise <promise>DONE</promise> alone on a line", "do not output the promise", "this spelling and case"]


@pytest.fixture
def with_ralph(agent):
    """The agent, with the real ralph on its PATH."""
    (agent.base / "bin").mkdir()
    (agent.base / "bin/ralph").symlink_to(support.e2e.RALPH)
    agent.more_environment["PATH"] = f"{agent.base}/bin:{agent.environment()['PATH']}"
    return agent


def cli(agent, *arguments):
    """A command of claude that asks no model, still without a network."""
    return subprocess.run([*support._unshare(), str(agent.program), *arguments], cwd=agent.path, env=agent.environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def ask(agent, prompt, *arguments):
    """One session of the host with this line typed into it."""
    done = agent.by_hand("-p", prompt, *STREAM, *arguments)
    assert done.returncode == 0, done
    return done


def told(agent, index=0):
    """The words of the last message from the user's side in a request, without what the host says of itself."""
    texts = []
    for message in agent.requests()[index]["body"]["messages"]:
        content = message["content"]
        texts += [content] if isinstance(content, str) else [block.get("text", "") for block in content]
    return "\n".join(texts)


# The folder itself


@pytest.mark.only("claude")
@pytest.mark.parametrize("folder", [PLUGIN, ROOT], ids=["plugin", "marketplace"])
def test_the_hosts_own_validator_has_no_complaint(agent, folder):
    done = cli(agent, "plugin", "validate", "--strict", str(folder))
    assert done.returncode == 0 and "Validation passed" in done.stdout, done


@pytest.mark.only("claude")
def test_it_installs_from_a_checkout_and_its_command_is_there(with_ralph):
    agent = with_ralph
    assert cli(agent, "plugin", "marketplace", "add", str(ROOT)).returncode == 0
    done = cli(agent, "plugin", "install", "ralph@ralph")
    assert done.returncode == 0, done
    agent.play(agent.says("<promise>DONE</promise>"), agent.says("ok"))
    ask(agent, "/ralph:loop tidy up --min-tool-calls 0", *BOLD)
    assert all(rule in told(agent) for rule in CONTRACT), told(agent)
    result = agent.run("doctor", "--json")
    found = {f["what"]: f["health"] for f in json.loads(result.out)["findings"]}
    assert found["plugin"] == "ok" and found["goal"] == "ok" and "block cap" not in found, result


# Its commands


@pytest.mark.only("claude")
@pytest.mark.parametrize("command, first", [("loop", "The user asks for a ralph loop"), ("ulw-loop", "ULTRAWORK MODE")])
def test_the_contract_reaches_the_model_and_the_task_no_shell(with_ralph, command, first):
    agent = with_ralph
    task = "fix `touch pwned` $(touch pwned) \"it's\" --max-iterations=2"
    agent.play(agent.says("not yet"), agent.says("not yet"), agent.says("not yet"))
    ask(agent, f"/ralph:{command} {task}", "--plugin-dir", str(PLUGIN), *BOLD)
    assert first in told(agent) and f"<task>\n{task}\n</task>" in told(agent), told(agent)
    assert all(rule in told(agent) for rule in CONTRACT)
    assert not (agent.path / "pwned").exists()
    assert len(agent.requests()) == 3, "the loop held the session for two more turns, as its hook was told"


@pytest.mark.only("claude")
def test_status_and_cancel_say_how_the_loop_is(with_ralph):
    """The hook says it to the user; the model is not asked."""
    agent = with_ralph
    agent.play(*[agent.says("ok") for _ in range(8)])
    plugin = ["--plugin-dir", str(PLUGIN)]
    for line in ("/ralph:status", "/ralph:cancel"):
        done = ask(agent, line, *plugin)
        assert "No ralph loop is active in this session" in done.stdout, done
    assert agent.requests() == []


@pytest.mark.only("claude")
def test_the_plan_skill_is_what_plan_draft_prints(with_ralph):
    agent = with_ralph
    agent.play(agent.says("ok"), agent.says("ok"))
    plugin = ["--plugin-dir", str(PLUGIN)]
    done = ask(agent, "/ralph:plan", *plugin)
    assert agent.requests() == [] and "ralph plan init" in done.stdout, "there is no plan yet"
    assert agent.run("plan", "init").code == 0
    ask(agent, "/ralph:plan for tea", *plugin)
    assert agent.run("plan", "draft", "--print").out.strip() in told(agent)
    assert "What the user said about it: for tea" in told(agent)


@pytest.mark.only("claude")
def test_the_old_names_work_as_command_files(with_ralph):
    agent = with_ralph
    agent.play(*[agent.says("ok") for _ in range(4)])
    assert agent.run("hooks", "install", "--commands").code == 0
    ask(agent, "/ralph-loop tidy up --max-iterations 1", *BOLD)
    assert "<task>\ntidy up --max-iterations 1\n</task>" in told(agent) and "Written by" not in told(agent)
    assert len(agent.requests()) == 2
    assert "No ralph loop is active" in ask(agent, "/ralph-status").stdout and len(agent.requests()) == 2


# The hooks


def spied(agent, path):
    """Makes the hooks in a file call a program that only notes how it was called. Returns what it noted."""
    spy = agent.script(f'echo "$*" >> "{agent.base}/calls"\ncat > /dev/null', "ralph")
    text = path.read_text()
    assert text.count(str(support.e2e.RALPH)) >= 5
    path.write_text(text.replace(str(support.e2e.RALPH), str(spy)))
    return lambda: support.e2e.read_lines(agent.base / "calls")


FILES = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
RUN = {"claude": ["-p", "hello", *STREAM, *BOLD],
       "codex": ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check",
                 "--dangerously-bypass-hook-trust", "hello"],
       "gemini": ["-p", "hello", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"]}


@pytest.mark.only("claude", "codex", "gemini")
@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_each_host_runs_what_install_wrote(agent, scope):
    agent.play(agent.shell("echo hi"), agent.shell("exit 3"), agent.says("done"))
    assert agent.run("hooks", "install", "--host", agent.name, scope).code == 0
    calls = spied(agent, (agent.path if scope == "--project" else agent.home) / FILES[agent.name])
    if agent.name == "gemini":
        agent.more_environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    done = agent.by_hand(*RUN[agent.name])
    assert done.returncode == 0, done
    more = "" if agent.name == "claude" else f" --protocol {agent.name}"
    hooks = ["session-start", "user-prompt", "pre-tool", "post-tool", "pre-tool", "post-tool", "stop", "session-end"]
    assert calls() == [f"hooks {hook}{more}" for hook in hooks]  # the call that failed is no exception
    assert len(agent.requests()) == 3, "nothing held it up"


@pytest.mark.only("gemini", "codex")
def test_untrusted_hooks_are_skipped_without_a_word(agent):
    """Why install says so."""
    agent.play(agent.says("done"))
    assert agent.run("hooks", "install", "--host", agent.name).code == 0
    calls = spied(agent, agent.path / FILES[agent.name])
    arguments = [word for word in RUN[agent.name] if word != "--dangerously-bypass-hook-trust"]
    assert agent.by_hand(*arguments).returncode == 0
    assert calls() == []


@pytest.mark.only("claude")
def test_the_plugin_and_the_hooks_together_run_twice(with_ralph):
    """Why doctor calls it a problem; the same hook in two settings files runs once."""
    agent = with_ralph
    agent.play(agent.says("done"))
    for scope in ["--project", "--user"]:
        assert agent.run("hooks", "install", scope).code == 0
    done = ask(agent, "hello", "--include-hook-events", "--plugin-dir", str(PLUGIN), *BOLD)
    started = [e for e in map(json.loads, done.stdout.splitlines()) if e.get("subtype") == "hook_started"]
    assert len([e for e in started if e["hook_event"] == "Stop"]) == 2, started


@pytest.mark.only("claude")
def test_a_loop_that_works_does_not_meet_the_hosts_cap(with_ralph):
    """Nine refused stops in a row end the turn; a tool call between two of them is enough."""
    agent = with_ralph
    agent.play(*[agent.says("not yet"), agent.says("not yet"), agent.shell("echo work")] * 5, exhausted=agent.says("not yet"))
    assert agent.run("hooks", "install", "--commands").code == 0
    ask(agent, "/ralph-loop tidy up --max-iterations 10", *BOLD)
    assert len(agent.requests()) == 16 and "env" not in json.loads((agent.path / ".claude/settings.json").read_text())
