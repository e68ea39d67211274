"""The schema of tasks.json: ralph and an independent validator agree on what fits it."""
import copy
import json

import pytest
from support import ROOT

STORY = {"id": "US-001", "title": "Prices", "description": "", "acceptanceCriteria": ["it works"], "priority": 1, "passes": False,
         "reviewStatus": None, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []}
PLAN = {"project": "shop", "branchName": "", "description": "", "verifyCommands": ["true"], "userStories": [STORY]}
GONE = object()

# What may stand in each place of the plan, and what may not. GONE: the key is not there.
TOP = {
    "project": (["", "x"], [GONE, None, 1, [], {}]),
    "branchName": (["", "x"], [GONE, None, False]),
    "description": (["", "x"], [GONE, None, ["x"]]),
    "verifyCommands": ([GONE, [], ["a", "b"]], [None, "make", [""], [" \t"], [1], {}]),
    "extra": ([GONE, None, 1, {"x": []}], []),
}
OF_STORY = {
    "id": (["x", " x "], [GONE, None, "", "  ", 1, []]),
    "title": ([""], [GONE, None, 3]),
    "description": ([GONE, ""], [None, 3]),
    "acceptanceCriteria": ([["", "x"]], [GONE, None, [], "x", [1], [None]]),
    "priority": ([0, -3, 1.5, 1e9], [GONE, None, "1", True, [1]]),
    "passes": ([False], [GONE, None, 0, "false"]),
    "reviewStatus": ([None, "needs_review", "changes_requested", "approved"], [GONE, "null", "", "Approved", False, []]),
    "reviewCount": ([0, 7, 2.0, 1000000], [GONE, None, -1, 0.5, "0", True, 1000001, 1e300, 18446744073709551615]),
    "reviewFeedback": (["", "x"], [GONE, None, 1]),
    "notes": ([GONE, "", "x"], [None, 1]),
    "dependsOn": ([GONE, []], [None, "US-001", [1]]),
    "extra": ([GONE, None, {"x": []}], []),
}


def variations():
    """(fits, document) for every value of every place, one at a time."""
    for is_story, places in ((False, TOP), (True, OF_STORY)):
        for key, choices in places.items():
            for fits, values in zip((True, False), choices):
                for value in values:
                    plan = copy.deepcopy(PLAN)
                    place = plan["userStories"][0] if is_story else plan
                    place.pop(key, None)
                    if value is not GONE:
                        place[key] = value
                    yield fits, plan
    for value in (None, {}, "x", [1], [None], [[]]):
        yield False, {**PLAN, "userStories": value}
    for document in ([], None, 3, "x", {}):
        yield False, document


def test_ralph_and_an_independent_validator_agree_on_task_lists(project):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "schemas/tasks.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    (project.path / "ralph").mkdir()
    for expected, document in variations():
        (project.path / "ralph/tasks.json").write_text(json.dumps(document))
        result = project.run("plan", "check", "--json")
        assert result.code in (0, 1), result
        refused = [problem for problem in json.loads(result.out)["problems"] if problem["check"] == "1"]
        assert validator.is_valid(document) == expected, f"the schema is wrong about {document}"
        assert (not refused) == expected, f"ralph disagrees about {document}: {refused}"
