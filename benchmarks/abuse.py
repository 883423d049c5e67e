"""Waiting times of another user and the master's memory while one user does their worst.

    python benchmarks/abuse.py [--quick] [--only WORDS]

A real master on SQLite; the attacks come from processes of their own (abuse_client.py). All the time another user makes
a trivial write, one after the other. Before anything is measured each attack is made once with a hundredth of its size:
a master's memory grows when it does something for the first time.
Hold: p99 of those writes <= 250 ms; memory back within 10 % a minute after.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import urllib3

import cluster as clusters
import machine
import peers
from cluster import Cluster

HOLD_MS = 250.0
HOLD_MEMORY = 1.10
PASSWORD = "Only-a-Benchmark-1"
_WRITE = {"settings": [{"key": "k", "storagePath": "abuse", "value": "v"}]}


@dataclass(frozen=True)
class Attack:
    what: str
    kind: str  # of abuse_client.py
    number: int
    clients: int = 1
    seconds: float = 0.0  # how long what it opens is held
    after: Callable[[Cluster], None] | None = None


@dataclass
class Probe:
    """Writes of another user, in a thread, until stopped; milliseconds."""

    url: str
    headers: dict[str, str]
    took: list[float] = field(default_factory=list)
    failed: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        http = urllib3.PoolManager(retries=False)
        while not self._stop.wait(0.02):
            begin = time.perf_counter()
            try:
                body = json.dumps(_WRITE).encode()
                answer = http.request(
                    "POST", f"{self.url}/api/v1/users/setting", body=body, headers=self.headers, timeout=120
                )
                self.failed += answer.status != 200
            except urllib3.exceptions.HTTPError:
                self.failed += 1
            self.took.append((time.perf_counter() - begin) * 1000)

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works: a hundredth of everything")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds before the last look at the memory")
    parser.add_argument("--only", metavar="WORDS", default="", help="the attacks whose names contain this")
    options = parser.parse_args()
    rest = 3.0 if options.quick else options.rest
    with tempfile.TemporaryDirectory(prefix="det-abuse-") as folder, clusters.running(Path(folder), slots=1) as master:
        victim, attacker = _user(master, "vera"), _user(master, "mallory")
        for attack in _attacks(quick=True):  # what a master loads and keeps when it does something for the first time
            measure(master, victim, attacker, attack, 0.0)
        chosen = [attack for attack in _attacks(options.quick) if options.only in attack.what]
        rows = [measure(master, victim, attacker, attack, rest) for attack in (_NOTHING, *chosen)]
    print("What another user's write waits for, and the master's memory, during each attack and a minute after it.\n")
    print(machine.table(["attack", "writes", "p50 ms", "p99 ms", "max ms", "MiB before", "most", "after", ""], rows))
    return 0 if options.quick or not any("missed" in row[-1] for row in rows) else 1


_NOTHING = Attack("none", "nothing", 0, seconds=10)


def _attacks(quick: bool) -> list[Attack]:
    n = 100 if quick else 1
    held = 3.0 if quick else 40.0
    return [
        Attack(f"{20_000 // n:,} trials created at once, then killed", "trials", 20_000 // n, after=_await_end),
        Attack(f"{40 // min(n, 10)} configs of 1 MB of YAML, four at a time", "yaml", 40 // min(n, 10)),
        Attack(f"{200 // n} reports of 10,000 metrics, then of 2,000", "metrics", 200 // n),
        Attack(f"{10_000 // n:,} half-open connections", "half_open", 5_000 // n, clients=2, seconds=held),
        Attack(f"{10_000 // n:,} streams of a log", "streams", 5_000 // n, clients=2, seconds=held),
        Attack(f"{1_000 // n:,} failed logins in parallel", "logins", 1_000 // n),
    ]


def measure(
    master: Cluster, victim: dict[str, str], attacker: dict[str, str], attack: Attack, rest: float
) -> list[str]:
    assert master.process is not None
    sys.stderr.write(f"{attack.what}\n")
    process = psutil.Process(master.process.pid)
    before = most = _mib(process)
    probe = Probe(master.url, victim)
    with probe.running():
        doing = [_client(master, attacker, attack) for _ in range(attack.clients)]
        while any(one.poll() is None for one in doing):
            time.sleep(0.1)
            most = max(most, _mib(process))
        if attack.after is not None:
            attack.after(master)
        most = max(most, _mib(process))
    failures = [one.returncode for one in doing if one.returncode]
    if failures:
        raise SystemExit(f"{attack.what}: the attacker itself failed; see above")
    time.sleep(rest)
    row = _row(attack, probe, before, most, _mib(process))
    sys.stderr.write(f"  {' | '.join(row)}\n")
    return row


def _row(attack: Attack, probe: Probe, before: float, most: float, after: float) -> list[str]:
    p99 = machine.quantile(probe.took, 0.99)
    held = p99 <= HOLD_MS and after <= before * HOLD_MEMORY and not probe.failed
    numbers = [f"{len(probe.took)}", f"{machine.median(probe.took):.0f}", f"{p99:.0f}", f"{max(probe.took):.0f}"]
    verdict = ("held" if held else "**missed**") + (f", {probe.failed} failed" if probe.failed else "")
    return [attack.what, *numbers, f"{before:.0f}", f"{most:.0f}", f"{after:.0f}", verdict]


def _client(master: Cluster, headers: dict[str, str], attack: Attack) -> "subprocess.Popen[bytes]":
    script = Path(__file__).with_name("abuse_client.py")
    orders = [attack.kind, master.url, str(attack.number), str(attack.seconds), headers["Authorization"]]
    return subprocess.Popen([sys.executable, str(script), *orders], env=peers.environment())


def _user(master: Cluster, name: str) -> dict[str, str]:
    body = {"user": {"username": name, "active": True, "admin": False}, "password": PASSWORD}
    master.call("POST", "/api/v1/users", body)
    token = master.call("POST", "/api/v1/auth/login", {"username": name, "password": PASSWORD})["token"]
    return {"Authorization": f"Bearer {token}"}


def _await_end(master: Cluster) -> None:
    """Until nothing is left to do for any experiment."""

    def over() -> bool:
        found: dict[str, Any] = master.call("GET", "/api/v1/experiments?limit=0")
        states = {entry["state"] for entry in found["experiments"]}
        return states <= {"STATE_CANCELED", "STATE_PAUSED"}  # those of unmanaged trials stay PAUSED

    master.wait(over, "the end of what was killed", 600)


def _mib(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 2**20


if __name__ == "__main__":
    sys.exit(main())
