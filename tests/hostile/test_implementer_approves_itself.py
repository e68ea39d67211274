"""The implementer writes an approval of its own story, and of one that nobody has begun, into tasks.json."""
from plan_support import Plan, story


def test_an_implementer_approves_itself(project, whoever):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("for one in stories.values():\n"
               "    one.update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')", mode="implement")
    plan.completes(**whoever())
    assert "Implement iterations cannot set passes=true" in plan.violation(1)
