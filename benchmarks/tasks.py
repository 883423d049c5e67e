"""Tasks and their proxy: a command from enter to exit, requests and bytes through the proxy, many idle tunnels.

    python benchmarks/tasks.py [--quick] [PART ...]

Beside it in the same run: a no-op trial; the app itself; configurable-http-proxy, which JupyterHub uses; `ssh -L`.
Each part has a time limit; one that takes longer ends the run with the name of what it waited for.
"""

import argparse
import http.client
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil

import machine
import peers
import tasks_echo
import tasks_idle
import tasks_steps as steps
from cluster import Cluster, running

ROOT = Path(__file__).parents[1]
DET = Path(sys.executable).with_name("det")
_NODE = Path(__file__).with_name(".node-peers")
_CHP = "configurable-http-proxy@5"
_MANY = "resource_pools: [{pool_name: default, max_aux_containers_per_agent: 300}]\n"  # 100 without a word


@dataclass(frozen=True, slots=True)
class Route:
    """A way to the app: its address, the prefix of its paths, and what shows who asks."""

    name: str
    url: str
    prefix: str
    headers: dict[str, str]
    carriers: Sequence[psutil.Process] = field(default=())  # processes between the client and the app


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the run; `limit`: seconds that it may take, twice what it took on a machine with load 10."""

    limit: float
    run: Callable[[Cluster, Path, bool], list[list[str]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works, not how fast")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} (default: all)")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    rows = []
    with tempfile.TemporaryDirectory(prefix="det-tasks-") as folder, running(Path(folder), 4, 1, _MANY) as cluster:
        for name in options.parts or PARTS:
            with steps.limited(name, PARTS[name].limit):
                rows += PARTS[name].run(cluster, Path(folder), options.quick)
    print(machine.table(["what", "ours", "beside it", "hold", ""], rows))
    return 0 if options.quick or not any("missed" in row[-1] for row in rows) else 1


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
        steps.wait_until_running(cluster, [task], "command", ready=False)
        direct = Route("the app itself", f"http://127.0.0.1:{port}", "/", {})
        between = [steps.master_of(cluster), *tasks_idle.runners_of(cluster)]
        ours = Route("ours", cluster.url, f"/proxy/{task}:{port}/", cluster.headers, between)
        others = [stack.enter_context(_http_proxy(port)), *stack.enter_context(_ssh_forward(port))]
        steps.wait_for(lambda: _get(ours, "") == b"ok", "the proxied app")
        waits = {route.name: machine.median(_latencies(route, requests)) for route in (direct, ours, *others)}
        carried = {route.name: _best(route, mebibytes) for route in (direct, ours, *others)}
    added = waits[ours.name] - waits[direct.name]
    peer = others[0].name
    rates = {name: rate for name, (rate, _) in carried.items()}
    hold = max(300.0, rates[peer] / 2)
    verdict = "held" if rates[ours.name] >= hold else "**missed**"
    return [
        ["request through the proxy, p50", f"{waits[ours.name]:.2f} ms", _others(waits, ours, "{:.2f}"), "", ""],
        ["added to the app's own", f"{added:.2f} ms", "", "3 ms", machine.held(added, 3.0)],
        [
            "one stream through the proxy",
            f"{rates[ours.name]:.0f} MB/s",
            _others(rates, ours, "{:.0f}"),
            f"{hold:.0f} MB/s",
            verdict,
        ],
        [
            "processor time of master and runner for it",
            f"{carried[ours.name][1]:.2f} ms/MB",
            f"{peer} {carried[peer][1]:.2f}",
            "",
            "",
        ],
    ]


def keystrokes(cluster: Cluster, folder: Path, count: int) -> list[list[str]]:
    """Type into `det shell open`, and into the same `ssh` without a master between."""
    shell = steps.launch(cluster, {"resources": {"slots": 0}}, "shell")
    steps.wait_until_running(cluster, [shell], "shell", ready=True)
    words = ["env", *(f"{name}={value}" for name, value in _variables(cluster, folder).items())]
    seconds = tasks_echo.measure([*words, str(DET), "shell", "open", shell], count)
    steps.kill(cluster, [shell], "shell")
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
    task = steps.launch(cluster, config)
    try:
        yield task
    finally:
        steps.kill(cluster, [task])


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
        steps.wait_for(lambda: _get(route, "") == b"ok", route.name)
        started = psutil.Process(process.pid)
        yield replace(route, carriers=[started, *started.children(recursive=True)])
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
            steps.wait_for(lambda: _get(route, "") == b"ok", "ssh -L")
            yield [route]
        finally:
            for process in (client, server):
                process.terminate()
                process.wait(30)


def _connection(route: Route) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(route.url).netloc, timeout=steps.PATIENCE)


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


def _best(route: Route, mebibytes: int) -> tuple[float, float]:
    """Return the highest MB/s of three answers, and the least ms of processor time per MB between client and app."""
    rates, costs = [], []
    for _ in range(3):
        before = sum(steps.processor_seconds(one) for one in route.carriers)
        rates.append(_rate(route, mebibytes))
        taken = sum(steps.processor_seconds(one) for one in route.carriers) - before
        costs.append(taken * 1000 / (mebibytes * 2**20 / 1e6))
    return max(rates), min(costs)


def _others(figures: dict[str, float], ours: Route, shown: str) -> str:
    return ", ".join(f"{name} {shown.format(figure)}" for name, figure in figures.items() if name != ours.name)


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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# name -> limit in seconds; arguments: cluster, folder for files, whether it is only to be seen to work
PARTS: dict[str, Part] = {
    "commands": Part(180.0, lambda cluster, folder, few: commands(cluster, folder, 3 if few else 10)),
    "proxy": Part(180.0, lambda cluster, _, few: proxied(cluster, 50 if few else 1000, 64 if few else 1024)),
    "keystrokes": Part(180.0, lambda cluster, folder, few: keystrokes(cluster, folder, 50 if few else 500)),
    "tunnels": Part(
        300.0,
        lambda cluster, _, few: tasks_idle.tunnels(
            cluster, 5 if few else tasks_idle.MANY, 3.0 if few else tasks_idle.PERIOD_SECONDS
        ),
    ),
    "notebooks": Part(
        420.0,
        lambda cluster, _, few: tasks_idle.notebooks(
            cluster, 2 if few else 20, 3.0 if few else tasks_idle.PERIOD_SECONDS
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(main())
