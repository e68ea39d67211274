"""Diagnostics as guardrails: criteria of `run`, `plan run` and `task run`."""
import json

import pytest

from check_support import environment, fake, write

DONE = "echo '<response>DONE</response>'"


def errors(project, *messages):
    """What the project's ruff finds from now on."""
    items = [{"filename": "app.py", "code": "F1", "message": m, "location": {"row": i + 1, "column": 1}} for i, m in enumerate(messages)]
    write(project, "found.json", json.dumps(items))


@pytest.fixture
def diagnosed(project):
    write(project, "app.py", "x = 1\n")
    fake(project, "ruff", "cat found.json")
    project.settings(diagnostics={"criteria": {}})
    return project


def write_errors(*messages):
    """A line of shell with which an agent changes what ruff finds."""
    items = [{"filename": "app.py", "code": "F1", "message": m, "location": {"row": i + 1, "column": 1}} for i, m in enumerate(messages)]
    return f"cat > found.json <<'E'\n{json.dumps(items)}\nE"


def test_errors_are_fed_back_until_they_are_gone(diagnosed):
    project = diagnosed
    errors(project, "first", "second")
    project.agent_script(f'printf "%s" "$*" >> prompts\ncase $(ls ran* 2>/dev/null | wc -l) in\n0) touch ran1\n{write_errors("third")}\n;;\n'
                         f'*) touch ran2\n{write_errors()}\n;;\nesac\n{DONE}')
    result = project.run("run", "-p", "do it", env=environment(project))
    assert result.code == 0, result
    said = project.records("diagnosed")
    assert [(d["iteration"], d["baseline"], d["snapshot"]["error_count"]) for d in said] == [(0, True, 2), (1, False, 1), (2, False, 0)]
    prompts = (project.path / "prompts").read_text()
    assert "The work is not complete: 1 error." in prompts and "app.py:1:1: error: third (F1, ruff)" in prompts
    assert "first" not in prompts  # what was there before the first turn is no feedback
    assert "diagnostics 2 → 1 → 0 errors" in result.out
    assert "the diagnostic criteria hold" in project.last("run_ended")["reason"]
    assert json.loads((project.run_folder() / "diagnostics_1.json").read_text())["summary"]["errors"] == 1
    assert "diagnosed" in project.run("runs", "show").out


def test_the_same_errors_again_and_again_are_stagnation(diagnosed):
    project = diagnosed
    project.settings(diagnostics={"criteria": {"stagnationLimit": 2}})
    errors(project, "one")
    project.agent_script(DONE)
    result = project.run("run", "-p", "x", env=environment(project))
    assert result.code == 1
    ended = project.last("run_ended")
    assert (ended["status"], ended["iterations"]) == ("stagnant", 2)
    assert "1 error left, and no improvement in 2 snapshots" in ended["reason"]


def test_progress_under_a_flat_count_is_no_stagnation_and_oscillation_is(diagnosed):
    project = diagnosed
    errors(project, "zero")
    cases = "".join(f'{i}) {write_errors(m)}\n;;\n' for i, m in enumerate(("a", "b", "c", "d", "e", "c"), 1))
    project.agent_script(f"n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n\ncase $n in\n{cases}esac\n{DONE}")
    result = project.run("run", "-p", "x", env=environment(project))
    assert result.code == 1, result
    ended = project.last("run_ended")
    assert (ended["status"], ended["iterations"]) == ("stagnant", 6)
    assert "the same 1 issue as 3 snapshots ago (oscillation)" in ended["reason"]


@pytest.mark.parametrize("way", [("run", "-p", "x"),
                                 ("task", "run", "--root", "root", "--project", "p", "--task", "t", "--prompt", "x")])
@pytest.mark.parametrize("criteria, message", [
    ({}, "the criterion zeroErrors can't be judged: ruff: ruff is not installed; pip install ruff; or add \"ruff\" to diagnostics.exclude"),
    ({"zeroErrors": False, "zeroSecurity": True}, "ast-grep is not installed"),
    ({"zeroErrors": False, "testsPass": True}, "the criterion testsPass can't be judged: nothing here runs tests"),
])
def test_a_criterion_over_a_missing_tool_is_refused_before_the_first_turn(project, way, criteria, message):
    write(project, "app.py", "x = 1\n")
    project.settings(diagnostics={"criteria": criteria})
    project.agent_script(f"touch started; {DONE}")
    result = project.run(*way, env=environment(project))
    assert result.code == 2 and message in result.err, result
    assert not (project.path / "started").exists() and not (project.path / "root").exists() and project.run_folders() == []


def test_a_tool_that_breaks_during_the_run_is_never_clean(diagnosed):
    project = diagnosed
    errors(project)
    project.settings(maximumIterations=1)
    project.agent_script(f"rm .venv/bin/ruff; {DONE}")
    result = project.run("run", "-p", "x", env=environment(project))
    assert result.code == 1, result
    assert "ruff is not installed" in project.last("diagnosed")["unmet"][0]


@pytest.mark.parametrize("deed", ["printf '#!/bin/sh\\necho []\\n' > .venv/bin/ruff",  # changed
                                  "mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho []\\n' > node_modules/.bin/ruff; chmod +x node_modules/.bin/ruff"])
def test_a_tool_that_the_agent_put_there_is_not_believed(diagnosed, deed):
    project = diagnosed
    errors(project, "one")
    project.settings(maximumIterations=1)
    project.agent_script(f"{deed}; {DONE}")
    result = project.run("run", "-p", "x", env=environment(project))
    assert result.code == 1, result
    assert "is not the program that was there when the run began" in project.last("diagnosed")["unmet"][0]


def test_warnings_and_tests_by_their_own_criteria(diagnosed):
    project = diagnosed
    errors(project)
    write(project, "test_app.py", "")
    fake(project, "pytest", """echo '<?xml version="1.0"?><testsuites><testsuite></testsuite></testsuites>' >&2; exit 5""")
    project.settings(diagnostics={"criteria": {"testsPass": True}}, maximumIterations=1)
    project.agent_script(DONE)
    result = project.run("run", "-p", "x", env=environment(project))
    assert result.code == 1 and "pytest: no tests" in result.text, result


def test_a_task_is_not_done_before_its_criteria_hold(diagnosed):
    project = diagnosed
    errors(project, "one")
    project.agent_script('printf "%s" "$*" >> prompts\ntouch "$TASK_FOLDER/DONE"\n'
                         f'if [ -e ran ]; then\n{write_errors()}\nfi\ntouch ran')
    result = project.run("task", "run", "--project", "p", "--task", "t", "--prompt", "x", "--root", str(project.tmp / "root"),
                         "--restart-delay", "10ms", env=environment(project))
    assert result.code == 0, result
    prompts = (project.path / "prompts").read_text()
    assert prompts.count("The work is not complete: 1 error.") == 1


def test_a_task_takes_criteria_as_options(project):
    write(project, "app.py", "x = 1\n")
    fake(project, "ruff", "cat found.json")
    errors(project, "one")
    project.agent_script(f'touch "$TASK_FOLDER/DONE"\nif [ -e ran ]; then\n{write_errors()}\nfi\necho x >> ran')
    task = ["task", "run", "--project", "p", "--task", "t", "--prompt", "x", "--root", str(project.tmp / "root"), "--restart-delay", "10ms"]
    result = project.run(*task, "--tests-pass", env=environment(project))
    assert result.code == 2 and "task run: the criterion testsPass can't be judged" in result.err, result
    result = project.run(*task, "--zero-errors", env=environment(project))
    assert result.code == 0 and (project.path / "ran").read_text() == "x\nx\n", result
