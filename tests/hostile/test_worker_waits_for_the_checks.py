"""A worker leaves a process that waits for the checks, or for the end of the iteration, and changes files then. It is ended with the
turn, whatever it did to get away; one that a check leaves is ended with the check."""
import pytest

from plan_support import Plan, story

WAITER = r'''
import os, subprocess, sys, time
def away(how):
    code = """
import os, time
end = time.monotonic() + 30
while time.monotonic() < end:
    if os.path.exists(%r):
        open('code.py', 'w').write('evil')
        open(%r, 'w').write('it lived')
        break
    time.sleep(0.002)
""" % (str(base / 'checks-run'), str(base / 'lived'))
    argv = [sys.executable, '-S', '-c', code]
    quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if how == 'setsid': subprocess.Popen(argv, start_new_session=True, **quiet)
    if how == 'twice forked':
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.chdir('/'); os.chdir(project); os.umask(0)
                for fd in range(3): os.close(fd); os.open('/dev/null', os.O_RDWR)
                os.execv(argv[0], argv)
            os._exit(0)
    if how == 'without its variables': subprocess.Popen(argv, start_new_session=True, env={}, **quiet)
    if how == 'deaf': subprocess.Popen(['sh', '-c', 'trap "" TERM INT HUP; exec "$@"', 'x', *argv], start_new_session=True, **quiet)
'''


@pytest.mark.parametrize("how", ["setsid", "twice forked", "without its variables", "deaf"])
def test_it_does_not_live_that_long(project, how):
    plan = Plan(project, [story("US-001")], verifyCommands=[f"touch '{project.base}/checks-run'; sleep 0.3; grep -q good code.py"])
    (project.path / "code.py").write_text("good\n")
    plan.commit_all("code")
    plan.cheat(WAITER + f"away({how!r})", mode="implement", phase="after")
    plan.completes()
    assert not (project.base / "lived").exists()
    assert (project.path / "code.py").read_text() == "good\n"


@pytest.mark.parametrize("how", ["( sleep 0.2; echo evil > code.py ) &", "setsid sh -c 'sleep 0.2; echo evil > code.py' &"])
def test_what_a_check_leaves_behind_changes_nothing_afterwards(project, how):
    project.git_init()
    (project.path / "code.py").write_text("good\n")
    project.guardrails(f"{how} grep -q good code.py", "sleep 0.4; grep -q good code.py")
    project.agent_script("echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    project.nothing_left()
    assert (project.path / "code.py").read_text() == "good\n"


def test_one_that_writes_after_the_iteration_has_ended(project):
    project.git_init()
    project.agent_script(f"(setsid sh -c 'while ! grep -q iteration_ended .ralph/runs/*/journal.jsonl; do sleep 0.01; done; touch {project.base}/lived' > /dev/null 2>&1 &)\n"
                         "echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    project.nothing_left()
    assert not (project.base / "lived").exists()
