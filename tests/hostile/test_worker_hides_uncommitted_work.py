"""A worker makes the checks pass in the work tree with what is in no commit, and keeps git from showing it."""
import time

import pytest

from plan_support import Plan, story, submitted
from support import RALPH

FLAGS = ["--skip-worktree", "--assume-unchanged"]
VERIFY = ["grep -q good code.py"]


def plan_of(project, room="off"):
    plan = Plan(project, [story("US-001")], verifyCommands=VERIFY)
    project.settings({"plan": {"cleanRoom": {"mode": room, "setup": ""}}})
    (project.path / "code.py").write_text("bad\n")
    plan.commit_all("code")
    return plan


@pytest.mark.parametrize("flag", FLAGS)
def test_a_change_behind_a_flag_of_the_index_is_not_approved(project, flag):
    plan = plan_of(project)
    plan.cheat(f"git('update-index', '{flag}', 'code.py'); Path('code.py').write_text('good\\n')", mode="implement", phase="after")
    plan.cheat("for no in ('--no-assume-unchanged', '--no-skip-worktree'): git('update-index', no, 'code.py')",
               mode="review-fix", phase="before")
    result = plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001", "review-fix US-001", "review US-001"]
    assert "• uncommitted: code.py (hidden from git by a flag" in result.out
    assert "the checks pass, but the work is not committed: code.py (hidden from git by a flag" in result.out
    assert "git update-index --no-assume-unchanged, then --no-skip-worktree, shows it" in plan.prompt(3)
    assert project.git("show", "HEAD:code.py") == "good\n"


@pytest.mark.parametrize("flag", FLAGS)
def test_a_deletion_behind_a_flag_is_not_approved(project, flag):
    plan = Plan(project, [story("US-001")], verifyCommands=["test ! -e failing.py"])
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "failing.py").write_text("fails\n")
    plan.commit_all("code")
    plan.cheat(f"git('update-index', '{flag}', 'failing.py'); os.remove('failing.py')", mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert result.code != 0 and not plan.story("US-001")["passes"], result
    assert "the work is not committed: failing.py (hidden from git by a flag" in result.out


def test_a_flag_set_while_the_checks_run_hides_nothing(project):
    plan = Plan(project, [submitted("US-001")], verifyCommands=["git update-index --skip-worktree code.py; echo good > code.py"])
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "code.py").write_text("bad\n")
    plan.commit_all("code")
    result = plan.run("-n", "1")
    assert result.code != 0 and not plan.story("US-001")["passes"], result
    assert "code.py changed while the checks ran" in result.out


def test_what_the_user_hid_before_the_run_is_not_held_against_anybody(project):
    plan = plan_of(project)
    (project.path / "local.cfg").write_text("shared\n")
    plan.commit_all("configuration")
    project.git("update-index", "--skip-worktree", "local.cfg")
    (project.path / "local.cfg").write_text("mine\n")
    plan.cheat("Path('code.py').write_text('good\\n')", mode="implement")
    plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001"]
    assert project.git("show", "HEAD:local.cfg") == "shared\n"


def test_a_sparse_checkout_hides_nothing(project):
    plan = plan_of(project)
    (project.path / "big").mkdir()
    (project.path / "big/data").write_text("1\n")
    plan.commit_all("data")
    project.git("sparse-checkout", "set", "--no-cone", "/*", "!/big/")
    assert not (project.path / "big").exists()
    plan.cheat("Path('code.py').write_text('good\\n')", mode="implement")
    plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001"]
    assert project.run("plan", "check").code == 0


@pytest.mark.parametrize("flag", FLAGS)
def test_the_check_of_a_plan_names_it(project, flag):
    plan = plan_of(project)
    project.git("update-index", flag, "code.py")
    assert project.run("plan", "check").code == 0, "a flag alone changes nothing"
    (project.path / "code.py").write_text("good\n")
    result = project.run("plan", "check", cwd=plan.folder)
    assert result.code == 1 and "There are uncommitted changes (code.py (hidden from git by a flag" in result.out + result.err, result


def test_a_file_that_is_no_longer_tracked_and_excluded_is_uncommitted(project):
    plan = plan_of(project)
    plan.cheat("""git('rm', '-q', '--cached', 'code.py')
with open(project / '.git/info/exclude', 'a') as file: file.write('code.py\\n')
git('commit', '-qm', 'tidy')
Path('code.py').write_text('good\\n')""", mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert result.code != 0 and not plan.story("US-001")["passes"], result
    assert "the work is not committed: code.py (no longer tracked, and ignored by no .gitignore of the project)" in result.out
    assert ".git/info/exclude" in result.out, "a change to it is shown"
    assert "left uncommitted changes (code.py (no longer tracked" in plan.prompt(2), "the reviewer is told"


def test_one_that_a_committed_gitignore_names_is_told_to_the_reviewer(project):
    """A story may be about that."""
    plan = plan_of(project)
    (project.path / "made.log").write_text("1")
    plan.commit_all("by mistake")
    plan.cheat("""Path('code.py').write_text('good\\n')
git('rm', '-q', '--cached', 'made.log')
with open('.gitignore', 'a') as file: file.write('made.log\\n')""", mode="implement")
    result = plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001"]
    assert "• no longer tracked, but still there and ignored: made.log" in result.out
    assert "still there and ignored: made.log. The commit does not have that" in plan.prompt(2)


def test_the_hook_leaves_alone_what_the_user_hid_before_the_run(project):
    plan = plan_of(project)
    (project.path / "local.cfg").write_text("shared\n")
    (project.path / "code.py").write_text("good\n")
    plan.commit_all("configuration")
    project.git("update-index", "--skip-worktree", "local.cfg", "code.py")
    (project.path / "local.cfg").write_text("mine\n")
    time.sleep(1.1)  # a run's id has seconds
    plan.cheat(f"ralph_program = {str(RALPH)!r}" + """
def look(name): (base / name).write_text(subprocess.run([ralph_program, 'plan', 'check'], capture_output=True, text=True).stdout)
look('honest')
Path('code.py').write_text('more good\\n')
look('hidden')""", mode="implement", phase="after")
    plan.run("-n", "1")
    assert "uncommitted changes" not in (project.base / "honest").read_text()
    told = (project.base / "hidden").read_text()
    assert "There are uncommitted changes (code.py (hidden from git by a flag" in told and "local.cfg" not in told


def test_commits_of_the_user_during_a_review_in_a_clean_checkout_are_not_the_reviewers(project):
    plan = plan_of(project, room="on")
    plan.cheat("Path('code.py').write_text('good\\n')", mode="implement")
    plan.cheat("subprocess.run('echo x > user.txt && git add user.txt && git commit -qm mine', shell=True, cwd=project, check=True)",
               mode="review", phase="before")
    result = plan.completes()
    assert "the checks pass, but the project moved on while the review worked: user.txt" in result.out
    assert "review changed code" not in result.out + plan.prompt(3)
    assert plan.modes() == ["implement US-001", "review US-001", "review-fix US-001", "review US-001"]
