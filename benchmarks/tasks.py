"""Tasks and their proxy: a command from enter to exit, requests and bytes through the proxy, many idle tunnels.

    python benchmarks/tasks.py [--quick]

Beside it in the same run: a no-op trial; the app itself; configurable-http-proxy, which JupyterHub uses; `ssh -L`.
"""

import argparse
import http.client
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

import machine
import peers
import tasks_echo
from cluster import Cluster, running

ROOT = Path(__file__).parents[1]
DET = Path(sys.executable).with_name("det")
_NODE = Path(__file__).with_name(".node-peers")
_CHP = "configurable-http-proxy@5"
_PATIENCE = 60.0
_MANY = "resource_pools: [{pool_name: default, max_aux_containers_per_agent: 300}]\n"  # 100 without a word


@dataclass(frozen=True, slots=True)
class Route:
    """A way to the app: its address, the prefix of its paths, and what shows who asks."""

    name: str
    url: str
    prefix: str
    headers: dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works, not how fast")
    options = parser.parse_args()
    few = options.quick
    with tempfile.TemporaryDirectory(prefix="det-tasks-") as folder, running(Path(folder), 4, 1, _MANY) as cluster:
        rows = commands(cluster, Path(folder), 3 if few else 12)
        rows += proxied(cluster, 50 if few else 1000, 64 if few else 1024)
        rows += keystrokes(cluster, Path(folder), 50 if few else 500)
        rows += idle_tunnels(cluster, 5 if few else 200, 3.0 if few else 30.0)
        rows += idle_notebooks(cluster, 1 if few else 60, 3.0 if few else 60.0)
    print(machine.table(["what", "ours", "beside it", "hold", ""], rows))
    return 0 if few or not any("missed" in row[-1] for row in rows) else 1


def commands(cluster: Cluster, folder: Path, times: int) -> list[list[str]]:
    """Time `det command run true` beside `det e create -f` of a trial that does nothing."""
    config = folder / "noop.yaml"
    config.write_text("name: noop\nentrypoint: 'true'\nsearcher: {name: single, metric: x}\nmax_restarts: 0\n")
    model = folder / "model"
    model.mkdir()
    trial = ["e", "create", str(config), str(model), "-f"]
    taken: dict[str, list[float]] = {"command": [], "trial": []}
    for turn in range(times + 1):
        for name, words in (("command", ["command", "run", "true"]), ("trial", trial)):
            seconds = _det(cluster, folder, words)
            if turn:  # the first of each fills caches
                taken[name].append(seconds)
    ours, noop = machine.median(taken["command"]), machine.median(taken["trial"])
    limit = 1.5 * noop
    verdict = machine.held(ours, limit)
    return [
        [
            "`det command run true`, enter to exit",
            f"{ours:.2f} s",
            f"no-op trial {noop:.2f} s",
            f"{limit:.2f} s",
            verdict,
        ]
    ]


def proxied(cluster: Cluster, requests: int, mebibytes: int) -> list[list[str]]:
    """Time small requests, and one large answer, by every way to the same app."""
    port = _free_port()
    with ExitStack() as stack:
        task = stack.enter_context(_app(cluster, port))
        direct = Route("the app itself", f"http://127.0.0.1:{port}", "/", {})
        ours = Route("ours", cluster.url, f"/proxy/{task}:{port}/", cluster.headers)
        others = [stack.enter_context(_http_proxy(port)), *stack.enter_context(_ssh_forward(port))]
        _await(lambda: _get(ours, "") == b"ok", "the proxied app")
        waits = {route.name: machine.median(_latencies(route, requests)) for route in (direct, ours, *others)}
        rates = {route.name: max(_rate(route, mebibytes) for _ in range(3)) for route in (direct, ours, *others)}
    added = waits[ours.name] - waits[direct.name]
    peer = others[0].name
    hold = max(300.0, rates[peer] / 2)
    beside = ", ".join(f"{name} {ms:.2f}" for name, ms in waits.items() if name != ours.name)
    carried = ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items() if name != ours.name)
    verdict = "held" if rates[ours.name] >= hold else "**missed**"
    return [
        ["request through the proxy, p50", f"{waits[ours.name]:.2f} ms", beside, "", ""],
        ["added to the app's own", f"{added:.2f} ms", "", "3 ms", machine.held(added, 3.0)],
        ["one stream through the proxy", f"{rates[ours.name]:.0f} MB/s", carried, f"{hold:.0f} MB/s", verdict],
    ]


def keystrokes(cluster: Cluster, folder: Path, count: int) -> list[list[str]]:
    """Type into `det shell open`, and into the same `ssh` without a master between."""
    shell = _launch(cluster, {"resources": {"slots": 0}}, "shell")
    _await(lambda: _state(cluster, shell, "shell")["isReady"], "a shell", 300.0)
    words = ["env", *(f"{name}={value}" for name, value in _variables(cluster, folder).items())]
    seconds = tasks_echo.measure([*words, str(DET), "shell", "open", shell], count)
    cluster.call("POST", f"/api/v1/shells/{shell}/kill")
    p95, alone = tasks_echo.p95_ms(seconds), tasks_echo.without_master(count)
    return [
        [
            "echo of a key in `det shell open`, p95",
            f"{p95:.2f} ms (p50 {machine.median(seconds) * 1000:.2f})",
            ", ".join(f"{server} without a master {ms:.2f}" for server, ms in alone.items()),
            f"{tasks_echo.HOLD_MS:.0f} ms",
            machine.held(p95, tasks_echo.HOLD_MS),
        ]
    ]


def idle_tunnels(cluster: Cluster, count: int, seconds: float) -> list[list[str]]:
    """Measure the master while tasks with an open tunnel do nothing."""
    ports = [{"proxy_port": 9}]
    config = {"entrypoint": ["sleep", "1200"], "resources": {"slots": 0}, "environment": {"proxy_ports": ports}}
    return _idle(cluster, f"{count} idle commands with a tunnel", "command", config, count, seconds)


def idle_notebooks(cluster: Cluster, count: int, seconds: float) -> list[list[str]]:
    """Measure the master while JupyterLabs do nothing; as many as the memory of a small machine has room for."""
    return _idle(cluster, f"{count} idle notebooks", "notebook", {"resources": {"slots": 0}}, count, seconds)


def _idle(
    cluster: Cluster, what: str, noun: str, config: dict[str, object], count: int, seconds: float
) -> list[list[str]]:
    """Measure a master with idle tasks; what they add to its processor time is multiplied to what 200 would add."""
    assert cluster.process is not None
    master = psutil.Process(cluster.process.pid)
    alone, before = _share(master, seconds), master.memory_info().rss
    tasks = [_launch(cluster, config, noun) for _ in range(count)]
    _await(lambda: _all_run(cluster, tasks, noun), f"{count} tasks", 900.0, pause=1.0)
    for task in tasks if noun == "notebook" else []:
        _await(lambda task=task: bool(_state(cluster, task, noun)["isReady"]), f"notebook {task}", 900.0)
    time.sleep(15.0)
    share = _share(master, seconds)
    each = (master.memory_info().rss - before) / 2**20 / count
    for task in tasks:
        cluster.call("POST", f"/api/v1/{noun}s/{task}/kill")
    at_200 = alone + (share - alone) * 200 / count
    beside = f"without them {alone:.1f} %" + ("" if count == 200 else f"; for 200 of them {at_200:.1f} %")
    return [
        [f"{what}: processor of the master", f"{share:.1f} %", beside, "2 % for 200", machine.held(at_200, 2.0)],
        [f"{what}: memory of the master, each", f"{each:.2f} MiB", "", "1 MiB", machine.held(each, 1.0)],
    ]


def _variables(cluster: Cluster, folder: Path) -> dict[str, str]:
    """Return what `det` needs to find the master."""
    token = cluster.headers["Authorization"].removeprefix("Bearer ")
    return {"DET_MASTER": cluster.url, "DET_USER": "admin", "DET_USER_TOKEN": token, "HOME": str(folder)}


def _det(cluster: Cluster, folder: Path, words: list[str]) -> float:
    environment = peers.environment(**_variables(cluster, folder))
    begin = time.perf_counter()
    done = subprocess.run([str(DET), *words], env=environment, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"det {' '.join(words)}: {done.stderr.decode()}")
    return time.perf_counter() - begin


@contextmanager
def _app(cluster: Cluster, port: int) -> Iterator[str]:
    script = Path(__file__).with_name("tasks_app.py")
    config = {
        "entrypoint": [sys.executable, str(script), str(port)],
        "resources": {"slots": 0},
        "environment": {"proxy_ports": [{"proxy_port": port}]},
    }
    task = _launch(cluster, config)
    try:
        yield task
    finally:
        cluster.call("POST", f"/api/v1/commands/{task}/kill")


@contextmanager
def _http_proxy(port: int) -> Iterator[Route]:
    """Run configurable-http-proxy in front of the app."""
    node = ["sh", str(ROOT / "webui" / "node.sh")]
    if not (_NODE / "node_modules" / ".bin" / "configurable-http-proxy").exists():
        subprocess.run([*node, "npm", "install", "--silent", "--prefix", str(_NODE), _CHP], check=True)
    public, api = _free_port(), _free_port()
    program = _NODE / "node_modules" / "configurable-http-proxy" / "bin" / "configurable-http-proxy"
    words = ["--ip", "127.0.0.1", "--port", str(public), "--api-ip", "127.0.0.1", "--api-port", str(api)]
    words += ["--default-target", f"http://127.0.0.1:{port}"]
    process = subprocess.Popen(
        [*node, "node", str(program), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        route = Route("configurable-http-proxy", f"http://127.0.0.1:{public}", "/", {})
        _await(lambda: _get(route, "") == b"ok", "configurable-http-proxy")
        yield route
    finally:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.terminate()
        process.terminate()
        process.wait(30)


@contextmanager
def _ssh_forward(port: int) -> Iterator[list[Route]]:
    """Forward a port by `ssh -L` to an sshd of our own; nothing where there is none."""
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    if not Path(sshd).exists() or not shutil.which("ssh"):
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="det-sshd-") as folder:
        keys = Path(folder)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)], check=True)
        listening, forwarded = _free_port(), _free_port()
        settings = f"Port {listening}\nListenAddress 127.0.0.1\nHostKey {keys}/host\nPidFile none\nStrictModes no\n"
        settings += f"AuthorizedKeysFile {keys}/user.pub\nUsePAM no\n"
        (keys / "config").write_text(settings)
        Path("/run/sshd").mkdir(exist_ok=True)
        server = subprocess.Popen([sshd, "-D", "-f", str(keys / "config")], stderr=subprocess.DEVNULL)
        options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
        time.sleep(1.0)
        words = ["ssh", "-N", "-i", str(keys / "user"), "-p", str(listening), *options]
        client = subprocess.Popen([*words, "-L", f"{forwarded}:127.0.0.1:{port}", "root@127.0.0.1"])
        try:
            route = Route("ssh -L", f"http://127.0.0.1:{forwarded}", "/", {})
            _await(lambda: _get(route, "") == b"ok", "ssh -L")
            yield [route]
        finally:
            for process in (client, server):
                process.terminate()
                process.wait(30)


def _launch(cluster: Cluster, config: dict[str, object], noun: str = "command") -> str:
    return str(cluster.call("POST", f"/api/v1/{noun}s", {"config": config})[noun]["id"])


def _state(cluster: Cluster, task: str, noun: str) -> dict[str, object]:
    """Return where a task stands, and whether it is ready."""
    [found] = cluster.call("GET", f"/api/v1/tasks/{task}")["task"]["allocations"]
    if found["state"] == "STATE_TERMINATED":
        raise SystemExit(f"{noun} {task} has ended: {json.dumps(found)}")
    return dict(found)


def _all_run(cluster: Cluster, tasks: list[str], noun: str) -> bool:
    """Ask once for all: 200 questions a round would keep the master from starting them."""
    states = {entry["id"]: entry["state"] for entry in cluster.call("GET", f"/api/v1/{noun}s?limit=-1")[f"{noun}s"]}
    ended = [task for task in tasks if states[task] == "STATE_TERMINATED"]
    if ended:
        raise SystemExit(f"{noun} {ended[0]} has ended: {_state(cluster, ended[0], noun)}")
    return all(states[task] == "STATE_RUNNING" for task in tasks)


def _connection(route: Route) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(route.url).netloc, timeout=_PATIENCE)


def _get(route: Route, path: str) -> bytes | None:
    connection = _connection(route)
    try:
        connection.request("GET", route.prefix + path, headers=route.headers)
        answer = connection.getresponse()
        return answer.read() if answer.status == 200 else None
    except OSError:
        return None
    finally:
        connection.close()


def _latencies(route: Route, requests: int) -> list[float]:
    connection, taken = _connection(route), []
    for _ in range(requests):
        begin = time.perf_counter()
        connection.request("GET", route.prefix, headers=route.headers)
        connection.getresponse().read()
        taken.append((time.perf_counter() - begin) * 1000)
    connection.close()
    return taken


def _rate(route: Route, mebibytes: int) -> float:
    """Return the MB/s of one answer."""
    connection, room = _connection(route), memoryview(bytearray(1024 * 1024))
    begin, size = time.perf_counter(), 0
    connection.request("GET", f"{route.prefix}big/{mebibytes}", headers=route.headers)
    answer = connection.getresponse()
    while received := answer.readinto(room):
        size += received
    connection.close()
    if size != mebibytes * 2**20:
        raise SystemExit(f"{route.name} carried {size} bytes of {mebibytes} MiB")
    return size / 1e6 / (time.perf_counter() - begin)


def _share(process: psutil.Process, seconds: float) -> float:
    """Return how much of one processor a process uses, in per cent."""
    process.cpu_percent()
    time.sleep(seconds)
    return float(process.cpu_percent())


def _await(condition: Callable[[], bool], what: str, seconds: float = _PATIENCE, pause: float = 0.05) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(pause)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
