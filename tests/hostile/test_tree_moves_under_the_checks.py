"""The checks run, and what they looked at is exchanged meanwhile: by the check itself, which the project's files make."""
import pytest

from plan_support import Plan, story, submitted

MOVES = {
    "a tracked file": "echo evil > code.py",
    "one that was removed": "rm code.py",
    "a commit": "echo evil > code.py; git commit -qam evil",
    "back to an older commit": "git reset -q --hard HEAD~1",
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_what_was_checked_is_not_what_is_there(project, move):
    plan = Plan(project, [submitted("US-001")], verifyCommands=[f"test -e '{project.base}/armed' || exit 0; rm '{project.base}/armed'; {move}"])
    (project.path / "code.py").write_text("good\n")
    plan.commit_all("code")
    (project.base / "armed").touch()
    plan.cheat("git('checkout', '-q', 'HEAD', '--', 'code.py', check=False)", mode="review-fix", phase="before")
    result = plan.run()
    assert result.code == 0, result
    assert plan.checked()[1]["outcome"] == "sent_back"
    assert plan.modes()[:2] == ["review US-001", "review-fix US-001"]
    assert "changed while the checks ran" in plan.prompt(2)


def test_what_a_check_makes_itself_is_no_work(project):
    """Reports that nobody ignores, written anew by each run of the checks."""
    plan = Plan(project, [story("US-001")], verifyCommands=["date +%N > report.txt; mkdir -p out; date +%N > out/b"])
    plan.agent()
    plan.cheat("git('add', '-A', '--', '.', ':!report.txt', ':!out')\ngit('commit', '-q', '--allow-empty', '-m', 'x')\n"
               "commit = lambda message='': (git('add', '-A', '--', '.', ':!report.txt', ':!out'), "
               "git('commit', '-q', '--allow-empty', '-m', message))", phase="before", always=True)
    result = plan.run()
    assert result.code == 0, result
    assert plan.modes() == ["implement US-001", "review US-001"]
    assert project.git("status", "--porcelain").split() == ["??", "out/", "??", "report.txt"]
