"""A worker leaves the tests and the command alone, and changes what the runner reads besides: a configuration that deselects tests, or
starts something else in their place. The user and the reviewer are told."""
import pytest

from plan_support import Plan, story

SHADOWS = {
    "pytest": [("pytest.ini", "[pytest]\naddopts = -k nothing\n"), (".pytest.ini", "[pytest]\n"), ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--co'\n"),
               ("tox.ini", "[pytest]\naddopts = --co\n"), ("setup.cfg", "[tool:pytest]\naddopts = --co\n"),
               ("conftest.py", "import os\ndef pytest_sessionfinish(): os._exit(0)\n")],
    "npm test": [(".npmrc", "script-shell=/bin/true\n"), ("package.json", '{"scripts": {"test": "true"}}')],
    "cargo test": [(".cargo/config.toml", '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n')],
    "npx jest": [("jest.config.js", "module.exports = {testMatch: []}\n")],
    "npx vitest run": [("vitest.config.ts", "export default {test: {passWithNoTests: true}}\n")],
    "make test": [("GNUmakefile", "test:\n\t@true\n")],
    "go test ./...": [("go.work", "go 1.22\n")],
    "./gradlew test": [("gradle.properties", "x=y\n")],
}
ALL = [(command, name, text) for command, files in SHADOWS.items() for name, text in files]


@pytest.mark.parametrize("command, name, text", ALL, ids=[f"{c} {n}" for c, n, _ in ALL])
def test_a_new_one_is_told_to_the_user_and_to_the_reviewer(project, command, name, text):
    plan = Plan(project, [story("US-001")], verifyCommands=[f": {command}"])
    plan.cheat(f"path = Path({name!r}); path.parent.mkdir(exist_ok=True); path.write_text({text!r})", mode="implement")
    result = plan.run("-n", "2")
    assert f"{name} was created" in result.out, result
    told = plan.prompt(2)
    assert name in told and text.splitlines()[0] in told, told


@pytest.mark.parametrize("command, name, text", [row for row in ALL if row[1] in ("pyproject.toml", ".npmrc", ".cargo/config.toml", "jest.config.js")],
                         ids=lambda value: str(value)[:20])
def test_a_changed_one_is_told_in_a_run_too(project, command, name, text):
    project.git_init()
    path = project.path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("# as it was\n")
    project.guardrails(f": {command}")
    project.agent_script(f"echo '# changed' >> {name}; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert f"{name} was changed" in result.out, result
