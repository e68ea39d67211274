"""Runs whose agents and checks are in a sandbox: run, plan run, loop run; which protection is in force; the way out."""
import json
import shutil
import signal
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from plan_support import Plan
from sandbox_support import NEEDS_SANDBOX
from support import RALPH, wait_until

pytestmark = NEEDS_SANDBOX
DONE = 'echo "<response>DONE</response>"'


def without_bubblewrap(project):
    """A PATH with what tests need, but bwrap."""
    folder = project.base / "bin"
    folder.mkdir()
    for name in ("sh", "git", "python3", "touch", "env", "cat"):
        (folder / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
    return {"PATH": folder}


@pytest.fixture
def server():
    """An HTTP server on the loopback interface that answers "hello PATH"; with a list of what it was asked."""
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append((self.path, self.headers["Host"]))
            body = f"hello {self.path}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 512  # with 5, the kernel drops connections that come at once, and they try again seconds later

    with Server(("127.0.0.1", 0), Handler) as http:
        http.asked, http.daemon_threads = [], True
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield http
        http.shutdown()


# ---- agents and checks are inside


def test_agent_and_checks_are_inside(someone):
    (someone.home / "secret").write_text("hidden")
    someone.agent_script(f"echo $MY_KEY > agent.key; cat ~/secret; echo x > ../escaped; echo $RALPH_SANDBOX > where; {DONE}",
                         env={"MY_KEY": "for the agent"})
    someone.guardrails("env > check.env; test -f agent.key; cat .ralph/settings.local.json > local 2>&1; true")
    (someone.ralph / "settings.local.json").write_text('{"agent": {"env": {"LOCAL_KEY": "private"}}}')
    result = someone.run("run", "--sandbox", "-p", "x")
    assert result.code == 0, result
    assert (someone.path / "agent.key").read_text() == "for the agent\n"
    assert (someone.path / "where").read_text() == "bubblewrap\n"
    assert not (someone.base / "escaped").exists() and "hidden" not in result.text
    check = (someone.path / "check.env").read_text()
    assert "RALPH_SANDBOX=bubblewrap" in check and "MY_KEY" not in check and "LOCAL_KEY" not in check
    assert "private" not in (someone.path / "local").read_text()
    noted = someone.records("sandbox_noted")[0]["inForce"]
    assert noted.startswith("bubblewrap; network allowlist") and "without secrets" in noted
    assert f"Sandbox: {noted}"[:60] in result.out
    assert "bubblewrap" in someone.run("runs", "show", "last").out
    someone.nothing_left()


def test_checks_on_the_host_are_chosen_and_shown(project):
    project.agent_script(DONE)
    project.guardrails(f"touch {str(project.base)!r}/touched")
    project.settings({"sandbox": {"mode": "on", "checksOnHost": True}})
    result = project.run("run", "-p", "x")
    assert result.code == 0 and (project.base / "touched").exists(), result
    assert "checks on the host (sandbox.checksOnHost)" in project.records("sandbox_noted")[0]["inForce"]


def test_what_ralph_and_agents_obey_is_not_written(project):
    project.git_init()
    project.agent_script(f"""
        echo '{{}}' > .ralph/settings.json; rm -rf .ralph; mv .ralph gone
        echo x >> .git/config; echo x > .git/hooks/pre-commit; mv .git gone
        mkdir .claude; echo x > .claude/settings.json
        echo x >> check.sh
        {DONE}""")
    (project.path / "check.sh").write_text("#!/bin/sh\nexit 0\n")
    (project.path / "check.sh").chmod(0o755)
    project.guardrails("./check.sh")
    settings, config = (project.ralph / "settings.json").read_text(), (project.path / ".git/config").read_text()
    result = project.run("run", "--sandbox", "-p", "x")
    assert result.code == 0, result
    assert (project.ralph / "settings.json").read_text() == settings
    assert (project.path / ".git/config").read_text() == config
    assert not (project.path / ".git/hooks/pre-commit").exists() and not (project.path / ".claude").exists()
    assert (project.path / "check.sh").read_text() == "#!/bin/sh\nexit 0\n"
    taken = [line for record in project.records("sandbox_noted") for line in record["taken"]]
    assert len(taken) == 1 and ".claude appeared inside the sandbox" in taken[0]
    assert ".claude appeared" in result.out


def test_a_second_turn_has_the_home_of_the_first(project):
    project.agent_script(f'if [ -f ~/note ]; then cat ~/note; {DONE}; else echo kept > ~/note; fi')
    assert project.run("run", "--sandbox", "-p", "x", "-n", "2").code == 0
    assert not (project.home / "note").exists()


def test_credentials_are_copied_and_those_of_others_are_not(project):
    for name in (".claude/.credentials.json", ".codex/auth.json"):
        (project.home / name).parent.mkdir()
        (project.home / name).write_text("token")
    project.agent_script(f"find ~ -type f > files; {DONE}", kind="claude", stream="text")
    assert project.run("run", "--sandbox", "-p", "x").code == 0
    files = (project.path / "files").read_text()
    assert ".claude/.credentials.json" in files and ".codex" not in files


def test_an_interrupted_agent_inside_may_clean_up(project):
    project.agent_script("trap 'echo cleaned > cleaned; exit 0' TERM; echo x > ready; while :; do sleep 0.05; done")
    running = project.start("run", "--sandbox", "-p", "x")
    wait_until((project.path / "ready").exists)
    running.signal(signal.SIGINT)
    wait_until(lambda: "Received signal" in running.err)  # or the two would be one
    running.signal(signal.SIGINT)
    assert running.wait().code == 130
    assert (project.path / "cleaned").exists()
    project.nothing_left()


def test_a_killed_run_leaves_nothing_not_even_its_proxy(project):
    project.agent_script("echo x > ready; setsid sleep 300 & sleep 300")
    running = project.start("run", "--sandbox", "-p", "x")
    wait_until((project.path / "ready").exists)
    assert any("sandbox proxy" in command for command in project.processes().values())
    running.signal(signal.SIGKILL)
    running.wait()
    project.nothing_left()


# ---- which protection is in force


@pytest.mark.parametrize("command", [["run", "-p", "x"], ["loop", "run", "x"], ["plan", "run"]])
def test_a_sandbox_that_is_demanded_and_missing_starts_nothing(project, command):
    plan = Plan(project)
    project.settings({"agent": {"kind": "claude"}})
    result = project.run(*command, "--sandbox", env=without_bubblewrap(project))
    assert result.code == 2 and "there is no sandbox: bubblewrap (bwrap) is not installed" in result.err, result
    assert "--no-sandbox" in result.err and plan.turns() == [] and not project.run_folders()
    both = project.run(*command, "--sandbox", "--no-sandbox")
    assert both.code == 2 and "--sandbox and --no-sandbox are both given" in both.err


def test_auto_says_what_is_missing_and_goes_on_directly(project):
    project.agent_script(f"echo ${{RALPH_SANDBOX:-direct}} > where; {DONE}")
    project.settings({"sandbox": {"mode": "auto"}})
    result = project.run("run", "-p", "x", env=without_bubblewrap(project))
    assert result.code == 0, result
    assert "No sandbox: bubblewrap (bwrap) is not installed.\nThe agent runs directly, with your rights" in result.err
    assert (project.path / "where").read_text() == "direct\n" and project.records("sandbox_noted") == []
    assert project.run("run", "-p", "x").code == 0
    assert (project.path / "where").read_text() == "bubblewrap\n"


def test_run_is_direct_unless_it_is_asked_for(project):
    project.agent_script(f"echo ${{RALPH_SANDBOX:-direct}} > where; {DONE}")
    settings = json.loads((project.ralph / "settings.json").read_text())
    settings.pop("sandbox", None)
    (project.ralph / "settings.json").write_text(json.dumps(settings))
    assert project.run("run", "-p", "x").code == 0
    assert (project.path / "where").read_text() == "direct\n"
    assert project.run("run", "--sandbox", "-p", "x").code == 0
    assert (project.path / "where").read_text() == "bubblewrap\n"


def test_settings_that_no_sandbox_can_have_end_auto_too(project):
    project.agent_script(DONE)
    project.settings({"sandbox": {"mode": "auto", "writable": ["/nowhere/at/all"]}})
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "/nowhere/at/all" in result.err and not project.run_folders()


# ---- plans


def test_a_plan_is_worked_through_in_a_sandbox_by_default(project):
    plan = Plan(project)
    settings = json.loads((project.ralph / "settings.json").read_text())
    settings.pop("sandbox", None)
    (project.ralph / "settings.json").write_text(json.dumps(settings))
    result = plan.run()
    assert result.code == 0, result
    assert [one["reviewStatus"] for one in plan.stories()] == ["approved"]
    assert "bubblewrap" in project.records("sandbox_noted")[0]["inForce"] and "directly" not in result.out
    assert project.git("status", "--porcelain") == ""
    project.nothing_left()


def test_the_stop_hook_inside_does_its_duty(project):
    """It compares with ralph's own copy of the plan, which it can read there and nobody can write."""
    ask = f"""
import os
said = subprocess.run([{str(RALPH)!r}, "hooks", "stop"], input=json.dumps({{"cwd": os.getcwd(), "session_id": "s"}}),
                      capture_output=True, text=True)
open("hook.txt", "a").write(said.stdout + said.stderr + "\\n")
for folder, _, names in os.walk(os.path.expanduser("~/.local/state/ralph/plans")):
    for name in names:
        try: open(os.path.join(folder, name), "a").write("tampered")
        except OSError as error: open("hook.txt", "a").write(f"refused: {{error}}\\n")
"""
    plan = Plan(project).cheat("import os\nstory.update(passes=True, reviewStatus='approved', reviewCount=1); save()\n" + ask,
                               mode="implement")
    result = plan.run("--sandbox", "-n", "1")
    said = (project.path / "hook.txt").read_text()
    assert '"block"' in said, (said, result)
    assert "refused: [Errno 30] Read-only file system" in said
    for path in (project.home / ".local/state/ralph/plans").iterdir():
        assert "tampered" not in path.read_text(), "what hooks write inside stays inside"


# ---- the way out


def fetch(url):
    return (f"""python3 -c 'import urllib.request, urllib.error
try: print(urllib.request.urlopen("{url}", timeout=10).read().decode())
except urllib.error.HTTPError as error: print(error.code, error.read().decode())
except Exception as error: print("failed", error)' >> fetched""")


def test_only_listed_hosts_are_reached_and_the_rest_is_told(project, server):
    port = server.server_port
    project.agent_script("\n".join([
        fetch(f"http://model.test:{port}/a"), fetch("http://other.test/b"), fetch("http://other.test/c"),
        fetch(f"http://127.0.0.1:{port}/d"), fetch(f"http://model.test:{port + 1}/e"), DONE]))
    project.settings({"sandbox": {"mode": "on", "hosts": [f"model.test:{port}"], "resolve": {"model.test": "127.0.0.1"}}})
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    fetched = (project.path / "fetched").read_text()
    assert "hello /a" in fetched and server.asked == [("/a", f"model.test:{port}")]
    assert fetched.count("403") == 3 and "A person can add it to sandbox.hosts" in fetched
    assert 'blocked 2 requests to other.test:80 (not in the list of hosts); to allow it, add "other.test" to sandbox.hosts' in result.out
    assert f'add "model.test:{port + 1}" to sandbox.hosts' in result.out
    assert "3 requests blocked" in result.out


def test_checks_have_no_network_unless_it_is_set(project, server):
    port = server.server_port
    project.agent_script(DONE)
    project.guardrails(fetch(f"http://model.test:{port}/check"))
    project.settings({"sandbox": {"mode": "on", "hosts": [f"model.test:{port}"], "resolve": {"model.test": "127.0.0.1"}}})
    assert project.run("run", "-p", "x").code == 0 and server.asked == []
    project.settings({"sandbox": {"checkNetwork": "allowlist"}})
    assert project.run("run", "-p", "x").code == 0 and len(server.asked) == 1


def test_one_command_has_the_same_way_out(project, server):
    port = server.server_port
    project.settings({"sandbox": {"hosts": [f"model.test:{port}"], "resolve": {"model.test": "127.0.0.1"}}})
    result = project.run("sandbox", "run", "--", "sh", "-c", fetch(f"http://model.test:{port}/x") + "; " + fetch("http://no.test/"))
    assert result.code == 0 and "hello /x" in (project.path / "fetched").read_text(), result
    assert "blocked 1 request to no.test:80" in result.err
    project.nothing_left()


@pytest.mark.parametrize("hosts, resolve, message", [
    (["a b"], {}, "expected a host"), (["name:99999"], {}, "has no good port"), ([], {"x": "1.2"}, "is no address")])
def test_bad_hosts_are_refused(project, hosts, resolve, message):
    project.agent_script(DONE)
    project.settings({"sandbox": {"mode": "on", "hosts": hosts, "resolve": resolve}})
    result = project.run("run", "-p", "x")
    assert result.code == 2 and message in result.err, result


class Proxy:
    """`ralph sandbox proxy` at a unix socket, and a client of it."""

    def __init__(self, project, *options):
        self.path = project.base / "p.sock"
        self.log = project.base / "log"
        self.running = project.start("sandbox", "proxy", "--socket", self.path, "--log", self.log, *options)
        wait_until(self.path.exists)

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(10)
        client.connect(str(self.path))
        return client

    def ask(self, head):
        client = self.connect()
        client.sendall(head.encode() + b"\r\n\r\n")
        return client, client.recv(4096).decode(errors="replace")

    def refusals(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def proxy(project, server):
    yield Proxy(project, "--allow", f"model.test:{server.server_port}", "--resolve", "model.test=127.0.0.1",
                "--allow", "localhost", "--allow", "*.below.test", "--allow", f"secure.test:{server.server_port}",
                "--resolve", "secure.test=127.0.0.1")


def test_the_proxy_refuses_what_it_must(proxy, server):
    port = server.server_port
    for head, code in [(f"CONNECT model.test:{port} HTTP/1.1", "200"), ("CONNECT model.test:443 HTTP/1.1", "403"),
                       (f"CONNECT 127.0.0.1:{port} HTTP/1.1", "403"), ("CONNECT below.test:443 HTTP/1.1", "403"),
                       ("CONNECT localhost:443 HTTP/1.1", "403"), (f"GET http://[::1]:{port}/ HTTP/1.1", "403"),
                       ("GET /path HTTP/1.1", "400"), ("nonsense", "400"), ("CONNECT model.test HTTP/1.1", "400")]:
        assert proxy.ask(head)[1].split()[1] == code, head
    whys = {(one["host"], one["why"]) for one in proxy.refusals()}
    assert ("localhost", "its address is a private one") in whys and ("below.test", "not in the list of hosts") in whys


def test_a_plain_request_names_its_host_and_hides_the_proxy(proxy, server):
    port = server.server_port
    head = f"GET http://model.test:{port}/x HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: secret\r\nAccept: */*"
    assert "hello /x" in proxy.ask(head)[1] or server.asked
    wait_until(lambda: server.asked)
    assert server.asked == [("/x", f"model.test:{port}")]


def hello_for(name):
    """The first message of a TLS client that asks for this host."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("name, passes", [("secure.test", True), ("other.test", False)])
@pytest.mark.parametrize("pieces", [1, 5])
def test_tls_must_ask_for_the_host_of_the_tunnel(project, proxy, name, passes, pieces):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        mine = Proxy.__new__(Proxy)
        mine.path, mine.log = project.base / "q.sock", project.base / "q.log"
        port = listener.getsockname()[1]
        mine.running = project.start("sandbox", "proxy", "--socket", mine.path, "--log", mine.log, "--allow",
                                     f"secure.test:{port}", "--resolve", "secure.test=127.0.0.1")
        wait_until(mine.path.exists)
        client, answer = mine.ask(f"CONNECT secure.test:{port} HTTP/1.1")
        assert " 200 " in answer
        hello = hello_for(name)
        host, _ = listener.accept()
        host.settimeout(10)
        size = len(hello) // pieces + 1
        for at in range(0, len(hello), size):
            client.sendall(hello[at:at + size])
        if passes:
            received = b""
            while len(received) < len(hello):
                received += host.recv(65536)
            assert received == hello
        else:
            assert host.recv(65536) == b"" and client.recv(1) == b""
            assert "TLS asks for another host: other.test" in mine.refusals()[0]["why"]


def test_200_connections_at_once_and_a_silent_one_blocks_nobody(proxy, server):
    silent = [proxy.connect() for _ in range(100)]
    tunnels = []
    for number in range(200):
        client = proxy.connect()
        client.sendall(f"CONNECT model.test:{server.server_port} HTTP/1.1\r\n\r\n".encode())
        tunnels.append(client)
    for number, client in enumerate(tunnels):
        assert b" 200 " in client.recv(200)
        client.sendall(f"GET /{number} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    for number, client in enumerate(tunnels):
        text = b""
        while piece := client.recv(65536):
            text += piece
        assert f"hello /{number}".encode() in text
    assert len(silent) == 100


def test_names_are_resolved_by_files_and_dns(project):
    """A static glibc has no other way; /etc/hosts is one of the files."""
    proxy = Proxy(project, "--allow", "localhost:9")
    assert proxy.ask("CONNECT localhost:9 HTTP/1.1")[1].split()[1] == "403"
    assert proxy.refusals()[0]["why"] == "its address is a private one"
