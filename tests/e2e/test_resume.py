"""Going on with a run that ended incomplete: `ralph runs resume`, `--resume`, and the limits that count from its start."""
import hashlib
import json
import shlex
import signal
import time

import pytest
from support import ordinary_user, processes_with_marker, read_lines, wait_until


def counting_agent(project, work):
    """An agent that counts its calls outside the project; `work` is a shell command that sees the number as $n."""
    calls = shlex.quote(str(project.base / "calls"))
    # It prints before it counts: killed with its reader, it would end at the next word.
    project.agent_script(f'case "$1" in *"commit message"*) ;; *) echo working;; esac; '
                         f'said=$(echo "$1" | tr "\\n" " "); echo "$said" >> {calls}; n=$(wc -l < {calls}); {work}')


def calls(project):
    return read_lines(project.base / "calls")


def killed_in_second_turn(project, more="echo '<response>DONE</response>'"):
    """A run that was killed while its agent worked for the second time; in the third call the agent does `more`."""
    counting_agent(project, f'echo $n >> work.txt; [ $n = 2 ] && sleep 60; [ $n -ge 3 ] && {{ {more}; }}; true')
    running = project.start("run", "-p", "the task", "-n", "5")
    wait_until(lambda: len(calls(project)) == 2, what="the second turn")
    wait_until(lambda: any("sleep 60" in line for line in processes_with_marker(project.marker).values()),
               what="the sleep of the second turn")
    running.kill_both()


def run_id(project):
    return json.loads(project.run("runs", "list", "--json").out)[0]["id"]


def test_a_killed_run_goes_on_in_the_same_iteration_and_journal(project):
    killed_in_second_turn(project)
    listed = json.loads(project.run("runs", "list", "--json").out)
    assert [(run["state"], run["resumable"]) for run in listed] == [("crashed", True)]
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert f"resumes run {listed[0]['id']}" in result.out and "Iteration 2/5, resumed" in result.out
    assert len(calls(project)) == 3
    assert [r["iteration"] for r in project.records("iteration_started")] == [1, 2]
    assert [(r["iteration"], r["attempt"], r["outcome"]) for r in project.records("agent_ended")] == [
        (1, 1, "ok"), (2, 1, "interrupted"), (2, 2, "ok")]
    cut_off = project.records("agent_ended")[1]
    assert cut_off["outputBytes"] == (project.run_folder() / "agent_2.out").stat().st_size > 0
    assert "the task" in calls(project)[2] and "earlier attempt" in calls(project)[2]
    assert len(json.loads(project.run("runs", "list", "--json").out)) == 1
    assert processes_with_marker(project.marker) == {}


def test_what_the_killed_run_left_is_ended_first(project):
    killed_in_second_turn(project)
    wait_until(lambda: any("sleep 60" in line for line in processes_with_marker(project.marker).values()),
               what="the sleep, whose parent died")
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert "sleep 60" in json.dumps(project.records("processes_swept"))
    assert processes_with_marker(project.marker) == {}


@pytest.mark.parametrize("command", [["run", "--resume"], ["run", "--resume={id}"], ["runs", "resume", "{id}"],
                                     ["--resume"], ["runs", "resume", "{id}", "--json"]])
def test_every_way_to_say_it(project, command):
    killed_in_second_turn(project)
    words = [word.replace("{id}", run_id(project)) for word in command]
    result = project.run(*words)
    assert result.code == 0, result
    assert len(calls(project)) == 3


def test_an_interrupted_attempt_does_not_count_as_a_failed_one(project):
    project.settings(agent={"retry": {"attempts": 2}})
    killed_in_second_turn(project, more="[ $n = 3 ] && exit 1; echo '<response>DONE</response>'")
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert [r["outcome"] for r in project.records("agent_ended")] == ["ok", "interrupted", "crashed", "ok"]


def test_time_already_spent_counts_and_time_between_does_not(project):
    counting_agent(project, 'echo talk; [ $n = 1 ] && { sleep 1; echo more; sleep 60; }; echo "<response>DONE</response>"')
    running = project.start("run", "-p", "x")
    wait_until(lambda: "more" in running.out, what="its last words")
    running.kill_both()
    time.sleep(1.5)
    result = project.run("runs", "resume")
    assert result.code == 0, result
    spent = project.last("run_resumed")["spentMs"]
    assert 900 <= spent < 2400, spent
    assert spent <= project.last("run_ended")["durationMs"] < spent + 1400


def test_a_run_at_its_limit_goes_on_with_a_higher_one(project):
    counting_agent(project, 'echo $n; [ $n -ge 3 ] && echo "<response>DONE</response>"; true')
    first = project.run("run", "-p", "x", "-n", "2")
    assert first.code == 1, first
    line = f"to go on: ralph runs resume {run_id(project)} -n 4"
    assert line in first.out
    again = project.run("runs", "resume")
    assert again.code == 2 and "-n 4" in again.err and "2 of 2 iterations" in again.err, again
    result = project.run(*line.split("ralph ")[1].split())
    assert result.code == 0, result
    assert project.last("run_ended")["iterations"] == 3 and len(calls(project)) == 3
    assert "to go on" not in result.out and "\n\n\n" not in result.out
    assert "3 iterations of at most 4" in project.run("runs", "show").out


def test_a_run_that_was_complete_in_its_last_iteration_is_complete(project):
    """It was killed when only the record of its end was missing."""
    counting_agent(project, "echo '<response>DONE</response>'")
    assert project.run("run", "-p", "x", "-n", "1").code == 0
    journal = project.run_folder() / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[-1])["type"] == "run_ended"
    journal.write_bytes(b"".join(lines[:-1]))
    seal, = (project.home / ".local/state/ralph").rglob(run_id(project))
    seal.write_text(hashlib.sha256(lines[-2].rstrip(b"\n")).hexdigest())
    result = project.run("runs", "resume")
    assert result.code == 0 and 'Complete: the agent answered "DONE"' in result.out, result
    assert len(calls(project)) == 1


def test_a_limit_given_once_is_remembered(project):
    counting_agent(project, 'echo $n; [ $n -ge 5 ] && echo "<response>DONE</response>"; true')
    assert project.run("run", "-p", "x", "-n", "2").code == 1
    assert project.run("runs", "resume", "-n", "4").code == 1
    refused = project.run("runs", "resume")
    assert refused.code == 2 and "4 of 4 iterations" in refused.err, refused
    assert project.run("runs", "resume", "-n", "9").code == 0


@pytest.mark.parametrize("options, message", [(["--max-minutes", "x"], "--max-minutes"), (["--max-cost", "0"], "--max-cost"),
                                              (["--max-tokens", "1.5"], "--max-tokens"), (["-n", "0"], "--max-iterations")])
def test_bad_limits_are_refused_by_name(project, options, message):
    project.agent_script("true")
    for command in (["run", "-p", "x"], ["plan", "run"], ["loop", "run", "x"]):
        result = project.run(*command, *options)
        assert result.code == 2 and message in result.err, (command, result)


def test_time_is_a_limit_too(project):
    project.agent_script("echo x; sleep 60")
    result = project.run("run", "-p", "x", "--max-minutes", "0.02")
    assert result.code == 1 and "--max-minutes 0.04" in result.out, result
    assert project.run("runs", "resume").code == 2


def test_feedback_of_the_last_iteration_is_told_again(project):
    project.settings(guardrails=[{"command": "test -e good", "hint": "make the file good"}])
    counting_agent(project, 'echo $n; [ $n = 2 ] && sleep 60; touch good; echo "<response>DONE</response>"; [ $n = 1 ] && rm good; true')
    running = project.start("run", "-p", "x")
    wait_until(lambda: len(calls(project)) == 2, what="the second turn")
    running.kill_both()
    assert project.run("runs", "resume").code == 0
    assert "make the file good" in calls(project)[2]


def test_a_turn_that_had_ended_is_checked_without_calling_the_agent(project):
    flag = shlex.quote(str(project.base / "flag"))
    project.settings(guardrails=[{"command": f"test -e {flag} || sleep 60"}])
    counting_agent(project, 'echo "<response>DONE</response>"')
    running = project.start("run", "-p", "x")
    wait_until(lambda: list(project.ralph.glob("runs/*/journal.jsonl")) and project.records("guardrail_started"), what="the check")
    running.kill_both()
    (project.base / "flag").write_text("")
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert len(calls(project)) == 1


def test_a_commit_message_already_given_is_used(project):
    project.git_init()
    hooks = project.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    flag = project.base / "flag"
    hook = hooks / "pre-commit"
    hook.write_text(f"#!/bin/sh\ntest -e {shlex.quote(str(flag))} || sleep 60\n")
    hook.chmod(0o755)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    counting_agent(project, 'case "$1" in *"commit message"*) echo "Message $n";; *) echo $n > work.txt; '
                            'echo "<response>DONE</response>";; esac')
    running = project.start("run", "-p", "x")
    wait_until(lambda: list(project.ralph.glob("runs/*/journal.jsonl")) and project.records("scm_started")
               and (project.path / ".git/index.lock").exists(), what="the commit")
    running.kill_both()
    flag.write_text("")
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert len(calls(project)) == 2
    assert project.git("log", "-1", "--format=%s").strip() == "Message 2"
    assert project.git("status", "--porcelain") == ""


def test_a_commit_that_was_made_is_not_made_again(project):
    project.git_init()
    hooks = project.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    hook = hooks / "post-commit"
    flag = project.base / "flag"
    hook.write_text(f"#!/bin/sh\ntest -e {shlex.quote(str(flag))} || {{ touch {shlex.quote(str(flag))}; sleep 60; }}\n")
    hook.chmod(0o755)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    counting_agent(project, 'case "$1" in *"commit message"*) echo "Message $n";; *) echo $n > work.txt; '
                            'echo "<response>DONE</response>";; esac')
    before = len(project.git("log", "--format=%s").splitlines())
    running = project.start("run", "-p", "x")
    wait_until(flag.exists, what="the commit")
    running.kill_both()
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert len(calls(project)) == 2
    assert len(project.git("log", "--format=%s").splitlines()) == before + 1
    assert project.last("scm_ended")["outcome"] == "done" and "before the run was interrupted" in project.last("scm_ended")["note"]


# What can't be resumed


def test_a_complete_run_and_none_at_all(project):
    none = project.run("runs", "resume")
    assert none.code == 2 and "no runs" in none.err, none
    project.agent_script("echo '<response>DONE</response>'")
    assert project.run("run", "-p", "x").code == 0
    for command in (["runs", "resume"], ["runs", "resume", run_id(project)], ["run", "--resume"]):
        result = project.run(*command)
        assert result.code == 2 and "is complete" in result.err, result


def test_a_live_run(project):
    counting_agent(project, "sleep 60")
    running = project.start("run", "-p", "x")
    wait_until(lambda: calls(project), what="the turn")
    result = project.run("runs", "resume")
    assert result.code == 2 and "another ralph run is working" in result.err, result
    running.signal(signal.SIGTERM)
    wait_until(lambda: project.records("signal_received"), what="the first signal")
    running.signal(signal.SIGTERM)
    running.wait()


def test_a_journal_of_a_newer_version(project):
    killed_in_second_turn(project)
    journal = next(project.ralph.glob("runs/*/journal.jsonl"))
    journal.write_text(journal.read_text().replace('{"v":2,', '{"v":3,'))
    result = project.run("runs", "resume")
    assert result.code == 2 and "newer version" in result.err, result


def test_a_journal_that_lost_records_is_not_believed(project):
    killed_in_second_turn(project)
    journal = next(project.ralph.glob("runs/*/journal.jsonl"))
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:2]))
    result = project.run("runs", "resume")
    assert result.code == 2 and "records are missing" in result.err, result


def test_a_changed_record_is_not_believed(project):
    killed_in_second_turn(project)
    journal = next(project.ralph.glob("runs/*/journal.jsonl"))
    journal.write_text(journal.read_text().replace('"outcome":"ok"', '"outcome":"empty"'))
    result = project.run("runs", "resume")
    assert result.code == 2 and "not as ralph wrote it" in result.err, result


def test_a_torn_last_record_is_no_obstacle(project):
    killed_in_second_turn(project)
    journal = next(project.ralph.glob("runs/*/journal.jsonl"))
    with journal.open("ab") as file:
        file.write(b'{"v":2,"seq":99,"ti')
    result = project.run("runs", "resume")
    assert result.code == 0, result


def test_a_run_of_another_kind_is_named(project):
    killed_in_second_turn(project)
    result = project.run("loop", "run", "--resume")
    assert result.code == 2 and f"ralph run --resume={run_id(project)}" in result.err, result
    other = project.run("plan", "run", f"--resume={run_id(project)}")
    assert other.code == 2, other


@pytest.mark.parametrize("option", [["-p", "other"], ["-c", "YES"], ["-f", "x"]])
def test_only_limits_can_be_given_with_it(project, option):
    killed_in_second_turn(project)
    result = project.run("run", "--resume", *option)
    assert result.code == 2 and "can't be given with --resume" in result.err, result


# What changed meanwhile


def test_an_id_without_its_equals_sign_is_explained(project):
    killed_in_second_turn(project)
    result = project.run("run", "--resume", run_id(project))
    assert result.code == 2 and "--resume=" in result.err, result


def test_an_unknown_id_is_said_to_be_unknown_where_only_tasks_have_runs(project):
    project.run("task", "run", "--root", project.base / "tasks", "--project", "p", "--task", "t", "--max-restarts", "1", "--", "true")
    for command in ("show", "resume", "verify"):
        result = project.run("runs", command, "zzz")
        assert result.code == 2 and '"zzz"' in result.err and "runs list" in result.err, result


def test_changed_settings_are_shown_and_apply(project):
    killed_in_second_turn(project)
    time.sleep(1.1)
    project.settings(guardrails=[{"command": "true"}], outputTruncateChars=77)
    # Nobody can tell whether the agent had ended when it was changed: ralph was killed.
    assert project.run("runs", "resume").code == 2
    result = project.run("runs", "resume", "--trust")
    assert result.code == 0, result
    assert "Changed: outputTruncateChars: 77, was 5000" in result.err
    assert "Commands changed since the last run: guardrails" in result.err
    assert project.last("guardrail_ended")["outcome"] == "passed"


def test_commands_that_changed_while_an_agent_ran_must_be_accepted(project):
    counting_agent(project, "echo $n; [ $n = 1 ] && { sleep 1.2; sed -i 's/\"test/\"false;test/' .ralph/settings.json; sleep 1.2; "
                            "echo x; exit 0; }; [ $n = 2 ] && sleep 60; echo '<response>DONE</response>'")
    project.settings(guardrails=[{"command": "test -d ."}])
    running = project.start("run", "-p", "x")
    wait_until(lambda: len(calls(project)) == 2, what="the second turn")
    running.kill_both()
    result = project.run("runs", "resume")
    assert result.code == 2 and "--trust" in result.err and "false;test" in result.err, result
    project.settings(guardrails=[{"command": "test -d ."}])
    assert project.run("runs", "resume", "--trust").code == 0


def test_a_secret_in_the_prompt_is_there_again_and_not_in_the_journal(project):
    secret = "sk-ant-api03-" + "Zk4" * 20
    counting_agent(project, 'echo $n; [ $n = 1 ] && sleep 60; echo "<response>DONE</response>"')
    running = project.start("run", "-p", f"use {secret} now")
    wait_until(lambda: calls(project), what="the turn")
    running.kill_both()
    files = [f for f in project.ralph.rglob("*") if f.is_file() and secret in f.read_text(errors="replace")]
    assert [(f.name, f.stat().st_mode & 0o777) for f in files] == [("arguments.json", 0o600)]
    assert project.run("runs", "resume").code == 0
    assert secret in calls(project)[1]
    assert not [f for f in project.ralph.rglob("*") if f.is_file() and secret in f.read_text(errors="replace")]


# .ralph is removed by the agent


def test_an_agent_that_removes_the_folder_ends_no_run_and_lets_no_second_one_in(project):
    project.git_init()
    counting_agent(project, '[ $n = 1 ] && { cp .ralph/settings.json ..; rm -rf .ralph; sleep 2; }; echo $n > work.txt; '
                            '[ $n -ge 2 ] && echo "<response>DONE</response>"; true')
    running = project.start("run", "-p", "x")
    wait_until(lambda: calls(project) and not project.ralph.exists(), what="the removal")
    project.ralph.mkdir()
    (project.path.parent / "settings.json").rename(project.ralph / "settings.json")
    second = project.run("run", "-p", "y")
    assert second.code == 2 and "another ralph run is working" in second.err, second
    result = running.wait()
    assert result.code == 0, result
    assert [r["iteration"] for r in project.records("iteration_ended")] == [1, 2]
    assert (project.ralph / ".gitignore").exists()


def test_git_clean_by_an_agent_commits_nothing_of_ralphs(project):
    project.git_init()
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    counting_agent(project, 'case "$1" in *"commit message"*) echo "Message";; *) git clean -qfdx; echo $n > work.txt; '
                            'echo "<response>DONE</response>";; esac')
    project.git("add", "-A", "-f", ".ralph/settings.json")
    project.git("commit", "-qm", "settings", "--allow-empty")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    files = project.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert sorted(f for f in files if f.startswith(".ralph")) == [".ralph/settings.json"]


def test_the_journal_chains_across_processes(project):
    killed_in_second_turn(project)
    assert project.run("runs", "resume").code == 0
    lines = next(project.ralph.glob("runs/*/journal.jsonl")).read_text().splitlines()
    for before, after in zip(lines, lines[1:]):
        assert json.loads(after)["prev"] == hashlib.sha256(before.encode()).hexdigest()
    assert json.loads(project.run("runs", "list", "--json").out)[0]["problems"] == []


def test_trust_once_given_accepts_no_later_change(project):
    counting_agent(project, "sleep 1.2; sed -i 's/xyz/xyzxyz/' .ralph/settings.json; sleep 1.2")
    project.settings(guardrails=[{"command": "test -d . # xyz"}])
    assert project.run("run", "-p", "x", "-n", "1").code == 1
    assert project.run("runs", "resume", "-n", "2", "--trust").code == 1
    result = project.run("runs", "resume", "-n", "3")
    assert result.code == 2 and "# xyzxyzxyz" in result.err and len(calls(project)) == 2, result


def test_how_it_is_printed_is_not_remembered(project):
    counting_agent(project, '[ $n -ge 2 ] && echo "<response>DONE</response>"; true')
    assert project.run("run", "-p", "x", "-n", "1", "--json").code == 1
    result = project.run("runs", "resume", "-n", "3")
    assert result.code == 0 and "Complete" in result.out and "{" not in result.out, result


def test_a_wait_for_a_usage_limit_goes_on_to_its_deadline(project):
    """The deadline is in the journal: neither is the agent called before it, nor does the wait begin anew."""
    resets = int(time.time()) + 4
    limit = {"status": "rejected", "resetsAt": resets}
    lines = [{"type": "assistant", "message": {"id": "e", "content": [{"type": "text", "text": "limit"}]}, "error": "rate_limit",
              "is_api_error_message": True, "api_error_status": 429, "api_error": "usage_limit_reached",
              "api_error_params": {"rate_limit_info": limit}},
             {"type": "result", "subtype": "success", "is_error": True, "terminal_reason": "api_error", "api_error_status": 429,
              "api_error": "usage_limit_reached", "result": "limit", "total_cost_usd": 0, "usage": {}}]
    done = {"type": "result", "subtype": "success", "is_error": False, "result": "<response>DONE</response>", "usage": {}}
    said = project.base / "said"
    said.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (project.base / "done").write_text(json.dumps(done) + "\n")
    calls_of = shlex.quote(str(project.base / "calls"))
    command = project.script(f"echo called >> {calls_of}; [ $(wc -l < {calls_of}) = 1 ] && {{ cat '{said}'; exit 1; }}; "
                             f"cat '{project.base}/done'", "claude")
    project.settings({"agent": {"command": str(command)}})
    running = project.start("run", "-p", "the task")
    wait_until(lambda: running.out and "usage limit until" in running.out, what="the wait")
    running.kill_both()
    assert len(calls(project)) == 1
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert len(calls(project)) == 2
    again = [one for one in project.records("agent_started") if one["attempt"] == 2]
    waits = [one for one in project.records("decided") if one["decision"] == "wait"]
    assert len(again) == 1 and len(waits) == 2 and waits[1]["delayMs"] < waits[0]["delayMs"], waits
    begun = time.mktime(time.strptime(again[0]["time"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
    assert begun >= resets


def test_without_its_guardian_the_run_is_as_if_killed(project):
    """One state to resume from, whichever process was killed; and nobody is told to end a process that is gone."""
    counting_agent(project, "trap '' TERM; [ $n = 2 ] && sleep 60; [ $n = 3 ] && echo '<response>DONE</response>'; true")
    running = project.start("run", "-p", "the task", "-n", "5")
    wait_until(lambda: len(calls(project)) == 2, what="the second turn")
    running.signal(signal.SIGKILL)
    running.process.wait()
    result = project.run("runs", "resume")  # at once: the loop is still ending its agent, which ignores SIGTERM
    assert result.code == 0 and "kill " not in result.err, result
    assert [(r["iteration"], r["outcome"]) for r in project.records("agent_ended")] == [
        (1, "ok"), (2, "interrupted"), (2, "ok")]
    assert len(project.records("run_ended")) == 1 and not project.records("signal_received")
    assert len(calls(project)) == 3
    project.nothing_left()


# What a person reads


def test_the_line_to_type_names_limits_that_are_high_enough(project):
    """All that are met at once, each above what is spent already."""
    project.agent_script(r"""
[ "$1" = --help ] && exit
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"not yet"}]},"session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":123.45,"usage":{"input_tokens":1000,"output_tokens":500},"session_id":"s"}'
""", kind="claude")
    first = project.run("run", "-p", "x <response>", "--max-cost", "50", "--max-tokens", "500", "-n", "1")
    assert first.code == 1, first
    options = ["-n", "2", "--max-cost", "200", "--max-tokens", "2000"]
    line = next(line for line in first.out.splitlines() if "to go on: " in line)
    assert sorted(line.split(run_id(project))[1].split()) == sorted(options), line
    refused = project.run("runs", "resume", "--max-cost", "100")
    assert refused.code == 2 and "--max-cost 200" in refused.err and "-n 2" in refused.err and "--max-tokens 2000" in refused.err, refused
    assert project.run("runs", "resume", *options).code == 1 and len(project.records("iteration_started")) == 2


def test_with_a_folder_given_the_line_to_type_works_where_it_is_read(project):
    counting_agent(project, 'echo $n; [ $n -ge 2 ] && echo "<response>DONE</response>"; true')
    first = project.run("-C", project.path, "run", "-p", "x <response>", "-n", "1", cwd=project.base)
    line = next(line.split("to go on: ralph ")[1] for line in first.out.splitlines() if "to go on: " in line)
    assert shlex.split(line)[:2] == ["-C", str(project.path)], first
    assert project.run(*shlex.split(line), cwd=project.base).code == 0


def test_a_command_that_changed_at_its_end_is_shown(project):
    long = "test -d . && : " + "a rather long remark about what this command is good for, which takes more than a line to say "
    counting_agent(project, 'echo $n; [ $n -ge 2 ] && echo "<response>DONE</response>"; true')
    project.settings(guardrails=[{"command": long + long + "and ends with this"}], budget={"maxMinutes": 2.5})
    assert project.run("run", "-p", "x <response>", "-n", "1").code == 1
    project.settings(guardrails=[{"command": long + long + "and ends with that"}], budget={"maxMinutes": 0.35})
    result = project.run("runs", "resume", "-n", "2")
    assert result.code == 0, result
    (line,) = [line for line in result.err.splitlines() if line.startswith("Commands changed")]
    assert "ends with that" in line and "ends with this" in line.split(", was ")[1], line
    assert "Changed: budget.maxMinutes: 0.35, was 2.5" in result.err, result.err
    assert project.run("trust").code == 0
    project.settings(guardrails=[{"command": long + long + "and ends with nothing"}])
    told = project.run("run", "-p", "x <response>", "-n", "1").err
    assert "ends with nothing" in told and "ends with that" in told, told


def test_a_torn_record_does_not_make_a_run_look_damaged(project):
    killed_in_second_turn(project)
    with next(project.ralph.glob("runs/*/journal.jsonl")).open("ab") as file:
        file.write(b'{"v":2,"seq":99,"ti')
    assert json.loads(project.run("runs", "list", "--json").out)[0]["resumable"] is True
    listing = project.run("runs", "list").out
    assert "resumable" in listing and "damaged" not in listing, listing


def test_settings_that_an_agent_removes_are_put_back(project):
    counting_agent(project, 'rm -rf .ralph; echo $n; [ $n -ge 3 ] && echo "<response>DONE</response>"; true')
    before = (project.ralph / "settings.json").read_bytes()
    (project.ralph / "settings.local.json").write_text("{}")
    first = project.run("run", "-p", "x <response>", "-n", "2")
    assert first.code == 1, first
    assert (project.ralph / "settings.json").read_bytes() == before and (project.ralph / "settings.local.json").read_text() == "{}"
    assert project.run("runs", "resume", "-n", "4").code == 0


def test_a_failed_attempt_after_resuming_does_not_forget_what_was_half_done(project):
    counting_agent(project, 'echo $n >> work.txt; [ $n = 1 ] && sleep 60; [ $n = 2 ] && exit 7; echo "<response>DONE</response>"')
    running = project.start("run", "-p", "the task")
    wait_until(lambda: calls(project), what="the first turn")
    wait_until(lambda: any("sleep 60" in line for line in processes_with_marker(project.marker).values()), what="its sleep")
    running.kill_both()
    assert project.run("runs", "resume").code == 0
    assert ["earlier attempt" in told for told in calls(project)] == [False, True, True]


def test_an_iteration_that_was_resumed_took_all_of_its_time(project):
    counting_agent(project, 'sleep 1; echo later; [ $n = 2 ] && { echo "<response>DONE</response>"; exit; }; sleep 60')
    running = project.start("run", "-p", "x")
    wait_until(lambda: "later" in running.out, what="the second half of the first turn")
    running.kill_both()
    assert project.run("runs", "resume").code == 0
    assert project.last("iteration_ended")["durationMs"] >= 1900


# ---- the state folder ------------------------------------------------------------------------------------------------

WAYS = {"run": ["run", "-p", "x"], "task": ["task", "run", "--root", "r", "--project", "p", "--task", "t", "--prompt", "x", "--max-restarts", "1", "--", "false"]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["a file", "read-only", "a file below"])
def test_a_run_needs_a_state_folder_that_can_be_written(project, kind, way):
    project.agent_script("touch started")
    (project.path / "r/p/t").mkdir(parents=True)
    state, how = project.base / "state", {}
    if kind == "a file":
        state.write_text("x")
    elif kind == "a file below":
        (state / "ralph").mkdir(parents=True)
        (state / "ralph/projects").write_text("x")
    else:
        how = ordinary_user(project, project.base, *project.base.rglob("*"))
        state.mkdir(mode=0o555)
    result = project.run(*WAYS[way], env={"XDG_STATE_HOME": state}, **how)
    assert result.code == 2 and str(state) in result.err and "XDG_STATE_HOME" in result.err, result
    assert "ermission denied" in result.err or "Not a directory" in result.err, result
    assert not (project.path / "started").exists() and not list(project.ralph.glob("runs/*"))


@pytest.mark.parametrize("way", WAYS)
def test_a_run_without_a_state_folder_says_so_and_is_not_resumed(project, way):
    project.agent_script("echo x")
    project.settings(maximumIterations=1)
    result = project.run(*WAYS[way], env={"HOME": "", "XDG_STATE_HOME": ""})
    assert result.code == 1 and result.err.count("neither XDG_STATE_HOME nor HOME is set") == 1, result
    assert "runs resume" not in result.out, result
    if way != "task":
        refused = project.run("runs", "resume", "-n", "2", env={"HOME": "", "XDG_STATE_HOME": ""})
        assert refused.code == 2 and "neither XDG_STATE_HOME nor HOME is set" in refused.err, refused
