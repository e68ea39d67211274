"""A worker that checks out a branch with other settings of agents: what was in force when the run began stays in force."""
import json

from plan_support import Plan, story


def other_branch(project):
    settings = project.path / ".claude/settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"permissions": {"allow": ["mine"]}, "model": "a"}))
    project.git("add", "-A")
    project.git("commit", "-qm", "settings")
    project.git("checkout", "-qb", "other")
    settings.write_text(json.dumps({"permissions": {"allow": ["all"]}, "model": "b"}))
    project.git("commit", "-qam", "others")
    project.git("checkout", "-q", "-")
    return settings


def test_the_keys_are_put_back_and_named(project):
    project.git_init()
    settings = other_branch(project)
    project.agent_script("git checkout -q other; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert json.loads(settings.read_text()) == {"permissions": {"allow": ["mine"]}, "model": "b"}
    assert ".claude/settings.json was changed and put back: permissions; claude obeys it" in result.out
    assert project.git("branch", "--show-current").strip() == "other"
    assert json.loads(project.git("show", "other:.claude/settings.json"))["permissions"] == {"allow": ["all"]}


def test_a_plan_is_on_its_own_branch_again_with_its_settings(project):
    plan = Plan(project, [story("US-001")])
    settings = other_branch(project)
    branch = project.git("branch", "--show-current").strip()
    plan.cheat("git('checkout', '-q', 'other')", mode="implement", phase="before")
    plan.run()
    assert project.git("branch", "--show-current").strip() == branch
    assert json.loads(settings.read_text())["permissions"] == {"allow": ["mine"]}
