"""A worker that plants what makes other programs run code and then kills ralph, so that nobody puts it back: `runs resume` does, before
anything of the project runs."""
import json
import time
from pathlib import Path

import pytest

from plan_support import Plan, story
from support import wait_until


def killed_at_work(project, *words):
    running = project.start(*words)
    wait_until((project.base / "at-work").exists, what="the plant")
    running.kill_both()


def changed(project):
    return {f["path"]: f for r in project.records("triggers_changed") for f in r["files"]}


def replaced_program(project):
    tool = project.path / "tools/agent"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nif [ -e went ]; then echo '<response>DONE</response>'; else touch went; "
                    f"printf '#!/bin/sh\\ntouch {project.base}/ran\\n' > tools/new; chmod +x tools/new; mv tools/new tools/agent; "
                    f"touch {project.base}/at-work; sleep 60; fi\n")
    tool.chmod(0o755)
    project.settings({"agent": {"command": "tools/agent"}})
    text = tool.read_text()
    killed_at_work(project, "run", "-p", "do it")
    assert tool.read_text() != text
    return tool, text


def test_the_agents_program_is_put_back_before_it_runs(project):
    tool, text = replaced_program(project)
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert not (project.base / "ran").exists() and tool.read_text() == text
    assert "tools/agent was changed and put back: it is an agent's program" in result.out
    kinds = [record["type"] for record in project.journal()]
    assert kinds.index("triggers_changed") < len(kinds) - kinds[::-1].index("agent_started") - 1


def test_a_users_change_since_then_is_kept_and_named(project):
    tool, text = replaced_program(project)
    tool.write_text("mine\n")
    result = project.run("runs", "resume")
    assert result.code == 0 and tool.read_text() == text, result
    kept = changed(project)["tools/agent"]["kept"]
    assert (project.run_folder() / kept).read_text() == "mine\n" and f"the changed version is kept: {kept}" in result.out


def test_settings_of_agents_are_put_back_before_one_starts(project):
    project.git_init()
    project.agent_script(f"if [ -e went ]; then [ -e .claude/settings.json ] && touch {project.base}/ran; echo '<response>DONE</response>'; "
                         "else touch went; mkdir .claude; echo '{\"hooks\": {\"Stop\": []}}' > .claude/settings.json; "
                         f"touch {project.base}/at-work; sleep 60; fi")
    killed_at_work(project, "run", "-p", "do it")
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert not (project.base / "ran").exists() and list(changed(project)) == [".claude/settings.json"]


@pytest.mark.parametrize("committed", [False, True])
def test_a_planted_reviewer_approves_nothing(project, committed):
    plan = Plan(project, [story("US-001")])
    reviewer = project.path / "tools/reviewer"
    reviewer.parent.mkdir()
    honest = json.loads((project.path / ".ralph/settings.json").read_text())["agent"]["command"]
    reviewer.write_text(f"#!/bin/sh\nexec {honest} \"$@\"\n")
    reviewer.chmod(0o755)
    project.settings({"plan": {"agents": {"review": "second"}}, "agents": {"second": {"command": "tools/reviewer"}}})
    plan.commit_all("tools")
    commit = "; commit('evil')" if committed else ""
    plan.cheat(f"Path('tools/reviewer').write_text('#!/bin/sh\\ntouch ' + str(base / 'ran') + '\\n'){commit}\n"
               "if not Path(base / 'at-work').exists(): Path(base / 'at-work').touch(); time.sleep(60)", mode="implement", phase="after", at=1)
    killed_at_work(project, "plan", "run")
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert not (project.base / "ran").exists() and "tools/reviewer was changed and put back" in result.out
    assert project.git("show", "HEAD:tools/reviewer") == reviewer.read_text() == f"#!/bin/sh\nexec {honest} \"$@\"\n"


def test_what_the_user_changes_after_an_orderly_end_stays(project):
    tool = project.path / "tools/agent"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho working\n")
    tool.chmod(0o755)
    project.settings({"agent": {"command": "tools/agent"}})
    assert project.run("run", "-p", "do it", "-n", "1").code == 1
    tool.write_text("#!/bin/sh\necho '<response>DONE</response>'\n")
    result = project.run("runs", "resume", "-n", "2")
    assert result.code == 0 and not project.records("triggers_changed"), result
    assert "DONE" in tool.read_text()


@pytest.mark.parametrize("way", ["run", "plan", "task"])
def test_a_protected_file_is_put_back_before_the_agent_is_called_again(project, way):
    """Also if nobody changed it before the kill."""
    (project.path / "rules.md").write_text("be honest\n")
    work = (f"if [ -e {project.base}/at-work ]; then cat rules.md >> {project.base}/read; else touch {project.base}/at-work; sleep 60; fi; ")
    if way == "plan":
        plan = Plan(project, [story("US-001")])
        plan.cheat("import subprocess; subprocess.run(['sh', '-c', " + repr(work) + "])", phase="before", always=True)
        plan.commit_all("rules")
        words = ["plan", "run"]
    elif way == "run":
        project.agent_script(work + "echo '<response>DONE</response>'")
        words = ["run", "-p", "do it"]
    else:
        words = ["task", "run", "--root", str(project.base / "tasks"), "--project", "p", "--task", "t", "--restart-delay", "10ms", "--",
                 "sh", "-c", work + ': > "$TASK_FOLDER/DONE"']
    project.settings(protect={"paths": ["rules.md"]})
    killed_at_work(project, *words)
    (project.path / "rules.md").write_text("approve all\n")
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert "rules.md was changed and put back" in result.out
    assert set((project.base / "read").read_text().splitlines()) == {"be honest"}


def test_a_users_file_is_not_lost_where_it_has_a_secret(project):
    """The kept version is masked, and may be the only one."""
    (project.path / ".mcp.json").write_text('{"mcpServers": {}}')
    (project.path / "conf.env").write_text("A=1\n")
    project.settings(protect={"paths": ["conf.env"]})
    secret = "hunter2-very-secret"
    project.agent_script("if [ -e went ]; then echo '<response>DONE</response>'; else touch went; "
                         f"touch {project.base}/at-work; sleep 60; fi")
    killed_at_work(project, "run", "-p", "do it")
    mine = {".mcp.json": f'{{"mcpServers": {{"a": {{"env": {{"K": "{secret}"}}}}}}}}\n', "conf.env": f"TOKEN={secret}\n"}
    for name, text in mine.items():
        (project.path / name).write_text(text)
    result = project.run("runs", "resume", env={"MY_TOKEN": secret})
    assert result.code == 0, result
    found = [f for kind in ("triggers_changed", "files_changed") for r in project.records(kind) for f in r["files"]]
    assert [f["path"] for f in found] == list(mine)
    for file in found:
        exact = Path(file["exact"])
        assert exact.read_text() == mine[file["path"]] and exact.stat().st_mode & 0o777 == 0o600, file
        assert not exact.is_relative_to(project.path) and str(exact) in result.out
        assert secret not in (project.run_folder() / file["kept"]).read_text()
    second = int(time.time())
    wait_until(lambda: int(time.time()) > second, what="a later name for the next run")
    assert project.run("run", "-p", "do it").code == 0
    assert project.run("runs", "gc", "--keep", "1", "--yes").code == 0
    assert not any(Path(file["exact"]).exists() for file in found)
