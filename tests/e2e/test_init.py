"""ralph init: the dialogue of the seed, word for word, and the form for scripts."""
import json
import re

import pytest

from terminal import CTRL_C, CTRL_D, end_of, in_terminal, seen

DONE = 'echo "<response>DONE</response>"'

AGENT = "Agent command (e.g., claude, codex, amp, or other LLM CLI): "
FLAGS = "Agent flags (comma-separated, optional): "
ITERATIONS = "Maximum iterations [10]: "
RESPONSE = "Completion response [DONE]: "
GUARDRAIL = "Add guardrail command (leave blank to finish): "
ACTION = "  Fail action (APPEND|PREPEND|REPLACE): "
HINT = "  Hint (optional, guidance for agent on failure): "
SCM = "Configure SCM? (y/N): "
SCM_COMMAND = "  SCM command (e.g., git): "
SCM_TASKS = "  SCM tasks (comma-separated, e.g., commit,push): "
OVERWRITE = "Overwrite? (y/N): "

# The example flow of the seed.
FLOW = [(AGENT, "claude"), (FLAGS, "--model,opus"), (ITERATIONS, ""), (RESPONSE, ""),
        (GUARDRAIL, "make lint"), (ACTION, "APPEND"), (HINT, "Fix lint errors only. Do not change behavior."),
        (GUARDRAIL, "make test"), (ACTION, "APPEND"), (HINT, ""), (GUARDRAIL, ""),
        (SCM, "y"), (SCM_COMMAND, "git"), (SCM_TASKS, "commit")]
SHORT = [(AGENT, "cat"), (FLAGS, ""), (ITERATIONS, ""), (RESPONSE, ""), (GUARDRAIL, ""), (SCM, "")]


def answer(child, flow):
    for question, reply in flow:
        child.expect_exact(question)
        child.sendline(reply)


def written(project):
    return json.loads((project.ralph / "settings.json").read_text())


def dialogue(project, flow, *arguments, **how):
    with in_terminal(project, "init", *arguments, **how) as child:
        answer(child, flow)
        code = end_of(child)
        return code, seen(child)


# The dialogue


def test_the_example_flow_of_the_seed(project):
    code, text = dialogue(project, FLOW)
    assert code == 0, text
    assert written(project) == {
        "maximumIterations": 10, "completionResponse": "DONE", "outputTruncateChars": 5000, "streamAgentOutput": True,
        "includeIterationCountInPrompt": False, "agent": {"command": "claude", "flags": ["--model", "opus"]},
        "guardrails": [{"command": "make lint", "failAction": "APPEND", "hint": "Fix lint errors only. Do not change behavior."},
                       {"command": "make test", "failAction": "APPEND"}],
        "scm": {"command": "git", "tasks": ["commit"]}}
    assert "\nSettings written to .ralph/settings.json\n" in text
    questions = [text.index(q) for q, _ in FLOW[:5]]
    assert questions == sorted(questions)


def test_the_shortest_answers_give_the_defaults(project):
    code, text = dialogue(project, SHORT)
    assert code == 0, text
    assert written(project) == {"maximumIterations": 10, "completionResponse": "DONE", "outputTruncateChars": 5000,
                                "streamAgentOutput": True, "includeIterationCountInPrompt": False,
                                "agent": {"command": "cat", "flags": []}, "guardrails": []}


def test_the_file_that_init_writes_is_pretty_and_its_folder_ignored_by_git(project):
    project.git_init()
    assert dialogue(project, SHORT)[0] == 0
    text = (project.ralph / "settings.json").read_text()
    assert text.startswith('{\n  "maximumIterations": 10,\n') and text.endswith("}\n")
    assert project.git("status", "--porcelain", "-uall").splitlines() == ["?? .ralph/settings.json"]


def test_a_blank_agent_is_asked_again(project):
    code, text = dialogue(project, [(AGENT, ""), (AGENT, "   "), *SHORT])
    assert code == 0 and text.count(AGENT) == 3


def test_a_bad_number_is_asked_again_with_a_reason(project):
    bad = [(ITERATIONS, value) for value in ("0", "-1", "x", "1.5", "99999999999")]
    code, text = dialogue(project, [*SHORT[:2], *bad, (ITERATIONS, "25"), *SHORT[3:]])
    assert code == 0 and text.count(ITERATIONS) == 6
    assert text.count("whole number") >= 5, text
    assert written(project)["maximumIterations"] == 25


def test_a_bad_fail_action_is_asked_again_and_lower_case_becomes_upper(project):
    guardrail = [(GUARDRAIL, "make"), (ACTION, "IGNORE"), (ACTION, "prepend"), (HINT, ""), (GUARDRAIL, "")]
    code, text = dialogue(project, [*SHORT[:4], *guardrail, SHORT[5]])
    assert code == 0, text
    assert text.count("Please answer APPEND") == 1
    assert written(project)["guardrails"] == [{"command": "make", "failAction": "PREPEND"}]


def test_flags_are_trimmed_and_a_custom_response_is_kept(project):
    code, _ = dialogue(project, [(AGENT, "cat"), (FLAGS, " --a , --b c ,,"), (ITERATIONS, "3"), (RESPONSE, "All good"), *SHORT[4:]])
    assert code == 0
    assert written(project)["agent"]["flags"] == ["--a", "--b c"]
    assert written(project)["completionResponse"] == "All good"


def test_scm_questions_insist_on_an_answer(project):
    flow = [*SHORT[:5], (SCM, "maybe"), (SCM, "Y"), (SCM_COMMAND, ""), (SCM_COMMAND, "git"), (SCM_TASKS, " , "), (SCM_TASKS, "commit, push")]
    code, text = dialogue(project, flow)
    assert code == 0, text
    assert written(project)["scm"] == {"command": "git", "tasks": ["commit", "push"]}


def test_utf8_in_answers_is_kept(project):
    flow = [*SHORT[:4], (GUARDRAIL, "echo 'é ✔'"), (ACTION, "append"), (HINT, "größer"), (GUARDRAIL, ""), SHORT[5]]
    assert dialogue(project, flow)[0] == 0
    assert written(project)["guardrails"] == [{"command": "echo 'é ✔'", "failAction": "APPEND", "hint": "größer"}]


@pytest.mark.parametrize("files, suggested", [
    ({"Makefile": "lint:\n\ttrue\ntest: lint\n\ttrue\n"}, ["make lint", "make test"]),
    ({"package.json": '{"scripts": {"lint": "eslint .", "test": "vitest"}}'}, ["npm run lint", "npm run test"]),
    ({"Cargo.toml": "[package]\nname = 'x'\n"}, ["cargo test"]),
    ({"go.mod": "module x\n"}, ["go test ./..."]),
    ({"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n"}, ["pytest", "ruff"]),
    ({"CMakeLists.txt": "project(x)\nenable_testing()\n"}, ["cmake --build", "ctest"])])
def test_guardrails_that_fit_the_project_are_suggested(project, files, suggested):
    for name, text in files.items():
        (project.path / name).write_text(text)
    with in_terminal(project, "init") as child:
        answer(child, SHORT[:4])
        child.expect_exact(GUARDRAIL)
        text = seen(child).partition(RESPONSE)[2]
        for command in suggested:
            assert re.search(rf"^\s+\d  .*{re.escape(command)}", text, re.M), text
        child.sendline("1")
        child.expect_exact(ACTION)
        child.sendline("replace")
        answer(child, [(HINT, ""), (GUARDRAIL, ""), (SCM, "")])
        assert end_of(child) == 0
    assert [g["failAction"] for g in written(project)["guardrails"]] == ["REPLACE"]


def test_a_number_beyond_the_suggestions_is_asked_again(project):
    (project.path / "Makefile").write_text("test:\n\ttrue\n")
    code, text = dialogue(project, [*SHORT[:4], (GUARDRAIL, "7"), (GUARDRAIL, ""), SHORT[5]])
    assert code == 0 and "no suggestion 7" in text


def test_an_empty_project_has_no_suggestions_and_no_empty_heading(project):
    assert "fit this project" not in dialogue(project, SHORT)[1]


# Settings that exist


def test_existing_settings_are_shown_and_kept_byte_for_byte_by_default(project):
    project.ralph.mkdir()
    original = b'{ "maximumIterations":3,\n\n "agent": {"command": "claude", "env": {"API_KEY": "hunter2"}} }'
    (project.ralph / "settings.json").write_bytes(original)
    for reply in ("", "n", "No"):
        code, text = dialogue(project, [(OVERWRITE, reply)])
        assert code == 0, text
        assert '"maximumIterations": 3' in text and '"command": "claude"' in text
        assert "Loaded from .ralph/settings.json\n" in text
        assert "hunter2" not in text
        assert AGENT not in text
        assert (project.ralph / "settings.json").read_bytes() == original
        assert [p.name for p in project.ralph.iterdir()] == ["settings.json"]


def test_the_local_overlay_is_merged_in_what_is_shown(project):
    project.settings(maximumIterations=3, agent={"command": "claude"})
    (project.ralph / "settings.local.json").write_text('{"maximumIterations": 44}')
    code, text = dialogue(project, [(OVERWRITE, "")])
    assert code == 0 and '"maximumIterations": 44' in text
    assert "Loaded from .ralph/settings.json (with local overlay from settings.local.json)" in text


def test_overwriting_replaces_the_file(project):
    project.settings(maximumIterations=3, agent={"command": "claude"})
    assert dialogue(project, [(OVERWRITE, "y"), *SHORT])[0] == 0
    assert written(project)["agent"]["command"] == "cat"


RICH = {"$schema": "x", "maximumIterations": 3, "budget": {"maxMinutes": 7}, "outputTruncateChars": 99,
        "agent": {"command": "cat", "timeoutSeconds": 5, "kind": "custom", "model": "m", "env": {"A": "b"}},
        "guardrails": [{"command": "make lint", "name": "lint", "timeoutSeconds": 4, "hint": "old"}],
        "scm": {"command": "git", "tasks": ["push"], "addAll": False}, "output": {"emoji": False}}


def test_what_init_does_not_ask_about_is_kept(project):
    project.settings(RICH)
    assert dialogue(project, [(OVERWRITE, "y"), *FLOW])[0] == 0
    after = written(project)
    assert list(after)[:2] == ["agent", "$schema"] and after["budget"] == {"maxMinutes": 7} and after["output"] == {"emoji": False}
    assert after["outputTruncateChars"] == 99 and after["maximumIterations"] == 10
    assert after["agent"]["timeoutSeconds"] == 5 and after["agent"]["env"] == {"A": "b"} and after["agent"]["command"] == "claude"
    assert "kind" not in after["agent"] and "model" not in after["agent"], "they described another agent"
    assert after["guardrails"][0] == {"command": "make lint", "name": "lint", "timeoutSeconds": 4, "failAction": "APPEND",
                                      "hint": "Fix lint errors only. Do not change behavior."}
    assert after["scm"] == {"command": "git", "tasks": ["commit"], "addAll": False}


def test_flags_change_what_they_name_and_nothing_else(project):
    project.settings(RICH)
    before = written(project)
    assert project.run("init", "-n", "5", "--model", "opus", "--force").code == 0
    after = written(project)
    assert after.pop("maximumIterations") == 5 and before.pop("maximumIterations") == 3
    assert after["agent"].pop("model") == "opus" and before["agent"].pop("model") == "m"
    assert after["agent"].pop("flags") == [] and after["guardrails"][0].pop("failAction") == "APPEND"
    assert {key: value for key, value in after.items() if key in before} == before
    assert project.run("init", "--agent", "claude", "--force").code == 0
    assert "kind" not in written(project)["agent"] and written(project)["scm"] == before["scm"]


def test_a_blank_fail_action_is_append(project):
    flow = [(AGENT, "cat"), (FLAGS, ""), (ITERATIONS, ""), (RESPONSE, ""), (GUARDRAIL, "make"), (ACTION, ""), (HINT, ""),
            (GUARDRAIL, ""), (SCM, "")]
    assert dialogue(project, flow)[0] == 0
    assert written(project)["guardrails"] == [{"command": "make", "failAction": "APPEND"}]


def test_broken_settings_can_be_overwritten_and_their_fault_is_shown(project):
    project.ralph.mkdir()
    (project.ralph / "settings.json").write_text("{ broken")
    code, text = dialogue(project, [(OVERWRITE, "yes"), *SHORT])
    assert code == 0 and "settings.json:1:3" in text
    assert written(project)["agent"]["command"] == "cat"


# Ctrl-C and Ctrl-D


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["ctrl-c", "ctrl-d"])
@pytest.mark.parametrize("step", range(len(FLOW)), ids=lambda i: f"{i}-{FLOW[i][0].split()[0]}")
def test_leaving_at_any_question_gives_130_and_writes_nothing(project, key, step):
    with in_terminal(project, "init") as child:
        answer(child, FLOW[:step])
        child.expect_exact(FLOW[step][0])
        child.send(key)
        assert end_of(child) == 130, seen(child)
        assert "nothing was written" in seen(child)
    assert not project.ralph.exists()


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["ctrl-c", "ctrl-d"])
def test_leaving_at_the_overwrite_question_keeps_the_file(project, key):
    project.settings(maximumIterations=3)
    before = (project.ralph / "settings.json").read_bytes()
    with in_terminal(project, "init") as child:
        child.expect_exact(OVERWRITE)
        child.send(key)
        assert end_of(child) == 130
    assert (project.ralph / "settings.json").read_bytes() == before


# Without a terminal


def test_without_a_terminal_it_says_how_scripts_do_it(project):
    for stdin in (None, "claude\n\n\n\n\n\n"):
        result = project.run("init", stdin=stdin)
        assert result.code == 2 and "terminal" in result.err and "--agent" in result.err, result
        assert not project.ralph.exists()


def test_all_flags_together(project):
    result = project.run("init", "--agent", "claude", "--flag", "--model opus", "--flag=--verbose", "-m", "25", "-c", "OK",
                         "--guardrail", "make lint", "--guardrail", "make test", "--fail-action", "prepend", "--fail-action", "REPLACE",
                         "--hint", "lint only", "--hint", "", "--scm", "git", "--scm-task", "commit", "--scm-task", "push")
    assert result.code == 0 and "Settings written to .ralph/settings.json\n" in result.out, result
    assert written(project) == {
        "maximumIterations": 25, "completionResponse": "OK", "outputTruncateChars": 5000, "streamAgentOutput": True,
        "includeIterationCountInPrompt": False, "agent": {"command": "claude", "flags": ["--model opus", "--verbose"]},
        "guardrails": [{"command": "make lint", "failAction": "PREPEND", "hint": "lint only"}, {"command": "make test", "failAction": "REPLACE"}],
        "scm": {"command": "git", "tasks": ["commit", "push"]}}


def test_a_missing_agent_is_noted_but_no_error(project):
    result = project.run("init", "--agent", "no-such-agent")
    assert result.code == 0 and "no-such-agent" in result.err and "ralph doctor" in result.err, result


@pytest.mark.parametrize("arguments, complaint", [
    (["--guardrail", "make"], "--agent"), (["--agent", " "], "--agent"), (["--agent", "x", "-m", "0"], "--maximum-iterations"),
    (["--agent", "x", "-m", "many"], "--maximum-iterations"), (["--agent", "x", "-c", " "], "--completion-response"),
    (["--agent", "x", "--guardrail", " "], "--guardrail"), (["--agent", "x", "--fail-action", "APPEND"], "--guardrail"),
    (["--agent", "x", "--guardrail", "y", "--fail-action", "IGNORE"], "APPEND|PREPEND|REPLACE"), (["--agent", "x", "--hint", "y"], "--guardrail"),
    (["--agent", "x", "--scm-task", "commit"], "--scm git"), (["--agent", "x", "--scm", "git"], "--scm-task commit"),
    (["--agent", "x", "--suggested"], "--guardrail"), (["--agent", "x", "--flag", "--a 'b"], "--flag")])
def test_bad_flags_are_refused_and_nothing_is_written(project, arguments, complaint):
    result = project.run("init", *arguments)
    assert result.code == 2 and complaint in result.err, result
    assert not project.ralph.exists()


def test_existing_settings_are_not_overwritten_without_force(project):
    project.settings(maximumIterations=3)
    before = (project.ralph / "settings.json").read_bytes()
    result = project.run("init", "--agent", "cat")
    assert result.code == 2 and "--force" in result.err, result
    assert (project.ralph / "settings.json").read_bytes() == before
    assert project.run("init", "--agent", "cat", "--force").code == 0
    assert written(project)["agent"]["command"] == "cat"


def test_dry_run_prints_the_document_and_writes_nothing(project):
    result = project.run("init", "--agent", "cat", "--dry-run")
    assert result.code == 0 and json.loads(result.out)["agent"]["command"] == "cat"
    assert not project.ralph.exists()


def test_suggested_takes_all_that_fit(project):
    (project.path / "Makefile").write_text("lint:\n\ttrue\ntest:\n\ttrue\n")
    assert project.run("init", "--agent", "cat", "--suggested", "--guardrail", "true").code == 0
    assert [g["command"] for g in written(project)["guardrails"]] == ["true", "make lint", "make test"]


def test_what_init_writes_can_be_run_at_once(project):
    agent = project.script(DONE, "agent")
    assert project.run("init", "--agent", agent, "--guardrail", "true", "-m", "2").code == 0
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert dialogue(project, [(OVERWRITE, "y"), (AGENT, str(agent)), *SHORT[1:]])[0] == 0
    assert project.run("run", "-p", "do it").code == 0


def test_an_unwritable_place_is_an_error_with_its_name(project):
    (project.path / ".ralph").write_text("a file")
    result = project.run("init", "--agent", "cat")
    assert result.code == 2 and ".ralph" in result.err, result


@pytest.mark.parametrize("text", ['{"maximumIterations": 3,}', '{"guardrails": [{"command": "x", "failAction": "APEND"}]}', '{"guardrail": []}'])
def test_settings_with_a_fault_are_not_thrown_away(project, text):
    project.ralph.mkdir()
    (project.ralph / "settings.json").write_text(text)
    result = project.run("init", "--agent", "cat", "--force")
    assert result.code == 2 and "settings.json:1:" in result.err, result
    assert (project.ralph / "settings.json").read_text() == text
