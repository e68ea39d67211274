"""Supervised tasks in a sandbox: what an attempt sees of its task, what it can't touch, and child runs in the same sandbox."""
import shutil

import pytest

from sandbox_support import NEEDS_SANDBOX
from support import RALPH, wait_until
from task_support import Tasks

pytestmark = NEEDS_SANDBOX
DONE = '"$RALPH_HERE" task done'


def tasks_of(someone, root=None):
    return Tasks(someone, root)


def run(tasks, script, *options, **more):
    return tasks.run(f"RALPH_HERE={str(RALPH)!r}; {script}", "--sandbox", "--max-restarts", "1", *options, **more)


def out_of(tasks, n=0, task="t"):
    info = tasks.infos(task)[n]
    return (tasks.folder(task) / "runs" / info["run_id"] / "agent-stdout.txt").read_text()


def test_an_attempt_has_its_task_its_bus_and_its_jobs(someone):
    tasks = tasks_of(someone)
    (someone.home / "secret").write_text("hidden")
    result = run(tasks, '''
        cat ~/secret; echo x > ../escaped; echo "in $RALPH_SANDBOX" > where
        "$RALPH_HERE" bus post --type FACT --body "from inside"
        "$RALPH_HERE" bus post --bus "$TASK_FOLDER/../PROJECT-MESSAGE-BUS.md" --type FACT --body "for all"
        "$RALPH_HERE" job -- sh -c 'echo "child in $RALPH_SANDBOX"; cat ~/secret; echo x > ../escaped; "$0" job -- sh -c "echo grandchild; exit 7"; exit $?' "$RALPH_HERE"
        echo "code $?"
        test -d "$RUN_FOLDER" && "$RALPH_HERE" task done''')
    assert result.code == 0, result
    assert (someone.path / "where").read_text() == "in bubblewrap\n" and not (someone.base / "escaped").exists()
    out = out_of(tasks)
    assert "child in bubblewrap" in out and "grandchild" in out and "code 7" in out and "hidden" not in out
    assert [m["body"] for m in tasks.bus() if m["type"] == "FACT"][0] == "from inside"
    assert "for all" in [m["body"] for m in tasks.bus(path=tasks.root / "p/PROJECT-MESSAGE-BUS.md")]
    assert tasks.records("sandbox_noted")[0]["inForce"].startswith("bubblewrap; network allowlist")
    infos = tasks.infos()
    assert [i["status"] for i in infos] == ["completed", "failed", "failed"], infos
    child = tasks.folder() / "runs" / infos[1]["run_id"]
    assert '"sandbox_noted"' in (child / "journal.jsonl").read_text()
    someone.nothing_left()


def test_what_the_supervisor_believes_can_not_be_written(someone):
    tasks = tasks_of(someone)
    assert tasks.run(': > "$TASK_FOLDER/DONE"', task="other").code == 0
    result = run(tasks, '''
        cd "$TASK_FOLDER"
        for f in journal.jsonl supervisor.lock task.yaml egress.jsonl runs/*/run-info.yaml; do
          echo forged >> "$f"; rm -f "$f"; mv "$f" gone
        done
        mv runs gone; mkdir runs/x; mv "$TASK_FOLDER" "$TASK_FOLDER-gone"
        ls ..; cat ../other/journal.jsonl; echo x > ../other/STOP-REQUESTED
        echo mine > notes; ''' + DONE, "--restart-delay", "10ms")
    assert result.code == 0, result
    assert (tasks.folder() / "notes").read_text() == "mine\n" and not (tasks.folder() / "runs/x").exists()
    for name in ("journal.jsonl", "supervisor.lock", "task.yaml", "egress.jsonl", "runs/" + tasks.infos()[0]["run_id"] + "/run-info.yaml"):
        assert "forged" not in (tasks.folder() / name).read_text().splitlines(), name
    info, = tasks.infos()
    assert info["status"] == "completed" and "forged" not in info.get("error_summary", "")
    assert not (tasks.folder("other") / "STOP-REQUESTED").exists()
    assert "run_started" not in out_of(tasks)  # other tasks are not seen at all
    assert tasks.status()["status"] == "completed"


def test_tasks_in_the_project_are_read_only_and_so_are_those_it_depends_on(someone):
    tasks = tasks_of(someone, someone.path / "tasks")
    assert tasks.run('echo result > "$TASK_FOLDER/result"; : > "$TASK_FOLDER/DONE"', task="first").code == 0
    for root in (tasks, tasks_of(someone)):
        if root is not tasks:
            assert root.run('echo result > "$TASK_FOLDER/result"; : > "$TASK_FOLDER/DONE"', task="first").code == 0
        result = run(root, 'cat "$TASK_FOLDER/../first/result"; echo forged > "$TASK_FOLDER/../first/result"; : > made; ' + DONE,
                     "--depends-on", "first")
        assert result.code == 0, result
        assert out_of(root).startswith("result\n") and (root.folder("first") / "result").read_text() == "result\n"
        assert (someone.path / "made").exists()


@pytest.mark.parametrize("where", ["root", "task"])
def test_a_project_around_or_in_the_task(project, where):
    """The project is the root itself, or the task's own folder: both stay what they are."""
    tasks = tasks_of(project, project.path if where == "root" else None)
    folder = tasks.folder()
    folder.mkdir(parents=True)
    result = tasks.run(f': > made; echo forged >> "$TASK_FOLDER/journal.jsonl"; {str(RALPH)!r} task done', "--sandbox", "--max-restarts", "1",
                       cwd=folder if where == "task" else project.path)
    assert result.code == 0, result
    assert ((folder if where == "task" else project.path) / "made").exists()
    assert "forged" not in (folder / "journal.jsonl").read_text().splitlines()


def test_a_child_run_can_not_choose_its_sandbox(project):
    """The process of a child run is outside: neither the folder, the environment nor a file that is named may open the sandbox."""
    tasks = tasks_of(project)
    (project.home / "secret").write_text("hidden")
    project.agent_script("cat ~/secret")
    result = run(tasks, f'''
        mkdir -p own/.ralph bin conf/ralph
        echo '{{"sandbox": {{"mode": "off", "writable": ["{project.home}"]}}}}' | tee own/.ralph/settings.json > conf/ralph/settings.json
        printf '#!/bin/sh\\ncat {project.home}/secret\\nexec "$@"\\n' > bin/bwrap; chmod +x bin/bwrap
        export XDG_CONFIG_HOME="$PWD/conf" PATH="$PWD/bin:$PATH" RALPH_TRUST=1
        (cd own && "$RALPH_HERE" job -- cat {project.home}/secret)
        "$RALPH_HERE" job -- cat {project.home}/secret
        "$RALPH_HERE" job --agent {project.home}/secret -p x; echo "code $?"
        python3 - <<'PY'
import array, json, os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(os.environ["RALPH_JOB_SOCKET"])
fd = os.memfd_create("r"); os.write(fd, json.dumps(dict(v=1, parent=os.environ["RALPH_ATTEMPT_ID"], words=["sh", "-c", "cat secret; echo x > escaped"],
    agent="", prompt="", folder="{project.home}", environment=[k + "=" + v for k, v in os.environ.items()])).encode())
s.sendmsg([b"job 1"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]); s.recv(4096); print("raw", s.recv(4096))
PY
        {DONE}''')
    assert result.code == 0, result
    for path in tasks.folder().glob("runs/*/agent-std*.txt"):
        assert "hidden" not in path.read_text(), path
    assert "hidden" not in result.text and not (project.home / "escaped").exists()
    assert "code 2" in out_of(tasks) and "raw" in out_of(tasks)
    summaries = " ".join(i["error_summary"] for i in tasks.infos())
    assert "neither in the project nor in the task's folder" in summaries, tasks.infos()


def test_child_runs_know_the_agents_of_the_settings_only(project):
    tasks = tasks_of(project)
    for name in ("main", "helper", "stranger"):
        (project.base / name).write_text(f"#!/bin/sh\necho 'I am {name}'\n")
        (project.base / name).chmod(0o755)
    project.settings({"agent": {"command": str(project.base / "main")},
                      "agents": {"helper": {"command": str(project.base / "helper")}}})
    result = run(tasks, f'''"$RALPH_HERE" job --agent helper -p x; "$RALPH_HERE" job --agent {project.base}/stranger -p x; echo "code $?"; {DONE}''')
    assert result.code == 0, result
    assert "I am helper" in out_of(tasks) and "I am stranger" not in out_of(tasks) and "code 2" in out_of(tasks)
    assert "is not an agent of this task" in tasks.infos()[2]["error_summary"]


def test_limits_are_those_of_a_task_and_its_child_runs_together(project):
    """Where there is a cgroup. Without one each sandbox counts its own, which docs/sandbox.md says."""
    tasks = tasks_of(project)
    project.settings({"sandbox": {"processes": 60}})
    (project.path / "forks.py").write_text(
        "import os, signal, sys, time\nkids = []\ntry:\n    while len(kids) < 40:\n        kids.append(os.fork())\n        if not kids[-1]: time.sleep(600)\n"
        "except OSError: print('refused')\nelse: print('all')\nopen(sys.argv[1], 'w').close()\n"
        "while not os.path.exists('over'): time.sleep(0.05)\nfor kid in kids: os.kill(kid, signal.SIGKILL)\n")
    job = '"$RALPH_HERE" job --detach -- python3 forks.py'
    result = run(tasks, f"{job} one; {job} two; until [ -e one ] && [ -e two ]; do sleep 0.05; done; : > over; {DONE}")
    noted = tasks.records("sandbox_noted")[0]["inForce"]
    if "processes 60 (cgroup)" not in noted:
        pytest.skip(noted)
    assert result.code == 0, result
    said = [(tasks.folder() / "runs" / info["run_id"] / "agent-stdout.txt").read_text() for info in tasks.infos()[1:]]
    assert len(said) == 2 and any("refused" in text for text in said), said
    child = (tasks.folder() / "runs" / tasks.infos()[1]["run_id"] / "journal.jsonl").read_text()
    assert "processes 60 (cgroup, with its task)" in child


def test_the_way_out_is_one_for_the_task_and_its_child_runs(project):
    tasks = tasks_of(project)
    get = "import urllib.request as u, urllib.error\ntry: print(u.urlopen('http://NAME.example/').status)\nexcept urllib.error.HTTPError as e: print(e.code)"
    result = run(tasks, f'''python3 -c "{get.replace("NAME", "own")}"; "$RALPH_HERE" job -- python3 -c "{get.replace("NAME", "child")}"; {DONE}''')
    assert result.code == 0 and out_of(tasks).split()[:2] == ["403", "403"], result
    blocked = " ".join(line for r in tasks.records("sandbox_noted") for line in r.get("blocked", []))
    assert "own.example:80" in blocked and "child.example:80" in blocked
    assert 'add "own.example" to sandbox.hosts' in result.out


def test_sandbox_mode_of_the_settings_holds_and_auto_says_what_is_missing(project):
    tasks = tasks_of(project)
    project.settings({"sandbox": {"mode": "on"}})
    assert tasks.run('echo "$RALPH_SANDBOX" > in; : > "$TASK_FOLDER/DONE"', "--max-restarts", "1").code == 0
    assert (project.path / "in").read_text() == "bubblewrap\n"
    assert tasks.run('echo "$RALPH_SANDBOX" > in; : > "$TASK_FOLDER/DONE"', "--no-sandbox", task="u").code == 0
    assert (project.path / "in").read_text() == "\n"
    folder = project.base / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to(shutil.which("sh"))
    bare = {"PATH": folder}
    result = tasks.run(': > "$TASK_FOLDER/DONE"', task="v", env=bare)
    assert result.code == 2 and "there is no sandbox" in result.err and not tasks.folder("v").exists(), result
    project.settings({"sandbox": {"mode": "auto"}})
    result = tasks.run(': > "$TASK_FOLDER/DONE"', task="v", env=bare)
    assert result.code == 0 and "No sandbox" in result.err and "directly" in result.err, result


def test_a_killed_supervisor_leaves_nothing_of_its_sandbox(project):
    tasks = tasks_of(project)
    running = tasks.start(f"{str(RALPH)!r} job --detach -- sleep 1000; : > started; sleep 1000", "--sandbox")
    wait_until(lambda: (project.path / "started").exists() and len(tasks.infos()) == 2)
    running.process.kill()
    running.wait()
    project.nothing_left()
    wait_until(lambda: tasks.status()["status"] == "failed")
    assert [i["status"] for i in tasks.infos()] == ["failed", "failed"]


def test_a_long_path_has_its_socket_elsewhere_and_it_is_reached(project):
    tasks = tasks_of(project, project.base / ("long-" * 25) / "tasks")
    result = run(tasks, f'"$RALPH_HERE" job -- echo child; {DONE}')
    assert result.code == 0 and "child" in out_of(tasks), result


def test_a_task_that_is_taken_up_again_keeps_its_own_way_out(project):
    """403 is the proxy's answer: without a proxy there is none."""
    tasks = tasks_of(project)
    get = "import urllib.request as u, urllib.error\ntry: u.urlopen('http://own.example/')\nexcept urllib.error.HTTPError as e: print('answer', e.code)"
    assert run(tasks, f'python3 -c "{get}"').code == 1
    again = run(tasks, f'python3 -c "{get}"; {DONE}')
    assert again.code == 0 and "left behind" not in again.out, again
    assert "answer 403" in out_of(tasks, 0) and "answer 403" in out_of(tasks, 1)
