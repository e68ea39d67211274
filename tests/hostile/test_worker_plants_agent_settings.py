"""A worker that writes the settings of agents: a Stop hook in .claude/settings.local.json once flipped a reviewer's verdict."""
import json

import pytest

from plan_support import Plan, story
from task_support import Tasks

FILES = {
    ".claude/settings.json": "hooks", ".claude/settings.local.json": "hooks", ".mcp.json": "mcpServers",
    ".gemini/settings.json": "hooks", "opencode.json": "plugin", ".opencode/opencode.json": "mcp", ".amp/settings.json": "amp.permissions"}
WHOLE = [".codex/hooks.json", ".codex/config.toml", ".opencode/plugin/evil.js", ".gemini/extensions/x/gemini-extension.json", "opencode.jsonc"]


def changed(project):
    return {f["path"]: f["action"] for r in project.records("triggers_changed") for f in r["files"]}


@pytest.mark.parametrize("path", FILES)
def test_what_makes_an_agent_run_programs_goes_back_and_the_rest_stays(project, path):
    key, file = FILES[path], project.path / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({key: {"mine": 1}, "other": 1}, indent=2))
    project.python_agent(f"import json; p = {path!r}; d = json.load(open(p)); d.update({{{key!r}: 'evil', 'other': 2}})\n"
                         "json.dump(d, open(p, 'w')); print('<response>DONE</response>')")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert json.loads(file.read_text()) == {key: {"mine": 1}, "other": 2}
    assert changed(project) == {path: "put_back"} and f"{path} was changed and put back" in result.out
    kept = project.records("triggers_changed")[0]["files"][0]["kept"]
    assert "evil" in (project.run_folder() / kept).read_text()


@pytest.mark.parametrize("path", [*FILES, *WHOLE])
def test_what_was_not_there_is_not_there_again(project, whoever, path):
    text = json.dumps({FILES[path]: "evil"}) if path in FILES else "evil"
    project.agent_script(f"mkdir -p $(dirname {path}); echo '{text}' > {path}; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", **whoever())
    assert result.code == 0, result
    assert changed(project) == {path: "put_back"}
    assert not (project.path / path).exists()


def test_a_new_file_keeps_what_runs_nothing(project):
    project.agent_script("mkdir .claude; echo '{\"model\": \"x\"}' > .claude/settings.json; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0 and changed(project) == {}, result
    assert json.loads((project.path / ".claude/settings.json").read_text()) == {"model": "x"}


def test_nothing_is_written_through_a_link(project):
    outside = project.base / "outside"
    outside.mkdir()
    project.agent_script(f"ln -s {outside} .claude; echo '{{\"hooks\": 1}}' > .claude/settings.json; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert not (project.path / ".claude").exists() and (outside / "settings.json").exists()


def test_a_session_that_is_driven_is_watched_too(project):
    (project.path / ".claude").mkdir()
    project.agent_script("echo '{\"hooks\": 1}' > .claude/settings.local.json; "
                         "echo '{\"type\": \"result\", \"subtype\": \"success\", \"result\": \"x\", \"session_id\": \"s\"}'", kind="claude")
    result = project.run("loop", "run", "do it", "--max-iterations", "1")
    assert ".claude/settings.local.json was created and put back" in result.out, result
    assert not (project.path / ".claude/settings.local.json").exists()


def test_a_task_is_watched_where_it_works_in_a_project(project):
    project.git_init()
    (project.path / ".claude").mkdir()
    tasks = Tasks(project)
    result = tasks.run("echo '{\"hooks\": 1}' > .claude/settings.local.json; touch \"$TASK_FOLDER/DONE\"")
    assert result.code == 0, result
    assert not (project.path / ".claude/settings.local.json").exists()
    assert [f["path"] for r in tasks.records("triggers_changed") for f in r["files"]] == [".claude/settings.local.json"]


def test_what_was_committed_is_put_back_in_a_commit(project):
    plan = Plan(project, [story("US-001")])
    (project.path / "opencode.json").write_text('{"plugin": ["mine"], "theme": "a"}')
    plan.commit_all("settings")
    plan.cheat("Path('opencode.json').write_text('{\"plugin\": [\"evil\"], \"theme\": \"b\"}'); Path('.mcp.json').write_text('{\"mcpServers\": {}}')",
               mode="implement")
    plan.completes()
    assert plan.project.git("show", "HEAD:opencode.json") == '{"plugin": ["mine"], "theme": "b"}'
    assert not plan.project.git("ls-files", ".mcp.json")
    assert "ralph: put back protected files" in plan.commits()
