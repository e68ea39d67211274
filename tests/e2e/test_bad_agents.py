"""Agents that misbehave in every way a process can."""
import os
import time

import pytest

from support import FLAT_KB, helper, read_lines, wait_until

DONE = "echo '<response>DONE</response>'"


def run(project, *arguments, **how):
    return project.run("run", "-p", "do it", *arguments, **how)


# ---- it cannot be started

def test_a_missing_agent_is_a_fatal_start_error_that_names_it(project):
    project.settings(agent={"command": "no-such-agent-anywhere"})
    result = run(project)
    assert result.code == 2, result
    assert "no-such-agent-anywhere" in result.err and "not found" in result.err
    assert "doctor" in result.err, "the error says what to do"
    assert not project.run_folders(), "nothing is written for a run that cannot start"


def test_a_missing_agent_given_by_path_is_named_with_its_whole_path(project):
    project.settings(agent={"command": "./tools/agent"})
    result = run(project)
    assert result.code == 2 and str(project.path) in result.err and "tools/agent does not exist" in result.err, result


def test_no_agent_at_all_says_how_to_set_one(project):
    project.settings()
    result = run(project)
    assert result.code == 2 and "ralph init" in result.err, result


def test_an_agent_that_is_not_executable_is_refused_with_the_chmod_to_type(project):
    path = project.agent_script(DONE)
    path.chmod(0o644)
    result = run(project)
    assert result.code == 2 and f"chmod +x {path}" in result.err, result


def test_a_folder_as_agent_is_refused_as_a_folder(project):
    (project.base / "folder").mkdir()
    project.settings(agent={"command": str(project.base / "folder")})
    result = run(project)
    assert result.code == 2 and "folder" in result.err and "chmod" not in result.err, result


def test_a_script_without_shebang_is_refused_with_the_line_it_needs(project):
    path = project.agent_script(DONE)
    path.write_text(DONE + "\n")
    result = run(project)
    assert result.code == 2 and "#!" in result.err and str(path) in result.err, result
    project.nothing_left()


def test_a_script_whose_interpreter_is_missing_is_refused_with_a_hint(project):
    project.agent_script("#!/no/such/interpreter\n")
    result = run(project)
    assert result.code == 2 and "first line" in result.err, result


def test_an_agent_that_vanishes_after_its_first_turn_ends_the_run_as_fatal(project):
    project.agent_script('rm "$0"; echo working')
    result = run(project)
    assert result.code == 2 and "agent" in result.err, result
    assert project.last("run_ended")["status"] == "fatal"
    ended = project.records("agent_ended")
    assert ended[0]["outcome"] == "ok" and len(ended) > 2, "it is tried again: it might be updating itself"
    assert all(turn["outcome"] == "not_started" and "agent" in turn["reason"] for turn in ended[1:])
    assert project.last("agent_ended")["iteration"] == 2, "but not in every iteration"


def test_an_agent_that_is_away_for_a_moment_while_it_updates_itself_is_tried_again(project):
    project.agent_script("""if [ -e updated ]; then echo '<response>DONE</response>'; exit 0; fi
        touch updated; mv "$0" "$0.new"; echo working""",
                         retry={"attempts": 9, "backoffSeconds": 0.1, "maxBackoffSeconds": 0.2})
    running = project.start("run", "-p", "do it", "-m", "3")
    wait_until((project.path / "updated").exists, what="the first turn")
    wait_until(lambda: "not_started" in [r["outcome"] for r in project.records("agent_ended")], what="the attempt without a program")
    (project.base / "agent.new").rename(project.base / "agent")
    result = running.wait()
    assert result.code == 0, result


def test_an_agent_that_is_being_written_is_tried_again(project):
    program = project.base / "busy-agent"
    program.write_bytes(open("/bin/echo", "rb").read())
    program.chmod(0o755)
    project.settings(agent={"command": str(program), "flags": ["<response>DONE</response>"],
                            "retry": {"attempts": 9, "backoffSeconds": 0.1, "maxBackoffSeconds": 0.2}})
    with open(program, "ab"):
        running = project.start("run", "-p", "do it", "-m", "1")
        wait_until(lambda: any((folder / "journal.jsonl").exists() for folder in project.run_folders()) and
                   project.records("agent_ended"), what="the attempt that failed")
    result = running.wait()
    assert "busy" in project.records("agent_ended")[0]["reason"].lower()
    assert result.code == 0, result


# ---- it crashes or says nothing

def test_a_crash_is_retried_with_growing_pauses_and_then_consumes_the_iteration(project):
    project.agent_script("echo trying; exit 7", retry={"attempts": 4, "backoffSeconds": 0.01, "maxBackoffSeconds": 0.02})
    result = run(project, "-m", "1")
    assert result.code == 1, result
    ended = project.records("agent_ended")
    assert [(e["attempt"], e["outcome"], e["exitCode"]) for e in ended] == [(n, "crashed", 7) for n in (1, 2, 3, 4)]
    delays = [d["delayMs"] for d in project.records("decided") if d["decision"] == "retry"]
    assert delays == [10, 20, 20]
    assert "exit code 7" in result.out and "crashed" in result.out


def test_a_crash_after_the_answer_is_never_complete(project):
    project.agent_script(DONE + "; exit 1", retry={"attempts": 0})
    result = run(project, "-m", "2")
    assert result.code == 1, result
    assert len(project.records("iteration_started")) == 2


def test_an_agent_killed_by_a_signal_is_reported_with_the_signal_and_is_never_complete(project):
    project.settings(agent={"command": helper("crash"), "retry": {"attempts": 2}})
    result = run(project, "-m", "1")
    assert result.code == 1 and "SIGSEGV" in result.out, result
    assert [e["signal"] for e in project.records("agent_ended")] == [11, 11]


def test_a_crash_that_heals_completes_within_the_same_iteration(project):
    project.agent_script(f'echo x >> tries; [ $(wc -l < tries) -ge 3 ] && {DONE} && exit 0; exit 1')
    result = run(project, "-m", "1")
    assert result.code == 0, result
    assert len(project.records("iteration_started")) == 1 and len(project.records("agent_started")) == 3


def test_empty_output_is_retried_three_times_within_its_iteration_by_default(project):
    project.agent_script("exit 0")
    result = run(project, "-m", "1")
    assert result.code == 1 and "said nothing" in result.out, result
    assert [e["outcome"] for e in project.records("agent_ended")] == ["empty"] * 4


def test_blank_output_counts_as_nothing_said(project):
    project.agent_script(r"printf '\n \t\n'", retry={"attempts": 2})
    assert run(project, "-m", "1").code == 1
    assert [e["outcome"] for e in project.records("agent_ended")] == ["empty"] * 2


def test_a_crash_does_not_hide_a_failing_guardrail(project):
    project.agent_script(DONE + "; exit 3", retry={"attempts": 0})
    project.guardrails("exit 9")
    result = run(project, "-m", "1")
    assert result.code == 1 and project.last("guardrail_ended")["exitCode"] == 9, result


# ---- it prints too much, or the wrong bytes

def test_a_hundred_megabytes_without_a_newline_pass_through_in_flat_memory_and_stand_on_disk(project):
    project.agent_script(helper("flood_no_newline", 100) + f"; echo; {DONE}")
    result = run(project, "--no-stream-agent-output")
    assert result.code == 0, result
    assert 0 < result.peak_kb < FLAT_KB, f"{result.peak_kb} KB"
    assert (project.run_folder() / "agent_1.out").stat().st_size == 100 * 2**20 + 1 + len("<response>DONE</response>\n")


@pytest.mark.slow  # without optimisation it takes longer than anybody waits
def test_a_hundred_megabytes_streamed_to_the_console_stay_flat_too(project):
    project.agent_script(helper("flood_no_newline", 100) + f"; echo; {DONE}")
    with open(os.devnull, "w") as nowhere:
        result = run(project, stdout=nowhere)
    assert result.code == 0 and 0 < result.peak_kb < FLAT_KB, (result, result.peak_kb)


def test_an_open_tag_before_a_flood_neither_grows_memory_nor_completes(project):
    project.agent_script("printf '<response>'; " + helper("flood_no_newline", 50) + "; echo '</response>'")
    result = run(project, "--no-stream-agent-output", "-m", "1")
    assert result.code == 1 and 0 < result.peak_kb < FLAT_KB, (result, result.peak_kb)


def test_a_million_open_tags_take_no_quadratic_time(project):
    project.python_agent("print('<response>' * 1000000, end='')\nprint()\nprint('<response>DONE</response>')")
    result = run(project, "--no-stream-agent-output", "-m", "1")
    assert result.code == 0 and result.seconds < 10, result


def test_flooding_standard_error_is_kept_flat_and_whole(project):
    project.agent_script(helper("flood_no_newline", 30) + f" >&2; {DONE}")
    result = run(project, "--no-stream-agent-output")
    assert result.code == 0 and 0 < result.peak_kb < FLAT_KB, result
    assert (project.run_folder() / "agent_1.err").stat().st_size == 30 * 2**20


def test_nul_bytes_are_kept_on_disk_and_do_not_complete(project):
    project.settings(agent={"command": helper("print_nul")})
    result = run(project, "-m", "1")
    assert result.code == 1, result
    assert (project.run_folder() / "agent_1.out").read_bytes().startswith(b"\0\0a\0b\0\n\0<resp\0onse>DONE")
    project.journal()


def test_a_tag_after_nul_bytes_still_counts(project):
    project.agent_script(r"printf '\000\000\n'; " + DONE)
    assert run(project, "-m", "1").code == 0


def test_invalid_utf8_is_kept_byte_for_byte_and_the_journal_stays_json(project):
    project.agent_script(r"printf '\377\376\200 caf\351\n<response>\377\300</response>\n'")
    result = run(project, "-m", "1")
    assert result.code == 1, result
    assert (project.run_folder() / "agent_1.out").read_bytes() == b"\xff\xfe\x80 caf\xe9\n<response>\xff\xc0</response>\n"
    assert project.last("agent_ended")["response"]


def test_terminal_escapes_in_an_answer_do_not_reach_the_console_as_part_of_a_line_of_ralph(project):
    project.agent_script(r"printf '<response>\033]0;evil\007\033[2J</response>\n'")
    result = run(project, "-m", "1", "--no-stream-agent-output")
    assert result.code == 1 and "\033" not in result.out and "\007" not in result.out, result


# ---- it does not end

def test_an_agent_that_ignores_sigterm_is_killed_after_its_time_and_the_grace(project):
    project.settings(agent={"command": helper("ignore_sigterm"), "timeoutSeconds": 0.3})
    result = run(project, "-m", "1", timeout=30)
    assert result.code == 1, result
    ended = project.last("agent_ended")
    assert ended["outcome"] == "timed_out" and ended["signal"] == 9
    assert 5 <= result.seconds < 9, "SIGTERM, five seconds of grace, SIGKILL"
    project.nothing_left()


def test_an_agent_that_obeys_sigterm_is_ended_at_once_when_its_time_is_over(project):
    project.agent_script("echo '<response>DONE</response>'; exec sleep 60", timeoutSeconds=0.3)
    result = run(project, "-m", "1")
    assert result.code == 1 and result.seconds < 4, result
    assert project.last("agent_ended")["outcome"] == "timed_out", "an answer of an agent that had to be ended is none"
    project.nothing_left()


def test_a_timed_out_turn_consumes_its_iteration_without_retry(project):
    project.agent_script("echo hi; exec sleep 60", timeoutSeconds=0.2)
    assert run(project, "-m", "2").code == 1
    assert [e["attempt"] for e in project.records("agent_started")] == [1, 1]


def test_a_silent_agent_is_ended_by_the_idle_limit_and_a_talking_one_is_not(project):
    project.agent_script(f'if [ $RALPH_ITERATION = 1 ]; then for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done; '
                         f'sleep 60; else {DONE}; fi', idleTimeoutSeconds=3)
    result = run(project, "-m", "2")
    assert result.code == 0, result
    first = project.records("agent_ended")[0]
    assert first["outcome"] == "idle" and first["durationMs"] > 6500, first
    assert "8\n" in (project.run_folder() / "agent_1.out").read_text()
    project.nothing_left()


def test_the_time_of_the_whole_run_ends_a_running_agent(project):
    project.agent_script("echo hi; exec sleep 60")
    project.settings(budget={"maxMinutes": 0.01})
    result = run(project)
    assert result.code == 1 and result.seconds < 6 and "budget.maxMinutes" in result.out, result


def test_an_agent_that_never_reads_its_standard_input_blocks_nobody(project):
    project.agent_script(DONE, promptVia="stdin")
    (project.path / "big.md").write_text("word " * 400_000)
    result = project.run("run", "-f", "big.md", "-m", "1")
    assert result.code == 0, result


# ---- it leaves processes behind

@pytest.mark.parametrize("how", ["plain_grandchild", "setsid_grandchild", "double_fork", "stopped_grandchild"])
def test_a_process_left_behind_is_ended_and_reported(project, how):
    project.agent_script(f"{helper(how)}; {DONE}")
    project.guardrails(f"! pgrep -f {how} -s 0 >/dev/null; cp /dev/null checked")
    result = run(project, "-m", "1")
    assert result.code == 0, result
    assert not project.processes()
    swept = project.last("processes_swept")
    assert swept["after"] == "agent" and len(swept["ended"]) == 1 and how in swept["ended"][0] and not swept["survivors"]
    assert "left behind" in result.out and how in result.out
    kinds = [r["type"] for r in project.journal()]
    assert kinds.index("processes_swept") < kinds.index("guardrail_started"), "gone before the guardrails run"


def test_a_daemon_without_environment_is_found_as_well(project):
    project.agent_script(f"{helper('double_fork', project.marker)}; {DONE}")
    result = run(project, "-m", "1")
    assert result.code == 0 and len(project.last("processes_swept")["ended"]) == 1, result
    assert not project.processes()


def test_a_stubborn_daemon_that_ignores_sigterm_is_killed(project):
    project.agent_script(f"{helper('stubborn_grandchild')}; {DONE}")
    result = run(project, "-m", "1")
    assert result.code == 0 and result.seconds < 8, result
    assert not project.processes() and not project.last("processes_swept")["survivors"]


def test_processes_that_fork_faster_than_anyone_can_look_are_all_ended(project):
    project.agent_script(f"{helper('fork_storm')}; {DONE}")
    result = run(project, "-m", "1", timeout=40)
    assert result.code == 0 and result.seconds < 12, result
    assert not project.processes()


def test_a_grandchild_that_holds_the_pipe_does_not_hold_the_run(project):
    project.agent_script(f"sleep 100 & {DONE}")
    result = run(project, "-m", "1")
    assert result.code == 0 and result.seconds < 5, result
    assert not project.processes()


def test_a_grandchild_that_ends_by_itself_within_a_moment_is_no_leftover(project):
    project.agent_script(f"true & {DONE}")
    result = run(project, "-m", "1")
    assert result.code == 0 and not project.records("processes_swept"), result


def test_what_a_grandchild_says_after_the_agent_has_ended_does_not_lose_the_answer(project):
    project.agent_script(f"(while :; do echo noise; done) & {DONE}")
    result = run(project, "-m", "1", "--no-stream-agent-output")
    assert result.code == 0 and not project.processes(), result


def test_closing_its_streams_early_is_not_the_end_of_the_agent(project):
    project.agent_script("exec " + helper("close_stdout", project.path / "lived on"))
    project.guardrails("test -e 'lived on'")
    result = run(project, "-m", "1")
    assert result.code == 0, result
    assert project.last("agent_ended")["durationMs"] >= 350


def test_an_agent_that_kills_its_own_process_group_hurts_only_itself(project):
    project.agent_script("echo hi; kill -9 0", retry={"attempts": 0})
    result = run(project, "-m", "1")
    assert result.code == 1 and project.last("agent_ended")["signal"] == 9, result


def test_an_agent_with_hundreds_of_leftovers_leaves_none(project):
    project.agent_script(f"i=0; while [ $i -lt 200 ]; do sleep 100 & i=$((i+1)); done; {DONE}")
    result = run(project, "-m", "1")
    assert result.code == 0 and len(project.last("processes_swept")["ended"]) == 200, result
    assert not project.processes()


# ---- words that are not its own answer

PROMPT = "Fix the bug.\nWhen all is done, answer <response>DONE</response> and nothing else."


def test_an_agent_that_echoes_its_prompt_is_never_complete(project):
    project.agent_script('printf "%s\\n" "$1"; echo working on it')
    result = project.run("run", "-p", PROMPT, "-m", "2")
    assert result.code == 1, result
    assert all("response" not in e for e in project.records("agent_ended"))


@pytest.mark.parametrize("how", [
    'printf "User: %s\\n\\nI will start now.\\n" "$1"',                  # behind a label
    'printf "%s\\n" "$1" | sed "s/^/> /"',                               # as a quotation
    'printf "%s" "$1"; echo; printf "%s" "$1"',                          # twice
    'printf "%s\\n" "$1" | fold -s -w 20',                               # wrapped as by a terminal
    'printf "prompt: \\"%s\\"\\n" "$(printf %s "$1" | tr "\\n" " ")"',   # on one line
], ids=["labelled", "quoted", "twice", "wrapped", "one line"])
def test_an_echo_in_disguise_is_never_complete(project, how):
    project.agent_script(how)
    result = project.run("run", "-p", PROMPT, "-m", "1")
    assert result.code == 1, result


def test_an_echo_followed_by_the_real_answer_is_complete(project):
    project.agent_script('printf "%s\\n" "$1"; echo "All tests pass now."; echo "<response>DONE</response>"')
    assert project.run("run", "-p", PROMPT, "-m", "1").code == 0


def test_an_echo_of_feedback_that_holds_a_tag_is_never_complete(project):
    project.agent_script('printf "%s\\n" "$1"')
    project.guardrails("test -e fixed || { touch fixed; echo '<response>DONE</response>'; exit 1; }")
    result = project.run("run", "-p", "do it", "-m", "2")
    assert result.code == 1, result


def test_a_tag_on_standard_error_alone_is_never_complete(project):
    project.agent_script("echo working; echo '<response>DONE</response>' >&2")
    result = run(project, "-m", "1")
    assert result.code == 1 and "response" not in project.last("agent_ended"), result


def test_a_tag_put_together_from_both_streams_is_never_complete(project):
    project.agent_script("printf '<response>DO'; printf 'NE</response>' >&2")
    assert run(project, "-m", "1").code == 1


def test_a_tag_in_two_writes_is_complete(project):
    project.agent_script("printf '<resp'; sleep 0.1; printf 'onse>DO'; sleep 0.1; printf 'NE</respo'; sleep 0.1; echo 'nse>'")
    assert run(project, "-m", "1").code == 0


def test_a_tag_byte_by_byte_is_complete(project):
    project.python_agent("import os, time\nfor c in b'<response>DONE</response>':\n  os.write(1, bytes([c])); time.sleep(0.002)")
    assert run(project, "-m", "1").code == 0


def test_the_first_tag_wins(project):
    project.agent_script("echo '<response>NOT YET</response>'; echo '<response>DONE</response>'")
    assert run(project, "-m", "1").code == 1


def test_a_guardrail_that_prints_the_tag_completes_nothing(project):
    project.agent_script("echo working")
    project.guardrails("echo '<response>DONE</response>'")
    assert run(project, "-m", "1").code == 1


def test_an_answer_in_the_last_iteration_is_complete_and_no_limit(project):
    project.agent_script(f"[ $RALPH_ITERATION = 2 ] && {DONE} || echo no")
    assert run(project, "-m", "2").code == 0


# ---- prompts

def test_a_prompt_that_the_agent_rewrites_is_read_again(project):
    prompt = project.path / "PROMPT.md"
    prompt.write_text("first")
    project.agent_script('echo "$1" >> seen; printf second > PROMPT.md; echo ok')
    assert project.run("run", "-f", "PROMPT.md", "-m", "2").code == 1
    assert read_lines(project.path / "seen") == ["first", "second"]


@pytest.mark.parametrize("harm, words", [
    ("rm PROMPT.md", "No such file"),
    (": > PROMPT.md", "empty"),
    (r"printf '\377' > PROMPT.md", "UTF-8"),
    ("rm PROMPT.md; mkdir PROMPT.md", "directory"),
], ids=["deleted", "emptied", "not UTF-8", "a folder"])
def test_a_prompt_file_that_the_agent_ruins_ends_the_run_with_a_clear_error(project, harm, words):
    (project.path / "PROMPT.md").write_text("go")
    project.agent_script(f"{harm}; echo ok")
    result = project.run("run", "-f", "PROMPT.md", "-m", "3")
    assert result.code == 2 and "PROMPT.md" in result.err and words.lower() in result.err.lower(), result
    assert len(project.records("agent_ended")) == 1 and project.last("run_ended")["status"] == "fatal"


def test_a_prompt_file_that_the_agent_turns_into_a_pipe_does_not_hang_the_run(project):
    (project.path / "PROMPT.md").write_text("go")
    project.agent_script("rm PROMPT.md; mkfifo PROMPT.md; echo ok")
    result = project.run("run", "-f", "PROMPT.md", "-m", "3", timeout=10)
    assert result.code == 2 and "PROMPT.md" in result.err, result


def test_a_prompt_file_that_never_ends_is_refused(project):
    project.agent_script(DONE)
    result = project.run("run", "-f", "/dev/zero", timeout=10)
    assert result.code == 2 and "/dev/zero" in result.err, result


def test_a_prompt_of_two_megabytes_by_file_arrives_whole_on_standard_input(project):
    text = "é" * 2**20
    (project.path / "PROMPT.md").write_text(text)
    project.agent_script("cat > got; echo $# > count; " + DONE)
    result = project.run("run", "-f", "PROMPT.md", "-m", "1")
    assert result.code == 0, result
    assert (project.path / "got").read_text() == text and read_lines(project.path / "count") == ["0"]
    assert project.last("agent_started")["promptBytes"] == 2**21
    assert (project.run_folder() / "prompt_1.txt").read_text() == text
    assert (project.run_folder() / "journal.jsonl").stat().st_size < 20_000


@pytest.mark.parametrize("size, way", [(131071, "argument"), (131072, "stdin")])
def test_the_kernels_limit_for_one_argument_decides_how_the_prompt_travels(project, size, way):
    (project.path / "PROMPT.md").write_text("a" * size)
    project.agent_script('if [ $# = 1 ]; then printf argument > way; printf %s "$1" | wc -c > size; '
                         'else printf stdin > way; wc -c > size; fi; ' + DONE)
    result = project.run("run", "-f", "PROMPT.md", "-m", "1")
    assert result.code == 0, result
    assert (project.path / "way").read_text() == way and int((project.path / "size").read_text()) == size


def test_a_prompt_that_fits_alone_but_not_with_the_environment_still_arrives(project):
    # A small stack makes the kernel's limit for all arguments together small: a quarter of it, at least 128 KB.
    (project.path / "PROMPT.md").write_text("a" * 120_000)
    project.agent_script('if [ $# = 1 ]; then printf %s "$1" | wc -c > size; else wc -c > size; fi; ' + DONE)
    import resource
    result = project.run("run", "-f", "PROMPT.md", "-m", "1", env={"FILLER": "x" * 100_000},
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (512 * 1024, 512 * 1024)))
    assert result.code == 0, result
    assert int((project.path / "size").read_text()) == 120_000


def test_feedback_that_makes_the_prompt_too_large_for_an_argument_goes_by_standard_input(project):
    project.settings(outputTruncateChars=200_000)
    project.agent_script(f'[ $# = 1 ] && echo argument >> ways || {{ echo stdin >> ways; cat > got; {DONE}; }}; echo .')
    project.guardrails("test -e once || { touch once; head -c 150000 /dev/zero | tr '\\0' z; exit 1; }")
    result = run(project, "-m", "2")
    assert result.code == 0, result
    assert read_lines(project.path / "ways") == ["argument", "stdin"]
    assert (project.path / "got").read_text().startswith("do it\n\nGuardrail ")


def test_a_prompt_that_looks_like_an_option_reaches_the_agent_behind_a_blank(project):
    project.agent_script('printf %s "$1" > got; ' + DONE)
    assert project.run("run", "-p=--help $(touch pwned) `touch pwned`; \"' \\", "-m", "1").code == 0
    assert (project.path / "got").read_text() == " --help $(touch pwned) `touch pwned`; \"' \\"
    assert not (project.path / "pwned").exists()


# ---- it attacks ralph's own files

@pytest.mark.parametrize("harm", [
    "rm -rf .ralph", "rm -rf .ralph/runs", 'rm -rf ".ralph/runs/$RALPH_RUN_ID"', "mv .ralph elsewhere",
    "chmod 000 .ralph; chmod 755 .ralph/..", "rm -rf .ralph; echo > .ralph",
], ids=["all", "runs", "run folder", "moved", "closed", "a file"])
def test_an_agent_that_removes_ralphs_folder_gets_a_clear_error_or_a_true_end(project, harm):
    project.agent_script(f"{harm}; echo working")
    project.guardrails("false")
    result = run(project, "-m", "3")
    assert result.code in (1, 2), result
    if result.code == 2:
        assert ".ralph" in result.err and "cannot" in result.err, result
    assert "Complete" not in result.out
    project.nothing_left()


def test_a_journal_that_the_agent_deletes_never_makes_a_complete_run(project):
    project.agent_script('rm ".ralph/runs/$RALPH_RUN_ID/journal.jsonl"; echo working')
    result = run(project, "-m", "2")
    assert result.code in (1, 2), result


def test_a_journal_that_the_agent_forges_never_makes_a_complete_run(project):
    forged = '{"v":1,"seq":99,"time":"2026-01-01T00:00:00.000Z","type":"agent_ended","outcome":"ok","purpose":"work","response":"DONE"}'
    project.agent_script(f"echo '{forged}' >> \".ralph/runs/$RALPH_RUN_ID/journal.jsonl\"; echo working")
    project.guardrails("false")
    result = run(project, "-m", "2")
    assert result.code == 2 and "start a new run" in result.err and "to go on" not in result.err, result


def test_settings_that_the_agent_rewrites_do_not_change_the_running_run(project):
    project.guardrails("exit 4")
    project.agent_script("echo '{\"agent\":{\"command\":\"true\"}}' > .ralph/settings.json; " + DONE)
    result = run(project, "-m", "2")
    assert result.code == 1, result
    assert [g["exitCode"] for g in project.records("guardrail_ended")] == [4, 4]


@pytest.mark.parametrize("target", ["guardrail_{n}_false.log", "runs/$RALPH_RUN_ID/agent_{n}.out",
                                    "runs/$RALPH_RUN_ID/agent_{n}.err", "runs/$RALPH_RUN_ID/prompt_{n}.txt"])
def test_a_symlink_in_the_place_of_a_log_is_never_written_through(project, target):
    outside = project.base / "precious"
    outside.write_text("precious")
    link = f'.ralph/{target.format(n=2)}'
    project.agent_script(f'[ $RALPH_ITERATION = 1 ] && ln -s "{outside}" "{link}"; echo working; echo err >&2')
    project.guardrails("false")
    result = run(project, "-m", "2")
    assert outside.read_text() == "precious"
    assert result.code in (1, 2), result


def test_a_ralph_folder_that_becomes_a_symlink_is_never_written_through(project):
    outside = project.base / "outside"
    outside.mkdir()
    (outside / "guardrail_1_false.log").write_text("precious")
    project.agent_script(f'mv .ralph hidden; ln -s "{outside}" .ralph; echo working')
    project.guardrails("false")
    result = run(project, "-m", "2")
    assert [p.name for p in outside.iterdir()] == ["guardrail_1_false.log"], result
    assert (outside / "guardrail_1_false.log").read_text() == "precious", result
    assert result.code in (1, 2), result


def test_a_pipe_in_the_place_of_a_log_does_not_hang_the_run(project):
    project.agent_script("[ -e .ralph/guardrail_1_false.log ] || mkfifo .ralph/guardrail_1_false.log; echo working")
    project.guardrails("false")
    result = run(project, "-m", "1", timeout=15)
    assert result.code in (1, 2), result


def test_a_folder_in_the_place_of_a_logs_link_does_not_hide_the_log_from_the_agent(project):
    project.agent_script("mkdir -p .ralph/guardrail_1_false.log; echo working")
    project.guardrails("false")
    result = run(project, "-m", "1")
    ended = project.last("guardrail_ended")
    assert result.code == 1 and f"Output file: {ended['logFile']}\n" in ended["feedback"], result
    assert (project.path / ended["logFile"]).is_file() and list((project.ralph / "guardrail_1_false.log").iterdir()) == []


def test_an_agent_that_removes_its_working_folder_gets_a_clear_error(project):
    project.agent_script('rm -rf "$PWD"; echo working')
    project.guardrails("true")
    result = run(project, "-m", "2")
    assert result.code == 2 and "cannot" in result.err, result


# ---- the console is slow

def test_an_answer_is_not_lost_when_the_console_is_read_slowly(project):
    # 900 KB stand in the agent's pipe when it ends; the reader of the console takes its time between two bites.
    project.python_agent("import sys\nsys.stdout.write('x' * 99 + '\\n')\nsys.stdout.write(('y' * 99 + '\\n') * 9000)\n"
                         "sys.stdout.write('<response>DONE</response>\\n')")
    reader, writer = os.pipe()
    running = project.start("run", "-p", "do it", "-m", "1", stdout=writer)
    os.close(writer)
    wait_until(lambda: (project.ralph / "runs").exists(), what="the run")
    while os.read(reader, 1 << 20):
        time.sleep(0.1)
    os.close(reader)
    result = running.wait()
    assert result.code == 0, result
    assert (project.run_folder() / "agent_1.out").stat().st_size == 100 * 9001 + 26


def test_a_prompt_that_is_used_again_is_one_file_unless_an_agent_wrote_to_it(project):
    project.agent_script('''if [ $RALPH_ITERATION = 3 ]; then echo forged | tee .ralph/runs/*/prompt_3.txt > /dev/null; fi
echo "<response>no</response>"''')
    assert project.run("run", "-p", "do it", "-m", "4").code == 1
    first, second, third, fourth = (project.run_folder() / f"prompt_{number}.txt" for number in range(1, 5))
    assert first.samefile(second) and first.samefile(third)
    assert not first.samefile(fourth) and fourth.read_text() == "do it", "what the agent got is what the file says"
