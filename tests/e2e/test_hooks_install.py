"""ralph hooks install and uninstall: in a person's settings, next to all that is theirs, and out again without a trace."""
import json
import os
import shlex
import subprocess

import pytest

from support import NOBODY, RALPH, ordinary_user

HOSTS = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
STOP = {"claude": "Stop", "codex": "Stop", "gemini": "AfterAgent"}
COMMANDS = ["cancel-ralph.md", "ralph-loop.md", "ralph-plan.md", "ralph-status.md", "ulw-loop.md"]
MINE = b"""{
    "model": "opus",
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] }
        ]
    },
    "permissions": {"allow": ["Bash(make:*)"]}
}
"""


def files_below(path):
    """{relative path: content} of all files, links as where they lead."""
    return {str(p.relative_to(path)): os.readlink(p) if p.is_symlink() else p.read_bytes()
            for p in path.rglob("*") if p.is_symlink() or p.is_file()}


def everything(project):
    return {**files_below(project.path), **{f"~/{k}": v for k, v in files_below(project.home).items()}}


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def calls(path):
    """{event: [command, ...]} of a file with hooks."""
    hooks = json.loads(path.read_bytes())["hooks"]
    return {event: [hook["command"] for group in groups for hook in group["hooks"]] for event, groups in hooks.items()}


def backups(path):
    return sorted(path.parent.glob(path.name + ".ralph-backup-*"))


@pytest.fixture
def on_path(project):
    """An environment in which `ralph` is the program under test."""
    (project.base / "bin").mkdir()
    (project.base / "bin/ralph").symlink_to(RALPH)
    return {"PATH": f"{project.base}/bin:/usr/bin:/bin"}


# A new file


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_hooks_come_into_the_hosts_own_file_and_go_again(project, on_path, host, scope):
    before = everything(project)
    result = project.run("hooks", "install", "--host", host, scope, env=on_path)
    assert result.code == 0 and result.err == "", result
    path = (project.path if scope == "--project" else project.home) / HOSTS[host]
    more = "" if host == "claude" else f" --protocol {host}"
    assert calls(path)[STOP[host]] == [f"ralph hooks stop{more}"]
    assert len(calls(path)) == (7 if host == "claude" else 6) and backups(path) == []
    assert (str(path) if scope == "--user" else HOSTS[host]) in result.out, result
    for event, (command,) in calls(path).items():
        assert event in result.out and command in result.out, result
    assert project.run("hooks", "uninstall", "--host", host, scope, env=on_path).code == 0
    assert everything(project) == before
    assert (project.path / HOSTS[host]).parent.exists() is False


def test_the_project_and_claude_are_what_is_meant_if_nothing_is_said(project):
    assert project.run("hooks", "install").code == 0
    assert list(files_below(project.path)) == [".claude/settings.json"] and files_below(project.home) == {}


def test_another_folder_by_dash_c(project):
    (project.path / "sub dir").mkdir()
    assert project.run("-C", "sub dir", "hooks", "install").code == 0
    assert list(files_below(project.path)) == ["sub dir/.claude/settings.json"]


def test_hosts_that_were_moved_are_found(project):
    moved = project.base / "moved"
    for host, variable, path in [("claude", "CLAUDE_CONFIG_DIR", "settings.json"), ("codex", "CODEX_HOME", "hooks.json"),
                                 ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json")]:
        result = project.run("hooks", "install", "--user", "--host", host, env={variable: moved / host})
        assert result.code == 0 and (moved / host / path).exists(), result
    assert files_below(project.home) == {}


def test_a_users_new_file_is_for_the_user_alone(project):
    assert project.run("hooks", "install", "--user").code == 0
    assert (project.home / ".claude/settings.json").stat().st_mode & 0o077 == 0


# What a hook calls


def test_the_name_if_it_is_on_path_else_the_whole_path(project, on_path):
    assert project.run("hooks", "install").code == 0
    path = project.path / ".claude/settings.json"
    assert calls(path)["Stop"] == [shlex.join([str(RALPH), "hooks", "stop"])]
    result = project.run("hooks", "install", env=on_path)  # the older one is brought up to date
    assert result.code == 0 and "~ Stop" in result.out, result
    assert calls(path)["Stop"] == ["ralph hooks stop"]


def test_another_ralph_on_path_is_not_taken_for_this_one(project):
    project.script("exit 0", "ralph")
    assert project.run("hooks", "install", env={"PATH": f"{project.base}:/usr/bin:/bin"}).code == 0
    assert calls(project.path / ".claude/settings.json")["Stop"][0].startswith(shlex.quote(str(RALPH)))


def test_a_program_with_blanks_and_quotes_in_its_path_really_runs(project):
    program = project.base / "my 'own' $tools" / "ralph"
    program.parent.mkdir()
    program.write_bytes(RALPH.read_bytes())
    program.chmod(0o755)
    done = subprocess.run([program, "hooks", "install"], cwd=project.path, env=project.environment(), capture_output=True)
    assert done.returncode == 0, done
    command, = calls(project.path / ".claude/settings.json")["Stop"]
    ran = subprocess.run(["/bin/sh", "-c", command], input="{}", text=True, env=project.environment(), capture_output=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", ""), (command, ran)
    # Another ralph takes all of them out again.
    assert project.run("hooks", "uninstall").code == 0
    assert files_below(project.path) == {}


# What is there already


def test_what_is_there_keeps_its_place_and_a_copy_is_kept(project, on_path):
    path = put(project.path / ".claude/settings.json", MINE)
    path.chmod(0o640)
    result = project.run("hooks", "install", env=on_path)
    assert result.code == 0, result
    kept, = backups(path)
    assert kept.read_bytes() == MINE and kept.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_mode & 0o777 == 0o640
    assert str(kept.relative_to(project.path)) in result.out, result
    text = path.read_bytes()
    assert text.startswith(MINE[:MINE.index(b"say done")])
    assert b'    "permissions": {"allow": ["Bash(make:*)"]}' in text
    assert calls(path)["Stop"] == ["say done", "ralph hooks stop"]
    assert "env" not in json.loads(text), "the host's own cap on refused stops stays"


def test_a_second_time_there_is_nothing_to_do(project):
    path = put(project.path / ".claude/settings.json", MINE)
    assert project.run("hooks", "install", "--commands").code == 0
    before = files_below(project.path)
    stamp = path.stat().st_mtime_ns
    for _ in range(2):
        result = project.run("hooks", "install", "--commands")
        assert result.code == 0 and result.out.startswith("Nothing to do") and result.err == "", result
    assert files_below(project.path) == before and path.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("text", [MINE, b"{}", b"{\r\n\t\"a\": 1\r\n}", b"\xef\xbb\xbf{\"hooks\": {}, \"env\": {}}\n\n",
                                  b'{"hooks": {"Stop": []}}', b'{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "20"}}'])
def test_uninstall_gives_back_every_byte_and_leaves_nothing_behind(project, text):
    path = put(project.path / ".claude/settings.json", text)
    assert project.run("hooks", "install", "--commands").code == 0
    assert path.read_bytes() != text
    result = project.run("hooks", "uninstall")
    assert result.code == 0 and result.err == "", result
    assert files_below(project.path) == {".claude/settings.json": text}
    result = project.run("hooks", "uninstall")
    assert result.code == 0 and result.out.startswith("Nothing to do"), result


@pytest.mark.parametrize("before, after", [(b"{}", None), (b'{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "20"}}', "20")])
def test_the_cap_that_version_01_raised_is_taken_back(project, before, after):
    path = put(project.path / ".claude/settings.json", before)
    assert project.run("hooks", "install").code == 0
    settings = json.loads(path.read_text())
    settings["env"] = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1000"}  # as 0.1 left it
    path.write_text(json.dumps(settings))
    result = project.run("hooks", "install")
    assert result.code == 0 and "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP" in result.out, result
    assert json.loads(path.read_text()).get("env", {}).get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP") == after
    assert project.run("hooks", "install").out.startswith("Nothing to do")


def test_a_cap_without_hooks_of_ralph_is_the_users(project):
    path = put(project.path / ".claude/settings.json", b'{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1000"}}')
    assert project.run("hooks", "install").code == 0
    assert project.run("hooks", "install").out.startswith("Nothing to do")
    assert json.loads(path.read_text())["env"] == {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1000"}


def test_what_others_changed_since_stays_changed(project):
    path = put(project.path / ".claude/settings.json", MINE)
    assert project.run("hooks", "install").code == 0
    path.write_bytes(path.read_bytes().replace(b'"opus"', b'"sonnet"'))
    changed = path.read_bytes()
    result = project.run("hooks", "uninstall")
    assert result.code == 0, result
    assert path.read_bytes() == MINE.replace(b'"opus"', b'"sonnet"')
    assert changed in [kept.read_bytes() for kept in backups(path)]


@pytest.mark.parametrize("line", ["ralph hooks stop 2>>/tmp/ralph.log; notify-send done", "/old/ralph hooks stop || true"])
def test_a_line_that_does_more_than_call_ralph_is_its_owners(project, on_path, line):
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line, "timeout": 600}]}]}}).encode()
    path = put(project.path / ".claude/settings.json", text)
    assert project.run("hooks", "install", env=on_path).code == 0
    rest = line.split(" ", 1)[1]
    assert calls(path)["Stop"] == [f"ralph {rest}"], "only the program is changed"
    result = project.run("hooks", "uninstall")
    assert result.code == 0 and rest in result.err and "by hand" in result.err, result
    assert path.read_bytes() == text
    result = project.run("hooks", "uninstall")
    assert result.code == 0 and rest in result.err and path.read_bytes() == text, result


def test_a_command_of_ralph_that_is_no_hook_is_not_touched(project):
    line = "ralph hooks explain x && my-own-thing"
    path = put(project.path / ".claude/settings.json",
               json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}}).encode())
    before = path.read_bytes()
    assert "Nothing to do" in project.run("hooks", "uninstall").out and path.read_bytes() == before
    assert project.run("hooks", "install").code == 0 and calls(path)["Stop"][0] == line
    assert project.run("hooks", "uninstall").code == 0 and path.read_bytes() == before


def test_after_an_update_uninstall_still_gives_back_the_beginning(project, on_path):
    path = put(project.path / ".claude/settings.json", MINE)
    assert project.run("hooks", "install").code == 0
    assert project.run("hooks", "install", env=on_path).code == 0
    assert len(backups(path)) == 2
    assert project.run("hooks", "uninstall").code == 0
    assert path.read_bytes() == MINE


def test_uninstall_where_nothing_is(project):
    for host in HOSTS:
        result = project.run("hooks", "uninstall", "--host", host)
        assert result.code == 0 and result.out.startswith("Nothing to do"), result
    assert everything(project) == {}


def test_a_dry_run_shows_all_and_changes_nothing(project):
    result = project.run("hooks", "install", "--commands", "--dry-run")
    assert result.code == 0 and "+ Stop" in result.out and "/ralph-loop" in result.out, result
    assert everything(project) == {} and list(project.path.iterdir()) == []
    put(project.path / ".claude/settings.json", MINE)
    assert project.run("hooks", "install", "--commands").code == 0
    before = everything(project)
    result = project.run("hooks", "uninstall", "--dry-run")
    assert result.code == 0 and "- Stop" in result.out and "/ralph-loop" in result.out, result
    assert everything(project) == before


# Commands


def test_the_command_files_are_written_and_removed_but_never_a_persons_own(project, on_path):
    folder = project.path / ".claude/commands"
    put(folder / "ulw-loop.md", b"mine")
    put(folder / "other.md", b"mine too")
    result = project.run("hooks", "install", "--commands", env=on_path)
    assert result.code == 0 and "ulw-loop.md exists and is not ralph's" in result.err, result
    assert sorted(os.listdir(folder)) == sorted([*COMMANDS, "other.md"])
    loop = (folder / "ralph-loop.md").read_text()
    assert "$ARGUMENTS" in loop and "<promise>" not in loop
    assert project.run("hooks", "uninstall").code == 0
    assert files_below(project.path) == {".claude/commands/ulw-loop.md": b"mine", ".claude/commands/other.md": b"mine too"}


def test_an_older_command_file_of_ralphs_is_brought_up_to_date(project):
    assert project.run("hooks", "install", "--commands").code == 0
    path = project.path / ".claude/commands/ralph-loop.md"
    right = path.read_text()
    path.write_text(right.replace("no loop holds", "a loop holds"))
    result = project.run("hooks", "install", "--commands")
    assert result.code == 0 and "~ /ralph-loop" in result.out, result
    assert path.read_text() == right


def test_commands_are_for_claude_only(project):
    result = project.run("hooks", "install", "--host", "codex", "--commands")
    assert result.code == 2 and "--commands" in result.err and everything(project) == {}, result


# What hosts want to be told


def test_what_the_user_has_to_do_is_said(project, on_path):
    assert "rust all and" in project.run("hooks", "install", "--host", "codex", env=on_path).out
    assert "GEMINI_CLI_TRUST_WORKSPACE" in project.run("hooks", "install", "--host", "gemini", env=on_path).out
    assert "--commands" in project.run("hooks", "install", env=on_path).out
    assert "install again" in project.run("hooks", "install").out, "a path that others don't have"


@pytest.mark.parametrize("where", ["~", ".claude/settings.json"])
def test_the_plugin_and_the_hooks_together_are_warned_of(project, where):
    path = project.home / ".claude/settings.json" if where == "~" else project.path / where
    put(path, b'{"enabledPlugins": {"ralph@ralph": true}}')
    result = project.run("hooks", "install")
    assert result.code == 0 and "plugin" in result.err and "twice" in result.err, result


def test_hooks_of_the_project_and_the_user_that_would_both_run_are_warned_of(project, on_path):
    for host, arguments, twice in [("claude", {"env": on_path}, False), ("codex", {"env": on_path}, True), ("gemini", {}, True)]:
        assert project.run("hooks", "install", "--host", host, env=on_path).err == ""
        result = project.run("hooks", "install", "--host", host, "--user", **arguments)
        assert result.code == 0 and ("twice" in result.err) is twice, result


@pytest.mark.parametrize("host", HOSTS)
def test_in_the_home_folder_project_and_user_are_one_file(project, on_path, host):
    for scope in ["--project", "--user"]:
        result = project.run("hooks", "install", "--host", host, scope, env=on_path, cwd=project.home)
        assert result.code == 0 and result.err == "", result


# What can't be done changes nothing


@pytest.mark.parametrize("text, place", [
    (b"", "settings.json:1:1"), (b"{\n  // mine\n}", "settings.json:2:3"), (b'{"a": 1,}', "settings.json:1:8"),
    (b"[]", "settings.json:1:1"), (b'{"hooks": []}', "settings.json:1:11"), (b'{"hooks": {"Stop": 1}}', "settings.json:1:20"),
    (b'{"env": []}', "settings.json:1:9"), (b"\xff", "settings.json:1:1")])
def test_what_is_not_json_is_refused_with_its_place(project, text, place):
    put(project.path / ".claude/settings.json", text)
    for verb in ["install", "uninstall"]:
        result = project.run("hooks", verb)
        assert result.code == 2 and f".claude/{place}: " in result.err and result.out == "", result
        assert files_below(project.path) == {".claude/settings.json": text}


def test_links_are_refused_in_a_project_and_followed_at_home(project):
    target = put(project.base / "dotfiles/claude.json", MINE)
    for link in [".claude", ".claude/settings.json"]:
        path = project.path / link
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(target.parent if link == ".claude" else target)
        result = project.run("hooks", "install", "--commands")
        assert result.code == 2 and "symbolic link" in result.err and str(path) in result.err, result
        assert path.is_symlink() and files_below(target.parent) == {"claude.json": MINE}
        path.unlink()
    link = project.home / ".claude/settings.json"
    link.parent.mkdir()
    link.symlink_to(target)
    assert project.run("hooks", "install", "--user").code == 0
    assert link.is_symlink() and len(calls(target)["Stop"]) == 2
    assert len(backups(link)) == 1 and os.listdir(target.parent) == ["claude.json"]
    assert project.run("hooks", "uninstall", "--user").code == 0
    assert link.is_symlink() and target.read_bytes() == MINE and os.listdir(link.parent) == ["settings.json"]
    target.unlink()
    result = project.run("hooks", "install", "--user")
    assert result.code == 2 and "leads nowhere" in result.err, result


def test_commands_are_not_written_through_a_link_in_a_project(project):
    (project.base / "elsewhere").mkdir()
    (project.path / ".claude").mkdir()
    (project.path / ".claude/commands").symlink_to(project.base / "elsewhere")
    result = project.run("hooks", "install", "--commands")
    assert result.code == 2 and "symbolic link" in result.err, result
    assert os.listdir(project.base / "elsewhere") == [] and os.listdir(project.path / ".claude") == ["commands"]


def test_what_is_no_file_or_no_folder_is_refused(project):
    (project.path / ".claude").write_text("mine")
    result = project.run("hooks", "install")
    assert result.code == 2 and str(project.path / ".claude") in result.err, result
    (project.path / ".codex/hooks.json").mkdir(parents=True)
    result = project.run("hooks", "install", "--host", "codex")
    assert result.code == 2 and "is not a file" in result.err, result
    (project.path / ".gemini").mkdir()
    os.mkfifo(project.path / ".gemini/settings.json")
    result = project.run("hooks", "install", "--host", "gemini")
    assert result.code == 2 and "is not a file" in result.err, result


@pytest.fixture
def as_nobody(project):
    return ordinary_user(project)


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(project, as_nobody):
    result = project.run("hooks", "install", **as_nobody)
    assert result.code == 2 and str(project.path / ".claude") in result.err and "ermission" in result.err, result
    assert os.listdir(project.path) == []
    path = put(project.path / ".claude/settings.json", MINE)
    result = project.run("hooks", "install", **as_nobody)
    assert result.code == 2 and str(path.parent) in result.err and "ermission" in result.err, result
    assert files_below(project.path) == {".claude/settings.json": MINE}


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(project, as_nobody):
    path = put(project.path / ".claude/settings.json", MINE)
    path.chmod(0o600)
    os.chown(path.parent, NOBODY, NOBODY)
    for verb in ["install", "uninstall"]:
        result = project.run("hooks", verb, **as_nobody)
        assert result.code == 2 and str(path) in result.err and "ermission" in result.err, result
    assert files_below(project.path) == {".claude/settings.json": MINE}


def test_without_a_home_only_the_project_can_be_meant(project):
    result = project.run("hooks", "install", "--user", env={"HOME": ""})
    assert result.code == 2 and "HOME" in result.err, result
    assert project.run("hooks", "install", env={"HOME": ""}).code == 0


def test_many_at_once_end_in_one_installation(project):
    path = put(project.path / ".claude/settings.json", MINE)
    for _ in range(3):
        for running in [project.start("hooks", "install") for _ in range(8)]:
            result = running.wait()
            assert result.code == 0, result
        assert len(calls(path)["Stop"]) == 2 and len(backups(path)) == 1
        for running in [project.start("hooks", "uninstall") for _ in range(8)]:
            assert running.wait().code == 0
        assert files_below(project.path) == {".claude/settings.json": MINE}


def test_mistyped_words_are_explained(project):
    for arguments, words in [(["--host", "claud"], ["claude"]), (["--usr"], ["--user"]), (["x"], ["x"]),
                             (["--project", "--user"], ["--project", "--user"])]:
        for verb in ["install", "uninstall"]:
            result = project.run("hooks", verb, *arguments)
            assert result.code == 2 and all(word in result.err for word in words), result
    assert everything(project) == {}


# ralph doctor


def findings(project, **how):
    if not (project.ralph / "settings.json").exists():
        project.agent_script("echo")  # without an agent, doctor's exit code says that nothing can run
    result = project.run("doctor", "--json", **how)
    found = json.loads(result.out)["findings"]
    return result.code, [f for f in found if f["what"].split()[0] in ("hooks", "plugin", "commands", "block")]


def health(found, word):
    """The health of the findings whose words have this one."""
    return [f["health"] for f in found if word in json.dumps(f, ensure_ascii=False)]


def test_doctor_says_that_there_are_none(project):
    code, found = findings(project)
    assert code == 0 and [f["health"] for f in found] == ["note"] and "ralph hooks install" in found[0]["fix"]


def test_doctor_is_content_with_what_install_did(project, on_path):
    assert project.run("hooks", "install", "--commands", env=on_path).code == 0
    code, found = findings(project, env=on_path)
    assert code == 0 and [f["health"] for f in found] == ["ok", "ok"], found
    assert "/ralph-loop" in found[1]["detail"]


@pytest.mark.parametrize("host", ["codex", "gemini"])
def test_doctor_says_what_it_cannot_know(project, on_path, host):
    assert project.run("hooks", "install", "--host", host, env=on_path).code == 0
    code, found = findings(project, env=on_path)
    assert code == 0 and [f["health"] for f in found] == ["ok", "note"] and "trust" in found[1]["detail"], found


def test_doctor_finds_each_fault(project, on_path):
    path = project.path / ".claude/settings.json"
    assert project.run("hooks", "install", env=on_path).code == 0
    good = json.loads(path.read_text())

    def changed(change):
        settings = json.loads(json.dumps(good))
        change(settings)
        path.write_text(json.dumps(settings))
        return findings(project, env=on_path)

    def hook(settings, event):
        return settings["hooks"][event][0]["hooks"][0]

    code, found = changed(lambda s: s["hooks"].pop("Stop"))
    assert code == 2 and health(found, "nothing for Stop") == ["problem"], found
    code, found = changed(lambda s: hook(s, "Stop").update(command="/nowhere/ralph hooks stop"))
    assert code == 2 and health(found, "/nowhere/ralph does not exist") == ["problem"], found
    code, found = changed(lambda s: hook(s, "Stop").update(timeout=1))
    assert code == 0 and health(found, "time-out of Stop") == ["note"], found
    code, found = changed(lambda s: (s["hooks"]["PostToolUse"][0].update(matcher="Bash"),
                                     hook(s, "PostToolUse").update(command="ralph hooks context-monitor")))
    assert code == 0 and health(found, "PostToolUse is for Bash only") == ["note"], found
    assert ["by hand" in f["fix"] for f in found if "Bash only" in f["detail"]] == [True], "install leaves the matcher"
    code, found = changed(lambda s: s.update(env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1000"}))
    assert code == 0 and health(found, "the only limit on /goal") == ["note"], found
    assert "ralph hooks install undoes" in [f["fix"] for f in found if f["what"] == "block cap"][0], found
    code, found = changed(lambda s: s.update(enabledPlugins={"ralph@ralph": True}))
    assert code == 2 and health(found, "each hook runs twice") == ["problem"], found
    other = project.script("echo ralph 0.0.1", "ralph")
    code, found = changed(lambda s: hook(s, "Stop").update(command=f"{shlex.quote(str(other))} hooks stop"))
    assert code == 0 and health(found, "ralph 0.0.1") == ["note"], found
    path.write_text("{")
    code, found = findings(project, env=on_path)
    assert health(found, ".claude/settings.json:1:2") == ["note"], found


def test_doctor_knows_the_plugin(project, on_path):
    put(project.home / ".claude/settings.json", b'{"enabledPlugins": {"ralph@ralph": true}}')
    code, found = findings(project, env=on_path)
    assert code == 0 and health(found, "switched on") == ["ok"] and health(found, "the only limit on /goal") == [], found
    assert "has its own /goal" in project.run("doctor", env=on_path).out
    for cap in ("0", "9"):
        code, found = findings(project, env={**on_path, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap})
        assert code == 0 and health(found, "is raised in the environment") == ["note"], found
    code, found = findings(project)
    assert code == 2 and health(found, "not on PATH") == ["problem"], found


def test_doctor_sees_hooks_that_run_twice(project, on_path):
    for scope in ["--user", "--project"]:
        assert project.run("hooks", "install", scope, env=on_path).code == 0
    assert health(findings(project, env=on_path)[1], "twice") == []
    assert project.run("hooks", "install", "--user").code == 0  # by another name
    code, found = findings(project, env=on_path)
    assert code == 2 and health(found, "twice") == ["problem"], found


# ---- a host whose hooks are a program in a file of ralph's own

OWN = ".opencode/plugin/ralph.js"


def own(project, *arguments, **how):
    return project.run("hooks", *arguments, "--host", "opencode", **how)


def test_a_program_of_hooks_is_written_once_and_removed_without_a_trace(project, on_path):
    before = files_below(project.path)
    assert f"Would change {OWN}" in own(project, "install", "--dry-run", env=on_path).out
    assert files_below(project.path) == before
    result = own(project, "install", env=on_path)
    assert result.code == 0 and "+ session.idle" in result.out and "ralph loop run" in result.out, result
    text = (project.path / OWN).read_text()
    assert 'const RALPH = "ralph"\n' in text
    assert own(project, "install", env=on_path).out.startswith("Nothing to do")
    result = own(project, "install")  # another ralph: this one, by its path
    assert "~ session.idle" in result.out and f'const RALPH = "{RALPH}"\n' in (project.path / OWN).read_text(), result
    assert own(project, "uninstall").code == 0
    assert files_below(project.path) == before and not (project.path / ".opencode").exists()
    assert own(project, "uninstall").out.startswith("Nothing to do")


def test_a_program_of_hooks_of_the_user_is_where_its_host_looks(project, tmp_path):
    assert own(project, "install", "--user").code == 0
    assert (project.home / ".config/opencode/plugin/ralph.js").exists()
    assert own(project, "install", "--user", env={"XDG_CONFIG_HOME": str(tmp_path / "else")}).code == 0
    assert (tmp_path / "else/opencode/plugin/ralph.js").exists()
    assert own(project, "uninstall", "--user").code == 0
    assert not (project.home / ".config/opencode/plugin/ralph.js").exists()


def test_somebody_elses_program_is_left_alone(project):
    path = put(project.path / OWN, b"export const Ralph = () => ({})\n")
    result = own(project, "install")
    assert result.code == 2 and OWN in result.err and "not ralph's" in result.err, result
    assert own(project, "uninstall").out.startswith("Nothing to do")
    assert path.read_bytes() == b"export const Ralph = () => ({})\n"


def test_no_program_is_written_through_a_link_of_the_project(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project.path / ".opencode").symlink_to(tmp_path / "elsewhere")
    result = own(project, "install")
    assert result.code == 2 and "symbolic link" in result.err, result
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_doctor_looks_after_a_program_of_hooks(project, on_path):
    own(project, "install", env=on_path)
    code, found = findings(project, env=on_path)
    assert code == 0 and health(found, f"{OWN}: 6 events call ralph") == ["ok"], found
    path = project.path / OWN
    text = path.read_text()
    path.write_text(text + "// more\n")
    code, found = findings(project, env=on_path)
    assert health(found, "not what this ralph writes") == ["note"], found
    path.write_text(text.replace('"ralph"', '"/nowhere/ralph"', 1))
    code, found = findings(project, env=on_path)
    assert code == 2 and health(found, "/nowhere/ralph does not exist") == ["problem"], found
    own(project, "install", env=on_path)
    own(project, "install", "--user", env=on_path)
    code, found = findings(project, env=on_path)
    assert code == 2 and health(found, "each hook runs twice") == ["problem"], found
