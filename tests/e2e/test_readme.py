"""What README claims about tests, commands and prerequisites is so."""
import re

import pytest

from support import ROOT

# Commands that ralph starts itself.
BEHIND_THE_SCENES = {"sandbox proxy", "sandbox bridge"}
README = (ROOT / "README.md").read_text()


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", README, re.M | re.S).group(1)


def test_every_promise_names_tests_that_exist():
    rows = [row for row in re.findall(r"^\| (.+) \| (.+) \|$", section("What it promises"), re.M) if row[0] != "promise"]
    assert len(rows) > 40
    for promise, tests in rows:
        names = re.findall(r"`([^`]+)`", tests)
        assert names, f"no test: {promise}"
        for name in [name for name in names if not name.startswith("./dev ")]:
            assert list(ROOT.glob(name)) or list(ROOT.glob(f"tests/*/{name}")), f"{name} of: {promise}"


def test_every_command_is_listed(project):
    listed = set()
    for cell in re.findall(r"^\| (`ralph .+?`) \| ", README, re.M):
        first, *others = [word.removeprefix("ralph ") for word in re.findall(r"`([^`]+)`", cell)]
        listed |= {first, first.split()[0], *others, *(f"{first.split()[0]} {word}" for word in others)}
    commands = re.findall(r"^  ([a-z]+(?: [a-z-]+)?)  +[A-Z]", project.run("--help").out, re.M)
    assert len(commands) > 40
    missing = [name for name in commands if name not in listed and name not in BEHIND_THE_SCENES and not name.startswith("hooks ")]
    assert not missing


@pytest.mark.parametrize("words", [r"g\+\+ \d+", "CMake", "Ninja", "Debian", r"static file", "agent", "git"])
def test_prerequisites_come_before_the_installation(words):
    assert README.index("## Prerequisites") < README.index("## Installation")
    assert re.search(words, section("Prerequisites"))


def test_the_installation_and_the_oldest_kernel_are_named():
    assert "./dev install" in section("Installation") and "ralph doctor" in section("Installation")
    assert re.search(r"oldest kernel[^.]* Linux \d+\.\d+", README)
