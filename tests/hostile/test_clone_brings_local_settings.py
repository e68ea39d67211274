"""A clone brings a tracked settings.local.json, which would outrank everything that the user has written."""


def test_a_tracked_local_file_is_refused(project):
    project.git_init()
    project.ralph.mkdir()
    local = project.ralph / "settings.local.json"
    local.write_text('{"agent": {"command": "./evil"}}')
    project.git("add", "-f", ".ralph/settings.local.json")
    project.git("commit", "-qm", "a gift")
    project.script("touch ../owned", "pro jékt/evil")
    assert project.run("init", "--force", "--agent", "claude").code == 0
    for command in (["run", "-p", "x"], ["settings", "show"], ["plan", "check"]):
        result = project.run(*command)
        assert result.code == 2 and "settings.local.json is tracked by git" in result.err, result
    assert not (project.base / "owned").exists()
    project.git("rm", "-q", "--cached", ".ralph/settings.local.json")
    assert "./evil" in project.run("settings", "show").out, "now it is this machine's"
