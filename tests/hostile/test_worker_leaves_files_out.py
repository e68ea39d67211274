"""A worker switches on a sparse checkout, so that git says nothing of files that are missing: a failing test is not there for the
checks, and git status is clean."""
import pytest

from plan_support import Plan, story

SPARSE = {
    "set": "git('sparse-checkout', 'set', '--no-cone', '/*', '!/tests/')",
    "by hand": """git('config', 'core.sparseCheckout', 'true')
Path('.git/info').mkdir(exist_ok=True); Path('.git/info/sparse-checkout').write_text('/*\\n!/tests/\\n')
git('read-tree', '-mu', 'HEAD')""",
    "in an included file": """Path('.git/more').write_text('[core]\\n\\tsparseCheckout = true\\n'); git('config', 'include.path', 'more')
Path('.git/info').mkdir(exist_ok=True); Path('.git/info/sparse-checkout').write_text('/*\\n!/tests/\\n')
git('read-tree', '-mu', 'HEAD')""",
}


def plan_of(project):
    plan = Plan(project, [story("US-001")], verifyCommands=["for t in tests/*.sh; do [ ! -e $t ] || sh $t || exit 1; done"])
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "tests").mkdir()
    (project.path / "tests/all.sh").write_text("grep -q good code.py\n")
    (project.path / "code.py").write_text("bad\n")
    plan.commit_all("code")
    return plan


@pytest.mark.parametrize("how", SPARSE)
def test_what_the_worker_left_out_is_not_approved(project, how):
    plan = plan_of(project)
    plan.cheat(SPARSE[how], mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert result.code == 1 and not plan.story("US-001")["passes"], result
    assert not (project.path / "tests").exists(), "the attack worked"
    assert "the work is not committed: tests/all.sh (hidden from git" in result.out
    assert "core.sparseCheckout" in result.out or "include.path" in result.out
    assert "sparseCheckout" not in (project.path / ".git/config").read_text()


def test_a_plan_that_skips_reviews_is_not_complete(project):
    plan = plan_of(project)
    plan.cheat(SPARSE["set"], mode="implement", phase="after", always=True)
    result = plan.run("-n", "2", "--skip-review")
    assert result.code == 1 and "tests/all.sh" in result.out, result


def test_what_the_user_left_out_may_be_narrowed_by_nobody(project):
    plan = plan_of(project)
    (project.path / "big").mkdir()
    (project.path / "big/data").write_text("1\n")
    plan.commit_all("data")
    project.git("sparse-checkout", "set", "--no-cone", "/*", "!/big/")
    plan.cheat("git('sparse-checkout', 'set', '--no-cone', '/*', '!/big/', '!/tests/')", mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert result.code == 1 and not plan.story("US-001")["passes"], result
    assert "tests/all.sh (hidden from git" in result.out and "big/data" not in result.out
    assert ".git/info/sparse-checkout" in result.out, "a change to it is shown"


def test_a_worker_may_fetch_what_the_user_left_out(project):
    plan = plan_of(project)
    (project.path / "big").mkdir()
    (project.path / "big/data").write_text("1\n")
    plan.commit_all("data")
    project.git("sparse-checkout", "set", "--no-cone", "/*", "!/big/")
    plan.cheat("git('sparse-checkout', 'set', '--no-cone', '/*'); Path('code.py').write_text('good\\n')", mode="implement")
    plan.completes()
    assert (project.path / "big/data").exists()
