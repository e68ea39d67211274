"""The sandbox: what it costs to start a program in it, and how much passes through the proxy."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

OPTIONS = {"read-only": "--ro-bind", "writable": "--bind", "hidden": "--ro-bind", "empty": "--tmpfs", "link": "--symlink",
           "process": "--proc", "devices": "--dev"}
PIECE = bytes(1 << 20)


def missing():
    """Why no sandbox is possible here; nothing if one is."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    done = subprocess.run(["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def bubblewrap_command(ralph, folder):
    """bwrap itself with the mounts and namespaces of the plan; without the filter, the limits and the first program."""
    plan = json.loads(subprocess.run([ralph, "sandbox", "plan", "--json"], cwd=folder, capture_output=True, check=True).stdout)
    words = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net",
             "--disable-userns", "--uid", str(plan["uid"]), "--gid", str(plan["gid"]), "--die-with-parent", "--new-session",
             "--cap-drop", "ALL"]
    for mount in plan["mounts"]:
        if mount["kind"] not in OPTIONS:
            continue
        source = {"hidden": ["/dev/null"], "empty": [], "process": [], "devices": []}.get(
            mount["kind"], [mount.get("from", mount["path"])])
        words += [OPTIONS[mount["kind"]], *source, mount["path"]]
    return [*words, "--chdir", str(folder), "--", "true"]


def project(scratch):
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch, prefix="sandboxed-"))
    (folder / ".ralph").mkdir()
    (folder / ".ralph/settings.json").write_text('{"sandbox": {"network": "none"}}')
    return folder


class Server:
    """Sends the requested bytes, in its own thread."""

    def __init__(self, size):
        self.size = size
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                client.recv(1)
                for _ in range(self.size // len(PIECE)):
                    client.sendall(PIECE)


def receive(client, size):
    """Seconds for `size` bytes."""
    buffer, got = bytearray(len(PIECE)), 0
    began = time.perf_counter()
    client.sendall(b"x")
    while got < size:
        n = client.recv_into(buffer)
        if n == 0:
            raise OSError(f"{got} of {size} bytes came")
        got += n
    return time.perf_counter() - began


class Proxy:
    def __init__(self, ralph, scratch, port):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="ralph-bench-")) / "p.sock"
        self.process = subprocess.Popen([ralph, "sandbox", "proxy", "--socket", self.path, "--allow", f"bench.test:{port}",
                                         "--resolve", "bench.test=127.0.0.1"], stdin=subprocess.DEVNULL, cwd=scratch)
        self.port = port
        for _ in range(500):
            if os.path.exists(self.path):
                break
            time.sleep(0.01)

    def tunnel(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(self.path))
        client.sendall(f"CONNECT bench.test:{self.port} HTTP/1.1\r\n\r\n".encode())
        if b" 200 " not in client.recv(200):
            raise OSError("the proxy refused")
        return client

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.path.parent, ignore_errors=True)
