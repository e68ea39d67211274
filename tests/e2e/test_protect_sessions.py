"""Protected paths in a session loop: a denial before the tool, and a report at the stop."""
import json

import pytest

from session_support import PROMISE, Session


def protected(project):
    (project.path / "tests").mkdir()
    (project.path / "tests/a.py").write_text("assert True\n")
    project.settings(protect={"paths": ["tests/**"]})


def denial(project, session, tool, **tool_input):
    payload = {"session_id": session.id, "cwd": str(project.path), "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": tool_input}
    result = project.run("hooks", "pre-tool", stdin=json.dumps(payload))
    return json.loads(result.out)["hookSpecificOutput"]["permissionDecisionReason"] if result.out else None


@pytest.mark.parametrize("tool, tool_input", [
    ("Write", {"file_path": "tests/a.py", "content": ""}), ("Edit", {"file_path": "tests/a.py", "old_string": "True", "new_string": "1"}),
    ("Bash", {"command": "rm tests/a.py"}), ("Bash", {"command": "rm -rf tests"}), ("Bash", {"command": "echo > tests/a.py"})])
def test_a_tool_that_would_change_a_protected_file_is_denied_in_a_loop(project, tool, tool_input):
    protected(project)
    session = Session(project)
    assert denial(project, session, tool, **tool_input) is None, "a person's own session"
    session.starts("fix it")
    assert "tamper-ralph" in denial(project, session, tool, **tool_input)
    assert denial(project, session, "Write", file_path="tests/new.py", content="") is None, "new files are no change"
    assert denial(project, session, "Bash", command="cat tests/a.py") is None


def test_report_denies_nothing(project):
    protected(project)
    project.settings(protect={"onChange": "report"})
    session = Session(project)
    session.starts("fix it")
    assert denial(project, session, "Write", file_path="tests/a.py", content="") is None


def test_what_was_changed_is_reported_at_the_next_stop_once(project):
    protected(project)
    session = Session(project)
    session.starts("fix it")
    session.uses_tool()
    assert "tests/a.py" not in session.stops("not yet").reason
    (project.path / "tests/a.py").write_text("")
    session.uses_tool()
    answer = session.stops("not yet")
    assert answer.goes_on and "- tests/a.py was changed" in answer.reason, answer
    session.uses_tool()
    assert "tests/a.py" not in session.stops("not yet").reason
    assert (project.path / "tests/a.py").read_text() == "", "it is the user's session: nothing is put back"


def test_it_is_told_to_the_user_if_the_loop_ends(project):
    protected(project)
    session = Session(project)
    session.starts("fix it")
    session.uses_tool()
    (project.path / "tests/a.py").unlink()
    answer = session.stops(PROMISE)
    assert answer.status == "PROMISE_ACCEPTED" and "- tests/a.py was deleted" in answer.message, answer


def test_a_session_loop_has_a_receipt_too(project):
    session = Session(project)
    session.starts("fix it")
    session.uses_tool()
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"
    assert json.loads((project.run_folder() / "receipt.json").read_text())["way"] == "session"
    assert project.run("runs", "verify").code == 0
