"""Which commands of a project its user has accepted: `ralph trust`, the question in a terminal, the user's own settings."""
import json

import pytest

from plan_support import Plan, story
from terminal import end_of, in_terminal, seen

DONE = "echo '<response>DONE</response>'"
QUESTION = "Run them? (y/N): "


def listed(project, **how):
    return json.loads(project.run("trust", "--list", "--json", **how).out)


def with_commands(project):
    project.agent_script(f"echo x >> ../calls; {DONE}")
    project.guardrails("test -d .")


def calls(project):
    path = project.base / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def asks(project, *words):
    """Whether a run in a terminal asks; the answer is no."""
    with in_terminal(project, "run", "-p", "x", *words, env={"RALPH_TRUST": ""}, width=200) as child:
        if child.expect_exact([QUESTION, "Iteration 1"]) == 0:
            child.sendline("n")
            return end_of(child) == 2
        assert end_of(child) == 0, seen(child)
        return False


# The question


def test_a_terminal_asks_once(project):
    with_commands(project)
    assert asks(project) and calls(project) == 0 and not project.run_folders()
    with in_terminal(project, "run", "-p", "x", env={"RALPH_TRUST": ""}, width=200) as child:
        child.expect_exact(QUESTION)
        assert "agent.command" in seen(child) and "guardrail: test -d ." in seen(child)
        child.sendline("y")
        assert end_of(child) == 0, seen(child)
    assert listed(project)["acceptedBy"] == "your answer"
    assert not asks(project)


def test_later_changes_are_shown_and_not_asked(project):
    with_commands(project)
    assert project.run("trust").code == 0
    assert project.run("run", "-p", "x").err.count("ommands") == 0
    project.guardrails("true")
    result = project.run("run", "-p", "x")
    assert result.code == 0 and "Commands changed since the last run: guardrails: " in result.err and "test -d ." in result.err, result
    assert "Commands changed" not in project.run("run", "-p", "x").err, "since the last run"
    assert listed(project)["accepted"] is False, "nobody has said so"
    assert not asks(project)
    assert listed(project)["accepted"] is True, "a person has seen it"


def test_settings_are_not_called_commands_and_numbers_are_plain(project):
    with_commands(project)
    project.settings(task={"maxRestarts": 3, "pollSeconds": 0.1}, diagnostics={"exclude": ["gen/**"]})
    first = project.run("run", "-p", "x").err
    assert 'guardrail: test -d .; with the settings diagnostics.exclude: ["gen/**"]; task.maxRestarts: 3; task.pollSeconds: 0.1' in first
    shown = project.run("trust").out
    assert "  guardrail: test -d .\n" in shown and "  with the setting task.pollSeconds: 0.1\n" in shown
    project.settings(task={"maxRestarts": 3, "pollSeconds": 0.25})
    assert "Settings changed since the last run: task.pollSeconds: 0.25, was 0.1" in project.run("run", "-p", "x").err


def test_a_project_with_settings_only_names_no_commands(project):
    (project.path / ".ralph").mkdir(exist_ok=True)
    (project.path / ".ralph/settings.json").write_text('{"task": {"maxRestarts": 3}}')
    shown = project.run("trust", "--list").out
    assert "Its settings name no commands." in shown and "with the setting task.maxRestarts: 3" in shown


def test_without_a_terminal_the_first_run_says_what_it_runs_and_goes_on(project):
    with_commands(project)
    first = project.run("run", "-p", "x")
    assert first.code == 0 and "guardrail: test -d ." in first.err and "ralph trust" in first.err, first
    assert "guardrail" not in project.run("run", "-p", "x").err
    assert listed(project)["accepted"] is False


@pytest.mark.parametrize("how", [dict(words=["--trust"]), dict(env={"RALPH_TRUST": "1"})], ids=["--trust", "RALPH_TRUST"])
def test_trust_for_one_run(project, how):
    with_commands(project)
    project.own_settings(trust="require")
    assert project.run("run", "-p", "x").code == 2
    assert project.run("run", "-p", "x", *how.get("words", []), env=how.get("env")).code == 0
    assert project.run("run", "-p", "x").code == 2 and calls(project) == 1


def test_what_init_wrote_is_accepted(project):
    agent = project.script(DONE, "agent")
    assert project.run("init", "--agent", str(agent), "--guardrail", "true").code == 0
    assert listed(project)["acceptedBy"] == "ralph init"
    assert not asks(project)


def test_what_init_kept_of_a_clone_is_not(project):
    with_commands(project)
    result = project.run("init", "--force", "--agent", str(project.script(DONE, "mine")))
    assert result.code == 0 and "ralph trust" in result.err, result
    assert listed(project)["accepted"] is False


# The user's own settings


def test_require_asks_for_every_change(project):
    with_commands(project)
    project.own_settings(trust="require")
    refused = project.run("run", "-p", "x")
    assert refused.code == 2 and "guardrail: test -d ." in refused.err and calls(project) == 0, refused
    assert project.run("trust").code == 0 and project.run("run", "-p", "x").code == 0
    project.guardrails("true")
    assert project.run("run", "-p", "x").code == 2 and asks(project)
    project.settings(maximumIterations=7)
    project.guardrails("test -d .")
    assert project.run("run", "-p", "x").code == 0, "no command is another one"


def test_off_says_nothing(project):
    with_commands(project)
    project.own_settings(trust="off")
    assert project.run("run", "-p", "x -> <response>").err == "" and not asks(project)


def test_the_own_settings_are_the_lowest_layer(project):
    own = project.own_settings(maximumIterations=3, completionResponse="MINE", agent={"command": "codex", "flags": ["--mine"]})
    project.settings(completionResponse="OURS")
    shown = json.loads(project.run("settings", "show", "--json").out)
    assert shown["settings"]["maximumIterations"] == 3 and shown["origins"]["/maximumIterations"] == str(own)
    assert shown["settings"]["completionResponse"] == "OURS"
    assert shown["settings"]["agent"]["flags"] == ["--mine"] and shown["files"] == [str(own), ".ralph/settings.json"]
    project.settings(agent={"command": "claude"})
    assert json.loads(project.run("settings", "show", "--json").out)["settings"]["agent"]["flags"] == [], "codex's flags"
    own.write_text('{"maximumIteration": 3}')
    result = project.run("settings", "show")
    assert result.code == 2 and f"{own}:1:2" in result.err and "maximumIterations" in result.err, result


def test_they_can_be_elsewhere(project):
    (project.base / "config/ralph").mkdir(parents=True)
    (project.base / "config/ralph/settings.json").write_text('{"maximumIterations": 4}')
    shown = json.loads(project.run("settings", "show", "--json", env={"XDG_CONFIG_HOME": project.base / "config"}).out)
    assert shown["settings"]["maximumIterations"] == 4


# ralph trust


def test_trust_lists_accepts_and_revokes(project):
    with_commands(project)
    assert "Not accepted" in project.run("trust", "--list").out
    accepted = project.run("trust")
    assert accepted.code == 0 and "guardrail: test -d ." in accepted.out and "Accepted by ralph trust" in accepted.out, accepted
    facts = listed(project)
    assert facts["accepted"] and facts["changed"] == [] and "/guardrails" in facts["commands"] and facts["acceptedAt"]
    project.guardrails("true")
    facts = listed(project)
    assert not facts["accepted"] and "guardrails" in facts["changed"][0]
    assert project.run("trust", "--revoke").code == 0
    assert listed(project)["acceptedBy"] is None and asks(project)


def test_a_revocation_during_a_run_stands(project):
    project.agent_script(f"touch ../begun; while [ ! -e ../go ]; do sleep 0.01; done; {DONE}")
    assert project.run("trust").code == 0
    running = project.start("run", "-p", "x")
    while not (project.base / "begun").exists():
        assert running.process.poll() is None
    assert project.run("trust", "--revoke").code == 0
    (project.base / "go").touch()
    assert running.wait().code == 0 and listed(project)["acceptedBy"] is None


def test_a_second_run_that_is_refused_leaves_the_record_of_the_first(project):
    project.agent_script(f"touch ../begun; while [ ! -e ../go ]; do sleep 0.01; done; {DONE}")
    running = project.start("run", "-p", "x")
    while not (project.base / "begun").exists():
        assert running.process.poll() is None
    assert project.run("run", "-p", "y").code == 2
    record = json.loads(next((project.home / ".local/state/ralph/projects").glob("*/trust.json")).read_text())
    assert record["running"], "the first is still at work"
    (project.base / "go").touch()
    assert running.wait().code == 0


def test_secrets_are_not_in_the_record(project):
    project.agent_script(DONE, env={"API_TOKEN": "geheim-geheim-geheim"})
    assert project.run("run", "-p", "x").code == 0 and project.run("trust").code == 0
    for path in (project.home / ".local/state").rglob("*"):
        assert not path.is_file() or b"geheim" not in path.read_bytes(), path


def test_owner_keeps_the_rest_of_the_file(project):
    own = project.own_settings()
    own.write_text('{\n  "trust": "require",\n  "trustedFolders": ["/a"]\n}\n')
    for _ in range(2):
        assert project.run("trust", "--owner", ".").code == 0
    assert own.read_text() == '{\n  "trust": "require",\n  "trustedFolders": ["/a", %s]\n}\n' % json.dumps(str(project.path), ensure_ascii=False)
    missing = project.run("trust", "--owner", "nowhere")
    assert missing.code == 2 and "is not a folder" in missing.err, missing


def test_mistakes(project):
    assert project.run("trust", "--list", "--revoke").code == 2
    assert project.run("trust", "--owner", "").code == 2
    assert "--revoke" in project.run("trust", "--revok").err


def test_the_verify_commands_of_a_plan_belong_to_the_question(project):
    plan = Plan(project, [story("US-001")], verifyCommands=["echo verified"])
    project.own_settings(trust="require")
    refused = plan.run()
    assert refused.code == 2 and "verify command of the plan: echo verified" in refused.err, refused
    listed = project.run("trust")
    assert listed.code == 0 and "verify command of the plan: echo verified" in listed.out, listed
    plan.completes()
    tasks = plan.tasks()
    tasks["verifyCommands"] = ["echo other"]
    plan.write(json.dumps(tasks))
    assert project.run("trust", "--list").out.count("plan.verifyCommands") == 1
    assert project.run("run", "-p", "x", "--dry-run").code == 0  # another command does not miss the plan's


def test_what_agents_add_to_the_verify_commands_is_told_before_the_next_run(project):
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=["true"])
    assert project.run("trust").code == 0
    plan.cheat("tasks['verifyCommands'].append('echo added')", at=1)
    first = plan.run("-n", "1")
    assert "changed while the agent was running" not in first.text, first
    second = plan.completes()
    assert "Commands changed since the last run: plan.verifyCommands" in second.err, second
