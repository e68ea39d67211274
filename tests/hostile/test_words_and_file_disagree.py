"""What a review says and what stands in tasks.json afterwards differ: changes_requested wins, and the words are enough."""
import pytest

from plan_support import Plan, submitted

REJECT = "story.update(reviewStatus='changes_requested', passes=False, reviewFeedback='it leaks in the file')"


def test_a_rejection_that_somebody_turned_into_an_approval_stays_one(project):
    plan = Plan(project, [submitted("US-001")])
    plan.cheat("said = 'changes_requested\\nit leaks'", at=1)
    plan.completes()
    assert plan.modes() == ["review US-001", "review-fix US-001", "review US-001"]
    assert "> it leaks" in plan.prompt(2)
    assert plan.state("US-001") == (True, "approved", 2)
    assert any("changes_requested counts" in note for note in plan.checked()[1]["notes"])


def test_a_rejection_in_the_file_outranks_an_approval_in_words(project):
    plan = Plan(project, [submitted("US-001")])
    plan.cheat(REJECT, at=1)  # and says approved
    plan.completes()
    assert plan.modes() == ["review US-001", "review-fix US-001", "review US-001"]
    assert "> it leaks in the file" in plan.prompt(2)


def test_a_rejection_in_the_file_alone_counts(project):
    plan = Plan(project, [submitted("US-001")])
    plan.cheat(REJECT + "; said = None", at=1)
    plan.completes()
    assert plan.modes() == ["review US-001", "review-fix US-001", "review US-001"]


@pytest.mark.parametrize("words, outcomes, count", [("approved", ["approved"], 1),
                                                    ("changes_requested\\nit leaks", ["changes_requested", "resubmitted", "approved"], 2)])
def test_a_verdict_that_is_only_said_is_written_by_ralph(project, words, outcomes, count):
    plan = Plan(project, [submitted("US-001")])
    plan.cheat(f"said = '{words}'; log(said.split()[0])", at=1, phase="instead")
    plan.completes()
    assert [record["outcome"] for record in plan.checked()[1:]] == outcomes
    assert plan.state("US-001") == (True, "approved", count)
    assert f"ralph: US-001 {outcomes[0].replace('_', ' ')}" in plan.commits()


def test_at_the_cap_ralph_approves_with_the_reasons_if_the_checks_pass(project):
    plan = Plan(project, [submitted("US-001", reviewCount=1)], verifyCommands=["test -e good"], reviews={"US-001": 99})
    project.settings(plan={"reviewCap": 2})
    plan.cheat("said = 'changes_requested\\nit leaks'", mode="review", always=True, phase="instead")
    plan.cheat("Path('good').touch()", mode="review-fix", phase="before")
    result = plan.run()
    assert result.code == 0, result
    assert plan.modes() == ["review US-001", "review-fix US-001", "review US-001"], "a failing check is no cap"
    assert plan.story("US-001")["reviewFeedback"] == "[AUTO-APPROVED AT CAP] it leaks"


def test_a_rejection_that_nobody_said_never_becomes_an_approval_at_the_cap(project):
    plan = Plan(project, [submitted("US-001", reviewCount=1)])
    project.settings(plan={"reviewCap": 2})
    plan.cheat(REJECT + "; said = None", mode="review", always=True)
    result = plan.run()
    assert result.code == 1 and '<review story="US-001">' in result.text, result
    assert plan.state("US-001") == (False, "needs_review", 1)
