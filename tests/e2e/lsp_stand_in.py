"""A language server for tests: it finds the word BAD, and behaves as the file that it is given says, message by message.

    lsp_stand_in.py FOLDER

FOLDER/mode: "" (well), "mute" (takes everything and says nothing of a file), "stale" (only of versions before), "crash" (dies when it
is to look at a file), "noise" (writes what is no message), "huge" (claims a message of a terabyte), "refuse" (does not begin),
"stubborn" (does not end when asked). FOLDER/log: what it was sent. FOLDER/child: it has started a process that ignores everything.
"""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(sys.argv[1])


def mode():
    return (HERE / "mode").read_text().strip() if (HERE / "mode").exists() else ""


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    # In two parts, as pipes may cut it.
    sys.stdout.buffer.write(b"Content-Length: %d\r\n" % len(body))
    sys.stdout.buffer.flush()
    sys.stdout.buffer.write(b"\r\n" + body)
    sys.stdout.buffer.flush()


def receive():
    length = None
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))
        name, value = line.split(b":")
        if name.lower() == b"content-length":
            length = int(value)


def look_at(uri, version, text):
    how = mode()
    if how == "crash":
        print("stack smashing, or so", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "noise":
        sys.stdout.buffer.write(b"warning: this is no message\r\n\r\n")
        sys.stdout.buffer.flush()
    if how == "huge":
        sys.stdout.buffer.write(b"Content-Length: 1000000000000\r\n\r\n")
        sys.stdout.buffer.flush()
    if how in ("mute", "noise", "huge"):
        return
    found = [{"range": {"start": {"line": n, "character": line.index("BAD")}, "end": {"line": n, "character": 99}}, "severity": 1,
              "code": "bad-word", "source": "stand-in", "message": "a bad word"} for n, line in enumerate(text.split("\n")) if "BAD" in line]
    if how == "stale":
        version, found = version - 1, []
    send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri, "version": version, "diagnostics": found}})


def main():
    if mode() == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if (HERE / "child").exists():
        subprocess.Popen([sys.executable, "-S", "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)"],
                         start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(HERE / "starts", "a") as log:
        print(os.getpid(), file=log)
    while True:
        message = receive()
        method, params = message.get("method"), message.get("params")
        with open(HERE / "log", "a") as log:
            print(method, file=log)
        if method == "initialize":
            if mode() == "refuse":
                send({"id": message["id"], "error": {"code": -32603, "message": "not today"}})
                continue
            send({"id": message["id"], "result": {"capabilities": {"textDocumentSync": 1}}})
            send({"id": "s1", "method": "workspace/configuration", "params": {"items": [{"section": "x"}]}})
            send({"id": "s2", "method": "window/workDoneProgress/create", "params": {"token": "t"}})
        elif method == "textDocument/didOpen":
            document = params["textDocument"]
            look_at(document["uri"], document["version"], document["text"])
        elif method == "textDocument/didChange":
            look_at(params["textDocument"]["uri"], params["textDocument"]["version"], params["contentChanges"][0]["text"])
        elif method == "shutdown" and mode() != "stubborn":
            send({"id": message["id"], "result": None})
        elif method == "exit" and mode() != "stubborn":
            sys.exit(0)


main()
