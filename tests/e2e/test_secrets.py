"""Secrets never reach the disk or the console, wherever they come from."""
import pytest

from plan_support import Plan

SECRET = "hunter2-correct-horse"
TOKENS = {
    "anthropic": "sk-ant-api03-" + "Ab1_" * 23 + "xyzAA",
    "openai": "sk-proj-" + "Zk9" * 16,
    "github": "ghp_" + "a1B2c3D4e5F6" * 3,
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "slack": "xoxb-" + "123456789012-123456789012-" + "abcdefABCDEF123456789012",
}
DONE = "echo '<response>DONE</response>'"


def assert_nowhere(project, result, *secrets):
    """Neither on disk (the user's own settings files aside), nor in a file's name, nor on the console."""
    for path, content in project.everything_on_disk().items():
        for secret in secrets:
            assert secret not in str(path), path
            if path.name not in ("settings.json", "settings.local.json"):
                assert secret.encode() not in content, path
    for secret in secrets:
        assert secret not in result.out, "on the console"
        assert secret not in result.err, "on standard error"


def run(project, *arguments, **how):
    return project.run("run", "-p", "do it", "-m", "1", *arguments, **how)


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "DB_PASSWORD", "GITHUB_TOKEN", "MY_SECRET", "AWS_SECRET_ACCESS_KEY"])
def test_a_secret_of_the_environment_that_the_agent_prints_is_masked_with_its_length_kept(project, name):
    project.agent_script(f'echo "before ${name} after"; echo "err ${name}" >&2; ' + DONE)
    result = run(project, env={name: SECRET})
    assert result.code == 0, result
    assert_nowhere(project, result, SECRET)
    masked = f"before {'*' * len(SECRET)} after"
    assert masked in result.out
    assert (project.run_folder() / "agent_1.out").read_text().splitlines()[0] == masked


def test_the_agent_itself_gets_the_real_value(project):
    project.agent_script(f'[ "$DB_PASSWORD" = {SECRET} ] && {DONE}')
    assert run(project, env={"DB_PASSWORD": SECRET}).code == 0


def test_a_secret_of_the_agents_own_settings_is_masked_everywhere(project):
    project.agent_script('env; echo "$SERVICE_TOKEN"; ' + DONE, env={"SERVICE_TOKEN": SECRET})
    project.guardrails(f"echo {SECRET}; exit 1")
    result = run(project, "-V")
    assert result.code == 1, result
    assert_nowhere(project, result, SECRET)


@pytest.mark.parametrize("json", [False, True], ids=["lines", "json"])
@pytest.mark.parametrize("kind", TOKENS)
def test_tokens_of_a_known_shape_are_masked_wherever_they_are_printed(project, kind, json):
    token = TOKENS[kind]
    (project.base / "token").write_text(token)
    project.agent_script(f'cat "{project.base}/token"; echo; cat "{project.base}/token" >&2; '
                         f'echo "<response>$(cat "{project.base}/token")</response>"')
    project.guardrails(f'cat "{project.base}/token"; exit 1')
    result = run(project, *(["--json"] if json else ["-V"]))
    assert result.code == 1, result
    assert_nowhere(project, result, token)
    assert (project.run_folder() / "agent_1.out").read_text().startswith("*" * 4 or token[:4])
    assert len((project.run_folder() / "agent_1.out").read_bytes().split(b"\n")[0]) == len(token)


def test_a_secret_in_the_prompt_is_masked_on_disk_and_arrives_whole(project):
    token = TOKENS["github"]
    project.agent_script('printf %s "$1" > "../got"; ' + DONE)
    result = project.run("run", "-p", f"use {token} and {SECRET}", "-m", "1", "-V", env={"API_KEY": SECRET})
    assert result.code == 0, result
    assert (project.base / "got").read_text() == f"use {token} and {SECRET}"
    assert_nowhere(project, result, token, SECRET)


def test_a_secret_in_a_prompt_file_is_masked_on_disk(project):
    (project.path / "PROMPT.md").write_text(f"the key is {TOKENS['anthropic']}\n")
    project.agent_script('printf "%s\\n" "$1"; ' + DONE)
    result = project.run("run", "-f", "PROMPT.md", "-m", "1", "-V")
    assert result.code == 0, result
    assert_nowhere(project, result, TOKENS["anthropic"])


@pytest.mark.parametrize("cut", [1, 4, 10, len(SECRET) - 1])
def test_a_secret_in_two_writes_is_masked(project, cut):
    project.python_agent(f"import os, time\ns = os.environ['DB_PASSWORD']\nos.write(1, s[:{cut}].encode())\ntime.sleep(0.2)\n"
                         f"os.write(1, (s[{cut}:] + '\\n').encode())\nprint('<response>DONE</response>')")
    result = run(project, env={"DB_PASSWORD": SECRET})
    assert result.code == 0, result
    assert_nowhere(project, result, SECRET, SECRET[:10] if cut == 10 else SECRET)


def test_a_token_byte_by_byte_is_masked(project):
    project.python_agent(f"import os, time\nfor c in {TOKENS['github']!r}:\n  os.write(1, c.encode()); time.sleep(0.003)\n"
                         "print()\nprint('<response>DONE</response>')")
    result = run(project)
    assert result.code == 0, result
    assert_nowhere(project, result, TOKENS["github"], TOKENS["github"][4:])


def test_a_secret_at_the_very_end_of_the_output_is_masked(project):
    project.agent_script(DONE + '; printf %s "$DB_PASSWORD"')
    result = run(project, env={"DB_PASSWORD": SECRET})
    assert_nowhere(project, result, SECRET)


def test_a_secret_that_an_ended_agent_had_begun_to_print_is_masked(project):
    project.agent_script('printf "x%s" "$DB_PASSWORD"; exec sleep 60', timeoutSeconds=0.4)
    result = run(project, env={"DB_PASSWORD": SECRET})
    assert result.code == 1, result
    assert_nowhere(project, result, SECRET)


def test_a_secret_in_a_guardrails_output_reaches_neither_log_nor_journal_nor_next_prompt(project):
    project.agent_script('printf "%s" "$1" > "../prompt.$RALPH_ITERATION"; ' + DONE)
    project.guardrails('echo "login with $DB_PASSWORD"; exit 1')
    result = project.run("run", "-p", "do it", "-m", "2", env={"DB_PASSWORD": SECRET})
    assert result.code == 1, result
    assert_nowhere(project, result, SECRET)
    assert "*" * len(SECRET) in (project.base / "prompt.2").read_text()


def test_a_token_in_a_guardrails_command_is_in_no_log_name_journal_or_line(project):
    token = TOKENS["github"]
    project.agent_script(DONE)
    project.guardrails(f": {token}; true", {"command": f": {token}; false", "hint": f"use {token}"})
    result = run(project, "-V")
    assert result.code == 1, result
    assert_nowhere(project, result, token)


def test_a_token_in_the_agents_flags_is_in_no_record_or_line(project):
    token = TOKENS["github"]
    project.agent_script(DONE, flags=[f"--key {token}"])
    result = run(project, "-V")
    assert result.code == 0, result
    assert_nowhere(project, result, token)


def test_a_secret_in_the_commit_message_is_masked_in_the_journal_and_in_the_commit(project):
    project.git_init()
    token = TOKENS["github"]
    project.agent_script(f'case "$1" in *"commit message"*) echo "Use {token} for login";; *) date > file; {DONE};; esac')
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    result = run(project, "-V")
    assert result.code == 0, result
    assert_nowhere(project, result, token)
    assert token not in project.git("log", "--format=%B") and "Use ****" in project.git("log", "--format=%B")


def test_a_secret_in_the_command_line_of_a_left_behind_process_is_masked(project):
    project.agent_script(f'sh -c "sleep 100; : $DB_PASSWORD" & {DONE}')
    result = run(project, env={"DB_PASSWORD": SECRET})
    assert result.code == 0 and project.records("processes_swept"), result
    assert_nowhere(project, result, SECRET)


def test_a_dry_run_shows_no_secret(project):
    project.agent_script(DONE, env={"SERVICE_TOKEN": SECRET}, flags=[f"--key {TOKENS['github']}"])
    project.guardrails(f": {TOKENS['slack']}")
    for more in ([], ["--json"]):
        result = project.run("run", "-p", f"use {TOKENS['aws']} {SECRET}", "--dry-run", *more)
        assert result.code == 0, result
        for secret in (SECRET, TOKENS["github"], TOKENS["slack"], TOKENS["aws"]):
            assert secret not in result.text, secret


def test_a_secret_in_a_fatal_error_is_masked(project):
    project.agent_script(DONE)
    project.settings(agent={"command": f"/nowhere/{TOKENS['github']}"})
    result = run(project)
    assert result.code == 2, result
    assert_nowhere(project, result, TOKENS["github"])


def test_showing_a_run_shows_no_secret(project):
    project.agent_script(f'echo "$DB_PASSWORD {TOKENS["github"]}"; {DONE}')
    assert run(project, env={"DB_PASSWORD": SECRET}).code == 0
    for command in (["runs", "show", "last"], ["runs", "show", "last", "--json"], ["runs", "list"]):
        shown = project.run(*command)
        assert shown.code == 0, shown
        assert SECRET not in shown.text and TOKENS["github"] not in shown.text


def test_what_is_on_disk_is_for_its_owner_alone(project):
    project.agent_script("echo err >&2; " + DONE)
    project.guardrails("echo hi")
    assert run(project).code == 0
    folder = project.run_folder()
    assert folder.stat().st_mode & 0o077 == 0
    for path in [*folder.iterdir(), *project.ralph.glob("*.log")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_secret_in_a_rejected_copy_of_the_plan_is_masked(project):
    """That copy may be committed."""
    secret = "s3cret-" + "v4lue" * 4
    plan = Plan(project)
    plan.cheat("write('no JSON any more: ' + os.environ['SHOP_API_KEY']); commit('oops')", phase="after", at=1)
    plan.run("-n", "1", env={"SHOP_API_KEY": secret})
    kept, = plan.rejected()
    text = kept.read_text()
    assert text.startswith("no JSON any more: ") and secret not in text and len(text) == len("no JSON any more: ") + len(secret), text
