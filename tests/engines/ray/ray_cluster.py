"""A real Ray cluster on this machine: a head and worker nodes, each in a network namespace of its own on one bridge.

Everything is a child of the test process and ends by pid; a node dies as a machine does, all its processes at once.
"""

import contextlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[3]
PORT = 6379
DASHBOARD = 8265
UP_SECONDS = 90.0


def ray_bin() -> Path:
    """Return where Ray is installed, apart from the master's environment; scripts/install_ray.sh builds it."""
    return Path(os.environ.get("DET_TEST_RAY", str(ROOT / ".venv-ray"))) / "bin"


def why_not() -> str | None:
    """Return why such a cluster cannot run here."""
    if not (ray_bin() / "ray").exists():
        return f"Ray is not installed in {ray_bin().parent}; run: sh scripts/install_ray.sh .venv-ray"
    if os.geteuid() != 0 or subprocess.run(["ip", "netns"], capture_output=True, check=False).returncode != 0:
        return "network namespaces need root and iproute2"
    return None


@dataclass(slots=True)
class RayNode:
    name: str
    address: str
    namespace: str
    start: list[str]
    process: "subprocess.Popen[bytes] | None" = None
    former: set[str] = field(default_factory=set)  # ids of its earlier lives, which Ray lists for half a minute more


class RayCluster:
    """`10.x.y.1` is this machine, where a master listens; the head is `.2`, workers follow.

    `autoscaling`: what Ray's autoscaler is told (`--autoscaling-config`).
    """

    def __init__(self, *, autoscaling: dict[str, Any] | None = None) -> None:
        mark = f"{random.SystemRandom().randrange(16**6):06x}"
        self.subnet = f"10.{random.SystemRandom().randrange(64, 250)}.{random.SystemRandom().randrange(1, 250)}"
        self.bridge = f"detb{mark}"
        self._mark = mark
        self._make_believe = autoscaling is not None
        self._number = 1
        self._temp = Path(tempfile.mkdtemp(prefix="dr", dir="/tmp"))  # short: socket paths end after 107 characters
        self.nodes: dict[str, RayNode] = {}
        self.token_file = self._temp / "token"  # a token of this cluster's own: nobody else's is read or used
        self.token_file.write_text(secrets.token_hex(32))
        self._links()
        head = ["--head", f"--port={PORT}", f"--dashboard-port={DASHBOARD}", "--dashboard-host=0.0.0.0"]
        head += ["--num-cpus=0", "--num-gpus=0", '--resources={"seat": 4}', f"--temp-dir={self._temp}"]
        if autoscaling is not None:
            file = self._temp / "autoscaling.json"
            file.write_text(json.dumps(autoscaling))
            head.append(f"--autoscaling-config={file}")
        self.head = self._make("head", head)

    @property
    def master_address(self) -> str:
        return f"{self.subnet}.1"

    @property
    def dashboard(self) -> str:
        return f"http://{self.head.address}:{DASHBOARD}"

    def start_head(self) -> None:
        self._start(self.head)
        self.wait_alive("head")
        self.wait_until(self._answers, "the head's dashboard does not answer")

    def add_node(self, name: str, *, cpus: int = 0, gpus: int = 0, resources: dict[str, float] | None = None) -> None:
        asked = [f"--address={self.head.address}:{PORT}", f"--num-cpus={cpus}", f"--num-gpus={gpus}"]
        if resources:
            asked.append(f"--resources={json.dumps(resources)}")
        self._start(self._make(name, asked))
        self.wait_alive(name)  # one after the other: each start takes a core for seconds

    def restart_node(self, name: str) -> None:
        self._start(self.nodes[name])
        self.wait_alive(name)

    def bring_up(self, *names: str) -> None:
        """Those that are not, or not any more; with four logical GPUs."""
        for name in names:
            if name not in self.nodes:
                self.add_node(name, gpus=4)
            elif name not in self.alive():
                self.restart_node(name)

    def node_of(self, pid: int) -> str:
        return next(name for name in self.nodes if pid in self.pids(name))

    def alive(self) -> set[str]:
        """Names of the nodes that Ray holds for alive, and that we have not killed."""
        return {node.name for node in self.nodes.values() if node.process is not None and self.ray_id(node.name)}

    def ray_id(self, name: str) -> str | None:
        """Return the id of a node's present life."""
        node = self.nodes[name]
        rows = [row for row in self._listed() if row["node_ip"] == node.address and row["state"] == "ALIVE"]
        fresh = [row["node_id"] for row in rows if row["node_id"] not in node.former]
        return str(fresh[0]) if fresh else None

    def agent_id(self, name: str) -> str:
        """Return the name that our engine gives the node."""
        return f"{name}-{(self.ray_id(name) or '')[:6]}"

    def drain_node(self, name: str, seconds: int) -> None:
        """A spot notice."""
        asked = [f"--node-id={self.ray_id(name)}", f"--deadline-remaining-seconds={seconds}"]
        asked += [
            "--reason=DRAIN_NODE_REASON_PREEMPTION",
            "--reason-message=spot",
            f"--address={self.head.address}:{PORT}",
        ]
        command = ["ip", "netns", "exec", self.head.namespace, str(ray_bin() / "ray"), "drain-node", *asked]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment(), check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def wait_alive(self, *names: str) -> None:
        """Ray gives up on a node after 30 s, which a busy machine may need: such a node is started again."""

        def joined() -> bool:
            for node in (self.nodes[name] for name in names):
                if node.process is not None and node.process.poll() is not None:
                    self.kill_node(node.name)
                    self._start(node)
            return set(names) <= self.alive()

        self.wait_until(joined, f"nodes {names} did not join", 2 * UP_SECONDS)

    def kill_node(self, name: str) -> None:
        """Kill every process of a node's namespace at once, as a power cut."""
        node = self.nodes[name]
        if node.process is not None and (former := self.ray_id(name)):
            node.former.add(former)
        for _ in range(20):
            pids = self.pids(name)
            if not pids:
                break
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if node.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    node.process.wait(timeout=0.2)
        node.process = None

    def pids(self, name: str) -> list[int]:
        """Running processes of a node, zombies aside."""
        command = ["ip", "netns", "pids", self.nodes[name].namespace]
        listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found = []
        for word in listed.split():
            with contextlib.suppress(psutil.NoSuchProcess):
                if psutil.Process(int(word)).status() != psutil.STATUS_ZOMBIE:
                    found.append(int(word))
        return found

    def processes(self, words: str) -> list[psutil.Process]:
        """Those of any node whose command line has these words in it."""
        found = []
        for pid in [pid for name in self.nodes for pid in self.pids(name)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                if words in " ".join(process.cmdline()):
                    found.append(process)
        return found

    def kill_processes(self, words: str) -> None:
        for process in self.processes(words):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def close(self) -> None:
        for name in list(self.nodes):
            self.kill_node(name)
        for node in self.nodes.values():
            _ip("netns", "del", node.namespace, check=False)
        _ip("link", "del", self.bridge, check=False)
        subprocess.run(["rm", "-rf", str(self._temp)], check=False)

    def log(self, name: str) -> str:
        return (self._temp / f"{name}.out").read_text(errors="replace")[-3000:]

    def wait_until(self, condition: Callable[[], bool], problem: str, seconds: float = UP_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.1)
        raise AssertionError(f"{problem} within {seconds} s\n" + "\n".join(self.log(n) for n in self.nodes))

    def _links(self) -> None:
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("addr", "add", f"{self.master_address}/24", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")

    def _make(self, name: str, asked: list[str]) -> RayNode:
        self._number += 1
        address, space = f"{self.subnet}.{self._number}", f"det{self._mark}{name}"
        ours, theirs = f"dv{self._mark}{self._number}", f"dw{self._mark}{self._number}"
        _ip("netns", "add", space)
        _ip("link", "add", ours, "type", "veth", "peer", "name", theirs)
        _ip("link", "set", theirs, "netns", space)
        _ip("link", "set", ours, "master", self.bridge)
        _ip("link", "set", ours, "up")
        _ip("-n", space, "addr", "add", f"{address}/24", "dev", theirs)
        _ip("-n", space, "link", "set", theirs, "up")
        _ip("-n", space, "link", "set", "lo", "up")
        _ip("-n", space, "route", "add", "default", "via", self.master_address)
        common = [str(ray_bin() / "ray"), "start", "--block", f"--node-ip-address={address}", f"--node-name={name}"]
        common += ["--disable-usage-stats", "--object-store-memory=80000000", "--include-log-monitor=False"]
        node = self.nodes[name] = RayNode(name, address, space, [*common, *asked])
        return node

    def _start(self, node: RayNode) -> None:
        with (self._temp / f"{node.name}.out").open("ab") as log:
            command = ["ip", "netns", "exec", node.namespace, *node.start]
            node.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=self._environment(), start_new_session=True
            )

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DET_", "RAY_", "PYTEST"))}
        own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.token_file)}
        # A busy machine must not be taken for a dead node. How long Ray lists a dead one is no matter to the engine.
        own |= {"RAY_health_check_failure_threshold": "12", "RAY_health_check_timeout_ms": "20000"}
        if self._make_believe:
            own |= {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}
        return {**kept, **own, "PATH": f"{ray_bin()}:{os.environ['PATH']}"}

    def _listed(self) -> list[dict[str, Any]]:
        try:
            with self._get("/api/v0/nodes?detail=0") as answer:
                rows: list[dict[str, Any]] = json.load(answer)["data"]["result"]["result"]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return rows

    def _answers(self) -> bool:
        try:
            with self._get("/api/jobs/") as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token_file.read_text()}"}
        return urllib.request.urlopen(urllib.request.Request(self.dashboard + path, headers=headers), timeout=5)


def _ip(*words: str, check: bool = True) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


def free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
