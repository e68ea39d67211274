"""ralph runs list and show: the history of a project, whatever state its journals are in."""
import json
import re
import shlex
import signal

import pytest

from support import read_lines, wait_until
from terminal import end_of, in_terminal, screen

DONE = 'echo "<response>DONE</response>"'


def a_run(project, text=DONE, *arguments, code=0, **how):
    """One finished run; returns its id."""
    project.agent_script(text)
    before = set(project.run_folders())
    result = project.run("run", "-p", "do it", *arguments, **how)
    assert result.code == code, result
    return (set(project.run_folders()) - before).pop().name


def listed(project):
    result = project.run("runs", "list", "--json")
    assert result.code == 0, result
    return json.loads(result.out)


def show(project, *arguments):
    result = project.run("runs", "show", *arguments)
    assert result.code == 0, result
    return result.out


# List


def test_a_project_without_runs_is_no_error(project):
    result = project.run("runs", "list")
    assert result.code == 0 and "no runs" in result.out and "ralph run" in result.out, result
    assert listed(project) == []
    assert not project.ralph.exists()


def test_runs_are_listed_newest_first_with_their_end(project):
    first = a_run(project)
    second = a_run(project, "echo more", "-m", "2", code=1)
    third = a_run(project)
    assert [r["id"] for r in listed(project)] == [third, second, first]
    assert [r["state"] for r in listed(project)] == ["complete", "limit", "complete"]
    assert [r["iterations"] for r in listed(project)] == [1, 2, 1]
    lines = project.run("runs", "list").out.splitlines()
    assert [i for line in lines for i in (first, second, third) if i in line] == [third, second, first]
    assert any(second in line and "limit" in line and "2" in line for line in lines)


def test_the_list_can_be_cut(project):
    for _ in range(3):
        a_run(project)
    result = project.run("runs", "list", "-l", "2")
    assert sum(".ralph" in line or re.match(r"\S*\s*\d{8}-\d{6}-", line) is not None for line in result.out.splitlines()) == 2, result
    assert "1 more" in result.out
    for bad in ("0", "x", "-1"):
        assert project.run("runs", "list", "--limit", bad).code == 2


def test_listing_works_where_nothing_can_be_written_and_changes_nothing(project):
    a_run(project)
    before = project.everything_on_disk()
    project.run("runs", "list")
    show(project)
    assert project.everything_on_disk() == before


# Show


def test_show_tells_the_story_of_a_run(project):
    project.guardrails({"command": "echo x >> count; [ $(wc -l < count) -ge 2 ]", "name": "unit tests"})
    run = a_run(project)
    text = show(project)
    assert run in text
    for part in ("unit tests", "failed", "passed", "guardrail_1_", "DONE", "2 iterations", "do it"):
        assert part in text, f"{part} is missing\n{text}"
    assert re.search(r"[Ii]teration 1.*[Ii]teration 2", text, re.S)
    assert "\x1b" not in text


def test_the_story_of_a_run_with_a_prompt_file_names_the_file(project):
    project.agent_script(DONE)
    (project.path / "PROMPT.md").write_text("do it")
    assert project.run("run", "-f", "PROMPT.md").code == 0
    assert re.search(r"^  prompt +\S.*PROMPT\.md$", show(project), re.M)


def test_a_run_is_found_by_id_beginning_or_as_the_last(project):
    first, second = a_run(project), a_run(project)
    assert first in show(project, first)
    assert second in show(project, "last") and second in show(project)
    unique = next(first[:n] for n in range(1, 21) if not second.startswith(first[:n]))
    assert first in show(project, unique)


def test_an_ambiguous_beginning_names_the_runs(project):
    first, second = a_run(project), a_run(project)
    result = project.run("runs", "show", first[:4])
    assert result.code == 2 and first in result.err and second in result.err, result


def test_a_mistyped_id_is_refused_with_the_nearest(project):
    run = a_run(project)
    wrong = run[:-1] + ("0" if run[-1] != "0" else "1")
    result = project.run("runs", "show", wrong)
    assert result.code == 2 and run in result.err and wrong in result.err, result
    assert project.run("runs", "show", "nonsense").code == 2
    assert project.run("runs", "show", "").code == 2


@pytest.mark.parametrize("evil", ["../../..", "/etc", ".", "..", "last/.."])
def test_an_id_is_never_a_path(project, evil):
    a_run(project)
    assert project.run("runs", "show", evil).code == 2


def test_show_without_any_run_says_so(project):
    result = project.run("runs", "show")
    assert result.code == 2 and "no runs" in result.err and "ralph run" in result.err, result


def test_show_as_json_has_the_records_of_the_journal(project):
    project.guardrails("true")
    run = a_run(project)
    document = json.loads(show(project, "--json"))
    assert document["records"] == project.journal()
    assert document["id"] == run and document["state"] == "complete"


def test_show_records_prints_the_journal_lines(project):
    a_run(project)
    assert show(project, "--records").encode() == (project.run_folder() / "journal.jsonl").read_bytes()


def test_scm_and_processes_left_behind_are_part_of_the_story(project):
    project.git_init()
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    a_run(project, f"touch work; setsid sleep 1000 >/dev/null 2>&1 & {DONE}")
    text = show(project)
    assert "commit" in text and "sleep 1000" in text
    project.nothing_left()


# A run that lives, and one that was killed


def test_a_running_run_is_shown_as_running(project):
    begun, flag = project.base / "begun", project.base / "flag"
    project.agent_script(f"touch {shlex.quote(str(begun))}; while [ ! -e {shlex.quote(str(flag))} ]; do sleep 0.02; done; {DONE}")
    running = project.start("run", "-p", "x")
    wait_until(begun.exists)
    assert [r["state"] for r in listed(project)] == ["running"]
    assert "running" in project.run("runs", "list").out
    assert "running" in show(project)
    flag.touch()
    assert running.wait().code == 0, "looking at a run disturbed it"
    assert [r["state"] for r in listed(project)] == ["complete"]


def test_a_killed_run_is_shown_as_crashed(project):
    begun = project.base / "begun"
    project.agent_script(f"echo x >> {shlex.quote(str(begun))}; exec sleep 1000")
    running = project.start("run", "-p", "x")
    wait_until(lambda: read_lines(begun))
    loop = running.loop_pid
    running.signal(signal.SIGKILL)
    import os
    try:
        os.kill(loop, signal.SIGKILL)
    except ProcessLookupError:
        pass
    running.process.wait()
    project.nothing_left()
    assert [r["state"] for r in listed(project)] == ["crashed"]
    assert "crashed" in show(project)


# Damaged journals


def damage(project, change):
    path = project.run_folder() / "journal.jsonl"
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize("change", [
    lambda b: b[:-20], lambda b: b"", lambda b: b.replace(b"\n", b"\nnonsense\n", 2), lambda b: b"\0" * 500 + b"\n" + b,
    lambda b: b + b'{"v":1,"seq":99,"type":"from_the_future","x":{"y":[1]}}\n', lambda b: b[200:], lambda b: b + b"[1,2]\n3\n\n\xff\xfe\n",
    lambda b: b.replace(b'"iteration":1', b'"iteration":"many"'), lambda b: b + b"{" * 5000 + b"\n"],
    ids=["torn", "empty", "nonsense", "nul", "newer", "headless", "odd", "types", "deep"])
def test_a_damaged_journal_is_shown_as_far_as_it_is_good(project, change):
    good = a_run(project)
    bad = a_run(project)
    damage(project, change)
    for words in (["runs", "list"], ["runs", "list", "--json"], ["runs", "show"], ["runs", "show", "--json"], ["runs", "show", "--records"]):
        result = project.run(*words)
        assert result.code == 0, (words, result)
        if words[-1] == "--json":
            json.loads(result.out)
    ids = [r["id"] for r in listed(project)]
    assert ids == [bad, good]


def test_damage_is_said_to_be_there(project):
    a_run(project)
    damage(project, lambda b: b.replace(b"\n", b"\nnonsense\n", 1))
    assert "line 2" in show(project)


def test_a_missing_journal_and_foreign_things_in_the_folder_are_no_trouble(project):
    good = a_run(project)
    a_run(project)
    (project.run_folder() / "journal.jsonl").unlink()
    (project.ralph / "runs" / "notes.txt").write_text("x")
    (project.ralph / "runs" / "other folder").mkdir()
    ids = [r["id"] for r in listed(project)]
    assert len(ids) == 2 and good in ids
    assert project.run("runs", "show").code == 0


def test_control_sequences_in_a_journal_cannot_disturb_a_terminal(project):
    project.guardrails({"command": "true", "name": "evil \x1b[2J name"})
    a_run(project, "printf '<response>\\033]0;x\\007DONE</response>'", "-m", "1", code=1)
    for words in (["runs", "list"], ["runs", "show"]):
        assert "\x1b" not in project.run(*words).out and "\x07" not in project.run(*words).out


# Secrets


def test_secrets_are_nowhere(project):
    project.guardrails("echo guardrail says $SERVICE_TOKEN")
    a_run(project, f"echo $SERVICE_TOKEN sk-ant-api03-{'A' * 80}; echo $SERVICE_TOKEN >&2; {DONE}", env={"SERVICE_TOKEN": "hunter2-very-secret"})
    texts = [project.run(*words).text for words in (["runs", "list"], ["runs", "show"], ["runs", "show", "--json"], ["runs", "show", "--records"])]
    for text in texts:
        assert "hunter2" not in text and "A" * 60 not in text
    for path, data in project.everything_on_disk().items():
        assert b"hunter2" not in data and b"A" * 60 not in data, path


# What is listed


def test_a_kill_of_the_visible_process_is_not_listed_as_a_request_to_stop(project):
    begun = project.base / "begun"
    project.agent_script(f"echo x >> {shlex.quote(str(begun))}; exec sleep 1000")
    running = project.start("run", "-p", "x")
    wait_until(lambda: read_lines(begun))
    running.signal(signal.SIGKILL)
    running.process.wait()
    project.nothing_left()
    (run,) = listed(project)
    assert (run["state"], run["resumable"]) == ("crashed", True) and "killed" in run["reason"], run
    assert "asked to stop" not in project.run("runs", "list").out + show(project)


def test_a_journal_that_lost_its_last_record_is_not_called_resumable(project):
    a_run(project)
    journal = project.run_folder() / "journal.jsonl"
    journal.write_text("".join(line + "\n" for line in read_lines(journal)[:-1]))
    (run,) = listed(project)
    assert not run["resumable"] and run["problems"] == ["records are missing that this machine remembers"], run
    assert project.run("runs", "resume").code == 2


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_list_has_one_line_per_run_in_a_terminal(project, width):
    a_run(project, "echo a rather long answer without the words that are expected", "-m", "2", code=1)
    a_run(project)
    with in_terminal(project, "runs", "list", width=width) as child:
        assert end_of(child) == 0
        lines = screen(child).splitlines()
    assert len(lines) == 3 and all(len(line) <= width for line in lines), lines
    assert "limit" in lines[2] and "complete" in lines[1], lines


def test_cost_and_tokens_are_told_everywhere(project):
    project.agent_script(r"""
[ "$1" = --help ] && exit
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"<response>DONE</response>"}]},"session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.0024,"usage":{"input_tokens":1000,"output_tokens":500},"session_id":"s"}'
""", kind="claude")
    result = project.run("run", "-p", "x")
    assert result.code == 0 and "$0.0024" in result.out.splitlines()[-2] and "1.5K tokens" in result.out, result
    listing = project.run("runs", "list").out.splitlines()
    assert re.search(r"COST +TOKENS +END", listing[0]) and re.search(r"\$0\.0024 +1\.5K +complete", listing[1]), listing
    (run,) = listed(project)
    assert (run["costUsd"], run["tokens"]) == (0.0024, 1500), run
    text = show(project)
    assert "cost       $0.0024 · 1.5K tokens" in text and ", $0.0024, answered" in text, text


def test_what_is_told_of_a_run_breaks_between_words_in_a_terminal(project):
    project.agent_script("echo hi")
    project.guardrails("echo a rather long complaint, which is wider than the terminal that it is shown in, without doubt; exit 3")
    for command in (["run", "-p", "x", "-n", "1"], ["runs", "show"], ["runs", "verify"], ["doctor"]):
        with in_terminal(project, *command, width=80) as child:
            assert end_of(child) in (0, 1)
            lines = screen(child).splitlines()
        # A path may be longer than a line; what stands before it is a label.
        wide = [line for line in lines if len(line) > 80 and len(line.split()[-1]) < 60]
        assert lines and not wide, (command, wide)
