"""Settings are found from a subfolder of the repository too; the run works where they stand."""
import json

from plan_support import Plan

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


def test_plan_commands_find_the_project_from_a_subfolder(project):
    plan = Plan(project)
    below = project.path / "src" / "deep"
    below.mkdir(parents=True)
    note = f"ralph works in {project.path}, with the settings there"
    assert "US-001" in project.run("plan", "status", cwd=below).out
    assert project.run("plan", "check", cwd=below).code == 0
    result = plan.run(cwd=below)
    assert result.code == 0 and note in result.err, result
    assert plan.state("US-001") == (True, "approved", 1) and not (below / ".ralph").exists()
    archived = project.run("plan", "archive", cwd=below)
    assert archived.code == 0 and note in archived.err and (project.path / "ralph-archive").exists(), archived
    assert project.run("plan", "init", "--force", cwd=below).code == 0 and not (below / "ralph").exists()


def test_a_folder_with_a_plan_of_its_own_is_its_project(project):
    Plan(project)
    below = project.path / "below"
    assert project.run("plan", "init", "-d", ".", cwd=project.path).code == 2, "there is one already"
    below.mkdir()
    assert project.run("plan", "init", "-d", below).code == 0
    assert "still the template" in project.run("plan", "run", cwd=below).err


def test_another_agent_for_a_plan(project):
    plan = Plan(project)
    other = project.script("exit 9", "another")
    result = plan.run("--agent", other, "--dry-run", "--json")
    assert json.loads(result.out)["argv"][0] == str(other), result
    assert plan.run("--agent", " ").code == 2


def test_the_path_of_an_agent_begins_where_it_was_typed(project):
    project.git_init()
    project.agent_script("exit 3")
    below = project.path / "src"
    below.mkdir()
    (below / "own.sh").write_text("#!/bin/sh\n" + DONE + "\n")
    (below / "own.sh").chmod(0o755)
    assert project.run("run", "-p", "<response>", "--agent", "./own.sh", cwd=below).code == 0
