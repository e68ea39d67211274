"""An HTTP server, and a proxy that stands for that of a user's network: fixtures of the tests about the way out of a sandbox."""
import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


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


class Upstream:
    """A proxy that notes the heads that it gets, and answers or opens a tunnel to a listener of its own."""

    def __init__(self, refuses=False):
        self.heads, self.refuses = [], refuses
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            self.heads.append(head.decode())
            if self.refuses:
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            elif head.startswith(b"CONNECT"):
                client.sendall(b"HTTP/1.1 200 OK\r\nVia: upstream\r\n\r\nfirst words")  # in one piece with the tunnel
                with contextlib.suppress(ConnectionResetError):
                    self.said = client.recv(4096)
            else:
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup")
            client.close()


@pytest.fixture
def upstream(project):
    made = Upstream()
    yield made
    made.listener.close()
