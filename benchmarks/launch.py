"""Time until every rank of a training job is ready, and cost of one allgather.

    python benchmarks/launch.py [--quick]

Ours is counted from the submit request to a running master; torchrun from its own start, on the machine at hand;
Ray Train from `fit()` with its cluster up and its driver connected. A rank is ready when it is through a barrier of its
gloo process group. Beside our allgather of a small object stands torch's all_gather_object, in the same processes.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import peers
from cluster import Cluster, running

HERE = Path(__file__).parent
RANKS = (1, 2, 4)
PEERS = (2, 4, 8)
_PATIENCE = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions: to see that it works, not how fast")
    options = parser.parse_args()
    times = 2 if options.quick else 5
    starts = {ranks: _starts(ranks, times) for ranks in RANKS}
    gathers = {size: _allgather(size, 100 if options.quick else 2000) for size in PEERS}
    print(render(starts, gathers))
    beaten = all(_median(row["ours"]) <= _median(row["Ray Train"]) for row in starts.values())
    faster = all(_median(row["ours"]) <= _median(row["gloo"]) for row in gathers.values())
    return 0 if beaten and faster else 1


def _starts(ranks: int, times: int) -> dict[str, list[float]]:
    ray = [peers.peers_python(), str(HERE / "launch_ray.py"), str(ranks), str(times)]
    return {
        "ours": _ours(ranks, times),
        "torchrun": [_until_ready(ranks, lambda folder: _torchrun(ranks, folder)) for _ in range(times)],
        "Ray Train": json.loads(_output(ray).splitlines()[-1]),
    }


def _ours(ranks: int, times: int) -> list[float]:
    with tempfile.TemporaryDirectory() as place, running(Path(place), slots=max(RANKS)) as cluster:
        return [_until_ready(ranks, lambda folder: _submit(cluster, ranks, folder)) for _ in range(times)]


def _submit(cluster: Cluster, ranks: int, folder: Path) -> None:
    launcher = ["python3", "-m", "determined.launch.torch_distributed", "python3"]
    experiment = cluster.submit([*launcher, str(HERE / "launch_rank.py"), str(folder)], slots=ranks)
    cluster.wait(lambda: cluster.state_of(experiment) in ("COMPLETED", "ERROR"), "the experiment's end")
    if cluster.state_of(experiment) != "COMPLETED":
        raise SystemExit(f"experiment {experiment} with {ranks} ranks: {cluster.state_of(experiment)}")


def _torchrun(ranks: int, folder: Path) -> None:
    options = ["--standalone", "--nproc-per-node", str(ranks), str(HERE / "launch_rank.py"), str(folder)]
    _output([sys.executable, "-m", "torch.distributed.run", *options])


def _until_ready(ranks: int, launch: Callable[[Path], None]) -> float:
    """Seconds from the start of `launch` to the last rank's word."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.time()
        launch(Path(folder))
        said = [float(mark.read_text()) for mark in Path(folder).glob(f"rank-*-of-{ranks}")]
    if len(said) != ranks:
        raise SystemExit(f"{len(said)} of {ranks} ranks were ready")
    return max(said) - begin


def _allgather(size: int, times: int) -> dict[str, list[float]]:
    options = ["--standalone", "--nproc-per-node", str(size), str(HERE / "launch_allgather.py"), str(times)]
    lines = _output([sys.executable, "-m", "torch.distributed.run", *options]).splitlines()
    found: dict[str, list[float]] = json.loads(next(line for line in lines if line.startswith("{")))
    return found


def _output(command: list[str]) -> str:
    done = subprocess.run(
        command, env=peers.environment(), capture_output=True, text=True, timeout=_PATIENCE * 5, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def render(starts: dict[int, dict[str, list[float]]], gathers: dict[int, dict[str, list[float]]]) -> str:
    lines = [
        "# Launching ranks",
        "",
        "Ours: from the submit request to a running master. torchrun: from its own start. Ray Train: from `fit()`, its",
        "cluster up. Until every rank is through a barrier of its gloo group; medians, range in brackets.",
        "",
        "| ranks | ours | torchrun | Ray Train | torchrun / ours | Ray Train / ours |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for ranks, row in starts.items():
        cells = [_seconds(row[name]) for name in ("ours", "torchrun", "Ray Train")]
        ratios = [f"{_median(row[name]) / _median(row['ours']):.2f}x" for name in ("torchrun", "Ray Train")]
        lines.append(f"| {ranks} | {' | '.join([*cells, *ratios])} |")
    lines += [
        "",
        "One allgather of a small dict, seen by rank 0: median (99th percentile).",
        "",
        "| ranks | ours | torch all_gather_object (gloo) | gloo / ours |",
        "| --- | --- | --- | --- |",
    ]
    for size, row in gathers.items():
        ratio = _median(row["gloo"]) / _median(row["ours"])
        lines.append(f"| {size} | {_micros(row['ours'])} | {_micros(row['gloo'])} | {ratio:.2f}x |")
    return "\n".join(lines)


def _seconds(values: list[float]) -> str:
    return f"{_median(values):.2f} s ({min(values):.2f} to {max(values):.2f})"


def _micros(values: list[float]) -> str:
    return f"{_median(values) * 1e6:.0f} us ({statistics.quantiles(values, n=100)[98] * 1e6:.0f})"


def _median(values: list[float]) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    sys.exit(main())
