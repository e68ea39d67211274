"""Checks that run tests: zero is a failure, fewer keep a run from being complete, and a flaky check is reported."""
import pytest

DONE = "echo '<response>DONE</response>'"


def count(passed=0, failed=0, skipped=0):
    """A check's output that says so, in the words of pytest."""
    parts = [f"{n} {what}" for n, what in ((failed, "failed"), (passed, "passed"), (skipped, "skipped")) if n]
    return f"echo '=== {', '.join(parts) or 'no tests ran'} in 0.12s ==='"


def by_iteration(project, *outputs, last="exit 0", name="check"):
    """A check that prints the first text in iteration 1, and so on; the last one from then on."""
    cases = "".join(f"{i}) {text};; " for i, text in enumerate(outputs[:-1], 1))
    return str(project.script(f"case $RALPH_ITERATION in {cases}*) {outputs[-1]};; esac; {last}", name)).replace(" ", "\\ ")


def test_the_counts_are_in_the_journal_and_shown(project):
    project.agent_script(DONE)
    project.guardrails(count(12, skipped=2))
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    ended = project.last("guardrail_ended")
    assert (ended["testsPassed"], ended["testsFailed"], ended["testsSkipped"]) == (12, 0, 2)
    assert "12 tests, 2 skipped" in result.out
    assert "12 tests, 2 skipped" in project.run("runs", "show").out


def test_what_does_not_say_its_counts_is_unknown_and_passes(project):
    project.agent_script(DONE)
    project.guardrails("echo all fine")
    assert project.run("run", "-p", "x").code == 0
    assert "testsPassed" not in project.last("guardrail_ended")


@pytest.mark.parametrize("output", [count(0), count(skipped=3), "echo 'No tests were found!!!'", "printf '1..0\\n'"])
def test_zero_tests_are_a_failure(project, output):
    project.agent_script(DONE)
    project.guardrails(output)
    result = project.run("run", "-p", "x", "-m", "2")
    assert result.code == 1, result
    ended = project.last("guardrail_ended")
    assert (ended["outcome"], ended["exitCode"]) == ("failed", 0)
    assert "ran no tests" in ended["feedback"]
    prompt = sorted(project.run_folder().glob("*prompt*"))[-1].read_text()
    assert "ran no tests" in prompt


def test_fewer_tests_than_in_the_first_passing_run_keep_it_from_being_complete(project):
    project.agent_script('echo "$1" > "prompt.$RALPH_ITERATION"; [ $RALPH_ITERATION = 1 ] || ' + DONE)
    project.guardrails(by_iteration(project, count(10), count(8), count(9, failed=1), count(10)))
    result = project.run("run", "-p", "x", "-m", "9")
    assert result.code == 0, result
    assert len(project.records("iteration_started")) == 3  # a failed test has run, too
    assert "ran 8 tests; at the start of the run there were 10" in (project.path / "prompt.3").read_text()
    assert [r["rule"] for r in project.records("decided") if r["moment"] == "after_checks"] == ["not_answered", "tests_lost", "complete"]
    assert "ran 8 tests" in result.out


def test_newly_skipped_tests_do_too_and_the_limit_names_them(project):
    project.agent_script("[ $RALPH_ITERATION = 1 ] || " + DONE)
    project.guardrails(by_iteration(project, count(10), count(10, skipped=1)))
    result = project.run("run", "-p", "x", "-m", "3")
    assert result.code == 1, result
    assert "skipped 1 test; at the start of the run it skipped none" in project.last("run_ended")["reason"]


def test_counts_that_are_no_longer_said_are_missing_too(project):
    project.agent_script("[ $RALPH_ITERATION = 1 ] || " + DONE)
    project.guardrails(by_iteration(project, count(10), "true"))
    result = project.run("run", "-p", "x", "-m", "3")
    assert result.code == 1, result
    assert "no longer says how many tests" in project.last("run_ended")["reason"]


@pytest.mark.parametrize("later", [count(8), count(10, skipped=4), "true"])
def test_fewer_tests_can_be_allowed(project, later):
    project.agent_script("[ $RALPH_ITERATION = 1 ] || " + DONE)
    project.guardrails(by_iteration(project, count(10), later), allowFewerTests=True)
    assert project.run("run", "-p", "x", "-m", "3").code == 0


def test_zero_is_a_failure_even_if_fewer_are_allowed(project):
    project.agent_script(DONE)
    project.guardrails(count(0), allowFewerTests=True)
    assert project.run("run", "-p", "x", "-m", "1").code == 1


def test_a_baseline_is_taken_before_the_first_agent(project):
    project.agent_script("touch worked; " + DONE)
    project.guardrails(f"if [ -e worked ]; then {count(9)}; else {count(9, failed=1)}; exit 1; fi", baseline=True)
    result = project.run("run", "-p", "x", "-m", "1")
    assert result.code == 1, result
    assert "ran 9 tests; at the start of the run there were 10" in project.last("run_ended")["reason"]
    first = project.records("guardrail_ended")[0]
    assert first["baseline"] and first["iteration"] == 0 and first["feedback"] == ""
    kinds = [r["type"] for r in project.journal()]
    assert kinds.index("guardrail_ended") < kinds.index("iteration_started")
    assert "before the first agent" in result.out


def test_a_baseline_without_loss_changes_nothing(project):
    project.agent_script(DONE)
    project.guardrails(count(10), baseline=True)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert "the guardrail passed" in project.last("run_ended")["reason"]


def test_the_start_is_remembered_by_a_resumed_run(project):
    project.agent_script("[ $RALPH_ITERATION = 1 ] || " + DONE)
    project.guardrails(by_iteration(project, count(10), count(8)))
    assert project.run("run", "-p", "x", "-m", "1").code == 1
    result = project.run("runs", "resume", "--max-iterations", "2")
    assert result.code == 1, result
    assert "ran 8 tests; at the start of the run there were 10" in project.last("run_ended")["reason"]


def test_a_flaky_check_counts_as_passed_and_is_reported(project):
    project.git_init()
    project.agent_script(DONE)
    project.guardrails("echo try; [ -e ../again ] || { touch ../again; exit 1; }", flakeRetries=2)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    ended = project.last("guardrail_ended")
    assert (ended["outcome"], ended["tries"]) == ("passed", 2)
    assert "flaky" in result.out
    log = (project.path / ended["logFile"]).read_text()
    assert log.count("try\n") == 2 and "try 2 of 3" in log


def test_a_check_that_fails_each_time_fails(project):
    project.agent_script(DONE)
    project.guardrails("echo try; exit 1", flakeRetries=2)
    assert project.run("run", "-p", "x", "-m", "1").code == 1
    ended = project.last("guardrail_ended")
    assert (ended["outcome"], ended["tries"], ended["exitCode"]) == ("failed", 3, 1)


def test_a_check_that_mends_the_files_itself_is_not_flaky(project):
    project.git_init()
    (project.path / "code").write_text("bad\n")
    project.git("add", "code")
    project.git("commit", "-qm", "code")
    project.agent_script(DONE)
    project.guardrails("grep -q good code || { echo good > code; exit 1; }", flakeRetries=1)
    result = project.run("run", "-p", "x", "-m", "1")
    assert result.code == 1, result
    assert "changed files itself" in project.last("guardrail_ended")["feedback"]


def test_without_retries_one_failure_is_enough(project):
    project.agent_script(DONE)
    project.guardrails("[ -e ../again ] || { touch ../again; exit 1; }")
    assert project.run("run", "-p", "x", "-m", "1").code == 1


def test_a_log_has_the_hash_that_the_journal_says(project):
    import hashlib
    project.agent_script(DONE)
    project.guardrails("seq 1 100000")
    assert project.run("run", "-p", "x").code == 0
    ended = project.last("guardrail_ended")
    assert hashlib.sha256((project.path / ended["logFile"]).read_bytes()).hexdigest() == ended["logSha256"]
