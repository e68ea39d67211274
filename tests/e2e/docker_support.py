"""The stand-in for Docker's client (tests/helpers/fake_docker_sandbox.py) on a project's PATH."""
import hashlib
import json
import shutil
import string

from support import RALPH, ROOT

DONE = 'echo "<response>DONE</response>"'
KEPT = string.ascii_letters + string.digits + "._-"
STAND_IN = ROOT / "tests/helpers/fake_docker_sandbox.py"


class Docker:
    """The stand-in on a project's PATH, as `docker` or `sbx`."""

    def __init__(self, project, name="docker"):
        self.project, self.vm, self.bin = project, project.base / "vm", project.base / "docker-bin"
        self.bin.mkdir()
        shutil.copy(STAND_IN, self.bin / name)
        self.agent = project.base / "agent"
        self.env = {"PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", "FAKE_VM": self.vm, "FAKE_HIDDEN": RALPH.parent,
                    "FAKE_AGENT": self.agent}
        self.name = "ralph-" + "".join(chr(b) if chr(b) in KEPT else "_" for b in str(project.path).encode())
        if name == "sbx":
            plain = "".join(chr(b) if chr(b) in KEPT.replace("_", "") else "-" for b in project.path.name.encode())
            self.name = f"ralph-{plain[:32]}-{hashlib.sha256(str(project.path).encode()).hexdigest()[:10]}"

    def agent_script(self, text, kind="claude"):
        self.project.agent_script(text, kind=kind, stream="text")
        self.project.settings({"sandbox": {"mode": "on", "syncSeconds": 0}})

    def run(self, *words, **more):
        env = {**self.env, **more.pop("env", {})}
        return self.project.run(*(words or ("run", "-p", "do it", "-n", "3")), env=env, **more)

    def calls(self, verb=None):
        """The words of each call, without the program's name."""
        all_calls = [json.loads(line)[1:] for line in (self.vm / "calls.jsonl").read_text().splitlines()]
        return [call for call in all_calls if verb in (None, call[0])]
