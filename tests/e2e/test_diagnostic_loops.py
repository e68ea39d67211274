"""Sessions that go on while the project's tools find something: loops with criteria, auto mode, and what is told after an edit."""
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from session_support import PROMISE, Session

PATTERN = r"^(?<file>[^:]+):(?<line>\d+): (?<severity>\w+): (?<message>.*)$"
ERRORS = ["a.txt:1: error: first", "b.txt:2: error: second", "b.txt:9: warning: third"]


class Tools:
    """A project whose tool prints the file `findings`."""

    def __init__(self, project):
        self.project, self.session = project, Session(project)
        project.settings({"diagnostics": {"collectors": [
            {"name": "words", "command": "echo x >> .ralph/asked; cat findings", "format": "pattern", "pattern": PATTERN}]}})
        for name in ("a.txt", "b.txt", "c.txt"):
            (project.path / name).write_text("x\n")
        self.find(*ERRORS)

    def find(self, *lines):
        (self.project.path / "findings").write_text("".join(line + "\n" for line in lines))

    def asked(self):
        """How often the tool ran."""
        file = self.project.ralph / "asked"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def accept(self):
        assert self.project.run("trust").code == 0

    def edits(self, file="a.txt", tool="Edit", **fields):
        """The hook after an edit: what the model is told."""
        return self.after("post-tool", tool_name=tool, tool_input={"file_path": str(self.project.path / file)}, **fields)

    def after(self, hook, **fields):
        result = self.session.hook(hook, self.session.payload("tool", tool_use_id="t1", **fields))
        assert result.code == 0, result
        return json.loads(result.out)["hookSpecificOutput"]["additionalContext"] if result.out else ""


@pytest.fixture
def tools(project):
    return Tools(project)


@pytest.fixture
def accepted(tools):
    tools.accept()
    return tools


# ---- loops with criteria

def start_loop(tools, *options, code=0):
    result = tools.project.run("hooks", "start-loop", "--task", "Fix all errors", *options, env={"CLAUDE_CODE_SESSION_ID": tools.session.id})
    assert result.code == code, result
    return result


def test_a_loop_goes_on_until_the_tools_find_no_error(tools):
    start_loop(tools)
    answer = tools.session.stops("Done!")
    assert answer.goes_on and answer.rule == "checks_unmet", answer
    assert ("Ralph Loop: CONTINUE | Iteration: 1/10 | Current: 2 error(s), 1 warning(s), 0 security issue(s) | Progress: 0% improvement | "
            "Next: Fix 2 remaining error(s)") in answer.reason
    assert "a.txt:1: error: first" in answer.reason and "third" not in answer.reason, "warnings are not asked for"
    tools.session.used_tool()
    tools.find(*ERRORS[1:])
    answer = tools.session.stops("Now it is.")
    assert "Current: 1 error(s)" in answer.reason and "33% improvement" in answer.reason, answer
    tools.session.used_tool()
    tools.find(ERRORS[2])
    answer = tools.session.stops("Now.")
    assert not answer.goes_on and answer.status == "COMPLETE", answer
    assert answer.message.startswith("Ralph Loop: COMPLETE - All conditions satisfied | Session: " + tools.session.id)
    assert "Iterations: 3" in answer.message and "Initial: 2 errors, 1 warning | Final: 0 errors, 1 warning" in answer.message
    assert "2 → 1 → 0 errors" in answer.state["trend"]
    assert answer.state["reason"] == "the diagnostic criteria hold", answer.state
    state = json.loads(tools.project.run("loop", "status", "--json").out)[0]["loop_state"]
    assert set(state) == {"active", "session_id", "started_at", "updated_at", "iteration", "max_iterations", "task_description", "completion_criteria",
                          "snapshots", "completion_reason", "final_status"}
    assert state["completion_criteria"] == {"zero_errors": True, "zero_warnings": False, "zero_security": False, "tests_pass": False, "stagnation_limit": 3}
    assert {"iteration", "timestamp", "error_count", "warning_count", "info_count", "security_issues", "tests_passed", "tests_run", "tests_failed",
            "file_details"} <= set(state["snapshots"][-1])
    assert (state["active"], state["final_status"], [s["error_count"] for s in state["snapshots"]]) == (False, "COMPLETE", [2, 1, 0])


def test_a_promise_and_criteria_both_have_to_hold(tools):
    session = tools.session
    session.starts("fix it", "--zero-errors --zero-warnings")
    session.used_tool()
    assert session.stops("Hm.").rule == "promise_missing" and tools.asked() == 0
    session.used_tool()
    answer = session.stops(PROMISE)
    assert answer.rule == "checks_unmet" and "1 warning(s)" in answer.reason, answer
    tools.find()
    session.used_tool()
    assert session.stops(f"Now.\n{PROMISE}").status == "PROMISE_ACCEPTED"


def test_a_target_limits_what_counts(tools):
    (tools.project.path / "src").mkdir()
    tools.session.types("/ralph:loop @src/ fix it --no-promise --zero-errors")
    tools.find("src/a.txt:1: error: mine", "a.txt:1: error: not mine")
    answer = tools.session.stops("Done.")
    assert "1 error(s)" in answer.reason and "not mine" not in answer.reason, answer
    tools.session.used_tool()
    tools.find("a.txt:1: error: not mine", "srcs/a.txt:1: error: nor this")
    assert tools.session.stops("Really.").status == "COMPLETE"


def test_a_target_is_seen_from_where_it_is_typed_and_has_to_be_there(tools):
    (tools.project.path / "src/deep").mkdir(parents=True)
    tools.session.cwd = tools.project.path / "src"
    for target, wrong in (("@nosuch/", "@nosuch/ does not exist"), ("@../..", "is outside of the project")):
        for command in (["loop", "start"], ["loop", "run"]):
            result = tools.project.run(*command, f"{target} fix it", "--zero-errors")
            assert result.code == 2 and wrong in result.err, result
    result = tools.project.run("loop", "start", "@deep/ fix it", "--zero-errors", "--no-promise", cwd=tools.project.path / "src")
    assert result.code == 0 and "This is about src/deep/" in result.out, result
    assert json.loads(tools.project.run("loop", "status", "--json").out)[0]["paths"] == ["src/deep/"]


def test_the_same_errors_again_and_again_are_stagnation(tools):
    start_loop(tools, "--stagnation-limit", "2")
    answers = []
    for words in "abcd":
        tools.session.used_tool()
        answers.append(tools.session.stops(words))
        if not answers[-1].goes_on:
            break
    assert answers[-1].status == "STAGNANT" and answers[-1].rule == "diagnostics_stuck" and len(answers) == 3, answers[-1]


def test_other_errors_are_progress(tools):
    start_loop(tools, "--stagnation-limit", "2")
    for number in range(5):
        tools.find(f"a.txt:1: error: number {number}")
        tools.session.used_tool()
        assert tools.session.stops(f"{number}").rule == "checks_unmet"


def test_the_iteration_limit(tools):
    start_loop(tools, "--max-iterations", "1", "--stagnation-limit", "0")
    assert tools.session.stops("a").goes_on
    answer = tools.session.stops("b")
    assert answer.status == "MAX_ITERATIONS_REACHED" and "diagnostics failed" in answer.state["reason"], answer


@pytest.mark.parametrize("mark", ["<ralph>DONE</ralph>", "<jikime>COMPLETE</jikime>", "<jikime:done />", "<ralph:complete/>"])
def test_a_marker_outweighs_errors(tools, mark):
    start_loop(tools)
    assert tools.session.stops(f"When all is done I say {mark}, not before.").rule == "checks_unmet"
    answer = tools.session.stops(f"It can't be mended.\n{mark}")
    assert answer.rule == "marked_complete" and answer.status == "COMPLETE", answer


def test_a_marker_is_nothing_where_the_settings_are_strict_or_a_promise_is_asked_for(tools):
    tools.project.settings({"diagnostics": {"strict": True}})
    start_loop(tools)
    assert tools.session.stops("<ralph>DONE</ralph>").rule == "checks_unmet"
    other = Session(tools.project, "other")
    other.starts("fix it", "--zero-errors")
    other.used_tool()
    assert other.stops("<ralph>DONE</ralph>").rule == "promise_missing"


def test_the_status_names_the_criteria(tools):
    start_loop(tools, "--tests-pass", "--no-zero-errors", "--zero-warnings", code=2)  # there are no tests here
    start_loop(tools, "--zero-warnings")
    assert "  criteria   no errors, no warnings\n" in tools.project.run("loop", "status").out


def test_a_tool_that_fails_is_not_clean(tools):
    start_loop(tools)
    (tools.project.path / "findings").unlink()
    answer = tools.session.stops("Done.")
    assert answer.rule == "checks_unmet" and "Not known: words" in answer.reason, answer
    assert "an unknown number of error(s)" in answer.reason and "Progress: unknown" in answer.reason, answer
    for words in "abc":
        tools.session.used_tool()
        answer = tools.session.stops(words)
    assert answer.status == "STAGNANT" and answer.state["trend"] == "? → ? → ? → ? errors", answer


def test_a_tool_that_fails_is_no_improvement(tools):
    start_loop(tools)
    assert "2 error(s)" in tools.session.stops("Done.").reason
    (tools.project.path / "findings").unlink()
    tools.session.used_tool()
    assert "Progress: unknown" in tools.session.stops("Now it is clean.").reason
    tools.find(*ERRORS[1:])
    tools.session.used_tool()
    assert "33% improvement" in tools.session.stops("Now.").reason


def test_a_tool_that_has_gone_since_the_start_is_not_clean(project):
    session = Session(project)
    (project.path / "a.py").write_text("print(x)\n")
    folder = project.base / "bin"
    folder.mkdir()
    ruff = folder / "ruff"
    ruff.write_text("#!/bin/sh\necho '[]'\n")
    ruff.chmod(0o755)
    env = {"PATH": f"{folder}:/usr/bin:/bin"}
    started = project.run("hooks", "start-loop", "--task", "Fix all errors", env={**env, "CLAUDE_CODE_SESSION_ID": session.id})
    assert started.code == 0, started
    session.env = {**session.env, **env}
    ruff.unlink()
    answer = session.stops("Done.")
    assert answer.goes_on and answer.rule == "checks_unmet" and "can't be judged: ruff" in answer.reason, answer
    ruff.write_text("#!/bin/sh\necho '[]'\n")
    ruff.chmod(0o755)
    (project.path / "a.py").unlink()
    session.used_tool()
    answer = session.stops("Now there is nothing to find.")
    assert answer.goes_on and "nothing here looks for errors" in answer.reason, answer


def test_ten_thousand_findings(tools):
    start_loop(tools)
    tools.find(*[f"a.txt:{n}: error: number {n}" for n in range(10000)])
    answer = tools.session.stops("Done.")
    assert "Current: 10000 error(s)" in answer.reason and len(answer.reason) < 5000, len(answer.reason)


def test_cancel_and_the_protocol_exit(tools):
    start_loop(tools)
    payload = json.dumps({"session_id": tools.session.id, "cwd": str(tools.project.path), "messages": [{"role": "assistant", "content": "x"}]})
    result = tools.project.run("hooks", "stop-loop", "--protocol", "exit", stdin=payload)
    assert result.code == 1 and "Ralph Loop: CONTINUE" in result.err, result
    assert tools.project.run("hooks", "cancel-loop", "--session", tools.session.id).code == 0
    result = tools.project.run("hooks", "stop-loop", "--protocol", "exit", stdin=payload)
    assert result.code == 0, result


def test_by_the_protocol_exit_the_end_is_told_on_stdout(tools):
    start_loop(tools)
    tools.find()
    payload = json.dumps({"session_id": tools.session.id, "cwd": str(tools.project.path), "messages": [{"role": "assistant", "content": "x"}]})
    result = tools.project.run("hooks", "stop-loop", "--protocol", "exit", stdin=payload)
    assert result.code == 0 and "Ralph Loop: COMPLETE - All conditions satisfied" in result.out, result


@pytest.mark.parametrize("options, wrong", [(["--zero-security"], "zeroSecurity"), (["--tests-pass"], "testsPass"),
                                            (["--max-iterations", "0"], "--max-iterations"), (["--no-zero-errors"], "--no-zero-errors: what ends the loop then? Give another criterion")])
def test_what_cannot_be_judged_is_refused(tools, options, wrong):
    assert wrong in start_loop(tools, *options, code=2).err and tools.session.states() == []


@pytest.mark.parametrize("words, near", [(("start-loop", "--tests-pas"), "--tests-pass"), (("cancel-loop", "--jsn"), "--json")])
def test_a_mistyped_option_is_exit_2_with_the_nearest(project, words, near):
    """They are typed; of a hook that a host calls, exit code 2 would be a refusal."""
    result = project.run("hooks", *words)
    assert result.code == 2 and f"did you mean {near}?" in result.err, result
    assert project.run("hooks", "stop-loop", "--protocl", "exit").code == 1


def test_a_criterion_without_any_tool_is_refused_where_it_is_typed(project):
    session = Session(project)
    assert "zeroErrors" in session.types("/ralph:loop fix it --zero-errors") and session.states() == []


def test_tests_that_fail_and_tests_that_are_not_there(project):
    project.settings({})
    (project.path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (project.path / "test_it.py").write_text("def test_it():\n    assert False, 'not yet'\n")
    bin_folder = project.base / "bin"
    bin_folder.mkdir()
    program = bin_folder / "pytest"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -B -m pytest -p no:cacheprovider \"$@\"\n")
    program.chmod(0o755)
    session = Session(project)
    session.env = {"PATH": f"{bin_folder}:/usr/bin:/bin"}
    told = session.types("/ralph:loop fix it --no-promise --tests-pass")
    assert "all tests pass" in told, told
    answer = session.stops("Done.")
    assert answer.rule == "checks_unmet" and "1 failing test(s)" in answer.reason, answer
    (project.path / "test_it.py").write_text("def no_test():\n    pass\n")
    session.used_tool()
    assert session.stops("Done, really.").rule == "checks_unmet", "no test is no success"
    (project.path / "test_it.py").write_text("def test_it():\n    pass\n")
    session.used_tool()
    assert session.stops("Now.").status == "COMPLETE"


# ---- after an edit

def test_after_an_edit_the_model_is_told_what_the_tools_say_of_that_file(accepted):
    told = accepted.edits("b.txt")
    assert "b.txt:2: error: second" in told and "b.txt:9: warning: third" in told and "a.txt" not in told, told
    assert accepted.edits("c.txt") == ""
    assert accepted.after("post-tool", tool_name="Bash", tool_input={"command": "cat b.txt"}) == "" and accepted.asked() == 2


def test_at_most_the_worst_five(accepted):
    accepted.find(*[f"a.txt:{n}: {'warning' if n < 50 else 'error'}: number {n}" for n in range(100)])
    told = accepted.edits()
    assert told.count("number") == 5 and "warning: number" not in told and "95 more" in told, told


def test_a_patch_names_its_files(accepted):
    patch = "*** Begin Patch\n*** Update File: b.txt\n@@\n-x\n+y\n*** End Patch\n"
    assert "second" in accepted.after("post-tool", tool_name="apply_patch", tool_input={"command": ["apply_patch", patch]})
    assert "second" in accepted.after("post-tool", tool_name="apply_patch", tool_input={"input": patch})


def test_a_patch_that_moves_a_file_is_about_the_new_one(accepted):
    (accepted.project.path / "a.txt").unlink()
    patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-x\n+y\n*** End Patch\n"
    told = accepted.after("post-tool", tool_name="apply_patch", tool_input={"input": patch})
    assert "second" in told and "first" not in told, told


def test_a_secret_is_not_repeated_to_the_model(accepted):
    token = "ghp_" + "a1B2" * 9
    accepted.find(f"a.txt:1: error: Possible hardcoded password: {token}")
    told = accepted.edits()
    assert "hardcoded password" in told and token not in told, told
    answer = accepted.session.stops("Done.")
    assert answer.goes_on and "hardcoded password" in answer.reason and token not in answer.reason, answer


def test_an_edit_elsewhere_is_nobodys_business(accepted):
    assert accepted.edits("../elsewhere.txt") == "" and accepted.asked() == 0


def test_the_hooks_of_each_kind(accepted):
    (accepted.project.path / "bad.sh").write_text("#!/bin/sh\nif true; then\n  echo $1\n")
    edit = {"tool_name": "Write", "tool_input": {"file_path": "bad.sh"}}
    linter = accepted.after("post-tool-linter", **edit)
    assert "shellcheck" in linter and "bad.sh:" in linter, linter
    accepted.find("bad.sh:1: error: checked")
    checker = accepted.after("post-tool-lsp", **edit)
    assert "checked" in checker and "shellcheck" not in checker, checker
    assert accepted.after("post-tool-ast-grep", **edit) == "", "no such tool here, and nothing is claimed"


def test_a_linter_answers_where_no_checker_is(project):
    project.settings({})
    assert project.run("trust").code == 0
    tools = Tools.__new__(Tools)
    tools.project, tools.session = project, Session(project)
    (project.path / "bad.sh").write_text("#!/bin/sh\nif true; then\n  echo $1\n")
    checker = tools.after("post-tool-lsp", tool_name="Write", tool_input={"file_path": "bad.sh"})
    assert "shellcheck" in checker and "bad.sh:" in checker, checker


def test_a_tool_that_crashes_after_an_edit_is_unknown(accepted):
    (accepted.project.path / "findings").unlink()
    assert "not known: words" in accepted.edits()


# ---- auto mode

def test_a_session_that_edited_goes_on_while_there_are_errors(accepted):
    accepted.edits()
    answer = accepted.session.stops("Done.")
    assert answer.goes_on and answer.reason.startswith(
        "Ralph Loop: AUTO-CONTINUE | Issues detected - continuing automatically | 2 error(s) remaining | "
        "Next: Fix the remaining errors | Output <ralph:done /> when complete\n"), answer
    assert "a.txt:1: error: first" in answer.reason
    accepted.find(ERRORS[2])
    answer = accepted.session.stops("Now.")
    assert not answer.goes_on and "Ralph Loop: COMPLETE" in answer.message, answer
    assert accepted.session.stops("And now.").json == {}, "nothing to say when there was nothing to mend"


def test_one_that_edited_nothing_is_left_alone(accepted):
    accepted.after("post-tool", tool_name="Bash", tool_input={"command": "true"})
    assert accepted.session.stops("Done.").json == {} and accepted.asked() == 0


def test_where_the_project_is_not_accepted_nothing_runs_and_one_line_says_so(tools):
    assert tools.edits() == ""
    answer = tools.session.stops("Done.")
    assert not answer.goes_on and "ralph trust" in answer.message and tools.asked() == 0, answer
    assert tools.session.stops("Done.").json == {}, "once"
    tools.session.env = {"RALPH_TRUST": "1"}
    assert tools.session.stops("Done.").goes_on, "for one session"


@pytest.mark.parametrize("env", [{"RALPH_AUTO": "0"}, {"RALPH_DISABLE_LOOP_CONTROLLER": "1"}, {"JIKIME_DISABLE_LOOP_CONTROLLER": "1"}])
def test_it_can_be_switched_off_by_the_environment(accepted, env):
    accepted.session.env = env
    assert accepted.edits() == "" and accepted.session.stops("Done.").json == {} and accepted.asked() == 0


def test_it_can_be_switched_off_in_the_settings(tools):
    tools.project.settings({"diagnostics": {"auto": False}})
    tools.accept()
    assert tools.edits() == "" and tools.session.stops("Done.").json == {} and tools.asked() == 0


def test_it_gives_up_when_nothing_gets_better(accepted):
    accepted.edits()
    answers = [accepted.session.stops(words) for words in "abcd"]
    assert [answer.goes_on for answer in answers] == [True, True, True, False], answers
    assert "STAGNANT" in answers[-1].message and "2 errors" in answers[-1].message
    again = accepted.session.stops("e")
    assert not again.goes_on and "STAGNANT" in again.message, "nobody has said anything since"
    accepted.session.types("Try it another way.")
    assert accepted.session.stops("f").goes_on, "the user's next line begins anew"


def test_a_marker_ends_it_unless_it_is_strict(accepted):
    accepted.edits()
    assert not accepted.session.stops("These are wanted.\n<ralph:done />").goes_on
    accepted.project.settings({"diagnostics": {"strict": True}})
    accepted.accept()
    assert accepted.session.stops("These are wanted!\n<ralph:done />").goes_on


def test_with_a_baseline_only_edited_files_count(tools):
    tools.project.settings({"diagnostics": {"baseline": True}})
    tools.accept()
    tools.edits("c.txt")
    assert not tools.session.stops("Done.").goes_on
    tools.edits("a.txt")
    answer = tools.session.stops("Done!")
    assert answer.goes_on and "1 error(s)" in answer.reason and "second" not in answer.reason, answer


def test_a_tool_that_fails_is_said_and_holds_nobody(accepted):
    accepted.edits()
    (accepted.project.path / "findings").unlink()
    answer = accepted.session.stops("Done.")
    assert not answer.goes_on and "not known: words" in answer.message, answer


def test_a_tool_that_begins_to_fail_is_no_completion(accepted):
    accepted.edits()
    assert accepted.session.stops("Done.").goes_on
    (accepted.project.path / "findings").unlink()
    answer = accepted.session.stops("Now.")
    assert not answer.goes_on and "not known: words" in answer.message and "COMPLETE" not in answer.message, answer


def python_session(project, *, installed):
    """A session that has edited a.py, in a project whose ruff finds an error."""
    project.settings({})
    (project.path / "a.py").write_text("print(x)\n")
    ruff = project.path / ".venv/bin/ruff"
    if installed:
        ruff.parent.mkdir(parents=True)
        ruff.write_text("""#!/bin/sh\necho '[{"filename":"a.py","code":"F821","message":"m","location":{"row":1,"column":7}}]'\n""")
        ruff.chmod(0o755)
    tools = Tools.__new__(Tools)
    tools.project, tools.session = project, Session(project)
    basics = project.base / "basics"
    basics.mkdir()
    for name in ("sh", "git"):
        (basics / name).symlink_to(shutil.which(name))
    tools.session.env = {"PATH": str(basics)}
    assert project.run("trust").code == 0
    tools.edits("a.py")
    return tools, ruff


def test_a_tool_that_goes_away_is_no_completion_and_holds_nobody(project):
    tools, ruff = python_session(project, installed=True)
    assert tools.session.stops("Done.").goes_on
    ruff.unlink()
    answer = tools.session.stops("Now.")
    assert not answer.goes_on and "not known: ruff: ruff is not installed" in answer.message and "COMPLETE" not in answer.message, answer


def test_a_tool_that_was_never_there_is_told_once(project):
    tools, _ = python_session(project, installed=False)
    answer = tools.session.stops("Done.")
    assert not answer.goes_on and "not known: ruff: ruff is not installed" in answer.message, answer
    assert tools.session.stops("Done.").json == {}


def test_nothing_is_left_when_the_session_ends(accepted):
    accepted.edits()
    accepted.session.stops("Done.")
    folder = Path(accepted.session.note).parent
    assert accepted.session.hook("session-end", accepted.session.payload("end", reason="other")).code == 0
    assert os.listdir(folder) == []
