"""Time an environment of its own adds to the start of a trial: none, warm, cold, and cold for eight trials at once.

    python benchmarks/environment.py [--quick]

From the submit request to the first line of the user's code. Beside it: a task of Ray with `runtime_env: {uv: ...}` and
the same packages, from `remote()` to its first line, its cluster up and every task in a worker of its own. What uv has
downloaded before is used by both. Warm is another experiment with the same requirements.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import machine
import peers
from cluster import Cluster, running

HERE = Path(__file__).parent
PACKAGES = ("numpy==2.4.*", "requests==2.34.*")
TOGETHER = 8
_HOLD = 0.2  # seconds that a warm environment may add
_PATIENCE = 600.0
_MARK = "import sys, time, uuid, numpy, requests; open(f'{sys.argv[1]}/{uuid.uuid4()}', 'w').write(str(time.time()))"
_BARE = "import sys, time, uuid; open(f'{sys.argv[1]}/{uuid.uuid4()}', 'w').write(str(time.time()))"

Times = dict[str, list[float]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions: to see that it works, not how fast")
    parser.add_argument("--ours", action="store_true", help="leave Ray out")
    options = parser.parse_args()
    times, colds = (2, 1) if options.quick else (15, 3)
    ours = _ours(times, colds)
    ray = {} if options.ours else _ray(times, colds)
    print(render(ours, ray))
    added = statistics.median(ours["warm"]) - statistics.median(ours["none"])
    return 0 if added <= _HOLD else 1


def render(ours: Times, ray: Times) -> str:
    rows = []
    for kind, what in _KINDS.items():
        theirs = ray.get(kind)
        ratio = f"{statistics.median(theirs) / statistics.median(ours[kind]):.2f}x" if theirs else ""
        rows.append([what, _shown(ours[kind]), _shown(theirs) if theirs else "", ratio])
    added = statistics.median(ours["warm"]) - statistics.median(ours["none"])
    verdict = machine.held(added, _HOLD)
    return (
        f"# Environments by uv\n\nUntil the first line of user code, with {' and '.join(PACKAGES)} in an environment of"
        " its own; medians,\nrange in brackets. `together`: until the last of eight trials.\n\n"
        + machine.table(["environment", "ours", "Ray runtime_env uv", "Ray / ours"], rows)
        + f"\n\nA warm environment adds {added * 1000:.0f} ms to the start of a trial (hold: {_HOLD * 1000:.0f} ms):"
        f" {verdict}. Looking it up, by itself: {statistics.median(ours['lookup']) * 1000:.1f} ms."
    )


_KINDS = {
    "none": "none",
    "warm": "warm",
    "cold": "cold: resolved and built",
    "together": f"cold, {TOGETHER} together",
}


def _ours(times: int, colds: int) -> Times:
    found: Times = {kind: [] for kind in (*_KINDS, "lookup")}
    with tempfile.TemporaryDirectory() as place, running(Path(place), slots=TOGETHER) as cluster:
        kept = f"{place}/kept"
        _start(cluster, _MARK, kept)
        for _ in range(times):  # one beside the other: the machine is not equally fast all the time
            found["none"].append(_start(cluster, _BARE, None))
            found["warm"].append(_start(cluster, _BARE, kept))
        for n in range(colds):
            found["cold"].append(_start(cluster, _MARK, f"{place}/cold-{n}"))
            found["together"].append(_start(cluster, _MARK, f"{place}/together-{n}", TOGETHER))
        found["lookup"] = _lookups(Path(kept), times)
    return found


def _start(cluster: Cluster, code: str, cache: str | None, trials: int = 1) -> float:
    """Seconds from the request to the first line of the last trial."""
    with tempfile.TemporaryDirectory() as folder:
        environment: dict[str, Any] = {"shared_tmp": True}  # trials leave their marks there
        if cache is not None:
            environment |= {
                "python": {"requirements": list(PACKAGES)},
                "environment_variables": [f"DET_ENVIRONMENT_CACHE={cache}"],
            }
        config = {
            "name": "benchmark",
            "entrypoint": ["python3", "-c", code, folder],
            "searcher": {"name": "random", "metric": "loss", "max_trials": trials, "max_length": {"batches": 1}},
            "max_restarts": 0,
            "environment": environment,
        }
        begin = time.time()
        body = {"activate": True, "config": json.dumps(config), "modelDefinition": []}
        experiment = int(cluster.call("POST", "/api/v1/experiments", body)["experiment"]["id"])
        cluster.wait(lambda: cluster.state_of(experiment) in ("COMPLETED", "ERROR"), "the end", _PATIENCE)
        said = [float(mark.read_text()) for mark in Path(folder).iterdir()]
        if len(said) != trials:
            raise SystemExit(f"{len(said)} of {trials} trials began; experiment {experiment} of {cluster.url}")
    return max(said) - begin


def _lookups(cache: Path, times: int) -> list[float]:
    """Measure what a runner does for a warm environment whose lock it was told, in this process."""
    from determined.config.python_environment import PythonEnvironment
    from determined.environments import install
    from determined.environments.cache_directory import Place

    [lock] = (cache / "resolutions").glob("*.txt")
    wanted, text = PythonEnvironment(tuple(PACKAGES)), lock.read_text()
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        made = install.provide(text, wanted, cache, Place(cache, {}, print))
        seconds.append(time.perf_counter() - begin)
        made.hold.close()
    return seconds


def _ray(times: int, colds: int) -> Times:
    """In a Python of its own with nothing but Ray, which Ray copies for each environment."""
    with tempfile.TemporaryDirectory() as place:
        peers.make_environment(Path(place))
        python = f"{place}/bin/python"
        peers.install(python, ("ray[default]==2.60.0", "virtualenv", "uv", "pip"))
        command = [python, str(HERE / "environment_ray.py"), str(times), str(colds), json.dumps(PACKAGES)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=peers.environment())
    found: Times = json.loads(done.stdout.splitlines()[-1])
    return found


def _shown(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    sys.exit(main())
