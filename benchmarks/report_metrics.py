"""Cost of one report to the training process: ours beside TensorBoard, trackio, W&B offline and MLflow.

    python benchmarks/report_metrics.py [--quick]

Ours is measured in a real trial: master, runner and journal as always; once with the master serving, once with it
killed (it is started again afterwards, and every report must have arrived). Everybody logs the same three floats.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import calls
import machine
import peers
from calls import Measured
from cluster import Cluster, running
from report_metrics_peer import PEERS

TASK = Path(__file__).with_name("report_metrics_task.py")
PEER = Path(__file__).with_name("report_metrics_peer.py")
_SECONDS = 300.0  # the longest one measurement may take
_P50, _P99, _SLOWDOWN = 10e-6, 200e-6, 0.01

OURS = "determined"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few calls: to see that it works, not how fast")
    parser.add_argument("--ours", action="store_true", help="leave the peers out")
    options = parser.parse_args()
    effort = "quick" if options.quick else "full"
    results = measure_ours(effort)
    if not options.ours:
        results |= {peer: measure_peer(peer, effort) for peer in PEERS}
    print(render(results))
    return 0 if _all_held(results) else 1


def measure_ours(effort: str) -> dict[str, Measured]:
    with tempfile.TemporaryDirectory(prefix="det-report-") as folder, running(Path(folder)) as cluster:
        return {
            OURS: _trial(cluster, Path(folder) / "serving", effort, "AUTO"),
            f"{OURS}, no event files": _trial(cluster, Path(folder) / "manual", effort, "MANUAL"),
            f"{OURS}, master away": _trial(cluster, Path(folder) / "away", effort, "AUTO", away=True),
        }


def measure_peer(peer: str, effort: str) -> Measured:
    _note(peer)
    python = peers.peers_python()
    with tempfile.TemporaryDirectory(prefix="det-report-peer-") as folder:
        environment = peers.environment(TRACKIO_DIR=f"{folder}/trackio", HOME=folder)
        command = [python, str(PEER), peer, folder, effort]
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if done.returncode:
            raise SystemExit(f"{peer} failed:\n{done.stderr[-2000:]}")
        return calls.from_plain(json.loads((Path(folder) / "result.json").read_text()))


def _trial(cluster: Cluster, folder: Path, effort: str, mode: str, *, away: bool = False) -> Measured:
    _note(f"{OURS} ({folder.name})")
    folder.mkdir()
    experiment = cluster.submit([sys.executable, str(TASK), str(folder), effort, mode])
    cluster.wait((folder / "ready").exists, "the trial to begin")
    if away:
        cluster.kill()
    (folder / "go").touch()
    cluster.wait((folder / "result.json").exists, "the measurements of the trial", _SECONDS)
    if away:
        cluster.start()
        cluster.log_in()
    measured = calls.from_plain(json.loads((folder / "result.json").read_text()))
    _check_nothing_lost(cluster, experiment, measured.reports + 1)  # one was sent before the measurement
    return measured


def _check_nothing_lost(cluster: Cluster, experiment: int, sent: int) -> None:
    """The trial ends only when its last report is stored; then there is one value for each call."""
    path = f"/api/v1/experiments/{experiment}"
    done = "STATE_COMPLETED"
    cluster.wait(lambda: cluster.call("GET", path)["experiment"]["state"] == done, "the trial to end", _SECONDS)
    series = f"/api/v1/trials/{cluster.trial_of(experiment)}/metrics/series?group=training&name=loss&points=1"
    stored = int(cluster.call("GET", series)["total"])
    if stored != sent:
        raise SystemExit(f"experiment {experiment}: {sent} reports were made and {stored} are stored")
    _note(f"  {stored:,} reports stored")


def render(results: dict[str, Measured]) -> str:
    ours = results[OURS]
    header = ["three floats, one call", "p50 us", "p99 us", "mean us", "paced p50 us", "paced p99 us",
              "ours / it (p50)", "loop slowdown", "by an empty call", "other threads us per call"]  # fmt: skip
    rows = [_row(name, found, ours) for name, found in results.items()]
    return "\n".join([
        "# The cost of a report in the training process",
        "",
        "Ours runs in a real trial (master, runner, journal); event files for TensorBoard are written by default.",
        f"Back to back, then paced at {calls.RATE:,} calls a second. The slowdown is that of a numeric loop (numpy,",
        f"one thread) that reports {calls.RATE:,} times a second against the same loop without, short blocks in",
        "turns; what the library does on other threads of the training process is counted beside it.",
        "",
        machine.table(header, rows),
        "",
        machine.table(["hold", "limit", "measured", ""], _verdicts(results)),
        "",
    ])  # fmt: skip


def _row(name: str, found: Measured, ours: Measured) -> list[str]:
    dense, paced = found.back_to_back, found.paced
    ratio = "" if name.startswith(OURS) else f"{ours.back_to_back.p50 / dense.p50:.3f}"
    times = [f"{1e6 * value:.1f}" for value in (dense.p50, dense.p99, dense.mean, paced.p50, paced.p99)]
    threads = f"{1e6 * found.background:.1f}"
    return [
        f"{name} {found.version}".strip(),
        *times,
        ratio,
        f"{100 * found.slowdown:+.2f} %",
        f"{100 * found.noise:+.2f} %",
        threads,
    ]


def _verdicts(results: dict[str, Measured]) -> list[list[str]]:
    rows = []
    for name in (OURS, f"{OURS}, master away"):
        found = results[name]
        p50, p99, slowdown = found.back_to_back.p50, found.back_to_back.p99, found.total_slowdown
        rows.append([f"{name}: p50", "10 us", f"{1e6 * p50:.1f} us", machine.held(p50, _P50)])
        rows.append([f"{name}: p99", "200 us", f"{1e6 * p99:.1f} us", machine.held(p99, _P99)])
        verdict = machine.held(slowdown, _SLOWDOWN) if abs(found.noise) < _SLOWDOWN / 2 else "**too noisy to say**"
        rows.append([f"{name}: slowdown, threads included", "1 %", f"{100 * slowdown:.2f} %", verdict])
    for peer in ("trackio", "TensorBoard"):
        if peer in results:
            limit, p50 = results[peer].back_to_back.p50, results[OURS].back_to_back.p50
            rows.append([f"p50 below {peer}", f"{1e6 * limit:.1f} us", f"{1e6 * p50:.1f} us", machine.held(p50, limit)])
    return rows


def _all_held(results: dict[str, Measured]) -> bool:
    return all(row[-1] == "held" for row in _verdicts(results))


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
