"""Sessions of the real CLIs that go on while the project's tools find errors: what the model is told after its edit and at its stop."""
from test_session_loops import install, ralph, session, the_loop, told, with_hooks

PATTERN = r"^(?<file>[^:]+):(?<line>\d+): (?<severity>\w+): (?<message>.*)$"
BAD, GOOD = "greet() { echo hello\n", "greet() { echo hello; }\n"


def tools(agent):
    """A project with a checker: a line that opens a brace and does not close it is an error."""
    check = "for f in *.txt; do test -f \"$f\" || continue; grep -q '}' \"$f\" || echo \"$f:1: error: the brace is not closed\"; done"
    agent.settings({"diagnostics": {"collectors": [{"name": "braces", "command": check, "format": "pattern", "pattern": PATTERN}]}})
    install(agent)


@with_hooks
def test_errors_that_an_edit_brings_are_fed_back_until_they_are_mended(agent):
    tools(agent)
    ralph(agent, "trust")
    agent.play(agent.write(agent.path / "a.txt", BAD), agent.says("Done."), agent.shell(f"printf '%s' '{GOOD}' > a.txt"), agent.says("Mended."))
    session(agent, "write a.txt")
    assert "a.txt:1: error: the brace is not closed" in told(agent, 1), "right after the edit"
    assert "Ralph Loop: AUTO-CONTINUE" in told(agent, 2) and "1 error(s) remaining" in told(agent, 2), "at the stop"
    assert len(agent.requests()) == 4 and "}" in (agent.path / "a.txt").read_text()


@with_hooks
def test_in_a_project_that_is_not_accepted_nothing_is_said_or_run(agent):
    tools(agent)
    agent.play(agent.write(agent.path / "a.txt", BAD), agent.says("Done."))
    session(agent, "write a.txt")
    assert len(agent.requests()) == 2 and "brace is not closed" not in told(agent, 1)


@with_hooks
def test_a_loop_with_a_criterion_is_complete_when_the_tools_find_nothing(agent):
    tools(agent)
    ralph(agent, "loop", "start", "write a.txt", "--no-promise", "--zero-errors")
    agent.play(agent.shell(f"printf '%s' '{BAD}' > a.txt"), agent.says("Done."), agent.shell(f"printf '%s' '{GOOD}' > a.txt"), agent.says("Mended."))
    session(agent, "go on")
    loop = the_loop(agent)
    assert loop["status"] == "COMPLETE" and loop["trend"].startswith("1 → 0 errors"), loop
    assert "Ralph Loop: CONTINUE | Iteration: 1/" in told(agent, 2)
