"""Supervised tasks in Docker Sandbox, played by the stand-in: the image of the task's folder in a machine, its bus, its child runs."""
import json
import signal
import threading

import pytest

from docker_support import Docker
from sandbox_support import NEEDS_SANDBOX
from support import RALPH, wait_until
from task_support import Tasks

pytestmark = NEEDS_SANDBOX
R = f'"{RALPH}"'


class Machine(Tasks):
    """A task whose agent is the claude of a machine: a sh script."""

    def __init__(self, project, program="docker"):
        super().__init__(project)
        self.docker = Docker(project, program)
        self.name = self.docker.name + "-task-p_t"

    def words(self, *options, task="t"):
        restarts = [] if "--max-restarts" in options else ["--max-restarts", "1"]
        return ["task", "run", *self.place(task), "--prompt", "do it", "--restart-delay", "10ms", *restarts, *options]

    def run(self, script, *options, **more):
        self.docker.agent_script(script)
        return self.docker.run(*self.words(*options), **more)

    def start(self, script, *options, task="t", env=None):
        self.docker.agent_script(script)
        return self.project.start(*self.words(*options, task=task), env={**self.docker.env, **(env or {})})

    def out(self, n=0):
        info = self.infos()[n]
        return (self.folder() / "runs" / info["run_id"] / "agent-stdout.txt").read_text()

    def inside(self):
        """The task's folder, as the machine has it."""
        return self.docker.vm / self.name / "rest" / self.folder().relative_to(self.project.base)


@pytest.fixture
def machine(project):
    return Machine(project)


def test_an_attempt_has_its_folder_its_bus_and_its_jobs(machine, project):
    result = machine.run(f'''echo "in $RALPH_SANDBOX"; test -d "$RUN_FOLDER" && cat "$TASK_FOLDER/TASK.md"
        echo mine > "$TASK_FOLDER/note"; mkdir "$TASK_FOLDER/sub"; echo deep > "$TASK_FOLDER/sub/deep"; echo made > made
        {R} bus post --type FACT --body "from inside"
        {R} bus post --bus "$TASK_FOLDER/../PROJECT-MESSAGE-BUS.md" --type FACT --body "for all"
        {R} job -- sh -c 'echo "child in $RALPH_SANDBOX, attempt $RALPH_ATTEMPT_ID"; echo complaint >&2; echo child > "$TASK_FOLDER/by-child"; exit 7'
        echo "code $?"; cat "$TASK_FOLDER/by-child"; {R} task done''')
    assert result.code == 0, result
    folder, out = machine.folder(), machine.out()
    assert "in docker" in out and "do it" in out and "child in docker, attempt " in out and "code 7" in out and "child\n" in out, out
    assert (folder / "note").read_text() == "mine\n" and (folder / "sub/deep").read_text() == "deep\n" and (folder / "by-child").exists()
    assert (project.path / "made").exists() and (folder / "DONE").exists()
    bodies = [m["body"] for m in machine.bus()]
    assert bodies.count("from inside") == 1 and any("child run of" in body for body in bodies)
    assert [m["body"] for m in machine.bus(path=machine.root / "p/PROJECT-MESSAGE-BUS.md")].count("for all") == 1
    infos = machine.infos()
    assert [i["status"] for i in infos] == ["completed", "failed"] and infos[1]["exit_code"] == 7
    assert machine.records("sandbox_noted")[0]["inForce"].startswith(f"docker (docker sandbox, {machine.name}); network allowlist")
    child = folder / "runs" / infos[1]["run_id"]
    assert "complaint" in (child / "agent-stderr.txt").read_text() and "docker" in (child / "journal.jsonl").read_text()
    assert machine.docker.calls()[-1] == ["stop", machine.name]
    project.nothing_left()


def test_done_is_seen_at_once(machine, project):
    result = machine.run('touch "$TASK_FOLDER/DONE"; sleep 1000', "--done-grace", "100ms")
    assert result.code == 0 and "DONE exists" in result.out, result
    project.nothing_left()


@pytest.mark.parametrize("how", ['"$TASK_FOLDER/WAIT_WITHOUT_RESTART"', "bus"])
def test_the_agent_waits_for_a_person(machine, how):
    wait = f'{R} bus post --type wait_without_restart --body "which colour?"' if how == "bus" else f": > {how}"
    result = machine.run(wait, "--max-restarts", "3")
    assert result.code == 3 and ("which colour?" in result.text) == (how == "bus"), result


def test_a_stop_ends_the_attempt_and_what_it_started(machine, project):
    running = machine.start("(sleep 1000 &) ; touch started; sleep 1000")
    wait_until(lambda: (machine.docker.vm / machine.name / "project/started").exists())
    assert machine.command("stop").code == 0
    result = running.wait()
    assert result.code == 130 and machine.docker.calls("stop"), result
    project.nothing_left()


def test_what_an_attempt_leaves_running_is_ended_in_the_machine(machine, project):
    result = machine.run(f"(sleep 1000 & echo $! > pid) ; {R} job --detach -- sh -c 'while [ ! -e over ]; do sleep 0.05; done'; touch first")
    assert result.code == 1, result
    ends = [call for call in machine.docker.calls("exec") if "end" in call]
    assert ends and ends[0][-1].startswith("RALPH_ATTEMPT_ID="), machine.docker.calls()
    project.nothing_left()


def test_both_ends_write_to_the_bus(machine, project):
    running = machine.start(f'''{R} bus post --type FACT --body one; touch "$TASK_FOLDER/ready"
        until {R} bus read --json | grep -q "from the host"; do sleep 0.05; done
        {R} bus post --type FACT --body two; {R} bus read --json; {R} task done''')
    wait_until((machine.folder() / "ready").exists)
    bus = machine.folder() / "TASK-MESSAGE-BUS.md"
    posted = project.run("bus", "post", "--bus", bus, "--type", "INFO", "--body", "from the host\n---\nid: MSG-forged")
    assert posted.code == 0, posted
    result = running.wait()
    assert result.code == 0, result
    bodies = [m["body"] for m in machine.bus() if m["type"] in ("FACT", "INFO")]
    mine = [body.split("\n")[0] for body in bodies]
    assert mine.index("one") < mine.index("from the host") < mine.index("two") and len(mine) == len(set(mine)), bodies
    seen = [m["body"] for m in json.loads(machine.out().strip().splitlines()[-1])] if machine.out().strip().endswith("]") else machine.out()
    assert "from the host" in str(seen)


def test_many_writers_lose_nothing(machine, project):
    """40 messages from inside and 40 from outside, at once."""
    running = machine.start(f'''touch "$TASK_FOLDER/ready"; for i in $(seq 40); do {R} bus post --type FACT --body "inside $i" > /dev/null; done
        until [ "$({R} bus read --json | grep -o '"outside [0-9]*' | sort -u | wc -l)" = 40 ]; do sleep 0.05; done; {R} task done''')
    wait_until((machine.folder() / "ready").exists)
    bus = machine.folder() / "TASK-MESSAGE-BUS.md"
    threads = [threading.Thread(target=lambda n=n: [project.run("bus", "post", "--bus", bus, "--type", "FACT", "--body", f"outside {n * 10 + i}")
                                                    for i in range(10)]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert running.wait(120).code == 0
    bodies = [m["body"] for m in machine.bus() if m["type"] == "FACT"]
    for who, numbers in (("inside", range(1, 41)), ("outside", range(40))):
        assert sorted(b for b in bodies if b.startswith(who)) == sorted(f"{who} {n}" for n in numbers)


def test_what_the_supervisor_believes_is_not_taken_from_the_machine(machine, project):
    result = machine.run(f'''cd "$TASK_FOLDER"; mkdir -p runs/x; echo forged > runs/x/run-info.yaml
        for f in journal.jsonl supervisor.lock task.yaml receipt.json runs/*/output.md guardrail_1_x.log; do echo forged > "$f"; done
        ln -s {project.home} link; echo x > link/escaped; ln -s /etc/passwd passwd; mkfifo pipe; mkdir -p ../other; echo x > ../other/STOP-REQUESTED
        echo x > ../../beside; {R} task done''')
    assert result.code == 0, result
    folder = machine.folder()
    for name in ("journal.jsonl", "supervisor.lock", "receipt.json", *(f"runs/{i['run_id']}/output.md" for i in machine.infos())):
        assert "forged" not in (folder / name).read_text().splitlines(), name
    for name in ("runs/x", "guardrail_1_x.log", "task.yaml", "link", "passwd", "pipe", "../other", "../../beside"):
        assert not (folder / name).exists() or "forged" not in (folder / name).read_text(), name
    assert not (folder / "link").exists() and not (folder / "passwd").exists() and not (project.home / "escaped").exists()
    assert machine.status()["status"] == "completed"


def test_done_is_taken_back_in_the_machine_too(machine, project):
    result = machine.run('''if [ -e "$TASK_FOLDER/DONE" ]; then echo still there; exit 0; fi
        [ ! -e second ] || touch ok; touch second; touch "$TASK_FOLDER/DONE"''', "--check", "test -e ok", "--max-restarts", "3")
    assert result.code == 0 and len(machine.infos()) == 2, result
    assert "still there" not in machine.out(1)


def test_a_child_run_outlives_its_attempt_and_a_restart_of_the_machine_waits_for_it(machine, project):
    """The second attempt begins while the child is at work, and after the host has changed so many files that the machine would be restarted."""
    project.settings({"sandbox": {"checksOnHost": True}})
    result = machine.run(f'''if [ ! -e second ]; then touch second; {R} job --detach -- sh -c 'until [ -e over ]; do sleep 0.05; done; echo lasted; cat f65'
        touch "$TASK_FOLDER/DONE"; exit 0; fi
        ls f65; touch over; touch "$TASK_FOLDER/DONE"''', "--max-restarts", "2", "--check", "test -e over || { for i in $(seq 66); do echo $i > f$i; done; exit 1; }", timeout=150)
    assert result.code == 0, result
    child = next(i for i in machine.infos() if i["parent_run_id"])
    assert child["status"] == "completed" and "lasted\n65" in (machine.folder() / "runs" / child["run_id"] / "agent-stdout.txt").read_text()
    assert len(machine.docker.calls("stop")) <= 2 and "f65" in machine.out(-1), (machine.docker.calls("stop"), machine.out(-1))


def test_a_machine_that_was_restarted_has_the_folder_again(machine, project):
    project.settings({"sandbox": {"checksOnHost": True}})
    result = machine.run(f'''if [ ! -e f99 ]; then echo one > "$TASK_FOLDER/note"; touch "$TASK_FOLDER/DONE"; exit 0; fi
        cat "$TASK_FOLDER/note"; {R} job -- echo child; cat "$TASK_FOLDER"/runs/*/prompt.md; touch "$TASK_FOLDER/DONE"''',
                         "--max-restarts", "2", "--check", "test -e f99 || { for i in $(seq 100); do echo $i > f$i; done; exit 1; }")
    assert result.code == 0, result
    assert "one\n" in machine.out(1) and "child\n" in machine.out(1) and "do it" in machine.out(1), machine.out(1)
    assert machine.docker.calls("stop")[0] == ["stop", machine.name]


def test_what_a_child_run_plants_is_put_back(machine, project):
    """It ends after its attempt, whose own look was too early; and what was planted before it began is not taken for the beginning."""
    project.git_init()
    result = machine.run(f'''echo evil > .git/hooks/pre-commit
        {R} job --detach -- sh -c 'until [ -e "$TASK_FOLDER/go" ]; do sleep 0.05; done; echo evil >> .git/config; echo x > .mcp.json'
        if [ -e second ]; then touch "$TASK_FOLDER/go"; touch "$TASK_FOLDER/DONE"; fi; touch second''', "--max-restarts", "2")
    assert result.code == 0, result
    assert "evil" not in (project.path / ".git/config").read_text() and not (project.path / ".mcp.json").exists()
    assert not (project.path / ".git/hooks/pre-commit").exists()
    taken = " ".join(line for record in machine.records("sandbox_noted") for line in record.get("taken", []))
    assert ".git/config was changed" in taken and ".mcp.json appeared" in taken and "pre-commit appeared" in taken


def test_a_task_that_it_depends_on_is_seen_and_not_changed(machine, project):
    first = Tasks(project)
    assert first.run('echo result > "$TASK_FOLDER/result"; : > "$TASK_FOLDER/DONE"', task="first", env=machine.docker.env).code == 0
    result = machine.run('cat "$TASK_FOLDER/../first/result"; ls "$TASK_FOLDER/../first"; echo forged > "$TASK_FOLDER/../first/result"; touch "$TASK_FOLDER/DONE"',
                         "--depends-on", "first")
    assert result.code == 0 and "result\n" in machine.out() and "journal" not in machine.out(), result
    assert (machine.folder("first") / "result").read_text() == "result\n"


def test_child_agents_are_started_by_exec_with_all_permissions(machine, project):
    result = machine.run(f'''[ "$RALPH_PARENT_RUN_ID$JRUN_PARENT_ID" = "" ] || {{ printf '%s\\n' "$@"; cat; exit 0; }}
        {R} job -p "a child's prompt"; echo "code $?"; touch "$TASK_FOLDER/DONE"''')
    assert result.code == 0 and "code 0" in machine.out(), result
    assert "--dangerously-skip-permissions" in machine.out(1) and "a child's prompt" in machine.out(1)
    assert len(machine.docker.calls("run")) == 1


@pytest.mark.parametrize("program", ["docker", "sbx"])
def test_a_command_is_in_a_machine_without_an_agent(project, program):
    machine = Machine(project, program)
    project.script("true", "agent")  # the stand-in's machines have one
    project.settings({"sandbox": {"mode": "on", "backend": "docker", "syncSeconds": 0}})
    words = ["task", "run", *machine.place(), "--max-restarts", "1", "--", "sh", "-c", f'echo "in $RALPH_SANDBOX"; {R} job -- echo child; touch "$TASK_FOLDER/DONE"']
    result = machine.docker.run(*words)
    assert result.code == 0 and "in docker" in machine.out() and "child" in machine.out(), result
    assert machine.docker.calls("create")[0][3] == "shell" and not machine.docker.calls("run")


def test_two_tasks_of_one_project_have_two_machines(machine, project):
    wait = 'touch started-$(basename "$TASK_FOLDER"); until [ -e "$TASK_FOLDER/go" ]; do sleep 0.05; done; touch "$TASK_FOLDER/DONE"'
    machine.docker.agent_script(wait)  # once: the first task must not read what is being written for the second
    running = [project.start(*machine.words(task=task), env=machine.docker.env) for task in "tu"]
    names = [machine.name, machine.docker.name + "-task-p_u"]
    for name, task in zip(names, "tu"):
        wait_until(lambda: (machine.docker.vm / name / f"project/started-{task}").exists())
        inside = machine.docker.vm / name / "rest" / machine.folder(task).relative_to(project.base)
        (inside / "go").touch()
    assert [one.wait().code for one in running] == [0, 0]


@pytest.mark.parametrize("where", ["root", "task"])
def test_a_task_in_the_project_is_not_put_into_a_machine(machine, project, where):
    """The machine writes all of the project."""
    machine.docker.agent_script('echo "in $RALPH_SANDBOX"; touch "$TASK_FOLDER/DONE"')
    machine.root = project.path / "tasks" if where == "root" else machine.root
    cwd = project.path
    if where == "task":
        machine.folder().mkdir(parents=True)
        (machine.folder() / ".ralph").mkdir()
        (project.ralph / "settings.json").rename(machine.folder() / ".ralph/settings.json")
        cwd = machine.folder()
    settings = json.loads((cwd / ".ralph/settings.json").read_text())
    result = machine.docker.run(*machine.words(), cwd=cwd)
    assert result.code == 0 and "in bubblewrap" in result.out, result
    (machine.folder() / "DONE").unlink()
    settings["sandbox"]["backend"] = "docker"
    (cwd / ".ralph/settings.json").write_text(json.dumps(settings))
    result = machine.docker.run(*machine.words(), cwd=cwd)
    assert result.code == 2 and "give a --root outside of the project" in " ".join(result.err.split()), result


def test_a_signal_ends_the_task_its_child_runs_and_the_machine(machine, project):
    running = machine.start(f"{R} job --detach -- sleep 1000; touch started; sleep 1000")
    wait_until(lambda: (machine.docker.vm / machine.name / "project/started").exists() and len(machine.infos()) == 2)
    for _ in range(2):
        running.process.send_signal(signal.SIGINT)
        wait_until(lambda: "Received signal" in running.err)
    assert running.wait().code == 130
    assert machine.docker.calls("stop")[-1] == ["stop", machine.name]
    project.nothing_left()


def test_a_dry_run_names_the_machine_and_makes_nothing(machine, project):
    machine.docker.agent_script("true")
    dry = machine.docker.run(*machine.words("--dry-run"))
    assert dry.code == 0 and f"docker (docker sandbox, {machine.name})" in dry.out, dry
    assert {call[0] for call in machine.docker.calls()} == {"ls"} and not machine.root.exists()
