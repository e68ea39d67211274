"""ralph in a real terminal, by pexpect: what a person would see, and the keys that a person would press."""
import re
from contextlib import contextmanager

import pexpect

from support import RALPH

CTRL_C, CTRL_D = "\x03", "\x04"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@contextmanager
def in_terminal(project, *arguments, width=100, cwd=None, env=None, timeout=20):
    """Starts ralph on a terminal of its own. `transcript` gathers every byte that it printed. Nobody is asked whether the
    project's commands may run, unless the test says RALPH_TRUST=''."""
    child = pexpect.spawn(str(RALPH), [str(a) for a in arguments], cwd=str(cwd or project.path), timeout=timeout,
                          env=project.environment(**{"TERM": "xterm-256color", "RALPH_TRUST": "1", **(env or {})}), dimensions=(40, width),
                          encoding="utf-8", codec_errors="replace")
    child.delaybeforesend = None
    child.transcript = []
    child.logfile_read = type("Log", (), {"write": lambda _, text: child.transcript.append(text), "flush": lambda _: None})()
    try:
        yield child
    finally:
        child.close(force=True)


def end_of(child, timeout=20):
    """Waits for the end and returns the exit code."""
    child.expect(pexpect.EOF, timeout=timeout)
    child.wait()
    return child.exitstatus if child.exitstatus is not None else -child.signalstatus


def seen(child):
    """All that was printed so far, with plain line ends."""
    return "".join(child.transcript).replace("\r\n", "\n")


def screen(child):
    """What stands on the screen at the end: no colours, passing lines replaced by what overwrote them."""
    lines = []
    for line in seen(child).split("\n"):
        lines.append(ESCAPES.sub("", line.rpartition("\r")[2]))
    return "\n".join(lines)
