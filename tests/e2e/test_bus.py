"""ralph bus: many writers, killed writers, bodies of any kind, and a watch that does not poll."""
import json
import os
import random
import subprocess
import time

import pytest

from support import RALPH, wait_until, watches_files



def post(project, bus, type_="FACT", body="x", **more):
    result = project.run("bus", "post", "--bus", bus, "--type", type_, "--body", body, **more)
    assert result.code == 0, result
    return result.out.strip()


def read(project, bus, *options):
    result = project.run("bus", "read", "--bus", bus, "--json", *options)
    assert result.code == 0, result
    return json.loads(result.out)


@pytest.mark.parametrize("body", ["", "---", "a\n---\nid: MSG-1\ntype: FACT\n---\nb", "\n", "- x\n# y\n```", "ünï ☃ \x01"])
def test_a_body_comes_back_as_it_was(project, body):
    bus = project.base / "bus.md"
    post(project, bus, body="first")
    post(project, bus, "QUESTION", body)
    post(project, bus, body="last")
    assert [m["body"] for m in read(project, bus)] == ["first", body, "last"]


def test_a_binary_body_from_standard_input(project):
    bus = project.base / "bus.md"
    body = bytes(range(256)) + b"\n---\n" + b"\xff\xfe"
    result = project.run("bus", "post", "--bus", bus, "--type", "INFO", "--body", "-", stdin=body)
    assert result.code == 0, result
    assert body in bus.read_bytes()
    shown = read(project, bus)[0]["body"]
    assert shown == body.decode(errors="surrogateescape").encode("utf-8", "surrogateescape").decode(errors="replace") or "\ufffd" in shown
    (project.base / "body").write_bytes(body)
    assert project.run("bus", "post", "--bus", bus, "--type", "INFO", "--body-file", project.base / "body").code == 0
    assert bus.read_bytes().count(body) == 2


def test_the_environment_says_whose_message_it_is(project):
    bus = project.base / "bus.md"
    env = {"MESSAGE_BUS": bus, "RALPH_PROJECT_ID": "p", "RALPH_TASK_ID": "t", "RALPH_ATTEMPT_ID": "a"}
    first = project.run("bus", "post", "--type", "QUESTION", "--body", "why?", env=env).out.strip()
    answer = json.loads(project.run("bus", "post", "--type", "FACT", "--body", "so", "--parent", first, "--json", env=env).out)
    assert answer["parents"] == [first]
    message = read(project, bus, "--type", "question")[0]
    assert (message["id"], message["project"], message["task"], message["run"]) == (first, "p", "t", "a")
    assert [m["body"] for m in read(project, bus, "--after", first)] == ["so"]
    assert [m["body"] for m in read(project, bus, "--limit", "1")] == ["so"]


def test_secrets_are_masked(project):
    bus = project.base / "bus.md"
    post(project, bus, body="the key is hunter2-secret-value", env={"API_TOKEN": "hunter2-secret-value"})
    assert b"hunter2" not in bus.read_bytes()


@pytest.mark.parametrize("arguments, names", [
    (["--type", "FACT", "--body", "x"], "--bus"),
    (["--bus", "b", "--body", "x"], "--type"),
    (["--bus", "b", "--type", "FACT"], "--body"),
    (["--bus", "b", "--type", "FACT", "--body", "x", "--body-file", "y"], "--body"),
    (["--bus", "b", "--type", "two words", "--body", "x"], "two words"),
    (["--bus", "nowhere/b", "--type", "FACT", "--body", "x"], "nowhere"),
    (["--bus", "b", "--type", "FACT", "--bodi", "x"], "--body"),
])
def test_bad_input_is_refused_and_writes_nothing(project, arguments, names):
    result = project.run("bus", "post", *arguments)
    assert result.code == 2 and names in result.err, result
    assert not (project.path / "b").exists()


def test_a_symlink_is_refused(project):
    real = project.base / "real"
    real.write_text("mine")
    (project.base / "bus.md").symlink_to(real)
    assert project.run("bus", "post", "--bus", project.base / "bus.md", "--type", "FACT", "--body", "x").code == 2
    assert project.run("bus", "read", "--bus", project.base / "bus.md").code == 2
    assert real.read_text() == "mine"


WRITER = "for i in $(seq 100); do \"$1\" bus post --bus \"$2\" --type FACT --body \"$3-$i\n---\nid: MSG-x\" > /dev/null || exit 9; done"


def test_eight_processes_of_a_hundred_posts_lose_nothing(project):
    bus = project.base / "bus.md"
    writers = [subprocess.Popen(["sh", "-c", WRITER, "sh", str(RALPH), str(bus), str(n)], env=project.environment())
               for n in range(8)]
    assert [w.wait(timeout=120) for w in writers] == [0] * 8
    messages = read(project, bus)
    assert len(messages) == 800
    assert len({m["id"] for m in messages}) == 800
    for n in range(8):  # each writer's own in their order, whole
        assert [m["body"] for m in messages if m["body"].startswith(f"{n}-")] == [f"{n}-{i}\n---\nid: MSG-x" for i in range(1, 101)]


def test_writers_killed_at_random_cost_nothing_of_others(project):
    bus = project.base / "bus.md"
    big = project.base / "big"
    big.write_text("y" * 3_000_000)
    dice = random.Random(4)
    posted = []
    for n in range(25):
        victim = subprocess.Popen([str(RALPH), "bus", "post", "--bus", str(bus), "--type", "INFO", "--body-file", str(big)],
                                  env=project.environment(), stdout=subprocess.DEVNULL)
        time.sleep(dice.random() * 0.06)
        victim.kill()
        victim.wait()
        posted.append(post(project, bus, body=f"mine {n}"))
    messages = read(project, bus)
    assert [m["id"] for m in messages if m["type"] == "FACT"] == posted
    assert all(m["body"] == big.read_text() for m in messages if m["type"] == "INFO")


@pytest.mark.parametrize("left", [1, 5, 40, 150, 400])
def test_a_torn_tail_loses_nothing_before_it(project, left):
    bus = project.base / "bus.md"
    post(project, bus, body="before")
    whole = bus.stat().st_size
    post(project, bus, body="torn " * 60)
    os.truncate(bus, whole + left)
    assert [m["body"] for m in read(project, bus)] == ["before"]
    post(project, bus, body="after")
    result = project.run("bus", "read", "--bus", bus, "--json")
    assert [m["body"] for m in json.loads(result.out)] == ["before", "after"]
    assert "not a message" in result.err


def test_watch_shows_messages_as_they_come_without_polling(project):
    bus = project.base / "bus.md"
    post(project, bus, body="old")
    watch = project.start("bus", "watch", "--bus", bus, "--type", "QUESTION", "--count", "2", "--json")
    wait_until(lambda: watches_files(watch.pid), what="the watch")
    post(project, bus, body="not this")
    post(project, bus, "QUESTION", "one?")
    wait_until(lambda: "one?" in watch.out)
    post(project, bus, "QUESTION", "two?")
    result = watch.wait()
    assert result.code == 0 and [json.loads(line)["body"] for line in result.out.splitlines()] == ["one?", "two?"]


def test_watch_ends_in_time_and_waits_for_a_bus_that_is_not_there_yet(project):
    bus = project.base / "bus.md"
    assert project.run("bus", "watch", "--bus", bus, "--timeout", "50ms").code == 1
    watch = project.start("bus", "watch", "--bus", bus, "--count", "1")
    wait_until(lambda: watches_files(watch.pid), what="the watch")
    post(project, bus, body="first")
    assert "first" in watch.wait().out
    assert project.run("bus", "watch", "--bus", bus, "--timeout", "soon").code == 2
