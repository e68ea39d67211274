"""What a person sees while a run is under way and when it ends: in a terminal, in a pipe, with and without emoji."""
import re
import shutil
import subprocess

import pytest

from support import ROOT
from terminal import CTRL_C, end_of, in_terminal, screen, seen

DONE = 'echo "<response>DONE</response>"'
SESSION = """[ "$1" = --help ] && exit; echo '{"type":"system","subtype":"init","session_id":"s"}'\n"""
TOOL = """echo '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"make test"}}]},"session_id":"s"}'\n"""
TOOL_END = """echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"ok"}]},"session_id":"s"}'\n"""
RESULT = """echo '{"type":"result","subtype":"success","is_error":false,"result":"<response>DONE</response>","total_cost_usd":0.0024,"usage":{"input_tokens":1000,"output_tokens":500},"session_id":"s"}'\n"""


# The live line


def test_a_live_line_tells_what_runs_how_long_and_what_it_cost(project):
    go = project.path / "go"
    project.agent_script(SESSION + TOOL + "while [ ! -e go ]; do sleep 0.02; done\n" + TOOL_END + RESULT + "sleep 60", kind="claude",
                         lingerSeconds=2.5)
    with in_terminal(project, "run", "-p", "<response>", width=80) as child:
        child.expect(r"claude is working · Bash\(make test\) · 1\.\ds")
        go.touch()
        child.expect(r"claude is done but still running · ended in [\d.]+s · \d\.\ds · \$0\.0024 so far")
        assert end_of(child) == 0
        assert "so far" not in screen(child) and "is working" not in screen(child), "a live line was left"
        assert all(len(re.sub(r"\x1b\[[0-9;]*[mK]", "", part)) <= 80 for part in re.split(r"[\r\n]", seen(child))
                   if "so far" in part or "is working" in part), seen(child)


def test_the_live_line_of_a_guardrail_has_the_cost_of_the_run(project):
    project.agent_script(SESSION + RESULT, kind="claude")
    project.guardrails({"command": "while [ ! -e go ]; do sleep 0.02; done", "name": "slow tests"})
    with in_terminal(project, "run", "-p", "<response>", width=80) as child:
        child.expect(r"slow tests · 1\.\ds · \$0\.0024 so far")
        (project.path / "go").touch()
        assert end_of(child) == 0
        assert "so far" not in screen(child)


def test_a_wait_says_why_and_until_when(project):
    project.agent_script("""[ "$2" = --help ] && exit
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"turn.failed","error":{"message":"You have hit your usage limit."}}'
exit 1""", kind="codex")
    with in_terminal(project, "run", "-p", "<response>", width=80) as child:
        child.expect(r"waiting for the usage limit to end · continuing in 5m\ds, at \d\d:\d\d:\d\d")
        child.send(CTRL_C)
        assert end_of(child) == 130


# Pipes


def test_in_a_pipe_every_guardrail_is_told_when_it_begins(project):
    project.agent_script(DONE)
    project.guardrails("true", {"command": "true", "name": "tests"})
    lines = project.run("run", "-p", "<response>").out.splitlines()
    for name in ("true", "tests"):
        begin, end = lines.index(f"  … {name}"), next(i for i, line in enumerate(lines) if f"✔ {name} passed" in line)
        assert begin + 1 == end, lines


def test_control_sequences_of_a_text_agent_are_filtered_in_pipes_too(project):
    project.agent_script(r"printf '\033[31mred\033[0m \033]0;title\007text\n'; printf '\033[2Jwarning\n' >&2; " + DONE)
    result = project.run("run", "-p", "<response>")
    assert result.code == 0 and "red text\n" in result.out and "warning\n" in result.err, result
    assert "\x1b" not in result.text and "\x07" not in result.text
    assert b"\x1b[31mred" in (project.run_folder() / "agent_1.out").read_bytes()


# How it ends

LOGGED_OUT = SESSION + """echo '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key","api_error_status":401,"session_id":"s"}'
exit 1"""


def test_failed_says_why_on_the_same_line(project):
    project.agent_script(LOGGED_OUT, kind="claude")
    result = project.run("run", "-p", "<response>")
    assert result.code == 2 and re.search(r"^✘ Failed: claude: authentication: .*Invalid API key", result.out, re.M), result
    assert "Invalid API key" in result.err, result
    with in_terminal(project, "run", "-p", "<response>", width=120) as child:
        assert end_of(child) == 2
        assert len(re.findall("log in, or correct its key", screen(child))) == 2, "the turn's line and the last one"


def test_a_limit_is_told_in_one_plain_sentence(project):
    project.agent_script("echo working")
    result = project.run("run", "-p", "<response>", "-n", "2")
    assert '✘ Stopped at a limit: 2 iterations done, but the agent has not answered "DONE" (its last turn gave no <response>)\n' in result.out, result


# Settings of the output


def test_without_emoji_there_is_none_anywhere(project):
    project.git_init()
    project.agent_script("echo hello; " + DONE)
    project.guardrails("true")
    project.settings(output={"emoji": False}, scm={"command": "git", "tasks": ["commit"]})
    for words in (["run", "-p", "<response>"], ["runs", "list"], ["runs", "show"], ["doctor"]):
        out = project.run(*words).out.replace(str(project.path), "PROJECT")
        assert out.isascii() and ("[OK]" in out or words == ["runs", "list"]), out


def test_every_line_has_the_time_if_it_is_wanted(project):
    project.own_settings(trust="off")
    project.agent_script("echo one; echo; echo two; echo warning >&2; " + DONE)
    project.guardrails("echo said; false")
    project.settings(output={"timestamps": True})
    result = project.run("run", "-p", "<response>", "-n", "1", "-V")
    lines = result.out.splitlines() + result.err.splitlines()
    without = [line for line in lines if line and not re.match(r"\[\d\d:\d\d:\d\d\] ", line)]
    assert result.code == 1 and all(line.startswith("[ralph] ") for line in without) and len(without) <= 2, without
    assert any(re.fullmatch(r"\[\d\d:\d\d:\d\d\] two", line) for line in lines), result


# Prompts and attempts


def test_the_parts_of_a_prompt_are_two_newlines_apart(project):
    project.agent_script('printf "%s" "$1" > "prompt.$RALPH_ITERATION"; ' + DONE)
    (project.path / "PROMPT.md").write_text("Fix it. <response>\n")
    project.guardrails({"command": "echo first; false", "failAction": "PREPEND"}, "echo second; false")
    assert project.run("run", "-f", "PROMPT.md", "-n", "2").code == 1
    prompt = (project.path / "prompt.2").read_text()
    assert "first\n\nFix it. <response>\n\nGuardrail" in prompt and "\n\n\n" not in prompt, prompt


def test_codex_in_text_mode_puts_its_last_words_into_a_file(project):
    project.agent_script("""[ "$2" = --help ] && exit
echo "on the way: <response>WORKING</response>"
while [ $# -gt 0 ]; do [ "$1" = -o ] && echo "All is well. <response>DONE</response>" > "$2"; shift; done""", kind="codex")
    result = project.run("run", "-p", "x", "-n", "1", "--no-stream-agent-output")
    assert result.code == 0, result
    (started,) = project.records("agent_started")
    assert "-o" in started["argv"] and not list(project.run_folder().glob("*.answer"))


@pytest.mark.parametrize("attempts, starts", [({}, 4), ({"attempts": 1}, 1), ({"attempts": 3}, 3)])
def test_retry_attempts_counts_all_attempts(project, attempts, starts):
    project.agent_script("echo trying; exit 7", retry=attempts)
    result = project.run("run", "-p", "<response>", "-n", "1")
    assert result.code == 1 and len(project.records("agent_started")) == starts, result
    assert starts == 1 or f"try 2 of {starts}" in result.out, result


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_make_all_formats_lints_tests_and_builds():
    lines = subprocess.run(["make", "-n", "all"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line for line in lines if line.startswith("./dev")] == ["./dev fmt", "./dev lint", "./dev test", "./dev build"]
