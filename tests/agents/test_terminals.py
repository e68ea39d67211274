"""The lines of docs/guide.md that are typed into a host's own terminal, typed there: real CLIs on a terminal of their own."""
import json
import os
import re
import signal
import time
from contextlib import contextmanager

import pexpect
import pytest

from support import wait_until
from test_session_loops import CONTRACT, PROMISE, install, loops, ralph, rules, the_loop, told, wait_for

pyte = pytest.importorskip("pyte")

ESCAPES = re.compile(r"\x1b(\[[0-9;?<>=]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78])")
# Sequences of single terminals, which the emulator would print or fail at; and one whose end is still to come.
PRIVATE, UNFINISHED = re.compile(r"\x1b\[[<>=?][0-?]*[ -/]*[@-~]"), re.compile(r"\x1b(\[[0-?]*[ -/]*)?$")
ENTER, DOWN, ESCAPE = "\r", "\x1b[B", "\x1b"
CURSOR, IS_THERE = "\x1b[6n", "\x1b[1;1R"  # Codex does not start in a terminal that does not say where its cursor is


ROWS, COLUMNS = 50, 160


class Terminal:
    """A CLI in its terminal. It counts what was printed and what an emulator shows of it: CLIs draw again only the cells that have
    changed, so that a word on the screen need not be one in the bytes. They jump with the cursor in place of blanks: these are not
    compared."""

    def __init__(self, agent, arguments):
        self.child = pexpect.spawn(str(agent.program), arguments, cwd=str(agent.path), env=agent.environment(TERM="xterm-256color"),
                                   dimensions=(ROWS, COLUMNS), encoding="utf-8", codec_errors="replace", preexec_fn=agent._enter_network)
        self.child.delaybeforesend = None
        self.bytes = self.unfinished = ""
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.emulator = pyte.Stream(self.screen)

    def seen(self):
        try:
            while True:
                new = self.child.read_nonblocking(65536, timeout=0.05)
                self.bytes += new
                whole, tail = (self.unfinished + new), UNFINISHED.search(self.unfinished + new)
                self.unfinished = tail.group() if tail else ""
                self.emulator.feed(PRIVATE.sub("", whole[:len(whole) - len(self.unfinished)]))
                self.child.send(IS_THERE * new.count(CURSOR))
        except (pexpect.TIMEOUT, pexpect.EOF):
            pass
        return "".join(ESCAPES.sub("", self.bytes).split())

    def shows(self, text, timeout=40):
        """Waits for the text, among what was printed since the last call and what is on the screen."""
        bare = "".join(text.split())
        try:
            wait_until(lambda: bare in self.seen() or bare in "".join("".join(self.screen.display).split()), timeout)
        except AssertionError:
            raise AssertionError(f"{text!r} is not in {self.seen()[-2000:]}, nor in {self.screen.display}") from None
        self.bytes = ""

    def end(self):
        if self.child.isalive():
            os.killpg(self.child.pid, signal.SIGKILL)  # it leads a session of its own
        self.child.close(force=True)

    def press(self, *keys):
        for key in keys:
            self.settle()
            self.child.send(key)

    def settle(self):
        """Waits until nothing is drawn for a while: keys that come earlier are lost, or taken for a part of what is pasted."""
        before, end = None, time.monotonic() + 3  # something turns while the agent works
        while before != len(self.bytes) and time.monotonic() < end:
            before = len(self.bytes)
            time.sleep(0.4)
            self.seen()

    def types(self, line):
        self.press(line, ENTER)


@contextmanager
def in_terminal(agent, *arguments):
    terminal = Terminal(agent, list(arguments))
    try:
        yield terminal
    finally:
        terminal.end()


def plays_a_loop(agent):
    agent.play(agent.says("Half of it."), agent.shell("echo work > made"), agent.says(f"All of it. {PROMISE}"))


def holds_until_the_promise(agent, terminal):
    # What it draws has to be read, or it waits.
    wait_until(lambda: terminal.seen() and loops(agent) and the_loop(agent)["status"] == "PROMISE_ACCEPTED", 30, "the loop's end")
    assert rules(the_loop(agent)) == ["promise_missing", "promise_accepted"] and the_loop(agent)["task"] == "make it"
    assert (agent.path / "made").exists() and CONTRACT in told(agent, 0)


@pytest.mark.only("claude")
def test_clear_ends_the_loop_and_the_user_is_told(agent):
    # What a person has answered long ago: the theme, the key, the trust in this folder.
    (agent.home / ".claude.json").write_text(json.dumps({
        "hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": ["made-up-key"], "rejected": []},
        "projects": {str(agent.path): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}}))
    install(agent, "--commands")
    agent.play(agent.shell(wait_for("go")), exhausted=agent.says("Still at it."))
    with in_terminal(agent, "--dangerously-skip-permissions") as terminal:
        terminal.shows("bypass permissions on")
        terminal.types("/ralph-loop make it")
        wait_until(lambda: terminal.seen() and (agent.path / "waiting").exists(), 30, "the agent works")
        terminal.press(ESCAPE)
        terminal.shows("Interrupted")
        terminal.types("/clear")
        terminal.shows('ralph: /clear has ended the loop "make it" in iteration 0 of 100; start it again')
        assert the_loop(agent)["status"] == "CANCELLED" and the_loop(agent)["reason"] == "its session was cleared (/clear)"


@pytest.mark.only("codex")
def test_in_codex_a_blank_before_the_line_starts_a_loop(agent):
    install(agent)
    plays_a_loop(agent)
    with in_terminal(agent, "--dangerously-bypass-approvals-and-sandbox") as terminal:
        terminal.shows("Trust this folder?")
        terminal.press(ENTER)
        terminal.shows("Trust all and continue")  # as the guide says
        terminal.press(DOWN, ENTER)
        terminal.shows("Use existing model")
        terminal.press(DOWN, ENTER)
        terminal.types(" /ralph-loop make it")
        holds_until_the_promise(agent, terminal)


@pytest.mark.only("gemini", "codex")
def test_a_session_adopts_the_loop_that_waits_for_it(agent):
    agent.more_environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    install(agent)
    ralph(agent, "loop", "start", "make it")
    plays_a_loop(agent)
    arguments = {"gemini": ["--yolo", "-m", "gemini-2.5-pro"],
                 "codex": ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]}[agent.name]
    with in_terminal(agent, *arguments) as terminal:
        if agent.name == "gemini":
            terminal.shows("These hooks will be executed")
        else:
            terminal.shows("Trust this folder?")
            terminal.press(ENTER)
            terminal.shows("Use existing model")
            terminal.press(DOWN, ENTER)
        terminal.types("begin")
        holds_until_the_promise(agent, terminal)
