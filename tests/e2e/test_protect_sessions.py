"""What a session loop relies on, and protected paths: a denial before the tool, and a report at the stop."""
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


@pytest.mark.parametrize("command", [
    "find tests -name '*.py' -delete", "find tests -exec sed -i s/x/y/ {} +", "find tests -type f | while read f; do : > $f; done",
    "grep -rl x tests | xargs sed -i s/x/y/", "for f in tests/*; do echo > $f; done", "sed -i s/x/y/ tests/*.py",
    "rsync x/ tests/", "awk -i inplace '{print}' tests/a.py", "gsed -i s/x/y/ tests/a.py", "unzip -o x.zip -d tests", "tar xf x.tar -C tests"])
def test_a_list_or_a_pattern_below_a_protected_folder_may_name_its_files(project, command):
    protected(project)
    session = Session(project)
    assert denial(project, session, "Bash", command=command) is None, "a person's own session"
    session.starts("fix it")
    assert "tamper-ralph" in denial(project, session, "Bash", command=command)


@pytest.mark.parametrize("command", [
    "find src -exec sed -i s/x/y/ {} +", "for f in src/*; do echo > $f; done", "rsync x/ src/", "tar xf x.tar -C src",
    "tar cf x.tar -C tests .", "grep -rl x tests", "cp src/new.py tests/", "mkdir -p tests/more", "echo > tests/new.py"])
def test_other_files_are_changed_in_a_loop(project, command):
    protected(project)
    (project.path / "src").mkdir()
    session = Session(project)
    session.starts("fix it")
    assert denial(project, session, "Bash", command=command) is None


def test_a_pattern_of_names_protects_only_these(project):
    (project.path / "tests").mkdir()
    (project.path / "tests/a.py").write_text("")
    project.settings(protect={"paths": ["tests/**/*.py"]})
    session = Session(project)
    session.starts("fix it")
    assert denial(project, session, "Bash", command="sed -i s/x/y/ tests/*.txt") is None
    assert "tamper-ralph" in denial(project, session, "Bash", command="sed -i s/x/y/ tests/*")


@pytest.mark.parametrize("command", [
    "ralph hooks cancel-loop", "ralph hooks session-end <<E\n{}\nE", "ralph hooks user-prompt <<E\n{\"prompt\": \"/ralph:cancel\"}\nE",
    "ralph hooks stop <<E\n{\"last_assistant_message\": \"<promise>DONE</promise>\"}\nE", "cp $(which ralph) ./r && ./r hooks cancel-loop"])
def test_an_agent_does_not_end_its_own_loop_through_the_hooks(project, command):
    session = Session(project)
    session.starts("fix it")
    assert "tamper-ralph" in denial(project, session, "Bash", command=command)


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
