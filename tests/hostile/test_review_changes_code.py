"""A reviewer (or what an implementer left for it to run) changes the code that it approves."""
import pytest

from plan_support import Plan, submitted

CHANGES = {
    "committed": "Path('code.py').write_text('evil')\ncommit('review: fine')",
    "in its own commit": "Path('code.py').write_text('evil')",
    "removed": "git('rm', '-q', 'code.py')",
}


@pytest.mark.parametrize("code", CHANGES.values(), ids=CHANGES.keys())
def test_a_review_that_changed_code_sends_the_story_back(project, code):
    plan = Plan(project, [submitted("US-001")])
    (project.path / "code.py").write_text("good\n")
    plan.commit_all("code")
    plan.cheat(code, at=1)
    plan.completes()
    assert plan.checked()[1]["outcome"] == "sent_back"
    assert plan.modes() == ["review US-001", "review-fix US-001", "review US-001"]
    assert "> The review changed code, which a review must not do: code.py." in plan.prompt(2)


def test_what_a_review_may_write_is_no_code(project):
    plan = Plan(project, [submitted("US-001")])
    plan.cheat("Path('CLAUDE.md').write_text('Use bun.')\nPath('.claude/rules').mkdir(parents=True)\n"
               "Path('.claude/rules/a.md').write_text('x')\n(ralph / 'progress.txt').write_text('looked at')", at=1)
    plan.completes()
    assert plan.modes() == ["review US-001"]
