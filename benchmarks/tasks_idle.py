"""Cost of idle tasks to the master: commands with a tunnel, which are as light as tasks get, and JupyterLabs."""

import time
from collections.abc import Mapping

import psutil

import machine
import tasks_steps as steps
from cluster import Cluster

MANY = 200
# Of the long polls of runners, which end each minute and begin again; a shorter look would see some of them only.
PERIOD_SECONDS = 60.0
_HOLD_PERCENT = 2.0
_HOLD_MIB = 1.0
_SETTLE_SECONDS = 10.0


def tunnels(cluster: Cluster, count: int, seconds: float) -> list[list[str]]:
    """Measure the master while tasks with an open tunnel do nothing."""
    ports = [{"proxy_port": 9}]
    config = {"entrypoint": ["sleep", "1200"], "resources": {"slots": 0}, "environment": {"proxy_ports": ports}}
    return _measure(cluster, f"{count} idle commands with a tunnel", "command", config, count, seconds)


def notebooks(cluster: Cluster, count: int, seconds: float) -> list[list[str]]:
    """Measure the master while JupyterLabs do nothing: each takes seconds of a processor to start, and 120 MiB."""
    return _measure(cluster, f"{count} idle notebooks", "notebook", {"resources": {"slots": 0}}, count, seconds)


def _measure(
    cluster: Cluster, what: str, noun: str, config: Mapping[str, object], count: int, seconds: float
) -> list[list[str]]:
    """Measure a master with idle tasks. What fewer than 200 of them add to the first one's share is multiplied.

    To the first one's, because the master looks after its runners as soon as there is one, which 200 do not repeat.
    """
    master = steps.master_of(cluster)
    time.sleep(_SETTLE_SECONDS)  # what was measured before has ended just now
    alone, before = steps.share(master, seconds / 2), master.memory_info().rss
    tasks = [steps.launch(cluster, config, noun)]
    first = _share_with(cluster, tasks, noun, seconds / 2)
    tasks += [steps.launch(cluster, config, noun) for _ in range(count - 1)]
    share = _share_with(cluster, tasks, noun, seconds)
    each = (master.memory_info().rss - before) / 2**20 / count
    runners = _runner_share(cluster, seconds / 6)
    steps.kill(cluster, tasks, noun)
    at_many = first + (share - first) * (MANY - 1) / (count - 1)
    beside = f"without them {alone:.2f} %, with one {first:.2f} %"
    beside += "" if count == MANY else f"; for {MANY} of them {at_many:.2f} %"
    hold = f"{_HOLD_PERCENT:g} % for {MANY}"
    return [
        [f"{what}: processor of the master", f"{share:.2f} %", beside, hold, machine.held(at_many, _HOLD_PERCENT)],
        [f"{what}: memory of the master, each", f"{each:.2f} MiB", "", "1 MiB", machine.held(each, _HOLD_MIB)],
        [f"{what}: processor of their runners, each", f"{runners / count:.3f} %", "", "", ""],
    ]


def _share_with(cluster: Cluster, tasks: list[str], noun: str, seconds: float) -> float:
    steps.wait_until_running(cluster, tasks, noun, ready=noun == "notebook", seconds=300.0)
    time.sleep(_SETTLE_SECONDS)
    return steps.share(steps.master_of(cluster), seconds)


def _runner_share(cluster: Cluster, seconds: float) -> float:
    """Return how much of one processor all runners of a cluster use, in per cent."""
    runners = runners_of(cluster)
    before = sum(steps.processor_seconds(one) for one in runners)
    time.sleep(seconds)
    return (sum(steps.processor_seconds(one) for one in runners) - before) / seconds * 100


def runners_of(cluster: Cluster) -> list[psutil.Process]:
    """List the runners of a cluster; each has an orphan killer beside it, which sleeps."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if "determined.exec.runner" in words and any(word.startswith(str(cluster.data)) for word in words):
            found.append(process)
    return found
