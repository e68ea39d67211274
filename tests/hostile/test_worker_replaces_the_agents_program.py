"""A worker that replaces the program of the agent that comes after it, which lies in the project."""
from plan_support import Plan, story


def test_the_program_is_put_back(project, whoever):
    tool = project.path / "tools/agent"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nif [ -e went ]; then echo '<response>DONE</response>'; else touch went; echo working; "
                    "printf '#!/bin/sh\\ntouch evil\\n' > tools/new; chmod +x tools/new; mv tools/new tools/agent; fi\n")
    tool.chmod(0o755)
    text = tool.read_text()
    project.settings({"agent": {"command": "tools/agent"}})
    result = project.run("run", "-p", "do it", "-m", "3", **whoever())
    assert result.code == 0, result
    assert tool.read_text() == text and not (project.path / "evil").exists()
    assert "tools/agent was changed and put back: it is an agent's program" in result.out


def test_a_script_that_an_interpreter_runs_is_its_program_too(project):
    script = project.path / "agent.py"
    script.write_text("import os\nif os.path.exists('went'): print('<response>DONE</response>')\n"
                      "else:\n print('working'); open('went', 'w'); open('agent.py', 'w').write('evil')\n")
    text = script.read_text()
    project.settings({"agent": {"command": "python3", "flags": ["agent.py"]}})
    result = project.run("run", "-p", "do it", "-m", "3")
    assert result.code == 0, result
    assert script.read_text() == text


def test_one_outside_of_the_project_is_shown(project):
    """Agents bring themselves up to date, and ralph never writes there."""
    plan = Plan(project, [story("US-001")])
    plan.cheat("agent = Path(sys.argv[0]); new = agent.with_name('new'); new.write_text(agent.read_text() + '\\n# more\\n'); new.chmod(0o755); "
               "os.replace(new, agent)", mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert result.code == 0, result
    agent = str(project.base / "agent")
    found = [f for r in project.records("triggers_changed") for f in r["files"] if f["path"] == agent]
    assert [f["action"] for f in found] == ["reported"], found
    assert f"{agent} was changed" in result.out and agent in plan.prompt(2), "the reviewer is told"
