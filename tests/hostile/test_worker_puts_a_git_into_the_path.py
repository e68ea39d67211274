"""A worker puts a program called git into a folder of PATH that its user may write to, before the real one: none of ralph's own calls, and
none of the SCM tasks, starts it."""
import pytest

from plan_support import Plan, story

EVIL = """#!/bin/sh
[ -n "$BY_AGENT" ] || touch {owned}
exec /usr/bin/git "$@"
"""


def folder_of_path(project):
    (project.base / "bin").mkdir()
    (project.base / "evil-git").write_text(EVIL.format(owned=project.base / "owned"))
    return {"PATH": f"{project.base}/bin:/usr/bin:/bin"}


@pytest.mark.parametrize("tasks", [["commit"], ["commit", "push"]], ids=" ".join)
def test_scm_tasks_do_not_start_it(project, tasks):
    project.git_init()
    environment = folder_of_path(project)
    project.git("init", "-q", "--bare", str(project.base / "remote.git"))
    project.git("remote", "add", "origin", str(project.base / "remote.git"))
    project.git("push", "-q", "-u", "origin", "HEAD")
    project.settings(scm={"command": "git", "tasks": tasks})
    project.agent_script(f"cp {project.base}/evil-git {project.base}/bin/git; chmod +x {project.base}/bin/git; echo x >> work; "
                         "echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", env=environment)
    assert result.code == 0, result
    assert (project.base / "bin/git").exists() and not (project.base / "owned").exists()
    assert "A message" in project.git("log", "--format=%s") or "DONE" in project.git("log", "--format=%s")


def test_a_plan_does_not(project):
    plan = Plan(project, [story("US-001")])
    environment = folder_of_path(project)
    plan.cheat("os.environ['BY_AGENT'] = '1'", phase="before", always=True)
    plan.cheat("import shutil; shutil.copy(base / 'evil-git', base / 'bin/git'); (base / 'bin/git').chmod(0o755)", mode="implement", phase="after")
    plan.completes(env=environment)
    assert not (project.base / "owned").exists()


def test_another_source_control_is_looked_up_once_too(project):
    environment = folder_of_path(project)
    (project.base / "late").mkdir()
    environment["PATH"] = f"{project.base}/bin:{project.base}/late:/usr/bin:/bin"
    control = project.base / "late/control"
    control.write_text(f"#!/bin/sh\necho mine >> {project.base}/calls\n")
    control.chmod(0o755)
    project.settings(scm={"command": "control", "tasks": ["sync"]})
    project.agent_script(f"printf '#!/bin/sh\\necho evil >> {project.base}/calls\\n' > {project.base}/bin/control; chmod +x {project.base}/bin/control; "
                         "echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", env=environment)
    assert result.code == 0 and (project.base / "calls").read_text() == "mine\n", result
