"""Work that is reviewed, checked and called complete, but stands in no commit."""
from plan_support import Plan, story, submitted

LEAVE = "Path('hidden.py').write_text('not committed')"


def test_uncommitted_work_is_not_approved(project):
    plan = Plan(project, [story("US-001")])
    plan.cheat(LEAVE, mode="implement", phase="after")
    plan.cheat("commit = lambda message: (git('add', 'ralph'), git('commit', '-q', '-m', message))", mode="review", phase="before")
    result = plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001", "review-fix US-001", "review US-001"]
    assert "the checks pass, but the work is not committed: hidden.py" in result.out
    assert "US-001 goes back, though its checks pass" in result.out and "the checks that ralph ran fail" not in result.out
    assert [record["outcome"] for record in plan.checked()[1:3]] == ["submitted", "sent_back"]
    assert "> The work is not committed: hidden.py." in plan.prompt(3)
    assert project.git("show", "HEAD:hidden.py") == "not committed"


def test_with_reviews_switched_off_it_is_not_complete_either(project):
    plan = Plan(project, [story("US-001")])
    plan.cheat(LEAVE, mode="implement", phase="after")
    result = plan.run("--skip-review")
    assert result.code == 0, result
    assert plan.modes() == ["implement US-001"] * 2
    assert project.git("show", "HEAD:hidden.py") == "not committed"


def test_a_plan_that_is_done_is_not_complete_with_it(project):
    """It appears in the last review, which leaves the plan's own log uncommitted."""
    plan = Plan(project, [submitted("US-001")])
    plan.cheat("open(ralph / 'progress.txt', 'a').write('more')", at=1, phase="after")
    plan.completes()
    assert plan.modes() == ["review US-001", "review-fix US-001", "review US-001"]


def test_what_the_user_had_not_committed_is_not_held_against_anybody(project):
    plan = Plan(project, [story("US-001")])
    (project.path / "work.txt").write_text("")
    plan.commit_all("tracked")
    (project.path / "mine.txt").write_text("my notes")
    plan.cheat("commit = lambda message: (git('add', 'ralph', 'work.txt'), git('commit', '-q', '-m', message))", phase="before", always=True)
    result = plan.run()
    assert result.code == 0, result
    assert plan.modes() == ["implement US-001", "review US-001"]
    assert project.git("status", "--porcelain").split() == ["??", "mine.txt"]
    assert "uncommitted" not in plan.prompt(2)
