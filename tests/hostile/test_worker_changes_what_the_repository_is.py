"""A worker changes settings that say what kind of repository it is, or what git takes for a change: git would refuse it, look at
another folder, or say nothing of work that is in no commit."""
import pytest

from plan_support import Plan, story

SHAPES = {
    "bare": ("core.bare", "git('config', 'core.bare', 'true')"),
    "another work tree": ("core.worktree", "(base / 'empty').mkdir(); git('config', 'core.worktree', str(base / 'empty'))"),
    "an unknown extension": ("extensions.evil", "git('config', 'core.repositoryformatversion', '1'); git('config', 'extensions.evil', 'true')"),
    "a version of the future": ("core.repositoryformatversion", "git('config', 'core.repositoryformatversion', '99')"),
    "another object format": ("extensions.objectFormat",
                              "git('config', 'core.repositoryformatversion', '1'); git('config', 'extensions.objectFormat', 'sha256')"),
    "settings of the work tree": ("extensions.worktreeConfig",
                                  "git('config', 'extensions.worktreeConfig', 'true'); git('config', '--worktree', 'core.bare', 'true')"),
}


@pytest.mark.parametrize("how", SHAPES)
def test_the_repository_is_what_it_was(project, how):
    name, code = SHAPES[how]
    plan = Plan(project, [story("US-001")])
    config = (project.path / ".git/config").read_text()
    plan.cheat(code, mode="implement", phase="after")
    result = plan.completes()
    assert (project.path / ".git/config").read_text() == config
    assert name in result.out and "put back" in result.out
    assert plan.modes() == ["implement US-001", "review US-001"]
    assert "iteration 1: .git/config was changed" in plan.prompt(2), "the reviewer is told"


def test_it_is_the_same_in_a_run(project, whoever):
    project.git_init()
    project.agent_script("git config core.bare true; git config core.sparseCheckout true; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", **whoever())
    assert result.code == 0, result
    assert project.git("status", "--porcelain") == "?? .ralph/\n"
    note = project.last("triggers_changed")["files"][0]["note"]
    assert "core.bare" in note and "core.sparseCheckout" in note


HIDING = {
    "the mode of a file": ("core.fileMode", "test -x tool.sh", "git('config', 'core.fileMode', 'false'); os.chmod('tool.sh', 0o755)"),
    "a name in capitals": ("core.ignoreCase", "test -e TOOL.SH", "git('config', 'core.ignoreCase', 'true'); Path('TOOL.SH').write_text('x')"),
    "a new file": ("core.excludesFile", "test -e new.py", "git('config', 'core.excludesFile', str(base / 'excluded')); "
                   "(base / 'excluded').write_text('new.py\\n'); Path('new.py').write_text('x')"),
    "line ends": ("core.autocrlf", "grep -q \"$(printf '\\r')\" tool.sh", "git('config', 'core.autocrlf', 'true'); "
                  "Path('tool.sh').write_bytes(b'echo tool\\r\\n'); git('add', 'tool.sh')"),
}


@pytest.mark.parametrize("how", HIDING)
def test_what_a_setting_hides_is_uncommitted_work(project, how):
    name, command, code = HIDING[how]
    plan = Plan(project, [story("US-001")], verifyCommands=[command])
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "tool.sh").write_text("echo tool\n")
    plan.commit_all("tool")
    plan.cheat(code + "; (base / 'status').write_text(git('status', '--porcelain'))", mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert (project.base / "status").read_text() == "", "the attack worked"
    assert result.code == 1 and not plan.story("US-001")["passes"], result
    assert "• uncommitted: " in result.out and name in result.out
    assert "left uncommitted changes" in plan.prompt(2), "the reviewer is told"


def test_a_repository_that_the_agent_makes_keeps_its_settings(project):
    project.agent_script("git init -q; git config core.bare false; git remote add origin x; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert {f["action"] for r in project.records("triggers_changed") for f in r["files"]} <= {"reported"}
    assert "bare = false" in (project.path / ".git/config").read_text()
