"""Guardrails that hang, flood, vanish, or leave things behind."""
import os

from support import FLAT_KB, helper, read_lines

DONE = "echo '<response>DONE</response>'"
KEEP_PROMPT = 'printf "%s" "$1" > "prompt.$RALPH_ITERATION"; ' + DONE


def run(project, *arguments, **how):
    return project.run("run", "-p", "do it", *arguments, **how)


def prompt(project, iteration):
    return (project.path / f"prompt.{iteration}").read_text()


def test_a_guardrail_that_hangs_is_ended_by_its_time_and_the_agent_is_told(project):
    project.agent_script(KEEP_PROMPT)
    project.guardrails({"command": "echo before; sleep 100", "timeoutSeconds": 0.3, "hint": "make it quick"})
    result = run(project, "-m", "2")
    assert result.code == 1 and result.seconds < 8, result
    assert [g["outcome"] for g in project.records("guardrail_ended")] == ["timed_out"] * 2
    assert "timed out" in result.out
    assert "timed out" in prompt(project, 2) and "before" in prompt(project, 2) and "Hint: make it quick" in prompt(project, 2)
    project.nothing_left()


def test_a_guardrail_that_hangs_and_ignores_sigterm_is_killed(project):
    project.agent_script(DONE)
    project.guardrails({"command": "exec " + helper("ignore_sigterm"), "timeoutSeconds": 0.2})
    result = run(project, "-m", "1")
    assert result.code == 1 and 5 < result.seconds < 9, result
    project.nothing_left()


def test_a_guardrail_that_floods_has_a_whole_log_flat_memory_and_a_truncated_excerpt(project):
    project.agent_script(KEEP_PROMPT)
    project.guardrails(helper("flood_no_newline", 100) + "; exit 1")
    result = run(project, "-m", "2")
    assert result.code == 1 and 0 < result.peak_kb < FLAT_KB, (result, result.peak_kb)
    ended = project.records("guardrail_ended")
    assert (project.path / ended[0]["logFile"]).stat().st_size == 100 * 2**20 == ended[0]["outputBytes"]
    told = prompt(project, 2)
    assert told.endswith("Output (truncated):\n" + "x" * 5000 + "... [truncated]")


def test_an_excerpt_of_exactly_the_limit_is_not_called_truncated(project):
    project.settings(outputTruncateChars=10)
    project.agent_script(KEEP_PROMPT)
    project.guardrails("printf 0123456789; exit 1", "printf 0123456789a; exit 1")
    run(project, "-m", "2")
    first, second = prompt(project, 2).split('Guardrail "printf')[1:]
    assert first.rstrip().endswith("0123456789") and second.endswith("0123456789... [truncated]")


def test_an_excerpt_never_cuts_a_character(project):
    project.settings(outputTruncateChars=3)
    project.agent_script(KEEP_PROMPT)
    project.guardrails("printf 'äöüß€'; exit 1")
    run(project, "-m", "2")
    assert prompt(project, 2).endswith("äöü... [truncated]")


def test_a_guardrail_that_is_not_found_fails_with_127_and_the_run_goes_on(project):
    project.agent_script(KEEP_PROMPT)
    project.guardrails("no-such-command-anywhere --flag")
    result = run(project, "-m", "2")
    assert result.code == 1, result
    assert [g["exitCode"] for g in project.records("guardrail_ended")] == [127, 127]
    assert "not found" in result.out
    assert 'Guardrail "no-such-command-anywhere --flag" failed with exit code 127.' in prompt(project, 2)


def test_a_guardrail_killed_by_a_signal_has_failed(project):
    project.agent_script(DONE)
    project.guardrails("kill -9 $$", "kill -SEGV $$")
    result = run(project, "-m", "1")
    assert result.code == 1, result
    assert [g["exitCode"] for g in project.records("guardrail_ended")] == [137, 139]
    assert all(g["outcome"] == "failed" for g in project.records("guardrail_ended"))


def test_what_a_guardrail_leaves_behind_is_ended_and_reported_and_does_not_fail_it(project):
    project.agent_script(DONE)
    project.guardrails(f"{helper('setsid_grandchild')}; {helper('double_fork')}; sleep 100 & true")
    result = run(project, "-m", "1")
    assert result.code == 0, result
    assert not project.processes()
    swept = project.last("processes_swept")
    assert swept["after"] == "guardrail" and len(swept["ended"]) == 3 and not swept["survivors"]
    assert "left behind" in result.out


def test_invalid_utf8_and_nul_from_a_guardrail_reach_the_agent_as_valid_text(project):
    project.agent_script("#!/usr/bin/python3 -S\nimport os,sys\nopen('prompt.'+os.environ['RALPH_ITERATION'],'wb')"
                         ".write(os.fsencode(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin.buffer.read())\nprint('hi')\n")
    project.guardrails(r"printf 'caf\351 \377\000 end\n'; exit 1")
    result = run(project, "-m", "2")
    assert result.code == 1, result
    told = (project.path / "prompt.2").read_bytes()
    told.decode("utf-8")
    assert b"caf" in told and b"end" in told
    log = project.path / project.last("guardrail_ended")["logFile"]
    assert log.read_bytes() == b"caf\xe9 \xff\0 end\n"


def test_commands_with_the_same_slug_get_logs_of_their_own(project):
    project.agent_script(DONE)
    project.guardrails("echo a", "echo  a", "echo 'a'")
    assert run(project, "-m", "1").code == 0
    logs = [g["logFile"] for g in project.records("guardrail_ended")]
    folder = f".ralph/runs/{project.run_folder().name}"
    assert logs == [f"{folder}/guardrail_1_echo_a.log", f"{folder}/guardrail_1_echo_a_1.log", f"{folder}/guardrail_1_echo_a_2.log"]
    assert all((project.path / log).read_text() == "a\n" for log in logs)


def test_a_slug_that_looks_like_a_numbered_one_is_not_overwritten(project):
    project.agent_script(DONE)
    project.guardrails("echo a", "echo a 1", "echo a;")
    assert run(project, "-m", "1").code == 0
    logs = [g["logFile"] for g in project.records("guardrail_ended")]
    assert len(set(logs)) == 3 and (project.path / logs[1]).read_text() == "a 1\n"


def test_a_command_of_nothing_but_strange_letters_has_a_log(project):
    project.agent_script(DONE)
    project.guardrails(": 'ж' # ../../../../etc/passwd", "echo " + "é" * 300)
    result = run(project, "-m", "1")
    assert result.code == 0, result
    for ended in project.records("guardrail_ended"):
        assert (project.path / ended["logFile"]).resolve().parent == project.run_folder().resolve()


def test_every_run_keeps_its_logs_and_the_known_path_leads_to_the_newest(project):
    project.agent_script(KEEP_PROMPT)
    project.guardrails("cat words; false")
    for words in ("a long line of the first run", "short"):
        (project.path / "words").write_text(words)
        assert run(project, "-m", "2").code == 1
    first, second = project.run_folders()
    for folder, words in ((first, "a long line of the first run"), (second, "short")):
        for ended in project.records("guardrail_ended", folder):
            assert (project.path / ended["logFile"]).parent == folder and (project.path / ended["logFile"]).read_text() == words
    known = project.ralph / "guardrail_1_cat_words_false.log"
    assert known.samefile(second / known.name) and known.read_text() == "short"
    assert "Output file: .ralph/guardrail_1_cat_words_false.log\n" in (project.path / "prompt.2").read_text()
    assert "guardrail_1_cat_words_false.log" in project.run("runs", "show", first.name).out
    assert not list(project.ralph.glob("*.new"))


def test_all_guardrails_run_and_are_reported_even_when_the_first_fails(project):
    project.agent_script(KEEP_PROMPT)
    project.guardrails("echo one; exit 1", "echo two", {"command": "echo three; exit 3", "failAction": "PREPEND"})
    result = run(project, "-m", "2")
    assert result.code == 1, result
    assert len(project.records("guardrail_ended")) == 6
    told = prompt(project, 2)
    assert told.index("three") < told.index("do it") < told.index("one") and '"echo two"' not in told


def test_a_guardrail_that_wants_input_gets_none_instead_of_waiting(project):
    project.agent_script(DONE)
    project.guardrails("cat; read line && exit 1; exit 0")
    assert run(project, "-m", "1", stdin="the terminal's").code == 0


def test_a_guardrail_that_passes_only_in_the_next_iteration_completes_there(project):
    project.agent_script("echo x >> n; " + DONE)
    project.guardrails("test $(wc -l < n) -ge 2")
    assert run(project).code == 0
    assert len(project.records("iteration_started")) == 2


def test_a_guardrail_that_removes_ralphs_folder_never_makes_a_complete_run(project):
    project.agent_script(DONE)
    project.guardrails("rm -rf .ralph; exit 1")
    result = run(project, "-m", "2")
    assert result.code in (1, 2) and "Complete" not in result.out, result


def test_guardrails_see_the_run_and_not_the_agents_own_variables(project):
    project.agent_script(DONE, env={"ONLY_AGENT": "x"})
    project.guardrails("env > seen")
    assert run(project, "-m", "1").code == 0
    seen = dict(line.split("=", 1) for line in read_lines(project.path / "seen") if "=" in line)
    assert seen["RALPH_RUN_ID"] == project.run_folder().name and "ONLY_AGENT" not in seen


def test_a_guardrail_gets_only_the_three_standard_descriptors(project):
    project.agent_script(DONE)
    extra = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(extra, True)
    project.guardrails("ls /proc/self/fd > fds")
    try:
        assert run(project, "-m", "1", pass_fds=[extra]).code == 0
    finally:
        os.close(extra)
    assert len(read_lines(project.path / "fds")) == 4, "0, 1, 2, and the folder that ls reads"
