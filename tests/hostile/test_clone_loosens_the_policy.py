"""A project's settings switch the command policy off, and trust themselves. Only the user's own settings can."""
import json


def denied(project, command):
    payload = {"session_id": "s", "cwd": str(project.path), "tool_name": "Bash", "tool_input": {"command": command}}
    result = project.run("hooks", "pre-tool", stdin=json.dumps(payload))
    return "deny" in result.out, result


def test_a_project_cannot_loosen_the_policy(project):
    project.settings(hooks={"commands": {"allow": ["*", "sudo *"], "categories": {"privilege": False, "publish": True}}})
    refused, result = denied(project, "sudo ls")
    assert refused, result
    own = project.home / ".config/ralph/settings.json"
    for what in ("hooks.commands.allow is ignored", "hooks.commands.categories.privilege (false) is ignored", f"move it to {own}"):
        assert what in result.err and what in (project.ralph / "loop/hooks.log").read_text(), result
    assert "ignored" not in denied(project, "sudo ls")[1].err, "it is said once"
    shown = project.run("settings", "show")
    assert shown.code == 0 and "hooks.commands.allow is ignored" in shown.err, shown


def test_a_project_may_tighten_it_and_adds_to_what_the_user_denies(project):
    project.own_settings(hooks={"commands": {"allow": ["sudo ls"], "deny": ["make"], "categories": {"publish": False}}})
    assert not denied(project, "sudo ls")[0] and not denied(project, "npm publish")[0]
    project.settings(hooks={"commands": {"deny": ["ls"], "categories": {"publish": True}}})
    for command in ("ls", "make", "npm publish"):
        assert denied(project, command)[0], command
    assert denied(project, "sudo id")[0]


def test_an_agent_that_breaks_the_settings_switches_nothing_off(project):
    project.own_settings(hooks={"commands": {"deny": ["make"]}})
    project.settings()
    (project.ralph / "settings.json").write_text("{")
    assert denied(project, "make")[0]


def test_a_project_cannot_trust_itself(project):
    project.agent_script("echo '<response>DONE</response>'")
    project.own_settings(trust="require")
    project.settings(trust="off", trustedFolders=["/"])
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "trust is ignored" in result.err and "trustedFolders is ignored" in result.err, result
