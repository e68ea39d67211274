"""The prompt loop: when it goes on and when it ends, and exactly what the agent is told."""
import json
import os
import re
import shlex
import stat

import pytest

from support import read_lines, wait_until
from terminal import end_of, in_terminal, screen, seen

DONE = 'echo "<response>DONE</response>"'


def recording_agent(project, text=DONE, **agent):
    """An agent that keeps the prompt of iteration N in the file prompts/N, then does `text`."""
    folder = project.base / "prompts"
    folder.mkdir(exist_ok=True)
    project.agent_script(f'printf %s "$1" > {shlex.quote(str(folder))}/$RALPH_ITERATION\n{text}', **agent)


def prompts(project):
    """What the agent was told, iteration by iteration."""
    files = sorted((project.base / "prompts").iterdir(), key=lambda p: int(p.name))
    return [p.read_bytes().decode() for p in files]


def fails_until(n, output="", code=1):
    """A guardrail that fails in the iterations before the nth: it counts its own runs."""
    return f"echo x >> count; [ $(wc -l < count) -ge {n} ] || {{ printf %s {shlex.quote(output)}; exit {code}; }}"


def message(command, output, *, code=1, hint=None, iteration=1, slug=None):
    """The failure message of the seed, character for character."""
    slug = slug or re.sub(r"[^A-Za-z0-9]+", "_", command).strip("_")[:50].rstrip("_")
    lines = [f'Guardrail "{command}" failed with exit code {code}.']
    if hint is not None:
        lines.append(f"Hint: {hint}")
    return "\n".join([*lines, f"Output file: .ralph/guardrail_{iteration}_{slug}.log", "Output (truncated):", output])


# Completion


def test_it_completes_on_the_response_when_there_are_no_guardrails(project):
    project.agent_script(DONE)
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert project.last("run_ended")["status"] == "complete"
    assert project.last("run_ended")["iterations"] == 1
    assert "Complete" in result.out and ".ralph/runs/" in result.out


@pytest.mark.parametrize("said, wanted", [("done", "DONE"), ("DONE", "done"), ("Done", "dOnE"), ("  DONE  ", "DONE"),
                                          ("all is well", "All is well")])
def test_the_response_is_compared_without_case(project, said, wanted):
    project.agent_script(f'echo "<response>{said}</response>"')
    assert project.run("run", "-p", "x", "-c", wanted, "-m", "1").code == 0


@pytest.mark.parametrize("tag", ["<RESPONSE>DONE</RESPONSE>", "<Response>DONE</response>", "words <response>DONE</response> words",
                                 "<response>DONE</response><response>NO</response>"])
def test_the_tag_may_be_in_any_case_and_anywhere(project, tag):
    project.agent_script(f"echo '{tag}'")
    assert project.run("run", "-p", "x", "-m", "1").code == 0


@pytest.mark.parametrize("said", ["DONE", "<response>NOT DONE</response>", "<response>DONE!</response>", "<response>DONE",
                                  "<response></response>", "<response>DON</response>", "<response>CONTINUE</response> <response>DONE</response>",
                                  "<respons>DONE</respons>"])
def test_anything_else_is_not_complete(project, said):
    project.agent_script(f"echo '{said}'")
    result = project.run("run", "-p", "x", "-m", "1")
    assert result.code == 1, result


def test_the_first_tag_wins(project):
    project.agent_script("echo '<response>later</response>'; echo '<response>DONE</response>'")
    assert project.run("run", "-p", "x", "-m", "1").code == 1
    assert project.last("agent_ended")["response"] == "later"


def test_a_response_in_pieces_is_found(project):
    project.python_agent('import os\nfor c in "<response>DONE</response>": os.write(1, c.encode())')
    assert project.run("run", "-p", "x", "-m", "1").code == 0


def test_a_response_on_standard_error_does_not_count(project):
    project.agent_script('echo working; echo "<response>DONE</response>" >&2')
    assert project.run("run", "-p", "x", "-m", "1").code == 1


def test_a_response_that_only_repeats_the_prompt_does_not_count(project):
    project.agent_script('echo "I was told: $1"')
    assert project.run("run", "-p", "When done say <response>DONE</response>, please.", "-m", "1").code == 1


def test_it_is_not_complete_before_the_guardrails_pass(project):
    project.agent_script(DONE)
    project.guardrails(fails_until(3))
    assert project.run("run", "-p", "x").code == 0
    assert project.last("run_ended")["iterations"] == 3
    assert [r["outcome"] for r in project.records("guardrail_ended")] == ["failed", "failed", "passed"]


def test_passing_guardrails_alone_do_not_complete(project):
    project.agent_script("echo still working")
    project.guardrails("true")
    result = project.run("run", "-p", "x", "-m", "2")
    assert result.code == 1 and project.last("run_ended")["status"] == "limit"


def test_a_response_in_the_last_allowed_iteration_is_complete(project):
    project.agent_script(f'[ $RALPH_ITERATION -lt 3 ] && echo no || {DONE}')
    assert project.run("run", "-p", "x", "-m", "3").code == 0
    assert project.last("run_ended")["iterations"] == 3


def test_the_limit_ends_it_with_1_and_says_what_is_missing(project):
    project.agent_script('echo "<response>MORE</response>"')
    result = project.run("run", "-p", "x", "-m", "2")
    assert result.code == 1, result
    assert len(project.records("iteration_started")) == 2
    assert "2 iterations" in result.out and '"MORE"' in result.out and '"DONE"' in result.out


def test_the_limit_names_the_guardrails_that_still_fail(project):
    project.agent_script(DONE)
    project.guardrails({"command": "exit 3", "name": "unit tests"}, "true", "false")
    result = project.run("run", "-p", "x", "-m", "1")
    assert result.code == 1
    assert "unit tests and false still fail" in result.out.replace('"', ""), result


def test_a_crashing_agent_never_completes_whatever_it_said(project):
    project.agent_script(DONE + "; exit 3", retry={"attempts": 0, "backoffSeconds": 0})
    assert project.run("run", "-p", "x", "-m", "2").code == 1


# What the agent is told


def test_the_prompt_arrives_as_it_is(project):
    recording_agent(project)
    prompt = "It's \"quoted\" $HOME `id` $(id) \\ é ✔\n\n  second line\t%s %d\n"
    assert project.run("run", "-p", prompt).code == 0
    assert prompts(project) == [prompt]


def test_a_prompt_file_arrives_byte_for_byte_and_is_read_again_each_iteration(project):
    recording_agent(project, 'echo "changed in $RALPH_ITERATION" > PROMPT.md; echo more')
    (project.path / "PROMPT.md").write_text("  first\r\n\n")
    assert project.run("run", "-f", "PROMPT.md", "-m", "3").code == 1
    assert prompts(project) == ["  first\r\n\n", "changed in 1\n", "changed in 2\n"]


def test_a_prompt_file_that_vanishes_ends_the_run_with_its_name(project):
    recording_agent(project, "rm PROMPT.md; echo more")
    (project.path / "PROMPT.md").write_text("x")
    result = project.run("run", "-f", "PROMPT.md")
    assert result.code == 2 and "PROMPT.md" in result.err, result
    assert project.last("run_ended")["status"] == "fatal"


def test_append_puts_the_failure_after_the_prompt(project):
    recording_agent(project)
    project.guardrails({"command": fails_until(2, "it broke"), "failAction": "APPEND"})
    assert project.run("run", "-p", "base").code == 0
    command = fails_until(2, "it broke")
    assert prompts(project) == ["base", "base\n\n" + message(command, "it broke")]


def test_prepend_puts_it_before_and_replace_instead(project):
    for action, form in (("PREPEND", "{m}\n\nbase"), ("replace", "{m}")):
        (project.path / "count").unlink(missing_ok=True)
        recording_agent(project)
        command = fails_until(2, "it broke", code=7)
        project.guardrails({"command": command, "failAction": action})
        assert project.run("run", "-p", "base").code == 0
        assert prompts(project) == ["base", form.format(m=message(command, "it broke", code=7))]


def two_newlines_apart(*parts):
    return "\n\n".join([*(part.rstrip("\n") for part in parts[:-1]), parts[-1]])


def test_several_failures_stand_in_the_order_of_the_spec(project):
    recording_agent(project)
    failing = [("echo a; false", "APPEND"), ("echo p; false", "PREPEND"), ("echo b; false", "APPEND"), ("echo q; false", "PREPEND")]
    project.guardrails(*[{"command": c, "failAction": a} for c, a in failing])
    assert project.run("run", "-p", "base", "-m", "2").code == 1
    a, p, b, q = (message(c, c[5] + "\n") for c, _ in failing)
    assert prompts(project)[1] == two_newlines_apart(p, q, "base", a, b)


def test_replace_messages_take_the_place_of_the_prompt_and_the_others_keep_theirs(project):
    recording_agent(project)
    failing = [("echo a; false", "APPEND"), ("echo r; false", "REPLACE"), ("echo p; false", "PREPEND"), ("echo s; false", "REPLACE")]
    project.guardrails(*[{"command": c, "failAction": a} for c, a in failing])
    assert project.run("run", "-p", "base", "-m", "2").code == 1
    a, r, p, s = (message(c, c[5] + "\n") for c, _ in failing)
    assert prompts(project)[1] == two_newlines_apart(p, r, s, a)


def test_feedback_is_of_the_last_iteration_only(project):
    recording_agent(project, "echo more")
    project.guardrails({"command": fails_until(2, "it broke")})
    assert project.run("run", "-p", "base", "-m", "3").code == 1
    assert [p == "base" for p in prompts(project)] == [True, False, True]


def test_all_guardrails_run_even_when_an_early_one_fails(project):
    recording_agent(project)
    project.guardrails("false", "touch second; false")
    project.run("run", "-p", "base", "-m", "1")
    assert (project.path / "second").exists()
    assert len(project.records("guardrail_ended")) == 2


def test_the_hint_is_one_line_and_never_cut(project):
    recording_agent(project)
    hint = "Fix it: " + "x" * 300
    project.guardrails({"command": "printf 0123456789; false", "hint": hint})
    project.settings(outputTruncateChars=4)
    assert project.run("run", "-p", "base", "-m", "2").code == 1
    assert prompts(project)[1] == "base\n\n" + message("printf 0123456789; false", "0123... [truncated]", hint=hint)


@pytest.mark.parametrize("output, kept", [("12345", "12345"), ("123456", "12345... [truncated]"), ("ééééé", "ééééé"),
                                          ("éééééé", "ééééé... [truncated]"), ("", "")])
def test_only_output_that_is_too_long_is_cut_and_marked(project, output, kept):
    recording_agent(project)
    command = f"printf %s '{output}'; false"
    project.guardrails(command)
    project.settings(outputTruncateChars=5)
    assert project.run("run", "-p", "base", "-m", "2").code == 1
    assert prompts(project)[1] == "base\n\n" + message(command, kept)


def test_the_default_limit_is_5000_characters(project):
    recording_agent(project)
    command = "printf '%06000d' 0; false"
    project.guardrails(command)
    assert project.run("run", "-p", "base", "-m", "2").code == 1
    assert prompts(project)[1] == "base\n\n" + message(command, "0" * 5000 + "... [truncated]")


def test_output_and_errors_of_a_guardrail_are_one_stream_in_order(project):
    recording_agent(project)
    command = "echo one; echo two >&2; echo three; exit 9"
    project.guardrails(command)
    assert project.run("run", "-p", "base", "-m", "2").code == 1
    assert prompts(project)[1] == "base\n\n" + message(command, "one\ntwo\nthree\n", code=9)


def test_a_guardrail_that_is_not_found_is_a_failure_with_127(project):
    recording_agent(project)
    project.guardrails("no-such-command-here")
    result = project.run("run", "-p", "base", "-m", "2")
    assert result.code == 1
    assert 'Guardrail "no-such-command-here" failed with exit code 127.' in prompts(project)[1]
    assert "not found" in result.out


def test_a_guardrail_that_takes_too_long_is_ended_and_says_so(project):
    recording_agent(project)
    project.guardrails({"command": "echo begun; exec sleep 1000", "timeoutSeconds": 0.2})
    result = project.run("run", "-p", "base", "-m", "2")
    assert result.code == 1 and result.seconds < 10
    assert "timed out after 0.2s" in prompts(project)[1] and "begun" in prompts(project)[1]
    assert "timed out" in result.out
    project.nothing_left()


def test_the_iteration_count_stands_before_everything(project):
    recording_agent(project)
    project.settings(includeIterationCountInPrompt=True)
    command = fails_until(2, "it broke")
    project.guardrails({"command": command, "failAction": "PREPEND"})
    assert project.run("run", "-p", "base", "-m", "5").code == 0
    assert prompts(project) == ["Iteration 1 of 5, 4 remaining.\n\nbase",
                                "Iteration 2 of 5, 3 remaining.\n\n" + message(command, "it broke") + "\n\nbase"]


def test_the_prompts_that_were_sent_are_kept_in_the_run_folder(project):
    recording_agent(project, "echo more")
    assert project.run("run", "-p", "base", "-m", "2").code == 1
    for record in project.records("agent_started"):
        assert (project.run_folder() / record["promptFile"]).read_text() == "base"
        assert (project.run_folder() / record["stdoutFile"]).read_text() == "more\n"


# Logs of guardrails


def test_every_guardrail_has_a_log_named_by_iteration_and_slug(project):
    project.agent_script("echo more")
    project.guardrails("echo out; echo err >&2", "./mvnw clean install -T 2C", "true", "true", "true", "x" * 80, "!!!; true")
    assert project.run("run", "-p", "x", "-m", "2").code == 1
    names = sorted(p.name for p in project.ralph.glob("guardrail_*"))
    slugs = ["echo_out_echo_err_2", "mvnw_clean_install_T_2C", "true", "true_1", "true_2", "x" * 50]
    for iteration in (1, 2):
        for slug in slugs:
            assert f"guardrail_{iteration}_{slug}.log" in names, names
    assert len(names) == 14
    assert (project.ralph / "guardrail_1_echo_out_echo_err_2.log").read_text() == "out\nerr\n"


def test_the_log_holds_everything_and_the_last_run_only(project):
    project.agent_script(DONE)
    project.settings(outputTruncateChars=10)
    project.guardrails({"command": "cat what"})
    for text in ("a" * 100000, "short"):
        (project.path / "what").write_text(text)
        assert project.run("run", "-p", "x").code == 0
        assert (project.ralph / "guardrail_1_cat_what.log").read_text() == text


def test_guardrails_run_by_a_shell_in_the_project_folder(project):
    project.agent_script(DONE)
    project.guardrails('[ "$PWD" = "$(cd . && pwd)" ] && pwd > where && a=1 && [ $((a + 1)) = 2 ]')
    assert project.run("-C", project.path, "run", "-p", "x", cwd="/").code == 0
    assert (project.path / "where").read_text() == f"{project.path}\n"


# How the agent is started


def argv_agent(project, **agent):
    """An agent that writes its arguments, NUL between them, and what it reads on standard input."""
    base = shlex.quote(str(project.base))
    return project.agent_script(f'for a in "$@"; do printf "%s\\0" "$a"; done > {base}/argv; cat > {base}/stdin; {DONE}', **agent)


def arguments_seen(project):
    return (project.base / "argv").read_bytes().decode().split("\0")[:-1]


def test_flags_are_split_like_shell_words_and_never_expanded(project):
    argv_agent(project, flags=["--model opus", "--x='a b'", '"c  d" e', "$HOME", "`id`", "*", "--empty ''", "a\\ b"])
    assert project.run("run", "-p", "PROMPT").code == 0
    assert arguments_seen(project) == ["--model", "opus", "--x=a b", "c  d", "e", "$HOME", "`id`", "*", "--empty", "", "a b", "PROMPT"]


def test_the_agent_may_be_several_words(project):
    agent = argv_agent(project)
    project.settings(agent={"command": f"/bin/sh '{agent}' --first", "flags": ["--second"]})
    assert project.run("run", "-p", "PROMPT").code == 0
    assert arguments_seen(project) == ["--first", "--second", "PROMPT"]


def test_the_agent_may_be_a_path_with_blanks_or_relative_or_on_path(project):
    agent = argv_agent(project, name="my agent")
    assert " " in str(agent)
    assert project.run("run", "-p", "one").code == 0
    inside = project.path / "tools"
    inside.mkdir()
    (inside / "agent.sh").write_text(agent.read_text())
    (inside / "agent.sh").chmod(0o755)
    project.settings(agent={"command": "tools/agent.sh"})
    assert project.run("run", "-p", "two").code == 0
    project.settings(agent={"command": "agent.sh"})
    assert project.run("run", "-p", "three", env={"PATH": f"{inside}:/usr/bin:/bin"}).code == 0
    assert arguments_seen(project) == ["three"]
    assert len(project.run_folders()) == 3


def test_the_prompt_can_be_an_argument_standard_input_or_a_file(project):
    argv_agent(project, promptVia="argument")
    assert project.run("run", "-p", "-the prompt").code == 0
    assert arguments_seen(project) == [" -the prompt"] and (project.base / "stdin").read_text() == ""
    argv_agent(project, promptVia="stdin")
    assert project.run("run", "-p", "the prompt").code == 0
    assert arguments_seen(project) == [] and (project.base / "stdin").read_text() == "the prompt"
    project.agent_script(f'cat "$1" > {shlex.quote(str(project.base))}/read; {DONE}', promptVia="file")
    assert project.run("run", "-p", "the prompt").code == 0
    assert (project.base / "read").read_text() == "the prompt"


@pytest.mark.parametrize("via", [None, "argument", "stdin", "file"])
def test_a_prompt_of_two_megabytes_arrives_whole(project, via):
    out = shlex.quote(str(project.base / "size"))
    read = f'{{ [ -f "$1" ] || [ "$1" = /dev/stdin ]; }} && wc -c < "$1" > {out} || wc -c > {out}; {DONE}'
    project.agent_script(read, **({"promptVia": via} if via else {}))
    (project.path / "big.md").write_text("é" * 1_000_000)
    result = project.run("run", "-f", "big.md")
    assert result.code == 0, result
    assert (project.base / "size").read_text().strip() == "2000000"


def test_agent_env_is_added_for_the_agent_and_wins(project):
    project.agent_script(f'env > {shlex.quote(str(project.base))}/env; {DONE}', env={"ADDED": "a b", "LANG": "C"})
    assert project.run("run", "-p", "x", env={"KEPT": "yes"}).code == 0
    lines = read_lines(project.base / "env")
    assert "ADDED=a b" in lines and "LANG=C" in lines and "KEPT=yes" in lines


def test_children_know_the_run_and_the_iteration(project):
    out = shlex.quote(str(project.base / "ids"))
    project.agent_script(f'echo "agent $RALPH_RUN_ID $RALPH_ITERATION" >> {out}; echo more')
    project.guardrails(f'echo "guardrail $RALPH_RUN_ID $RALPH_ITERATION" >> {out}')
    assert project.run("run", "-p", "x", "-m", "2").code == 1
    run = project.run_folder().name
    assert read_lines(project.base / "ids") == [f"agent {run} 1", f"guardrail {run} 1", f"agent {run} 2", f"guardrail {run} 2"]


def test_the_agent_works_in_the_project_folder(project):
    project.agent_script(f"pwd > {shlex.quote(str(project.base))}/where; {DONE}")
    assert project.run("-C", project.path, "-p", "x", cwd="/").code == 0
    assert (project.base / "where").read_text() == f"{project.path}\n"


# What is shown


def test_the_output_of_the_agent_is_shown_unless_turned_off(project):
    project.agent_script("echo words of the agent; echo complaints >&2; " + DONE)
    shown = project.run("run", "-p", "x")
    assert "words of the agent\n" in shown.out and "complaints\n" in shown.err
    for arguments in (["--no-stream-agent-output"], []):
        project.settings(streamAgentOutput=False)
        quiet = project.run("run", "-p", "x", *arguments)
        assert quiet.code == 0 and "words of the agent" not in quiet.text and "complaints" not in quiet.text
        assert (project.run_folder() / "agent_1.out").read_text().startswith("words of the agent\n")
    assert "words of the agent" in project.run("run", "-p", "x", "--stream-agent-output").out


def test_the_output_comes_as_it_is_said_not_at_the_end(project):
    flag = project.base / "go on"
    project.agent_script(f'echo first words; while [ ! -e {shlex.quote(str(flag))} ]; do sleep 0.02; done; {DONE}')
    running = project.start("run", "-p", "x")
    wait_until(lambda: "first words" in running.out, what="the first words on the console")
    flag.touch()
    assert running.wait().code == 0


def test_verbose_lines_are_those_of_the_seed(project):
    project.agent_script(DONE, flags=["--model opus"])
    (project.ralph / "settings.local.json").write_text('{"maximumIterations": 7}')
    project.guardrails("true")
    result = project.run("run", "-p", "find the bug " * 40, "-V")
    assert result.code == 0
    lines = [line for line in result.err.splitlines() if line.startswith("[ralph] ")]
    assert lines[0] == "[ralph] Loading settings from .ralph/settings.json"
    assert lines[1] == "[ralph] Loading settings from .ralph/settings.local.json"
    assert any(re.fullmatch(r"\[ralph\] Agent command: .*agent --model opus.*", line) for line in lines), lines
    assert "[ralph] Iteration 1/7 starting" in lines
    assert "[ralph] Running guardrail: true" in lines
    assert any(re.fullmatch(r"\[ralph\] Guardrail exited with code 0 \(\d+\.\d+s\)", line) for line in lines), lines
    prompt = next(line for line in lines if line.startswith("[ralph] Prompt"))
    assert "find the bug" in prompt and len(prompt) < 260
    assert any("Completion" in line and "DONE" in line for line in lines)
    assert "[ralph]" not in result.out


def test_without_verbose_there_are_no_such_lines(project):
    project.agent_script(DONE)
    assert "[ralph]" not in project.run("run", "-p", "x").text


def test_verbose_does_not_show_secrets(project):
    project.agent_script(DONE, env={"MY_API_KEY": "hunter2-very-secret"})
    result = project.run("run", "-p", "use hunter2-very-secret and sesame-open-secret", "-V", env={"OTHER_TOKEN": "sesame-open-secret"})
    assert result.code == 0 and "hunter2" not in result.text and "sesame" not in result.text


def test_the_console_says_every_step_and_why_it_stopped(project):
    project.own_settings(trust="off")
    project.agent_script(DONE)
    project.guardrails({"command": fails_until(2), "name": "tests", "failAction": "PREPEND"}, "true")
    result = project.run("run", "-p", "Fix it, then answer <response>DONE</response>.")
    assert result.code == 0 and result.err == ""
    lines = result.out.splitlines()
    for pattern in (r"ralph · run \S+ · agent agent · up to 10 iterations · 2 guardrails", r"▶ Iteration 1/10", r"✔ agent finished and answered \"DONE\" \(\d+\.\ds\)",
                    r"✘ tests failed with exit code 1 \(\d+\.\ds\) · PREPEND to the next prompt · \.ralph/guardrail_1_\S+\.log",
                    r"✔ true passed \(\d+\.\ds\)", r"▶ Iteration 2/10", r"✔ tests passed \(\d+\.\ds\)",
                    r"✔ Complete: the agent answered \"DONE\" and all 2 guardrails passed", r".*2 iterations.*guardrails 3 passed, 1 failed.*"):
        assert any(re.fullmatch(pattern, line.strip()) for line in lines), f"no line like {pattern}\n{result}"
    assert "\x1b" not in result.out and "\r" not in result.out


def test_the_console_shows_the_end_of_what_a_failing_guardrail_said(project):
    project.agent_script(DONE)
    project.guardrails("seq 1 50; printf 'the last word\\033[2J'; false")
    result = project.run("run", "-p", "x", "-m", "1")
    lines = result.out.splitlines()
    at = next(i for i, line in enumerate(lines) if "failed with exit code 1" in line)
    assert [line.strip() for line in lines[at + 1:at + 5]] == ["48", "49", "50", "the last word [2J"], result


def test_the_console_shows_the_beginning_of_output_that_was_cut(project):
    project.agent_script(DONE)
    project.settings(outputTruncateChars=100)
    project.guardrails("seq 1 5000; false")
    result = project.run("run", "-p", "x", "-m", "1")
    lines = result.out.splitlines()
    at = next(i for i, line in enumerate(lines) if "failed with exit code 1" in line)
    assert [line.strip() for line in lines[at + 1:at + 5]] == ["1", "2", "3", "4"], result


def test_long_commands_are_cut_so_that_the_result_is_seen(project):
    project.agent_script(DONE)
    project.guardrails("true " + "a" * 500 + "; false")
    with in_terminal(project, "run", "-p", "x", "-m", "1", width=80) as child:
        assert end_of(child) == 1
        lines = screen(child).splitlines()
        failed = next(line for line in lines if "failed with exit code 1" in line)
        assert len(failed) <= 80 and "…" in failed, lines
        limit = next(line for line in lines if "Stopped at a limit" in line)
        assert len(limit) < 200, limit


def test_a_prompt_that_never_asks_for_the_answer_is_noted(project):
    project.agent_script(DONE)
    result = project.run("run", "-p", "fix it", "-c", "READY", "-m", "1")
    assert "<response>READY</response>" in result.err, result
    assert "<response>" not in project.run("run", "-p", "fix it and say <Response>DONE</response>").err
    (project.path / "PROMPT.md").write_text("fix it")
    assert "<response>DONE</response>" in project.run("run", "-f", "PROMPT.md", "--json").err


def test_plain_markers_where_the_locale_is_not_utf8(project):
    project.agent_script(DONE)
    project.guardrails("true")
    result = project.run("run", "-p", "x", env={"LANG": "C"})
    assert result.out.isascii() and "[OK]" in result.out, result


# Dry run


def test_a_dry_run_tells_everything_and_starts_and_writes_nothing(project):
    project.agent_script("touch agent-ran; " + DONE, flags=["--model opus"], timeoutSeconds=90)
    project.guardrails({"command": "touch guardrail-ran", "failAction": "REPLACE", "timeoutSeconds": 60})
    project.settings(includeIterationCountInPrompt=True)
    before = sorted(project.path.rglob("*"))
    result = project.run("run", "-p", "find the bug", "-m", "4", "--dry-run")
    assert result.code == 0, result
    assert sorted(project.path.rglob("*")) == before
    for part in ("--model opus", "find the bug", "Iteration 1 of 4, 3 remaining.", "touch guardrail-ran", "REPLACE", "1m30s", "1m0s",
                 "<response>DONE</response>", str(project.path)):
        assert part in result.out, f"{part} is missing\n{result}"


def test_a_dry_run_as_json_has_the_exact_command_line(project):
    agent = project.agent_script(DONE, flags=["--model opus"])
    result = project.run("run", "-p", "find the bug", "--dry-run", "--json")
    document = json.loads(result.out)
    assert document["argv"][:3] == [str(agent), "--model", "opus"]
    assert document["prompt"] == "find the bug" and document["settings"]["maximumIterations"] == 10
    assert sorted(p.name for p in project.ralph.iterdir()) == ["settings.json"]


def test_a_dry_run_refuses_what_a_run_would_refuse(project):
    project.settings(agent={"command": "no-such-agent"})
    assert project.run("run", "-p", "x", "--dry-run").code == 2


def test_a_dry_run_shows_no_secrets(project):
    project.agent_script(DONE, env={"MY_API_KEY": "hunter2-very-secret"})
    for arguments in ([], ["--json"]):
        result = project.run("run", "-p", "use hunter2-very-secret", "--dry-run", *arguments)
        assert result.code == 0 and "hunter2" not in result.text


# JSON lines


def test_json_lines_are_the_records_of_the_journal(project):
    project.agent_script("echo words; " + DONE)
    project.guardrails(fails_until(2))
    result = project.run("run", "-p", "x", "--json")
    assert result.code == 0
    assert [json.loads(line) for line in result.out.splitlines()] == project.journal()
    assert result.out.encode() == (project.run_folder() / "journal.jsonl").read_bytes()


def test_json_keeps_standard_output_clean_in_every_ending(project):
    project.agent_script("echo more; echo noise >&2")
    result = project.run("run", "-p", "x", "-m", "1", "--json", "-V")
    assert result.code == 1
    assert [json.loads(line)["type"] for line in result.out.splitlines()][-1] == "run_ended"


# Budget


def test_the_time_budget_ends_a_running_agent_with_1(project):
    project.agent_script("echo working; exec sleep 1000")
    project.settings(budget={"maxMinutes": 0.005})
    result = project.run("run", "-p", "x")
    assert result.code == 1 and result.seconds < 10, result
    assert "maxMinutes" in result.out
    assert project.last("agent_ended")["outcome"] == "over_budget"
    project.nothing_left()


def test_the_time_budget_ends_a_running_guardrail_too(project):
    project.agent_script(DONE)
    project.guardrails("exec sleep 1000")
    project.settings(budget={"maxMinutes": 0.005})
    result = project.run("run", "-p", "x")
    assert result.code == 1 and result.seconds < 10, result
    project.nothing_left()


def test_the_time_limit_of_a_turn_ends_the_agent_and_the_loop_goes_on(project):
    project.agent_script(f"[ $RALPH_ITERATION = 1 ] && exec sleep 1000; {DONE}", timeoutSeconds=0.3)
    result = project.run("run", "-p", "x")
    assert result.code == 0 and project.last("run_ended")["iterations"] == 2, result
    assert project.records("agent_ended")[0]["outcome"] == "timed_out"
    assert "longer than 0.3s" in result.out


def test_a_silent_agent_is_ended_by_the_idle_limit(project):
    project.agent_script(f"echo hello; [ $RALPH_ITERATION = 1 ] && exec sleep 1000; {DONE}", idleTimeoutSeconds=0.3)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert project.records("agent_ended")[0]["outcome"] == "idle"


# Terminals


def test_on_a_terminal_there_is_colour_and_without_it_none(project):
    project.agent_script(DONE)
    with in_terminal(project, "run", "-p", "x") as child:
        assert end_of(child) == 0
        assert "\x1b[32m✔\x1b[0m" in seen(child)
    with in_terminal(project, "run", "-p", "x", env={"NO_COLOR": "1"}) as child:
        assert end_of(child) == 0
        assert not re.search(r"\x1b\[[0-9;]*m", seen(child)) and "✔" in seen(child)


@pytest.mark.parametrize("width", [0, 1, 10])
def test_a_terminal_of_no_width_is_no_trouble(project, width):
    project.agent_script(DONE)
    project.guardrails("echo failing; false")
    with in_terminal(project, "run", "-p", "x", "-m", "1", width=width) as child:
        assert end_of(child) == 1
        assert "Iteration 1/1" in seen(child)


def test_a_dumb_terminal_gets_plain_lines(project):
    project.agent_script(DONE)
    project.guardrails("true")
    with in_terminal(project, "run", "-p", "x", env={"TERM": "dumb"}) as child:
        assert end_of(child) == 0
        assert "\x1b" not in seen(child) and "true passed" in seen(child)


def test_colour_can_be_forced_where_there_is_no_terminal(project):
    project.agent_script(DONE)
    assert "\x1b[32m" in project.run("run", "-p", "x", env={"CLICOLOR_FORCE": "1"}).out


def test_a_terminal_shows_progress_while_a_guardrail_runs(project):
    flag = project.base / "flag"
    project.agent_script(DONE)
    project.guardrails({"command": f"while [ ! -e {shlex.quote(str(flag))} ]; do sleep 0.05; done", "name": "slow tests"})
    with in_terminal(project, "run", "-p", "x") as child:
        child.expect_exact("slow tests")
        child.expect(r"slow tests · 1\.\ds")
        flag.touch()
        assert end_of(child) == 0
        lines = screen(child).splitlines()
        assert sum("slow tests" in line for line in lines) == 1, lines


def test_control_sequences_of_the_agent_never_reach_a_terminal(project):
    attack = r"\033[2J\033[H\033]0;title\007\033]52;c;aGk=\007\033[1A\033[31mred\033[0m\007\010\0338\302\2332Jend"
    project.agent_script(f"printf '{attack}\\n'; printf '{attack}\\n' >&2; {DONE}")
    project.guardrails(f"printf '{attack}'; true")
    with in_terminal(project, "run", "-p", "x") as child:
        assert end_of(child) == 0
        text = seen(child)
        assert text.count("\x1b[31mred\x1b[0m") == 2
        rest = re.sub(r"\x1b\[[0-9;]*m|\r\x1b\[K", "", text)
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", rest), repr(rest)


def test_a_colour_that_the_agent_left_on_does_not_stain_what_follows(project):
    project.agent_script(f"printf '\\033[31munfinished'; {DONE}")
    with in_terminal(project, "run", "-p", "x") as child:
        assert end_of(child) == 0
        after = seen(child).partition("unfinished")[2].partition("agent finished")[0]
        assert "\x1b[0m" in after.partition("✔")[0], repr(after)


def test_names_with_control_sequences_cannot_disturb_a_terminal(project):
    project.agent_script("printf '<response>\\033[2Jno</response>\\n'")
    project.guardrails({"command": "true", "name": "evil \x1b[2J\x07 name\nsecond line"})
    with in_terminal(project, "run", "-p", "x", "-m", "1") as child:
        assert end_of(child) == 1
        assert "\x1b[2J" not in seen(child) and "\x07" not in seen(child)


def test_the_last_line_of_an_agent_without_a_newline_is_not_run_into(project):
    project.agent_script("printf '<response>DONE</response>'")
    for text in (project.run("run", "-p", "x").out,):
        assert "<response>DONE</response>\n" in text


# Files


def test_the_ralph_folder_keeps_git_status_clean(project):
    project.git_init()
    project.agent_script(DONE)
    project.guardrails("true")
    (project.ralph / "settings.local.json").write_text("{}")
    project.git("add", ".ralph/settings.json")
    project.git("commit", "-qm", "settings")
    assert project.run("run", "-p", "x").code == 0
    assert project.git("status", "--porcelain", "-uall") == ""
    assert (project.ralph / ".gitignore").read_text() == "*\n!settings.json\n"


def test_a_gitignore_of_ones_own_is_kept(project):
    project.agent_script(DONE)
    (project.ralph / ".gitignore").write_text("mine\n")
    assert project.run("run", "-p", "x").code == 0
    assert (project.ralph / ".gitignore").read_text() == "mine\n"


def test_what_a_run_leaves_can_be_read_by_its_user_only_where_agents_spoke(project):
    project.agent_script(DONE)
    assert project.run("run", "-p", "x").code == 0
    for name in ("journal.jsonl", "agent_1.out", "prompt_1.txt"):
        assert stat.S_IMODE(os.stat(project.run_folder() / name).st_mode) & 0o077 == 0, name
