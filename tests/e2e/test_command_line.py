"""The command line: help, mistakes and their nearest names, prompts good and bad, -C, completion, doctor."""
import json
import os
import pwd
import re
import shutil
import subprocess

import pytest

from support import RALPH, program_for_others

COMMANDS = ["run", "init", "runs list", "runs show", "settings show", "settings schema", "doctor", "demo", "completion"]
DONE = 'echo "<response>DONE</response>"'


def files_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def refused(project, *arguments, **how):
    """Runs it, expects exit 2 with a message on standard error, and that nothing at all was written."""
    before = files_in(project.path)
    result = project.run(*arguments, **how)
    assert result.code == 2, result
    assert result.err.startswith("ralph: "), result
    assert result.out == "", result
    assert files_in(project.path) == before, result
    return result.err


# Help and version


@pytest.mark.parametrize("group", sorted({command.split()[0] for command in COMMANDS if " " in command}))
def test_the_help_of_a_group_fits_80_columns(project, group):
    result = project.run(group, "--help")
    assert result.code == 0 and [line for line in result.out.splitlines() if len(line) > 80] == [], result


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(project, command):
    result = project.run(*command.split(), "--help")
    assert result.code == 0 and result.err == "", result
    assert f"Usage: ralph {command}" in result.out
    examples = result.out.partition("\nExamples:\n")[2]
    assert re.search(rf"^  .*ralph {command}", examples, re.M), result
    assert "--help" in result.out
    assert [line for line in result.out.splitlines() if len(line) > 80] == []
    assert files_in(project.path) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_by_word_letter_and_long_name_is_the_same(project, command):
    words = command.split()
    texts = {project.run(*form).out for form in (["help", *words], [*words, "-h"], [*words, "--help"])}
    assert len(texts) == 1


@pytest.mark.parametrize("form", [["--help"], ["-h"], ["help"]])
def test_the_overview_lists_every_command_once(project, form):
    result = project.run(*form)
    assert result.code == 0, result
    for command in COMMANDS:
        assert len(re.findall(rf"^  {command}  ", result.out, re.M)) == 1, result
    assert "demo-agent" not in result.out
    assert "Start here" in result.out


def test_summaries_are_written_alike(project):
    commands = project.run("--help").out.partition("Commands:\n")[2].partition("\nOptions:\n")[0]
    lines = [line for line in re.sub(r"\n {4,}", " ", commands).splitlines() if line.startswith("  ")]  # a long one goes on below
    assert len(lines) > 20
    for line in lines:
        summary = re.split(r"\s{2,}", line.strip(), maxsplit=1)[1]
        assert summary[0].isupper() and summary.endswith("."), f"unlike the others: {summary}"


@pytest.mark.parametrize("form", ["--version", "-v"])
def test_the_version_is_one_line(project, form):
    result = project.run(form)
    assert result.code == 0 and re.fullmatch(r"ralph \d+\.\d+\.\d+[^\n]*\n", result.out), result


def test_help_whose_reader_went_away_ends_silently(project):
    for words in ("--help", "run --help", "settings schema", "completion bash"):
        command = f"'{RALPH}' {words} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], env=project.environment(), cwd=project.path, capture_output=True)
        assert done.returncode in (0, 141) and done.stderr == b"", (words, done)  # 141: SIGPIPE, as for every tool


# Mistakes


@pytest.mark.parametrize("typed, meant", [("rnu", "run"), ("inti", "init"), ("docter", "doctor"), ("dmo", "demo"),
                                          ("completions", "completion"), ("setings", "settings")])
def test_an_unknown_command_is_refused_with_the_nearest_name(project, typed, meant):
    message = refused(project, typed)
    assert f"unknown command {typed}; did you mean {meant}?" in message
    assert "ralph --help" in message


def test_an_unknown_command_with_no_near_name_points_to_the_list(project):
    message = refused(project, "frobnicate")
    assert "did you mean" not in message and "ralph --help" in message


def test_a_mistyped_second_word_names_the_nearest_and_lists_what_there_is(project):
    message = refused(project, "runs", "lsit")
    assert "unknown command runs lsit; did you mean runs list?" in message and "ralph runs list" in message and "ralph runs show" in message


def test_a_group_alone_says_what_can_follow(project):
    for group, members in (("runs", ["list", "show"]), ("settings", ["show", "schema"])):
        message = refused(project, group)
        for member in members:
            assert f"ralph {group} {member}" in message
        assert project.run(group, "--help").code == 0


@pytest.mark.parametrize("command, typed, meant", [
    ("run", "--prompt-fil", "--prompt-file"), ("run", "--verbos", "--verbose"), ("run", "--dryrun", "--dry-run"),
    ("run", "--maximum-iteration", "--maximum-iterations"), ("run", "--no-stream-agent-ouput", "--no-stream-agent-output"),
    ("init", "--gaurdrail", "--guardrail"), ("runs list", "--jsno", "--json"), ("doctor", "--jason", "--json"),
    ("demo", "--hlep", "--help")])
def test_an_unknown_option_is_refused_with_the_nearest_name(project, command, typed, meant):
    message = refused(project, *command.split(), typed)
    assert f"unknown option {typed}; did you mean {meant}?" in message
    assert f"ralph {command} --help" in message


def all_commands(project):
    """The name of every command, as the overview has them."""
    lines = re.findall(r"^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?)  +[A-Z]", project.run("--help").out, re.MULTILINE)
    assert len(lines) > 30 and "task run" in lines and "doctor" in lines, lines
    return lines


@pytest.mark.parametrize("typed, meant", [("task rnu", "task run"), ("plan rnu", "plan run"), ("runs shwo", "runs show"),
                                          ("loop strat", "loop start"), ("bus psot", "bus post"), ("sandbox chekc", "sandbox check")])
def test_a_mistyped_subcommand_names_the_nearest(project, typed, meant):
    assert f"unknown command {typed}; did you mean {meant}?" in refused(project, *typed.split())


def test_every_mistyped_name_of_every_command_names_the_nearest(project):
    tried = 0
    for name in all_commands(project):
        result = project.run(*(name + "x").split())
        assert result.code in (1, 2) and f"unknown command {name}x; did you mean {name}?" in result.err, result
        shown = project.run(*name.split(), "--help")
        assert shown.code == 0, shown
        for option in re.findall(r"^  (?:-\w, |    )--(?:\[no-\])?([a-z-]+)", shown.out, re.MULTILINE):
            for typed in (f"--{option}x", f"-{option}"):  # a letter too many, a dash too few
                result = project.run(*name.split(), typed)
                if typed.startswith("--") or result.err.startswith("ralph: unknown option"):  # "-prompt" may be "-p rompt"
                    assert result.code in (1, 2) and f"unknown option {typed}; did you mean --{option}?" in result.err, (name, typed, result)
                    tried += 1
    assert tried > 300, tried


def test_every_choice_names_the_nearest(project):
    tried = 0
    for name in all_commands(project):
        shown = project.run(*name.split(), "--help").out
        for option, choices in re.findall(r"^  (?:-\w, |    )--([a-z-]+) ([A-Za-z-]+(?:\|[A-Za-z-]+)+)(?:  |$)", shown, re.MULTILINE):
            meant = choices.split("|")[-1]
            result = project.run(*name.split(), f"--{option}={meant}x")
            assert result.code in (1, 2) and f"did you mean {meant}?" in result.err, (name, option, result)
            tried += 1
    assert tried >= 2, tried


def test_an_unknown_task_and_an_unknown_attack_name_the_nearest(project):
    there = ["--root", "tasks", "--project", "p", "--task"]
    assert project.run("task", "run", *there, "greet", "--", "sh", "-c", ': > "$TASK_FOLDER/DONE"').code == 0
    assert "did you mean p/greet?" in refused(project, "task", "status", *there, "great")
    assert "did you mean unmount?" in refused(project, "sandbox", "check", "--only", "unmonut")


def test_an_unknown_letter_is_refused(project):
    assert "unknown option -x" in refused(project, "run", "-x")


def test_max_iterations_and_model_mean_the_same_everywhere(project):
    for command in ("run", "init", "plan run", "loop run", "loop start", "runs resume"):
        assert "-n, --max-iterations N" in project.run(*command.split(), "--help").out, command
    for command, letter in (("run", "   "), ("init", "   "), ("plan run", "-m,"), ("plan draft", "-m,"), ("loop run", "-m,")):
        assert f"{letter} --model MODEL" in project.run(*command.split(), "--help").out, command
    for command in ("run", "init"):
        assert "-m, --maximum-iterations N" in project.run(command, "--help").out, command


@pytest.mark.parametrize("command, known", [("runs resume", "--max-iterations (-n)"), ("loop start", "--max-iterations (-n)"),
                                            ("runs list", "neither"), ("doctor", "neither")])
def test_m_is_refused_with_both_names_where_it_has_no_meaning(project, command, known):
    message = refused(project, *command.split(), "-m", "5")
    assert "--max-iterations in run and init" in message and "--model in plan and loop run" in message, message
    assert f"ralph {command} knows {known}" in message, message


# The prompt, the agent and the model of a run


def test_a_prompt_can_be_an_argument_or_standard_input(project):
    project.agent_script('printf "%s" "$1" > told; ' + DONE)
    told = project.path / "told"
    assert project.run("run", "say <response>DONE</response>").code == 0
    assert told.read_text() == "say <response>DONE</response>"
    assert project.run("run", "-f", "-", stdin="from a pipe\n<response>").code == 0
    assert told.read_text() == "from a pipe\n<response>"
    assert project.last("run_started")["prompt"] == "from a pipe\n<response>"


@pytest.mark.parametrize("words", [["x", "-p", "y"], ["x", "-f", "y"], ["-p", "x", "-f", "-"]])
def test_two_prompts_are_one_too_many(project, words):
    project.agent_script(DONE)
    assert "are both given" in refused(project, "run", *words)


def test_an_empty_standard_input_is_no_prompt(project):
    project.agent_script(DONE)
    assert "no prompt on standard input" in refused(project, "run", "-f", "-")


def test_a_run_whose_prompt_came_from_standard_input_is_resumed_with_it(project):
    project.agent_script('printf "%s" "$1" > told; [ -e go ] && ' + DONE + "; echo working")
    assert project.run("run", "-f", "-", "-n", "1", stdin="from a pipe <response>").code == 1
    (project.path / "go").touch()
    (project.path / "told").unlink()
    result = project.run("run", "--resume", "-n", "2")
    assert result.code == 0 and (project.path / "told").read_text() == "from a pipe <response>", result


def test_another_agent_gets_none_of_the_settings_agents_flags(project):
    project.agent_script("echo wrong agent; exit 3", flags=["--only-for-the-first"], env={"ONLY": "first"}, kind="claude")
    project.settings(agents={"second": {"command": str(project.script('echo "$#:$1:$ONLY" > told; ' + DONE, "other")), "flags": ["--own"]}})
    result = project.run("run", "<response>", "--agent", "second")
    assert result.code == 0 and (project.path / "told").read_text() == "2:--own:\n", result
    direct = project.script('echo "$#:$1" > told; ' + DONE, "direct")
    assert project.run("run", "<response>", "--agent", direct).code == 0
    assert (project.path / "told").read_text() == "1:<response>\n"
    assert "--agent is blank" in refused(project, "run", "x", "--agent", " ")


def test_the_model_of_a_run_is_an_option(project):
    project.agent_script("echo '{\"type\":\"x\"}'", kind="claude")
    result = project.run("run", "x", "--model", "opus", "--dry-run")
    assert result.code == 0 and "--model opus" in result.out, result


def test_an_agent_that_is_missing_is_named_by_the_flag_that_was_typed(project):
    project.agent_script("true")
    for words in (["run", "x", "--agent", "nosuch"], ["run", "x", "--agent=nosuch", "--dry-run"], ["loop", "run", "x", "--agent", "nosuch"]):
        assert '(--agent is "nosuch"; ' in refused(project, *words)
    project.settings({"agent": {"command": "nosuch"}})
    assert '(agent.command is "nosuch"; ' in refused(project, "run", "x")


def test_a_word_too_many_is_refused(project):
    assert 'unexpected word "it"; quote a PROMPT of several words' in refused(project, "run", "fix", "it")
    assert "fix" in refused(project, "doctor", "fix")


def test_an_option_without_its_value_is_refused(project):
    assert "-p needs a text" in refused(project, "run", "-p")
    assert "--prompt-file needs a file" in refused(project, "run", "--prompt-file")
    assert "-m needs a number" in refused(project, "run", "-m")
    assert "--session needs an id" in refused(project, "loop", "status", "--session")


def test_an_option_given_twice_is_refused(project):
    assert "given twice" in refused(project, "run", "-p", "a", "--prompt", "b")


def test_a_switch_takes_no_value(project):
    assert "takes no value" in refused(project, "run", "-p", "x", "--verbose=yes")


@pytest.mark.parametrize("bad", ["0", "-1", "x", "1.5", "", " 3", "3 ", "0x10", "1e3", "99999999999999999999", "1000001", "+5"])
@pytest.mark.parametrize("form", ["-m {}", "-m={}", "--maximum-iterations={}", "--maximum-iterations {}"])
def test_a_bad_number_of_iterations_is_refused(project, bad, form):
    project.agent_script(DONE)
    flag, separator = form.partition("{}")[0].rstrip("= "), "=" if "=" in form else " "
    arguments = [f"{flag}={bad}"] if separator == "=" else [flag, bad]
    message = refused(project, "run", "-p", "x", *arguments)
    assert f'"{bad}"' in message and "whole number" in message and "maximum-iterations" in message


@pytest.mark.parametrize("form", [["-m", "3"], ["-m=3"], ["-m3"], ["--maximum-iterations", "3"], ["--maximum-iterations=3"]])
def test_values_follow_their_flag_in_every_usual_form(project, form):
    project.agent_script(DONE)
    result = project.run("run", "-p=x", *form, "--dry-run", "--json")
    assert result.code == 0, result
    assert json.loads(result.out)["settings"]["maximumIterations"] == 3


def test_the_largest_number_of_iterations_is_accepted(project):
    project.agent_script(DONE)
    assert project.run("run", "-p", "x", "-m", "1000000").code == 0


def test_a_value_may_hold_an_equals_sign_and_begin_with_a_dash(project):
    project.agent_script(DONE)
    for arguments, prompt in ((["--prompt=a=b"], "a=b"), (["-p", "--fix it"], "--fix it"), (["-p=-x"], "-x"), (["-p", "-"], "-")):
        result = project.run("run", *arguments, "--dry-run", "--json")
        assert result.code == 0 and json.loads(result.out)["prompt"] == prompt, result


def test_a_blank_completion_response_is_refused(project):
    project.agent_script(DONE)
    assert "--completion-response" in refused(project, "run", "-p", "x", "-c", "  ")


# Prompts


def test_both_prompt_and_file_are_refused(project):
    project.agent_script(DONE)
    message = refused(project, "run", "-p", "x", "-f", "PROMPT.md")
    assert "-p" in message and "-f" in message and "both" in message


@pytest.mark.parametrize("arguments", [[], ["run"], ["run", "-m", "3"]])
def test_neither_prompt_nor_file_is_refused_with_an_example(project, arguments):
    project.agent_script(DONE)
    message = refused(project, *arguments)
    assert "-p TEXT" in message and "-f FILE" in message and "ralph run 'Make" in message


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n"])
def test_a_blank_prompt_is_refused(project, text):
    project.agent_script(DONE)
    assert "empty" in refused(project, "run", "-p", text)
    (project.path / "blank.md").write_text(text)
    message = refused(project, "run", "-f", "blank.md")
    assert "empty" in message and "blank.md" in message


def test_a_missing_prompt_file_is_named(project):
    project.agent_script(DONE)
    message = refused(project, "run", "-f", "no such.md")
    assert "no such.md" in message and "No such file" in message


def test_a_prompt_file_that_is_a_folder_is_refused(project):
    project.agent_script(DONE)
    (project.path / "folder").mkdir()
    message = refused(project, "run", "-f", "folder")
    assert "folder" in message and "directory" in message


def test_a_prompt_file_that_is_not_utf8_is_refused_with_the_place(project):
    project.agent_script(DONE)
    (project.path / "latin.md").write_bytes(b"fix\nthe caf\xe9\n")
    message = refused(project, "run", "-f", "latin.md")
    assert "latin.md" in message and "UTF-8" in message and "line 2, column 8" in message and "0xe9" in message


def test_a_prompt_with_a_nul_byte_is_refused(project):
    project.agent_script(DONE)
    (project.path / "nul.md").write_bytes(b"a\0b")
    assert "NUL" in refused(project, "run", "-f", "nul.md")


def test_an_empty_prompt_file_name_is_refused(project):
    project.agent_script(DONE)
    assert "-f" in refused(project, "run", "-f", "")


def test_a_prompt_file_by_absolute_path_works(project):
    project.agent_script(DONE)
    prompt = project.base / "a prompt.md"
    prompt.write_text("do it")
    assert project.run("run", "-f", prompt).code == 0


# -C


def test_c_works_in_another_folder(project):
    project.agent_script(DONE)
    for form in (["-C", project.path], [f"-C{project.path}"], [f"-C={project.path}"]):
        result = project.run(*form, "run", "-p", "x", cwd=project.home)
        assert result.code == 0, result
    assert len(project.run_folders()) == 3
    assert not (project.home / ".ralph").exists()


def test_c_makes_prompt_files_relative_to_that_folder(project):
    project.agent_script(DONE)
    (project.path / "PROMPT.md").write_text("do it")
    assert project.run("-C", project.path, "run", "-f", "PROMPT.md", cwd=project.home).code == 0


def test_c_twice_is_relative_to_the_first_as_with_git_and_make(project):
    project.agent_script(DONE)
    assert project.run("-C", project.base, "-C", project.path.name, "-p", "x", cwd="/").code == 0


def test_c_with_a_missing_folder_is_refused(project):
    assert "nowhere" in refused(project, "-C", "nowhere", "run", "-p", "x")
    assert "needs a folder" in refused(project, "-C")
    (project.path / "file").write_text("")
    assert "file" in refused(project, "-C", "file", "doctor")


def test_c_works_before_every_command(project):
    project.agent_script(DONE)
    for command in (["settings", "show"], ["runs", "list"], ["doctor"], ["--version"], ["--help"], ["run", "--help"]):
        assert project.run("-C", project.path, *command, cwd=project.home).code == 0, command


# The default command


def test_run_is_the_default_command(project):
    project.agent_script(DONE)
    result = project.run("-p", "x", "-m", "2")
    assert result.code == 0, result
    assert project.last("run_started")["maxIterations"] == 2


def test_without_settings_run_says_how_to_make_them(project):
    message = refused(project, "-p", "x")
    assert "ralph init" in message and "settings.json" in message


@pytest.mark.parametrize("command", ["no-such-agent", "/nowhere/agent", "./agent"])
def test_an_agent_that_is_not_there_is_refused_by_name(project, command):
    project.settings(agent={"command": command})
    message = refused(project, "run", "-p", "x")
    assert command in message and "agent.command" in message and "ralph doctor" in message


# Completion


def complete(project, *words):
    """What bash would offer for the last word."""
    script = 'source <("$RALPH" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ralph; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words], env=project.environment(RALPH=RALPH),
                          cwd=project.path, capture_output=True, text=True)
    assert done.stderr == "", done
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("words, offered", [
    (["ralph", "ini"], {"init"}), (["ralph", "r"], {"run", "runs"}), (["ralph", "--v"], {"--version"}),
    (["ralph", "run", "--prompt-"], {"--prompt-file"}), (["ralph", "run", "--no"], {"--no-sandbox", "--no-stream-agent-output"}),
    (["ralph", "runs", ""], {"list", "show", "resume", "verify", "gc"}), (["ralph", "runs", "s"], {"show"}), (["ralph", "settings", "sc"], {"schema"}),
    (["ralph", "runs", "list", "--j"], {"--json"}), (["ralph", "completion", "z"], {"zsh"}),
    (["ralph", "-C", "x", "doc"], {"doctor"}), (["ralph", "-C", "x", "runs", "l"], {"list"}),
    (["ralph", "init", "--gu"], {"--guardrail"}), (["ralph", "nonsense", "--"], set())])
def test_bash_completes(project, words, offered):
    assert set(complete(project, *words)) - {""} == offered


def test_bash_completes_an_empty_line_with_all_commands(project):
    offered = set(complete(project, "ralph", ""))
    assert {c.split()[0] for c in COMMANDS} <= offered and "demo-agent" not in offered


def test_bash_completes_prompt_files_and_folders(project):
    (project.path / "PROMPT.md").write_text("x")
    (project.path / "folder").mkdir()
    assert complete(project, "ralph", "run", "-f", "PRO") == ["PROMPT.md"]
    assert complete(project, "ralph", "-C", "fol") == ["folder"]


def test_bash_completes_file_names_with_blanks_as_one(project):
    (project.path / "my prompt.md").write_text("x")
    assert complete(project, "ralph", "run", "-f", "my") == ["my prompt.md"]


def test_bash_completes_choices_of_an_option(project):
    assert set(complete(project, "ralph", "init", "--fail-action", "A")) == {"APPEND"}


def test_bash_registers_the_completion(project):
    done = subprocess.run(["bash", "--norc", "-c", 'source <("$RALPH" completion bash); complete -p ralph'],
                          env=project.environment(RALPH=RALPH), capture_output=True, text=True)
    assert "_ralph" in done.stdout and done.returncode == 0


@pytest.mark.parametrize("shell, check", [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])])
def test_the_completion_script_is_sound(project, shell, check):
    script = project.run("completion", shell)
    assert script.code == 0 and script.out.startswith("#"), script
    for command in COMMANDS:
        assert command.split()[-1] in script.out
    if not shutil.which(check[0]):
        pytest.skip(f"{shell} is not installed")
    path = project.base / "script"
    path.write_text(script.out)
    done = subprocess.run([*check, path], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done


def test_completion_for_another_shell_is_refused(project):
    message = refused(project, "completion", "zhs")
    assert "zhs" in message and "did you mean zsh?" in message
    assert "SHELL is missing" in refused(project, "completion")


# Doctor


def findings(project, **how):
    result = project.run("doctor", "--json", **how)
    document = json.loads(result.out)
    assert {"version", "ready", "findings"} <= set(document)
    assert result.code == (0 if document["ready"] else 2), result
    return {f["what"]: f for f in document["findings"]}


def test_doctor_in_an_empty_folder_says_what_to_do_and_writes_nothing(project):
    result = project.run("doctor")
    assert result.code == 2, result
    assert "ralph init" in result.out and "no agent is set" in result.out
    assert "not a git repository" in result.out and "ready to start" not in result.out
    assert files_in(project.path) == []


def test_doctor_is_content_with_a_good_project(project):
    project.git_init()
    project.agent_script(DONE)
    project.guardrails("true", "true")
    found = findings(project)
    assert {f["health"] for what, f in found.items() if what in ("settings", "agent", "guardrails", "git", "repository")} == {"ok"}
    assert "2 commands" in found["guardrails"]["detail"]
    assert "ralph run is ready to start here." in project.run("doctor").out


def test_doctor_names_broken_settings_with_their_place(project):
    project.ralph.mkdir()
    (project.ralph / "settings.json").write_text('{\n  "maximumIterations": "x"\n}')
    result = project.run("doctor")
    assert result.code == 2 and "settings.json:2:24" in result.out, result
    assert findings(project)["settings"]["health"] == "problem"


def test_doctor_names_a_missing_agent(project):
    project.settings(agent={"command": "no-such-agent"})
    finding = findings(project)["agent"]
    assert finding["health"] == "problem" and "no-such-agent" in finding["detail"] and finding["fix"]


def test_doctor_finds_installed_agents_and_their_versions(project):
    (project.base / "bin").mkdir()
    project.script('echo "2.0.1 (Claude Code)"', "bin/claude")
    found = findings(project, env={"PATH": f"{project.base}/bin:/usr/bin:/bin"})
    assert "2.0.1" in found["agent claude"]["detail"]


def test_doctor_is_not_held_up_by_an_agent_that_hangs(project):
    (project.base / "bin").mkdir()
    project.script("exec sleep 1000", "bin/claude")
    result = project.run("doctor", env={"PATH": f"{project.base}/bin:/usr/bin:/bin"})
    assert "claude" in result.out and result.seconds < 8
    project.nothing_left()


def test_doctor_without_git_and_without_anything_on_path(project):
    (project.base / "bin").mkdir()
    found = findings(project, env={"PATH": str(project.base / "bin")})
    assert found["git"]["health"] == "note" and "install git" in found["git"]["fix"]


def no_agent(project):
    project.settings(agent={})


def missing_agent(project):
    project.settings(agent={"command": "no-such-agent"})


def missing_fallback(project):
    project.agent_script(DONE, fallback=["no-such-agent"])


def budget_that_cannot_be_kept(project):
    project.agent_script(DONE)
    project.settings(budget={"maxCostUsd": 1})


def commits_without_a_repository(project):
    project.agent_script(DONE)
    project.settings(scm={"command": "git", "tasks": ["commit"]})


def ralph_folder_elsewhere(project):
    project.agent_script(DONE)
    project.ralph.rename(project.base / "elsewhere")
    project.ralph.symlink_to(project.base / "elsewhere")


def nothing_wrong(project):
    project.agent_script(DONE, fallback=[str(project.script(DONE, "second"))])


@pytest.mark.parametrize("prepare", [no_agent, missing_agent, missing_fallback, budget_that_cannot_be_kept,
                                     commits_without_a_repository, ralph_folder_elsewhere, nothing_wrong])
def test_doctor_foresees_what_a_run_will_say(project, prepare):
    prepare(project)
    doctor = project.run("doctor")
    run = project.run("run", "-p", "x")
    assert doctor.code == run.code == (0 if prepare == nothing_wrong else 2), (doctor, run)
    assert ("ready to start" in doctor.out) == (run.code == 0), doctor


def test_doctor_tells_the_agent_from_its_fallback_and_what_it_may_not_do(project):
    project.agent_script(DONE, fallback=[str(project.script(DONE, "second"))], kind="claude")
    found = findings(project)
    assert "claude" in found["agent"]["detail"] and "second" in found["fallback"]["detail"], found
    assert found["permissions"]["health"] == "note" and "--permission-mode" in found["permissions"]["fix"], found
    project.settings({"agent": {"flags": ["--permission-mode acceptEdits"]}})
    assert "permissions" not in findings(project)


def test_doctor_says_when_scm_tasks_cannot_work(project):
    project.agent_script(DONE)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    result = project.run("doctor")
    assert result.code == 2, result
    assert "git init" in result.out


# Other users, other places, no terminal


def as_nobody(project, *arguments):
    """Runs ralph as the user nobody, in a project of that user's own."""
    nobody = pwd.getpwnam("nobody")
    for folder in [project.base, *project.base.parents]:
        if folder.stat().st_uid == os.getuid() and folder.name.startswith(("test_", "pytest-", "popen-")):
            folder.chmod(folder.stat().st_mode | 0o055)
    for path in [project.path, project.home, project.tmp, *project.path.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return subprocess.run([program_for_others(project), *arguments], cwd=project.path, env=project.environment(), user=nobody.pw_uid,
                          group=nobody.pw_gid, extra_groups=[], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60)


only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@only_root
def test_every_command_works_for_a_plain_user(project):
    project.agent_script(DONE)
    project.guardrails("true")
    for words in (["run", "-p", "x"], ["runs", "list"], ["runs", "show"], ["settings", "show"], ["settings", "schema"],
                  ["doctor"], ["demo"], ["completion", "bash"], ["init", "--agent", "cat", "--force"], ["--version"]):
        done = as_nobody(project, *words)
        assert done.returncode == 0, (words, done)
    owner = pwd.getpwnam("nobody").pw_uid
    assert all(p.stat().st_uid == owner for p in project.ralph.rglob("*"))


@only_root
def test_an_unreadable_prompt_file_is_named(project):
    project.agent_script(DONE)
    secret = project.base / "secret.md"
    secret.write_text("x")
    secret.chmod(0o600)
    done = as_nobody(project, "run", "-f", str(secret))
    assert done.returncode == 2 and "secret.md" in done.stderr and "Permission denied" in done.stderr, done


@only_root
def test_a_project_that_cannot_be_written_is_named(project):
    project.agent_script(DONE)
    as_nobody(project, "--version")  # opens the way to the folders
    os.chown(project.path, 0, 0)
    os.chown(project.ralph, 0, 0)
    nobody = pwd.getpwnam("nobody")
    done = subprocess.run([project.base / "ralph", "run", "-p", "x"], cwd=project.path, env=project.environment(),
                          user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], capture_output=True, text=True)
    assert done.returncode == 2 and ".ralph" in done.stderr and "Permission denied" in done.stderr, done


def test_every_command_works_with_no_standard_input_at_all(project):
    project.agent_script(DONE)
    for words in ("run -p x", "runs list", "settings show", "doctor", "--help"):
        done = subprocess.run(["bash", "-c", f"exec '{RALPH}' {words} <&-"], cwd=project.path, env=project.environment(),
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (words, done)


def test_a_run_whose_output_is_closed_still_ends_well(project):
    project.agent_script(DONE)
    done = subprocess.run(["bash", "-c", f"exec '{RALPH}' run -p x >&- 2>&-"], cwd=project.path, env=project.environment(),
                          timeout=60)
    assert done.returncode == 0
    assert project.last("run_ended")["status"] == "complete"


def test_a_folder_that_was_deleted_is_said_to_be_gone(project):
    gone = project.base / "gone"
    command = f"mkdir '{gone}' && cd '{gone}' && rmdir '{gone}' && exec '{RALPH}' run -p x"
    done = subprocess.run(["bash", "-c", command], env=project.environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("ralph: "), done


# ---- what doctor foresees


def doctor_and_run(project, **how):
    """What both say, without a terminal."""
    return project.run("doctor", **how), project.run("run", "-p", "x <response>", "-n", "1", **how)


def foreseen(project, word, **how):
    doctor, run = doctor_and_run(project, **how)
    assert run.code == 2, run
    assert doctor.code == 2 and word in doctor.out and "can't start here" in doctor.out, doctor


def test_doctor_foresees_that_commands_must_be_accepted(project):
    project.agent_script("true")
    project.own_settings(trust="require")
    foreseen(project, "trust")


def test_doctor_foresees_that_settings_were_changed_by_an_agent(project):
    project.agent_script("sed -i 's/APPEND/PREPEND/' .ralph/settings.json")
    project.guardrails({"command": "true", "failAction": "APPEND"})
    assert project.run("run", "-p", "x <response>", "-n", "1").code == 1
    foreseen(project, "changed while an agent was running")


def test_doctor_foresees_that_criteria_can_not_be_judged(project):
    project.agent_script("true")
    project.settings(diagnostics={"criteria": {"testsPass": True}})
    foreseen(project, "diagnostics")


def test_doctor_foresees_that_there_is_no_place_for_runs(project):
    project.agent_script("true")
    (project.ralph / "runs").write_text("")
    foreseen(project, ".ralph/runs")
    (project.ralph / "runs").unlink()
    state = project.base / "state"
    state.write_text("")
    foreseen(project, "state folder", env={"XDG_STATE_HOME": state})
