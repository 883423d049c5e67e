"""Test submitted tasks on every engine: commands, ports, generic tasks, notebooks, TensorBoards, shells.

An engine's own suite derives from these classes and gives a fixture `site` (task_site.py), a master for all its tests.
"""

import contextlib
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from task_site import SECONDS, TaskSite
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from cluster import eventually, free_port

# Answers every path; echoes raw bytes on a second port. The distribution's Python alone is enough.
SERVER = """
import http.server, os, socketserver, sys, threading
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"pid {os.getpid()} path {self.path} told {self.headers.get('Authorization')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *words):
        pass
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
echo = Server(("127.0.0.1", int(sys.argv[2])), Echo)
threading.Thread(target=echo.serve_forever, daemon=True).start()
print("serving", flush=True)
Server(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""
TRIAL = """
import http.server, threading
from determined import core
import determined as det
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"rank {info.container_rank} of {len(info.container_addrs)}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *words):
        pass
def wait_in_here():
    print("rank", info.container_rank, "waits", flush=True)
    threading.Event().wait(600)
info = det.get_cluster_info()
distributed = core.DistributedContext(
    rank=info.container_rank, size=len(info.container_addrs), local_rank=0, local_size=1,
    cross_rank=info.container_rank, cross_size=len(info.container_addrs), chief_ip=info.container_addrs[0],
)
with core.init(distributed=distributed):
    if info.container_rank == 0:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", info.user_data["port"]), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    wait_in_here()
"""
METRICS = """
from determined import core
with core.init() as context:
    for step in range(1, 4):
        context.train.report_training_metrics(steps_completed=step, metrics={"loss": 1 / step})
    context.train.report_validation_metrics(steps_completed=3, metrics={"x": 1.0})
"""
HOOK = {"startup-hook.sh": "export HOOKED=from-the-hook\n"}
COMMAND = 'cat words.txt; echo " of $DET_TASK_ID $HOOKED"; exit 5'


class TaskContract:
    """Tasks that need no program of other people."""

    @pytest.fixture
    def site(self) -> TaskSite:
        raise NotImplementedError("the engine's own suite gives its site")

    @pytest.fixture(autouse=True)
    def nothing_left_behind(self, site: TaskSite) -> Iterator[None]:
        yield
        eventually(lambda: site.left_over() == [], SECONDS, lambda: f"{site.left_over()}\n{site.cluster.log()[-3000:]}")

    def test_command_prints_and_its_status_is_passed_on(self, site: TaskSite) -> None:
        config = str(site.config_file())
        words = ("cmd", "run", "--propagate-status", "--config-file", config, "sh", "-c", "echo 6 times 7; exit 7")
        done = site.det(*words, check=False)
        assert done.returncode == 7, done.stdout + done.stderr
        assert "6 times 7" in done.stdout
        assert "resources failed with non-zero exit code" in done.stdout

    def test_context_directory_and_startup_hook_are_there_before_the_command(self, site: TaskSite) -> None:
        files = {**HOOK, "words.txt": "from the context"}
        task_id = site.launch("command", 'echo "$HOOKED; $(cat words.txt)"', files=files)
        assert site.until_ended("command", task_id) == "allocation exited successfully", site.explain(task_id)
        assert "from-the-hook; from the context" in site.lines(task_id)

    def test_killed_command_ends(self, site: TaskSite) -> None:
        task_id = site.launch("command", "echo begun; while :; do sleep 1; done")
        site.until_said(task_id, "begun")
        site.kill("command", task_id)
        assert site.get("command", task_id)["exitStatus"] == "allocation exited successfully"

    def test_ports_of_a_command_are_reached_through_the_proxy(self, site: TaskSite) -> None:
        reaches_ports(site)

    def test_service_is_reached_again_after_the_master_was_killed(self, site: TaskSite) -> None:
        task_id, http, _ = serve(site)
        before = site.fetch(f"{task_id}:{http}").data
        site.restart_master()
        site.until(lambda: site.fetch(f"{task_id}:{http}").status == 200, task_id)
        assert site.fetch(f"{task_id}:{http}").data == before
        assert site.get("command", task_id)["state"] == "STATE_RUNNING"
        site.kill("command", task_id)

    def test_task_of_a_lost_node_ends_and_is_not_started_again(self, site: TaskSite) -> None:
        task_id, http, tcp = serve(site)
        with site.open_socket(f"{task_id}:{tcp}") as socket:
            site.lose_node(task_id)
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=SECONDS)
        assert "exited successfully" not in site.until_ended("command", task_id)
        assert site.fetch(f"{task_id}:{http}").status == 404
        assert site.lines(task_id).count("serving") == 1
        site.bring_back()

    def test_generic_task_pauses_and_goes_on(self, site: TaskSite) -> None:
        mark = site.shared / "paused"
        script = f"if [ -e {mark} ]; then echo goes on; exit 0; fi; touch {mark}; echo begun; while :; do sleep 1; done"
        task_id = site.launch_generic(script)
        site.until_said(task_id, "begun")
        site.client.post(f"/api/v1/tasks/{task_id}/pause")
        site.until(lambda: site.generic_state(task_id) == "PAUSED", task_id)
        site.until(lambda: site.left_over() == [], task_id)
        site.client.post(f"/api/v1/tasks/{task_id}/unpause")
        site.until(lambda: site.generic_state(task_id) == "COMPLETED", task_id)
        assert "goes on" in site.lines(task_id)

    def test_trial_on_all_nodes_serves_its_port_and_shows_the_stacks_of_every_rank(self, site: TaskSite) -> None:
        port = int(free_port())
        environment = {"proxy_ports": [{"proxy_port": port}]}
        trial = site.train("waiting", TRIAL, slots=site.wide, data={"port": port}, environment=environment)
        shown = site.client.get(f"/api/v1/trials/{trial}")["trial"]
        task_id = shown["taskId"]
        for rank in range(site.nodes):
            site.until_said(task_id, f"rank {rank} waits")
        site.until(lambda: site.fetch(f"{task_id}:{port}").data == f"rank 0 of {site.nodes}".encode(), task_id)
        stacks = site.det("trial", "stacks", str(trial)).stdout
        assert stacks.count("in wait_in_here") == site.nodes, stacks
        assert stacks.count("stacks of all ranks follow") == site.nodes, stacks
        site.client.post(f"/api/v1/experiments/{shown['experimentId']}/kill")


class ProgramContract:
    """Tasks whose programs come from environments that nodes build: notebooks, TensorBoards, shells."""

    @pytest.fixture
    def site(self) -> TaskSite:
        raise NotImplementedError("the engine's own suite gives its site")

    @pytest.fixture(autouse=True)
    def nothing_left_behind(self, site: TaskSite) -> Iterator[None]:
        yield
        eventually(lambda: site.left_over() == [], SECONDS, lambda: f"{site.left_over()}\n{site.cluster.log()[-3000:]}")

    def test_notebook_runs_a_cell_and_its_files_are_kept(self, site: TaskSite) -> None:
        task_id = site.launch("notebook", files={"words.txt": "from the context", **HOOK})
        site.until_ready("notebook", task_id, 600)
        assert site.fetch(task_id, "api/status").status == 200, site.explain(task_id)
        assert site.fetch(task_id, "api/status", headers={}).status == 401
        started = site.fetch(task_id, "api/kernels", method="POST", body={"name": "python3"})
        assert started.status == 201, started.data
        kernel = json.loads(started.data)["id"]
        with site.open_socket(task_id, f"api/kernels/{kernel}/channels") as channel:
            cell = "import os; print(6 * 7, open('words.txt').read(), os.environ['HOOKED'])"
            assert run_cell(channel, cell) == "42 from the context from-the-hook\n"
        page = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        body = {"type": "notebook", "format": "json", "content": page}
        assert site.fetch(task_id, "api/contents/mine.ipynb", method="PUT", body=body).status == 201
        site.until(lambda: any((site.cluster.directory / "checkpoints").rglob("mine.ipynb")), task_id)
        site.kill("notebook", task_id)

    def test_tensorboard_shows_the_metrics_of_a_trial(self, site: TaskSite) -> None:
        trial = site.train("metrics", METRICS, slots=1)
        experiment = site.client.get(f"/api/v1/trials/{trial}")["trial"]["experimentId"]
        site.client.wait_state(experiment, "COMPLETED")
        hook = {"startup-hook.sh": "echo hooked in front of $DET_TASK_TYPE\n"}
        task_id = site.launch("tensorboard", experimentIds=[experiment], files=hook)
        site.until_ready("tensorboard", task_id, 600)
        site.until(lambda: "TensorBoard contains metrics" in site.lines(task_id), task_id)
        assert "hooked in front of TENSORBOARD" in site.lines(task_id)
        site.until(lambda: bool(json.loads(site.fetch(task_id, "data/runs").data)), task_id)
        [run, *_] = json.loads(site.fetch(task_id, "data/runs").data)
        assert run.startswith(f"experiment/{experiment}/")
        assert site.fetch(task_id, "data/runs", headers={}).status == 401
        site.kill("tensorboard", task_id)

    def test_shell_runs_a_command_and_passes_its_status_on(self, site: TaskSite) -> None:
        task_id = site.launch("shell", files={"words.txt": "from the context", **HOOK})
        site.until_ready("shell", task_id, 600)
        done = site.det("shell", "open", task_id, "--", COMMAND, check=False)
        assert done.returncode == 5, f"{done.stdout}\n{done.stderr}\n{site.explain(task_id)}"
        assert f"from the context of {task_id} from-the-hook" in done.stdout
        site.kill("shell", task_id)


def reaches_ports(site: TaskSite) -> None:
    """Reach both ports of a command on its node, as its owner alone, until it ends."""
    task_id, http, tcp = serve(site)
    answer = site.fetch(f"{task_id}:{http}", "some/path?a=1")
    assert answer.status == 200, answer.data
    assert f"path /proxy/{task_id}:{http}/some/path?a=1 told None".encode() in answer.data
    assert site.fetch(f"{task_id}:{http}", headers={}).status == 401
    assert site.fetch(f"{task_id}:{http + 1}").status == 404
    assert _echoed(site.open_socket(f"{task_id}:{tcp}"), b"x" * 1_000_000) == b"x" * 1_000_000
    site.kill("command", task_id)
    assert site.fetch(f"{task_id}:{http}").status == 404


def serve(site: TaskSite) -> tuple[str, int, int]:
    """Start a command that serves; return its id, its port for HTTP and its port for raw bytes."""
    http, tcp = int(free_port()), int(free_port())
    ports = [{"proxy_port": http}, {"proxy_port": tcp, "proxy_tcp": True}]
    words = ("python3", "server.py", str(http), str(tcp))
    task_id = site.launch(
        "command", *words, files={"server.py": SERVER}, config={"environment": {"proxy_ports": ports}}
    )
    site.until_said(task_id, "serving")
    site.until(lambda: site.fetch(f"{task_id}:{http}").status == 200, task_id)
    return task_id, http, tcp


def _echoed(socket: ClientConnection, data: bytes) -> bytes:
    received = b""
    with socket, contextlib.suppress(ConnectionClosed):
        socket.send(data)
        while len(received) < len(data):
            part = socket.recv(timeout=SECONDS)
            received += part if isinstance(part, bytes) else part.encode()
    return received


def run_cell(channel: ClientConnection, code: str) -> str:
    """Execute code in a kernel and return what it prints."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": uuid.uuid4().hex}
    content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False, "stop_on_error": True}
    request = {"header": header | {"version": "5.3"}, "parent_header": {}, "metadata": {}, "content": content}
    channel.send(json.dumps(request | {"channel": "shell", "buffers": []}))
    printed, is_idle = "", False
    while not is_idle:  # the reply may come before the output, idle does not
        message: dict[str, Any] = json.loads(channel.recv(timeout=SECONDS))
        if message["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        if message["msg_type"] in ("stream", "error"):
            printed += message["content"].get("text") or "\n".join(message["content"]["traceback"])
        is_idle = message["content"].get("execution_state") == "idle"
    return printed
