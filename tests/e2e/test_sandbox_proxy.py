"""The proxy of a sandbox by itself (`ralph sandbox proxy`): what it lets through, and the proxy of the user's network behind it. No
sandbox is needed, so these run on the sanitized build too."""
import hashlib
import json
import socket
import ssl
import subprocess
import threading

import pytest

from egress_support import Upstream
from support import RALPH, wait_until


class Proxy:
    """`ralph sandbox proxy` at a unix socket, and a client of it."""

    def __init__(self, project, *options):
        self.path = project.base / "p.sock"
        self.log = project.base / "log"
        self.running = project.start("sandbox", "proxy", "--socket", self.path, "--log", self.log, *options)
        wait_until(self.path.exists)

    def connect(self):
        """The socket is there a moment before the proxy listens."""
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(10)
        wait_until(lambda: client.connect_ex(str(self.path)) == 0)
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


@pytest.mark.parametrize("host", ["127.0.0.1\0.below.test", "localhost\0.below.test", "127.0.0.1%00.below.test", ".below.test", "a..below.test",
                                  "[127.0.0.1].below.test", "127.0.0.1\t.below.test", "u@a.below.test"])
def test_what_is_no_name_is_not_looked_up(project, server, host):
    """The functions that look names up end at a NUL: a name that ends as the list wants it could be any other, and any address."""
    proxy = Proxy(project, "--allow", f"*.below.test:{server.server_port}")
    for head in (f"GET http://{host}:{server.server_port}/ HTTP/1.1", f"CONNECT {host}:{server.server_port} HTTP/1.1"):
        assert proxy.ask(head)[1].split()[1] == "400", head
    assert server.asked == []


class Raw:
    """A listener that keeps what one connection sends, and answers when it has seen `until`."""

    def __init__(self, until):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.seen, self.until = self.listener.getsockname()[1], b"", until
        self.over = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        client, _ = self.listener.accept()
        client.settimeout(20)
        while not self.seen.endswith(self.until):
            piece = client.recv(65536)
            self.seen += piece
            if not piece:
                break
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        client.shutdown(socket.SHUT_WR)  # what still comes is wanted
        while piece := client.recv(65536):
            self.seen += piece
        self.over.set()


BEHIND = b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
BODIES = {"none": (b"", b""), "a length": (b"Content-Length: 11\r\n", b"hello world"),
          "chunks": (b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nA: b\r\n\r\n")}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("through", ["directly", "another proxy"])
def test_one_connection_carries_one_request(project, body, at_once, through):
    """What comes behind it is another one, that nobody has judged: a host with several names, or the proxy of the user's network, would
    answer it."""
    fields, content = BODIES[body]
    host = Raw(b"\r\n\r\n" + content if body != "none" else b"\r\n\r\n")
    if through == "directly":
        proxy = Proxy(project, "--allow", f"one.test:{host.port}", "--resolve", "one.test=127.0.0.1")
    else:
        proxy = chained(project, host.port, "--allow", "one.test:81")
    port = host.port if through == "directly" else 81
    client = proxy.connect()
    head = f"POST http://one.test:{port}/ HTTP/1.1\r\n".encode() + fields + b"\r\n"
    if at_once:
        client.sendall(head + content + BEHIND)
    else:
        for at in range(0, len(head + content), 7):
            client.sendall((head + content)[at:at + 7])
    answer = client.recv(4096)
    assert answer.endswith(b"ok"), answer
    if not at_once:
        client.sendall(BEHIND)
    client.shutdown(socket.SHUT_WR)
    assert host.over.wait(20)
    assert host.seen.count(b"HTTP/1.1") == 1 and b"evil" not in host.seen and host.seen.endswith(b"\r\n\r\n" + content), host.seen


@pytest.mark.parametrize("fields", ["A: b\nHost: evil", "Host : evil", "Content-Length: 5\r\nContent-Length: 0", "nothing",
                                    "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: identity, chunked"])
def test_a_head_that_could_be_read_in_two_ways_is_refused(proxy, server, fields):
    assert proxy.ask(f"GET http://model.test:{server.server_port}/ HTTP/1.1\r\n{fields}")[1].split()[1] == "400"
    assert server.asked == []


def test_much_passes_in_both_directions_however_slowly_it_is_read(project):
    """Through pipes that are full, with a reader that is slow at first, and to the last byte."""
    size = 24 << 20
    sent = bytes(range(256)) * (size // 256)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(project, "--allow", f"much.test:{listener.getsockname()[1]}", "--resolve", "much.test=127.0.0.1")
        client, answer = proxy.ask(f"CONNECT much.test:{listener.getsockname()[1]} HTTP/1.1")
        assert " 200 " in answer
        client.settimeout(60)
        client.sendall(b"no TLS")
        host, _ = listener.accept()
        assert host.recv(6, socket.MSG_WAITALL) == b"no TLS"
        for one, other in ((host, client), (client, host)):
            other.settimeout(60)
            writer = threading.Thread(target=lambda: (one.sendall(sent), one.shutdown(socket.SHUT_WR)))
            writer.start()
            got, reads = hashlib.sha256(), 0
            while piece := other.recv(512 if reads < 2000 else 1 << 20):
                got.update(piece)
                reads += 1
            writer.join()
            assert got.digest() == hashlib.sha256(sent).digest()
        host.close()


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


def test_names_are_resolved_by_files(project):
    """A static glibc knows files and DNS; /etc/hosts is one of the files."""
    proxy = Proxy(project, "--allow", "localhost:9")
    assert proxy.ask("CONNECT localhost:9 HTTP/1.1")[1].split()[1] == "403"
    assert proxy.refusals()[0]["why"] == "its address is a private one"


DNS_AND_PROXY = """
import fcntl, os, socket, struct, subprocess, sys, threading, time
ralph, base = sys.argv[1:]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:  # the loopback interface of this network
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 1 | 64))
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
def serve():
    while True:
        query, peer = server.recvfrom(4096)
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]])
            at += 1 + query[at]
        question, kind = query[12:at + 5], query[at + 1:at + 3]
        known = labels[0] == b"inner" and kind == bytes([0, 1])
        answer = bytes([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 9, 8, 7]) if known else b""
        code = 0x80 if labels[0] == b"inner" else 0x83
        server.sendto(query[:2] + bytes([0x81, code, 0, 1, 0, len(answer) > 0, 0, 0, 0, 0]) + question + answer, peer)
threading.Thread(target=serve, daemon=True).start()
path = os.path.join(base, "dns.sock")
proxy = subprocess.Popen([ralph, "sandbox", "proxy", "--socket", path, "--allow", "*.names.test"])
while not os.path.exists(path):
    time.sleep(0.01)
for name in ("inner", "none"):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(f"CONNECT {name}.names.test:443 HTTP/1.1\\r\\n\\r\\n".encode())
        print(client.recv(4096).decode())
proxy.kill()
proxy.wait()
"""


def in_own_network(project, script_of_test):
    """In a network and with an /etc/resolv.conf of its own."""
    (project.base / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:20 attempts:1\n")
    (project.base / "dns.py").write_text(script_of_test)
    script = 'mount --bind "$1/resolv.conf" /etc/resolv.conf && exec python3 "$1/dns.py" "$2" "$1"'
    try:
        done = subprocess.run(["unshare", "--mount", "--net", "sh", "-c", script, "sh", project.base, RALPH],
                              env=project.environment(), capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip(done.stderr.strip())
    return done


def test_names_are_resolved_by_dns(project):
    done = in_own_network(project, DNS_AND_PROXY)
    assert "its address is a private one" in done.stdout, done
    assert "there is no host none.names.test" in done.stdout, done


SILENT_DNS = """
import fcntl, os, socket, struct, subprocess, sys, time
ralph, base = sys.argv[1:]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 1 | 64))
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))  # and says nothing
path = os.path.join(base, "dns.sock")
proxy = subprocess.Popen([ralph, "sandbox", "proxy", "--socket", path, "--allow", "*.names.test", "--allow", "known.test:1",
                          "--resolve", "known.test=127.0.0.1"])
while not os.path.exists(path):
    time.sleep(0.01)
clients = []
for number in range(100):
    client = socket.socket(socket.AF_UNIX)
    while client.connect_ex(path): time.sleep(0.01)
    client.sendall(f"CONNECT n{number}.names.test:443 HTTP/1.1\\r\\n\\r\\n".encode())
    clients.append(client)
with socket.socket(socket.AF_UNIX) as client:  # it is behind all of them, and answered
    client.connect(path)
    client.sendall(b"CONNECT known.test:1 HTTP/1.1\\r\\n\\r\\n")
    print(client.recv(4096).decode())
print("processes", len(open(f"/proc/{proxy.pid}/task/{proxy.pid}/children").read().split()))
proxy.kill()
proxy.wait()
"""


def test_names_that_nobody_answers_for_take_few_processes(project):
    """They are outside of the sandbox and its limits."""
    done = in_own_network(project, SILENT_DNS)
    assert "processes 32\n" in done.stdout and "known.test:1 can't be reached" in done.stdout, done


# ---- the proxy of the user's own network


def chained(project, port, *options, **env):
    proxy = Proxy.__new__(Proxy)
    proxy.path, proxy.log = project.base / "up.sock", project.base / "up.log"
    address = f"http://me:pass%40word@127.0.0.1:{port}"
    proxy.running = project.start("sandbox", "proxy", "--socket", proxy.path, "--log", proxy.log, *options,
                                  env={"HTTPS_PROXY": address, "http_proxy": address, **env})
    wait_until(proxy.path.exists)
    return proxy


def test_the_users_own_proxy_is_gone_through_and_the_list_still_holds(project, upstream):
    proxy = chained(project, upstream.port, "--allow", "not-to-be-resolved.invalid", "--allow", "other.invalid:8443")
    client, text = proxy.ask("CONNECT other.invalid:8443 HTTP/1.1")
    assert text.split()[1] == "200"
    client.sendall(b"no TLS on this port")
    assert client.recv(4096) == b"first words"
    wait_until(lambda: hasattr(upstream, "said"))
    assert upstream.said == b"no TLS on this port"
    assert "up" in proxy.ask("GET http://not-to-be-resolved.invalid/x?y HTTP/1.1\r\nAccept: */*")[1]
    connect, get = upstream.heads
    assert connect.startswith("CONNECT other.invalid:8443 HTTP/1.1\r\nHost: other.invalid:8443\r\n")
    assert get.startswith("GET http://not-to-be-resolved.invalid/x?y HTTP/1.1\r\n") and "Host: not-to-be-resolved.invalid\r\n" in get
    assert all("Proxy-Authorization: Basic bWU6cGFzc0B3b3Jk\r\n" in head for head in (connect, get))
    for head in ("CONNECT evil.invalid:443 HTTP/1.1", "CONNECT not-to-be-resolved.invalid:22 HTTP/1.1"):
        assert proxy.ask(head)[1].split()[1] == "403", head
    assert len(upstream.heads) == 2


def test_tls_is_looked_at_behind_the_users_proxy_too(project, upstream):
    proxy = chained(project, upstream.port, "--allow", "secure.invalid")
    client, text = proxy.ask("CONNECT secure.invalid:443 HTTP/1.1")
    assert text.split()[1] == "200"
    client.sendall(hello_for("other.invalid"))
    assert client.recv(4096) == b""
    assert "TLS asks for another host" in proxy.refusals()[0]["why"]


def test_hosts_of_no_proxy_and_resolve_are_reached_directly(project, upstream, server):
    port = server.server_port
    proxy = chained(project, upstream.port, "--allow", f"model.test:{port}", "--resolve", "model.test=127.0.0.1",
                    "--allow", "localhost:9", NO_PROXY="localhost,.internal")
    assert proxy.ask(f"GET http://model.test:{port}/ HTTP/1.1")[1].split()[1] == "200"
    assert proxy.ask("CONNECT localhost:9 HTTP/1.1")[1].split()[1] == "403"  # looked up here, and private
    assert upstream.heads == []


def test_what_the_users_proxy_says_is_told(project):
    upstream = Upstream(refuses=True)
    proxy = chained(project, upstream.port, "--allow", "x.invalid")
    text = proxy.ask("CONNECT x.invalid:443 HTTP/1.1")[1]
    assert text.split()[1] == "502" and "407 Proxy Authentication Required" in text
    upstream.listener.close()
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    (project.base / "up.sock").unlink()
    text = chained(project, port, "--allow", "x.invalid").ask("CONNECT x.invalid:443 HTTP/1.1")[1]
    assert text.split()[1] == "502" and f"127.0.0.1:{port} of your network can't be reached" in text


def test_without_a_socket_it_says_what_to_give(project):
    result = project.run("sandbox", "proxy", timeout=20)
    assert result.code == 2 and "--socket" in result.err, result
