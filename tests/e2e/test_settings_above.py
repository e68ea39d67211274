"""Settings are found from a subfolder of the repository too; the run works where they stand."""
import json

DONE = 'echo "<response>DONE</response>"'


def test_in_a_subfolder_the_settings_above_are_used_and_the_run_works_there(project):
    project.git_init()
    project.agent_script('pwd; cat "$1" 2>/dev/null; printf "%s" "$1" > told; ' + DONE)
    below = project.path / "src" / "deep"
    below.mkdir(parents=True)
    (below / "PROMPT.md").write_text("the prompt below, answered by <response>DONE</response>")
    result = project.run("run", "-f", "PROMPT.md", cwd=below)
    assert result.code == 0 and f"ralph works in {project.path}, with the settings there" in result.err, result
    assert str(project.path) in result.out.splitlines() and (project.path / "told").read_text().startswith("the prompt below")
    assert not (below / ".ralph").exists() and len(project.run_folders()) == 1
    run = project.run_folder().name
    assert run in project.run("runs", "list", cwd=below).out and run in project.run("runs", "show", cwd=below).out
    assert str(project.base / "agent") in project.run("settings", "show", cwd=below).out
    doctor = project.run("doctor", cwd=below)
    assert doctor.code == 0 and f".ralph/settings.json in {project.path}" in doctor.out, doctor


def test_a_run_from_a_subfolder_is_resumed_with_its_prompt_file(project):
    project.git_init()
    project.agent_script("[ -e go ] && " + DONE + "; echo working")
    below = project.path / "src"
    below.mkdir()
    (below / "PROMPT.md").write_text("x <response>")
    assert project.run("run", "-f", "PROMPT.md", "-n", "1", cwd=below).code == 1
    (project.path / "go").touch()
    result = project.run("run", "--resume", "-n", "2", cwd=project.path)
    assert result.code == 0 and len(project.run_folders()) == 1, result


def test_settings_are_not_looked_for_beyond_the_repository(project):
    project.agent_script(DONE)
    plain, repository = project.path / "plain", project.path / "repository"
    for folder in (plain, repository / "below"):
        folder.mkdir(parents=True)
    (repository / ".git").mkdir()
    for folder in (plain, repository / "below"):
        result = project.run("run", "-p", "x", cwd=folder)
        assert result.code == 2 and f"no agent is set in {folder}" in result.err, result


def test_settings_of_the_folder_itself_win_over_those_above(project):
    project.own_settings(trust="off")
    project.git_init()
    project.agent_script("exit 3")
    below = project.path / "below"
    (below / ".ralph").mkdir(parents=True)
    (below / ".ralph" / "settings.json").write_text(json.dumps({"agent": {"command": str(project.script(DONE, "own"))}}))
    result = project.run("run", "-p", "<response>", cwd=below)
    assert result.code == 0 and result.err == "", result
    assert len(list((below / ".ralph" / "runs").iterdir())) == 1
