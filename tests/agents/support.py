"""What every test with a real agent CLI uses: the CLI, a scripted model, a network without a way out, and a project.

    def test_work(agent):
        agent.play(agent.shell("touch made"), agent.says("<response>DONE</response>"))
        result = agent.run("run", "-p", "do it")
        assert result.code == 0, result
        assert "do it" in agent.asked(0)

A test that takes `agent` is run once with each CLI. Everything of a test (ralph, the CLI, the model) lives in a network
namespace that has a loopback interface and nothing else, with an environment, a home and keys that were made up for it.
"""
import ctypes
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import install

# tests/e2e has a support.py too, which this one builds on.
_spec = importlib.util.spec_from_file_location("e2e_support", Path(__file__).resolve().parents[1] / "e2e/support.py")
e2e = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(e2e)
wait_until, ROOT = e2e.wait_until, e2e.ROOT

AGENTS = Path(os.environ.get("RALPH_AGENTS", e2e.ROOT / "build/agents")).resolve()
SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
PORT = 8080  # each test has a network of its own
DONE = "<response>DONE</response>"
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


# ---- what must be there

def missing(name):
    """Why the tests of this agent cannot be run; nothing if they can."""
    version = AGENTS / f"{name}.version"
    if version.exists() and version.read_text() == install.PACKAGES[name][1]:
        return None
    problem = AGENTS / f"{name}.problem"
    return problem.read_text() if problem.exists() else f"{name} is not installed: ./dev test-agents does that"


def _unshare():
    return ["unshare", "-n" if os.geteuid() == 0 else "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def no_private_network():
    """Why there can be no private network here; nothing if there can."""
    try:
        done = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, env={"PATH": SYSTEM_PATH})
    except OSError as error:
        return f"no network namespace: {error}"
    return f"no network namespace: {done.stderr.strip()[:200]}" if done.returncode else None


# ---- the agents: how each is set up, and what its tools are called

class Claude:
    name = "claude"
    tries = 2  # of a request, until it gives up
    flags = ["--dangerously-skip-permissions"]

    @staticmethod
    def environment():
        # IS_SANDBOX lets root skip permissions.
        return {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}", "ANTHROPIC_API_KEY": "made-up-key", "IS_SANDBOX": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
                "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_MAX_RETRIES": "1"}

    @staticmethod
    def set_up(home):
        pass

    @staticmethod
    def shell(command, **more):
        return {"name": "Bash", "input": {"command": command, "description": "run it", **more}}

    @staticmethod
    def write(path, text):
        return {"name": "Write", "input": {"file_path": str(path), "content": text}}

    @staticmethod
    def edit(path, old, new):
        # Only of a file that this session has read or written.
        return {"name": "Edit", "input": {"file_path": str(path), "old_string": old, "new_string": new}}

    resume = staticmethod(lambda session: ["-p", "--output-format", "stream-json", "--verbose", "--resume", session])
    session_key = "session_id"


class Codex:
    name = "codex"
    tries = 4  # of a request, until it gives up
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]

    @staticmethod
    def environment():
        return {"FAKE_API_KEY": "made-up-key"}

    @staticmethod
    def set_up(home):
        # It must know the model, or it offers no apply_patch. With the features left on, each start waits some 5 s for hosts
        # that it cannot reach.
        (home / ".codex").mkdir()
        (home / ".codex/config.toml").write_text(f"""
model = "gpt-5.5"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:{PORT}/v1"
wire_api = "responses"
env_key = "FAKE_API_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[tools.update_plan]
enabled = true
[features]
plugins = false
apps = false
daemon_auto_start = false
""")

    @staticmethod
    def shell(command, **more):
        # It leaves a command in the background after this time, 10 s if not said, and goes on.
        return {"name": "exec_command", "input": {"cmd": command, "yield_time_ms": 30000, **more}}

    @staticmethod
    def write(path, text):
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        return {"name": "apply_patch", "input": f"*** Begin Patch\n*** Add File: {Path(path).name}\n{lines}*** End Patch\n"}

    @staticmethod
    def edit(path, old, new):
        lines = "".join(f"{sign}{line}\n" for sign, text in (("-", old), ("+", new)) for line in text.splitlines())
        return {"name": "apply_patch", "input": f"*** Begin Patch\n*** Update File: {path}\n@@\n{lines}*** End Patch\n"}

    resume = staticmethod(lambda session: ["exec", "--json", "--sandbox", "workspace-write", "--skip-git-repo-check", "resume",
                                           session, "-"])
    session_key = "thread_id"


class Opencode:
    name = "opencode"
    tries = 6  # of a request, until it gives up
    flags = []

    @staticmethod
    def environment():
        # Beside a plugin it wants a package of its own, and waits a minute for a registry that it cannot reach.
        return {"npm_config_offline": "true", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_SHARE": "1"}

    @staticmethod
    def set_up(home):
        model = {"name": "Fake model", "limit": {"context": 200000, "output": 8000}, "cost": {"input": 3, "output": 15}}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "models": {"fake-model": model},
                    "options": {"baseURL": f"http://127.0.0.1:{PORT}/v1", "apiKey": "made-up-key"}}
        (home / ".config/opencode").mkdir(parents=True)
        (home / ".config/opencode/opencode.json").write_text(json.dumps({
            "autoupdate": False, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
            "provider": {"fake": provider}}))

    @staticmethod
    def shell(command):
        return {"name": "bash", "input": {"command": command, "description": "run it"}}

    @staticmethod
    def write(path, text):
        return {"name": "write", "input": {"filePath": str(path), "content": text}}

    resume = staticmethod(lambda session: ["run", "--format", "json", "-s", session])
    session_key = "sessionID"


class Gemini:
    name = "gemini"
    tries = 2  # of a request, until it gives up
    flags = ["-m gemini-2.5-pro"]

    @staticmethod
    def environment():
        return {"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{PORT}", "GEMINI_API_KEY": "made-up-key",
                "GEMINI_TELEMETRY_ENABLED": "false", "NO_BROWSER": "true"}

    @staticmethod
    def set_up(home):
        (home / ".gemini").mkdir()
        (home / ".gemini/settings.json").write_text(json.dumps({
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 2},
            "security": {"auth": {"selectedType": "gemini-api-key"}}}))

    @staticmethod
    def shell(command):
        return {"name": "run_shell_command", "input": {"command": command, "description": "run it"}}

    @staticmethod
    def write(path, text):
        return {"name": "write_file", "input": {"file_path": str(path), "content": text}}

    resume = staticmethod(lambda session: ["--resume", session, "--yolo", "--skip-trust", "-m", "gemini-2.5-pro",
                                           "--output-format", "stream-json"])
    session_key = "session_id"


KINDS = {kind.name: kind for kind in (Claude, Codex, Opencode, Gemini)}


# ---- a test's own world

class Agent(e2e.Project):
    """A project whose agent is a real CLI; all that e2e's Project can, and a model that says what the test tells it to."""

    def __init__(self, base, kind):
        super().__init__(base)
        self.kind, self.name = kind, kind.name
        self.program = install.program(AGENTS, kind.name)
        self.log = self.base / "requests.jsonl"
        self.more_environment = {}
        self._model = None
        kind.set_up(self.home)
        self.settings({"agent": {"command": str(self.program), "flags": kind.flags, "retry": {"maxBackoffSeconds": 1}}})

    # The model

    def play(self, *turns, exhausted=None, side=None):
        """Starts the model with this script, in a network of its own. Tool calls may stand for turns. `side` answers whatever
        the CLI asks beside its turns: a title, whether a goal is met."""
        scenario = {"turns": [self.calls(t) if "name" in t else t for t in turns],
                    "exhausted": exhausted or {"text": "(the script is over)"}, "side": side or {"text": "ok"}}
        path = self.base / "scenario.json"
        path.write_text(json.dumps(scenario))
        command = [*_unshare(), sys.executable, "-S", str(Path(__file__).with_name("fake_model.py")),
                   "--scenario", str(path), "--port", str(PORT), "--log", str(self.log)]
        self._model = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                       env={"PATH": SYSTEM_PATH, "LANG": "C.UTF-8"})
        assert self._model.stdout.readline().strip() == str(PORT).encode(), "the model did not start"

    @staticmethod
    def says(text, **more):
        return {"text": text, **more}

    @staticmethod
    def calls(*calls, **more):
        return {"tool_calls": list(calls), **more}

    @staticmethod
    def error(status, message, repeat=50, **more):
        turn = {key: more.pop(key) for key in ("until",) if key in more}
        return {"error": {"status": status, "message": message, **more}, "repeat": repeat, **turn}

    def overload(self):
        """Overloaded, until the agent gives up; the next request is answered."""
        status = 529 if self.name == "claude" else 503
        return self.error(status, "Overloaded", repeat=self.kind.tries, headers={"retry-after-ms": "50"})

    def shell(self, command, **more):
        return self.kind.shell(command, **more)

    def write(self, name, text):
        return self.kind.write(self.path / name, text)

    def edit(self, name, old, new):
        """Replaces some lines of a file; claude and codex only."""
        return self.kind.edit(self.path / name, old, new)

    def requests(self):
        """What the model was asked so far: only requests that play a turn, no titles and the like."""
        lines = [json.loads(line) for line in e2e.read_lines(self.log)]
        return [r for r in lines if isinstance(r["turn"], int) or r["turn"] == "exhausted"]

    def asked(self, index):
        """The body of one request, as text that can be searched for plain words."""
        return json.dumps(self.requests()[index]["body"], ensure_ascii=False)

    # Running

    def environment(self, **more):
        path = install.clean_environment(AGENTS, self.home)["PATH"]
        env = {**super().environment(TERM="dumb"), **self.kind.environment(), "PATH": path, **self.more_environment, **more}
        return {k: str(v) for k, v in env.items() if v is not None}  # None takes one away

    def _enter_network(self):
        """Runs between fork and exec: joins the namespaces of the model."""
        libc = ctypes.CDLL(None, use_errno=True)
        for name, kind in (("user", CLONE_NEWUSER), ("net", CLONE_NEWNET)):
            if os.readlink(f"/proc/self/ns/{name}") == os.readlink(f"/proc/{self._model.pid}/ns/{name}"):
                continue
            file = os.open(f"/proc/{self._model.pid}/ns/{name}", os.O_RDONLY)
            if libc.setns(file, kind) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            os.close(file)

    def start(self, *arguments, **how):
        assert self._model, "play() comes first: it makes the network"
        return super().start(*arguments, preexec_fn=self._enter_network, **how)

    def run(self, *arguments, timeout=120, **how):
        return super().run(*arguments, timeout=timeout, **how)

    def by_hand(self, *arguments, stdin="", timeout=90):
        """Runs the CLI itself, without ralph. Returns a CompletedProcess with text."""
        return subprocess.run([str(self.program), *arguments], cwd=self.path, env=self.environment(), input=stdin, text=True,
                              capture_output=True, timeout=timeout, preexec_fn=self._enter_network)

    def stop_model(self):
        if self._model:
            self._model.terminate()
            self._model.wait(10)
            self._model.stdout.close()
            self._model = None

    def clean_up(self):
        super().clean_up()
        self.stop_model()
