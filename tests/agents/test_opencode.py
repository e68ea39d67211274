"""ralph's plugin in the real opencode: loops in a session of `opencode serve`, which is what its TUI talks to as well."""
import json
import signal
import subprocess
import sys

import pytest

from support import e2e, wait_until
from test_session_loops import CONTRACT, MISSING, NO_WORK, PROMISE, install, loops, ralph, rules, the_loop, turns_played

pytestmark = pytest.mark.only("opencode")
PLUGIN = ".opencode/plugin/ralph.js"
URL = "http://127.0.0.1:4096"

# Runs in the network of the model, where the server is.
ASK = """
import json, sys, urllib.request
method, url, body = sys.argv[1:]
request = urllib.request.Request(url, method=method, data=body.encode() or None, headers={"content-type": "application/json"})
try:
    with urllib.request.urlopen(request, timeout=60) as answer:
        status, text = answer.status, answer.read().decode()
except urllib.error.HTTPError as error:
    status, text = error.code, error.read().decode()
print(json.dumps([status, text]))
"""


LISTEN = """
import sys, urllib.request
for line in urllib.request.urlopen(sys.argv[1]):
    print(line.decode(), end="", flush=True)
"""


class Server:
    """`opencode serve` in the project, and what a client does with it."""

    def __init__(self, agent):
        self.agent = agent
        self.log = open(agent.base / "serve.log", "w+", encoding="utf-8")
        command = [str(agent.program), "serve", "--port", "4096", "--print-logs"]
        self.process = subprocess.Popen(command, cwd=agent.path, env=agent.environment(), stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, preexec_fn=agent._enter_network,
                                        start_new_session=True)
        wait_until(lambda: "listening on" in self.said(), 60)
        self.events = open(agent.base / "events.log", "w+", encoding="utf-8")
        self.listener = subprocess.Popen([sys.executable, "-S", "-c", LISTEN, URL + "/event"], stdin=subprocess.DEVNULL,
                                         stdout=self.events, env={"PATH": "/usr/bin:/bin"},
                                         preexec_fn=agent._enter_network)
        wait_until(lambda: "server.connected" in self.told(), 60)

    def said(self):
        return (self.agent.base / "serve.log").read_text(encoding="utf-8")

    def told(self):
        """The events that its clients got, a TUI for one."""
        return (self.agent.base / "events.log").read_text(encoding="utf-8")

    def toasts(self):
        events = [json.loads(line[6:]) for line in self.told().splitlines() if line.startswith("data: ")]
        return [event["properties"]["message"] for event in events if event["type"] == "tui.toast.show"]

    def ask(self, method, path, body=None):
        command = [sys.executable, "-S", "-c", ASK, method, URL + path, json.dumps(body) if body is not None else ""]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, env={"PATH": "/usr/bin:/bin"},
                              preexec_fn=self.agent._enter_network)
        assert done.returncode == 0, done
        status, text = json.loads(done.stdout)
        return status, json.loads(text) if text else None

    def session(self):
        status, made = self.ask("POST", "/session", {})
        assert status == 200, made
        return made["id"]

    def types(self, session, prompt):
        """Sends a line of the user, and waits for the end of the turn that it begins."""
        return self.ask("POST", f"/session/{session}/message", {"parts": [{"type": "text", "text": prompt}]})

    def is_idle(self, session):
        status, busy = self.ask("GET", "/session/status")
        assert status == 200, busy
        return session not in busy or busy[session]["type"] == "idle"

    def end(self):
        if self.process.poll() is not None:
            return
        self.listener.kill()
        self.listener.wait()
        self.events.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


@pytest.fixture
def serve(agent):
    servers = []

    def start():
        servers.append(Server(agent))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


def ended(agent):
    found = loops(agent)
    return len(found) == 1 and found[0]["status"] != "ACTIVE"


def asked_for(agent, index):
    """The texts of the last message of the user in a request."""
    content = [m for m in agent.requests()[index]["body"]["messages"] if m["role"] == "user"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def test_a_session_is_sent_on_until_it_keeps_its_promise(agent, serve):
    install(agent)
    agent.play(agent.says(f"Easy. {PROMISE}"), agent.shell("echo work > made"), agent.says("It is made."),
               agent.says(PROMISE), exhausted=agent.says("Hello to you."))
    server = serve()
    session = server.session()
    server.types(session, "/ralph-loop mend it --max-iterations=5")
    wait_until(lambda: ended(agent), 60)
    loop = the_loop(agent)
    assert loop["status"] == "PROMISE_ACCEPTED" and loop["session"] == session, (loop, server.said())
    assert rules(loop) == ["promise_without_work", "promise_missing", "promise_accepted"]
    assert turns_played(agent) == [0, 1, 2, 3] and (agent.path / "made").exists()
    assert CONTRACT in asked_for(agent, 0) and "/ralph-loop mend it" in asked_for(agent, 0)
    assert NO_WORK in asked_for(agent, 1) and "Original task:\nmend it" in asked_for(agent, 1)
    assert MISSING in asked_for(agent, 3)
    server.types(session, "hello")  # nothing holds it now
    assert turns_played(agent)[4:] == ["exhausted"] and len(loops(agent)) == 1


def test_a_loop_of_a_terminal_is_adopted_and_a_denied_command_is_no_work(agent, serve):
    install(agent, "--user")
    assert (agent.home / ".config/opencode/plugin/ralph.js").exists()
    ralph(agent, "loop", "start", "make it", "--max-iterations", "1")
    agent.play(agent.shell("git push --force"), agent.says(PROMISE), agent.says(PROMISE), exhausted=agent.says("Hello."))
    server = serve()
    session = server.session()
    server.types(session, "let us begin")
    wait_until(lambda: ended(agent), 60)
    loop = the_loop(agent)
    assert loop["session"] == session and loop["status"] == "MAX_ITERATIONS_REACHED", loop
    assert rules(loop) == ["promise_without_work", "continuations_spent"]
    wait_until(lambda: any("MAX_ITERATIONS_REACHED" in text for text in server.toasts()), what="the user is told")
    assert CONTRACT in asked_for(agent, 0) and "Task:\nmake it\n" in asked_for(agent, 0)
    assert "Denied by ralph" in agent.asked(1), "the model is told why"
    server.types(server.session(), "hello")
    assert CONTRACT not in asked_for(agent, -1) and len(loops(agent)) == 1


def test_what_the_user_says_and_interrupts_is_not_for_the_model(agent, serve):
    install(agent)
    agent.play(agent.shell("touch waiting; sleep 60"), agent.says("Where was I?"), exhausted=agent.says("Hello."))
    server = serve()
    session = server.session()
    status, refused = server.types(session, "/ralph-loop make it --max-iterations nine")
    assert status != 200, refused
    wait_until(lambda: [text for text in server.toasts() if "nine" in text], 60)
    assert agent.requests() == [] and loops(agent) == []
    parts = {"parts": [{"type": "text", "text": "/ralph-loop make it"}]}
    assert server.ask("POST", f"/session/{session}/prompt_async", parts)[0] == 204
    wait_until(lambda: (agent.path / "waiting").exists(), 60)
    assert server.ask("POST", f"/session/{session}/abort")[0] == 200
    wait_until(lambda: server.is_idle(session), 60)
    assert the_loop(agent)["status"] == "ACTIVE" and rules(the_loop(agent)) == [], "an interruption is no stop"
    asked = len(agent.requests())
    server.types(session, "/cancel-ralph")
    assert the_loop(agent)["status"] == "CANCELLED" and len(agent.requests()) <= asked + 1
    server.end()
    agent.nothing_left()


def test_a_session_that_is_deleted_takes_its_loop_with_it(agent, serve):
    install(agent)
    agent.play(agent.shell("touch waiting; sleep 60"), exhausted=agent.says("Hello."))
    server = serve()
    deleted, other = server.session(), server.session()
    parts = {"parts": [{"type": "text", "text": "/ralph-loop make it"}]}
    assert server.ask("POST", f"/session/{deleted}/prompt_async", parts)[0] == 204
    wait_until(lambda: (agent.path / "waiting").exists(), 60)
    assert server.ask("POST", f"/session/{deleted}/abort")[0] == 200
    wait_until(lambda: server.is_idle(deleted), 60)
    assert server.ask("DELETE", f"/session/{other}")[0] == 200, "its end is nobody else's"
    assert the_loop(agent)["status"] == "ACTIVE" and the_loop(agent)["session"] == deleted
    assert server.ask("DELETE", f"/session/{deleted}")[0] == 200
    wait_until(lambda: the_loop(agent)["status"] == "CANCELLED", 30, "the plugin has told ralph")
    assert the_loop(agent)["reason"] == "its session was cleared (/clear)"


def test_without_ralph_opencode_goes_on(agent, serve):
    install(agent)
    path = agent.path / PLUGIN
    path.write_text(path.read_text().replace(str(e2e.RALPH), "/nowhere/ralph"))
    agent.play(agent.shell("touch made"), agent.says("Done."))
    server = serve()
    status, answer = server.types(server.session(), "/ralph-loop make it")
    assert status == 200 and "Done." in json.dumps(answer), answer
    assert (agent.path / "made").exists() and turns_played(agent) == [0, 1]
    assert "/nowhere/ralph" in server.said(), "its log says why"
