"""The repository's configuration names a program that git runs when it looks at the tree. ralph's own looks don't run it."""
import json

import pytest

from plan_support import Plan


@pytest.mark.parametrize("command", [["plan", "check"], ["plan", "status"], ["doctor"], ["settings", "show"], ["hooks", "stop"],
                                     ["hooks", "session-start"], ["loop", "status"]], ids=" ".join)
def test_looking_runs_nothing(project, command):
    Plan(project)
    project.git("config", "core.fsmonitor", str(project.script("touch ../../owned ../owned; echo; exit 1", "monitor")))
    (project.path / "new").touch()
    payload = json.dumps({"session_id": "s", "cwd": str(project.path), "source": "startup"})
    project.run(*command, stdin=payload if command[0] == "hooks" else None)
    assert not list(project.base.glob("**/owned"))
    project.git("status")
    assert list(project.base.glob("**/owned")), "git itself runs it"
