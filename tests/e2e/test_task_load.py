"""Much at once for the tasks of one master: a thousand commands, an app that answers with gigabytes, endless output."""

import itertools
import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from cluster import Client, Cluster, eventually, free_port

MB = 1_000_000
LINE = "all work and no play"
MANY_SECONDS = 3600.0
ANSWERING = """
import http.server, sys

PIECE = b"x" * 1_000_000

class Large(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        pieces = int(self.path.rpartition("/")[2] or 0)
        self.send_response(200)
        self.send_header("Content-Length", str(pieces * len(PIECE)))
        self.end_headers()
        for _ in range(pieces):
            self.wfile.write(PIECE)
    def log_message(self, *args): pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Large).serve_forever()
"""


@contextmanager
def answering(client: Client) -> Iterator[str]:
    """Run a command that answers `/N` with N megabytes; give its address at the master."""
    port = free_port()
    config = {
        "entrypoint": ["python3", "-c", ANSWERING, port],
        "resources": {"slots": 0},
        "environment": {"proxy_ports": [{"proxy_port": int(port)}]},
    }
    task_id = client.post("/api/v1/commands", {"config": config})["command"]["id"]
    address = f"{client.url}/proxy/{task_id}:{port}"
    try:
        eventually(lambda: client.pool.request("GET", f"{address}/0", headers=client.headers).status == 200)
        yield address
    finally:
        client.post(f"/api/v1/commands/{task_id}/kill")


class MemoryWatch:
    """Highest resident memory of a process above what it had at first, in bytes."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._first = self._process.memory_info().rss
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.growth = 0

    def __enter__(self) -> "MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            self.growth = max(self.growth, self._process.memory_info().rss - self._first)


def master_pid(cluster: Cluster) -> int:
    assert cluster.process is not None
    return cluster.process.pid


def read_all(client: Client, address: str) -> int:
    answer = client.pool.request("GET", address, headers=client.headers, preload_content=False)
    received = sum(len(piece) for piece in answer.stream(MB))
    answer.release_conn()
    return received


@pytest.mark.parametrize("megabytes", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_large_answer_passes_without_being_kept(cluster: Cluster, client: Client, megabytes: int) -> None:
    with answering(client) as address, MemoryWatch(master_pid(cluster)) as memory:
        assert read_all(client, f"{address}/{megabytes}") == megabytes * MB
    assert memory.growth < 100 * MB


def test_a_client_that_stops_reading_stops_the_app_not_the_master(cluster: Cluster, client: Client) -> None:
    with answering(client) as address, MemoryWatch(master_pid(cluster)) as memory:
        target = urlsplit(address)
        with closing(socket.create_connection((target.hostname, target.port))) as stalled:
            head = f"GET {target.path}/2000 HTTP/1.1\r\nHost: {target.netloc}\r\n"
            stalled.sendall(f"{head}Authorization: {client.headers['Authorization']}\r\n\r\n".encode())
            assert stalled.recv(12) == b"HTTP/1.1 200"
            assert read_all(client, f"{address}/200") == 200 * MB  # others go on past it
    assert memory.growth < 100 * MB


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(MANY_SECONDS)])])
def test_commands_that_start_at_once_all_run_once(cluster: Cluster, client: Client, tmp_path: Path, count: int) -> None:
    marks = tmp_path / "marks"
    marks.touch()

    def launch(number: int) -> str:
        config = {"entrypoint": ["sh", "-c", f"echo {number} >> {marks}"], "resources": {"slots": 0}}
        task: dict[str, Any] = client.post("/api/v1/commands", {"config": config})["command"]
        return str(task["id"])

    with ThreadPoolExecutor(32) as threads:
        launched = list(threads.map(launch, range(count)))
    assert len(set(launched)) == count
    ended = eventually(lambda: _ended(client, launched), seconds=MANY_SECONDS, poll_seconds=1.0)
    assert Counter(ended) == {"SUCCESS": count}
    assert sorted(map(int, marks.read_text().split())) == list(range(count))


@pytest.mark.parametrize("count", [400_000, pytest.param(4_000_000, marks=pytest.mark.slow)])
def test_a_command_that_prints_for_ever_is_slowed_down_until_it_is_killed(
    cluster: Cluster, client: Client, count: int
) -> None:
    admin, sizes = Client(cluster.url, "admin"), []
    config = {"entrypoint": ["yes", LINE], "resources": {"slots": 0}}
    runs = cluster.directory / "runs"
    of_others = set(runs.iterdir())  # those of tests before this one take more, until they are removed

    def others_write_until_enough_is_stored() -> bool:
        name = f"written-meanwhile-{count}-{len(sizes)}"
        assert admin.post("/api/v1/workspaces", {"name": name})["workspace"]["name"] == name
        sizes.append(_size(set(runs.iterdir()) - of_others))
        return _last_line(client, task_id) >= count

    with MemoryWatch(master_pid(cluster)) as memory:
        task_id = client.post("/api/v1/commands", {"config": config})["command"]["id"]
        eventually(others_write_until_enough_is_stored, poll_seconds=0.2)
        client.post(f"/api/v1/commands/{task_id}/kill")
        lines = _follow(client, task_id, "sources=master")  # returns at the end of the log
        sizes.append(_size(set(runs.iterdir()) - of_others))
    assert client.get(f"/api/v1/commands/{task_id}")["command"]["exitStatus"] == "allocation exited successfully"
    assert "allocation ended (killed)" in lines[-1], lines
    assert memory.growth < 100 * MB
    assert 0 < max(sizes) < 50 * MB


def _size(directories: Iterable[Path]) -> int:
    """Return what their files take on the disk; one that goes meanwhile takes nothing."""
    total = 0
    for place, _, names in itertools.chain(*map(os.walk, directories)):
        for name in names:
            with suppress(OSError):
                total += Path(place, name).stat().st_blocks * 512
    return total


def _last_line(client: Client, task_id: str) -> int:
    """Return the number of the newest line of a task's log."""
    lines = _logs(client, task_id, "limit=1&orderBy=ORDER_BY_DESC")
    return int(lines[0]["id"]) if lines else 0


def _follow(client: Client, task_id: str, query: str) -> list[str]:
    return [line["message"] for line in _logs(client, task_id, f"follow=true&{query}")]


def _logs(client: Client, task_id: str, query: str) -> list[dict[str, Any]]:
    url = f"{client.url}/api/v1/tasks/{task_id}/logs?{query}"
    answer = client.pool.request("GET", url, headers=client.headers)
    assert answer.status == 200, answer.data
    return [json.loads(line)["result"] for line in answer.data.splitlines()]


def _ended(client: Client, task_ids: list[str]) -> list[str]:
    """Return how each of the commands ended; nothing while one of them lives."""
    commands = {one["id"]: one for one in client.get("/api/v1/commands")["commands"]}
    mine = [commands[task_id] for task_id in task_ids]
    if any(not one["state"].endswith("TERMINATED") for one in mine):
        return []
    return ["SUCCESS" if "success" in (one.get("exitStatus") or "").lower() else str(one) for one in mine]
