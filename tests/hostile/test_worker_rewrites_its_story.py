"""A worker that makes its story an easier one: its title, its description."""
import json

from plan_support import Plan, story


def test_title_and_description_are_put_back(project):
    plan = Plan(project, [story("US-001", description="Sort a million lines in a second."), story("US-002")])
    plan.cheat("story.update(title='Sort', description='Sort ten lines.'); stories['US-002']['title'] = 'Nothing'", at=1)
    plan.completes()
    one, two = plan.story("US-001"), plan.story("US-002")
    assert (one["title"], one["description"], two["title"]) == ("Title of US-001", "Sort a million lines in a second.", "Title of US-002")
    told = plan.violation(1)
    assert "The title of story US-001 is pinned and was put back. It was changed to: Sort; was: Title of US-001" in told
    assert "was: Sort a million lines in a second." in told and "The title of story US-002" in told
    assert "was: Title of US-001" in plan.prompt(2)


def test_a_new_story_may_be_called_anything(project):
    plan = Plan(project, [story("US-001")])
    plan.cheat(f"tasks['userStories'].append({json.loads(json.dumps(story('US-009')))!r})", at=1)
    plan.cheat("stories['US-009']['title'] = 'Another'", at=2)
    plan.completes()
    assert plan.story("US-009")["title"] == "Title of US-009"  # pinned from the iteration after
