"""A trial that serves: HTTP on one port, raw TCP on another."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

from cluster import Client, Cluster, eventually, free_port, write_experiment

SERVING = """
import http.server, socketserver, sys, threading

class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = f"Hello {self.path}".encode()
        if self.path.endswith("/big"):
            body = b"b" * 50_000_000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass

class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)

class Server(http.server.ThreadingHTTPServer): daemon_threads = True
class Echoes(socketserver.ThreadingTCPServer): daemon_threads = allow_reuse_address = True

echo = Echoes(("127.0.0.1", int(sys.argv[2])), Echo)
threading.Thread(target=echo.serve_forever, daemon=True).start()
print("serving", flush=True)
Server(("127.0.0.1", int(sys.argv[1])), Hello).serve_forever()
"""


@dataclass
class Serving:
    """The trial, while it runs."""

    client: Client
    experiment_id: int
    task_id: str
    http: int
    echo: int

    def get(self, path: str = "") -> urllib3.BaseHTTPResponse:
        url = f"{self.client.url}/proxy/{self.task_id}:{self.http}/{path}"
        return self.client.pool.request("GET", url, headers=self.client.headers)

    def hello(self) -> Any:
        answer = self.get()
        return answer.status == 200 and answer.data == f"Hello /proxy/{self.task_id}:{self.http}/".encode()


@contextmanager
def serving(cluster: Cluster, directory: Path, *, cert: str | None = None, slots: int = 0) -> Iterator[Serving]:
    """Submit it, and wait until it answers through the proxy."""
    client = Client(cluster.url, cert=cert)
    http, echo = int(free_port()), int(free_port())
    ports = [{"proxy_port": http}, {"proxy_port": echo, "proxy_tcp": True}]
    config = {
        "entrypoint": f"python3 train.py {http} {echo}",
        "searcher": {"name": "single", "metric": "x"},
        "resources": {"slots_per_trial": slots},
        "environment": {"proxy_ports": ports},
    }
    experiment = client.submit(write_experiment(directory / "serving", SERVING, config))
    try:
        [trial] = eventually(lambda: [one for one in client.trials(experiment) if one.get("taskId")])
        found = Serving(client, experiment, trial["taskId"], http, echo)
        eventually(found.hello, explain=lambda: f"{found.get().data!r}\n{client.log_lines(trial['id'])}")
        yield found
    finally:
        client.post(f"/api/v1/experiments/{experiment}/kill")
        client.wait_state(experiment, "CANCELED")


def echoes(port: int, data: bytes = b"over and back\n") -> bool:
    """Return whether what is sent to a port of this machine comes back."""
    with closing(eventually(lambda: _connected(port))) as sock:
        sock.sendall(data)
        got = b""
        while len(got) < len(data):
            piece = sock.recv(65536)
            if not piece:
                break
            got += piece
        return got == data


def _connected(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=60)
    except OSError:
        return None
