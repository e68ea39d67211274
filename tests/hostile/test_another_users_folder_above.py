"""Another user has put a `.ralph` into a folder above: its guardrails, its policy and its loops are not obeyed, by root neither."""
import json
import os

import pytest

from support import NOBODY, ordinary_user

OTHER = 12345


@pytest.fixture(params=["root", "ordinary user"])
def below(request, project):
    """A folder of this user's own in a shared one, which another user has prepared; keywords for run()."""
    if os.geteuid() != 0:
        pytest.skip("changing the owner needs root")
    agent = project.script("touch ../../owned; echo '<response>DONE</response>'", "agent")
    project.settings(agent={"command": str(agent)}, hooks={"commands": {"deny": ["ls"]}})
    (project.path / ".git").mkdir()
    mine = project.path / "mine"
    mine.mkdir()
    how = dict(cwd=mine)
    if request.param != "root":
        how.update(ordinary_user(project, mine, project.home))
    for path in [project.path, project.ralph, project.ralph / "settings.json", project.path / ".git"]:
        os.chown(path, OTHER, OTHER)
    project.path.chmod(0o1777)
    return how


def test_its_settings_are_refused(project, below):
    for command in (["run", "-p", "x"], ["settings", "show"], ["doctor"], ["runs", "list"]):
        result = project.run(*command, **below)
        assert result.code == 2 and f"uid {OTHER}" in result.err and "ralph trust --owner" in result.err, result
    assert not (project.base / "owned").exists()


def test_hooks_go_on_as_if_it_was_absent_and_say_so_once(project, below):
    payload = json.dumps({"session_id": "s", "cwd": str(project.path / "mine"), "tool_name": "Bash", "tool_input": {"command": "ls"}})
    first = project.run("hooks", "pre-tool", stdin=payload, **below)
    assert first.code == 0 and first.out == "" and f"uid {OTHER}" in first.err, first
    second = project.run("hooks", "pre-tool", stdin=payload, **below)
    assert second.code == 0 and second.text == "", second
    log = (project.home / ".local/state/ralph/hooks.log").read_text()
    assert f"uid {OTHER}" in log and not (project.ralph / "loop").exists()


def test_the_user_can_accept_it(project, below):
    refused = project.run("settings", "show", **below)
    line = refused.err[refused.err.index("ralph trust --owner") :].strip()
    assert line == f"ralph trust --owner '{project.path}'"
    assert project.run("trust", "--owner", project.path, **below).code == 0
    assert json.loads((project.home / ".config/ralph/settings.json").read_text()) == {"trustedFolders": [str(project.path)]}
    assert project.run("settings", "show", **below).code == 0


def test_a_plan_of_another_user_is_refused(project, below):
    folder = project.path / "mine/ralph"
    folder.mkdir()
    (folder / "tasks.json").write_text("{}")
    os.chown(folder / "tasks.json", OTHER, OTHER)
    result = project.run("plan", "status", **below)
    assert result.code == 2 and "tasks.json belongs to another user" in result.err, result


def test_under_sudo_the_callers_files_are_believed(project):
    if os.geteuid() != 0:
        pytest.skip("changing the owner needs root")
    project.settings()
    for path in [project.path, project.ralph, project.ralph / "settings.json"]:
        os.chown(path, NOBODY, NOBODY)
    assert project.run("settings", "show").code == 2
    assert project.run("settings", "show", env={"SUDO_UID": NOBODY}).code == 0


def test_a_folder_above_where_everybody_may_write(project):
    project.settings()
    (project.path / ".git").mkdir()
    (project.path / "sub").mkdir()
    assert project.run("settings", "show", cwd=project.path / "sub").code == 0
    project.path.chmod(0o777)
    result = project.run("settings", "show", cwd=project.path / "sub")
    assert result.code == 2 and "everybody may write" in result.err, result
    assert project.run("settings", "show").code == 0, "nobody searched for it"
