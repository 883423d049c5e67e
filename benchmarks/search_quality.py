"""Quality of the points that searches find: `auto` beside adaptive_asha, random search and the searches of others.

    python benchmarks/search_quality.py [--quick] [--rows FILE] [--plot FILE.svg]

All replay the same recorded learning curves (search_quality_tasks.py) over the same seeds. Regret: the best loss
seen so far less the table's best, over what knowing nothing gives (the median of fully trained points less the table's
best). `--rows` keeps the replayed rows, and goes on after those that a file already has.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import peers
from search_quality_methods import OURS, PEERS, SLOW_PEERS, SYNE_TUNE
from search_quality_tasks import TASKS

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Part:
    """Seeds that a method replays with so many workers."""

    method: str
    workers: int
    seeds: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one task, two seeds: see that it works")
    parser.add_argument("--rows", type=Path, help="file of replayed rows")
    parser.add_argument("--plot", type=Path, help="draw regret over budget into this file")
    options = parser.parse_args()
    tasks = ["made_decayed"] if options.quick else list(TASKS)
    with tempfile.TemporaryDirectory() as scratch:
        rows = options.rows or Path(scratch) / "rows.jsonl"
        for part in parts(quick=options.quick):
            _replay(part, tasks, rows)
        return _judge(rows, options.plot)


def parts(*, quick: bool) -> list[Part]:
    """List all replays: every method with 4 workers; the fast ones also with 1, 16 and 64."""
    if quick:
        return [Part(method, 4, 2) for method in (*OURS, *PEERS)]
    fast = [Part(method, 4, 30) for method in (*OURS, *PEERS)]
    slow = [Part(method, 4, 10) for method in SLOW_PEERS]
    return fast + slow + [Part(part.method, workers, 10) for workers in (1, 16, 64) for part in fast]


def _replay(part: Part, tasks: list[str], rows: Path) -> None:
    known = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    have = {(row["method"], row["workers"], row["task"], row["seed"]) for row in known}
    missing = [
        task for task in tasks if any((part.method, part.workers, task, seed) not in have for seed in range(part.seeds))
    ]
    if not missing:
        return
    sys.stderr.write(f"{part.method}, {part.workers} workers: {part.seeds} seeds of {len(missing)} tasks\n")
    python = peers.syne_tune_python() if part.method in SYNE_TUNE else peers.peers_python()
    counts = ["--workers", str(part.workers), "--seeds", str(part.seeds), "--tasks", *missing]
    command = [python, str(HERE / "search_quality_replay.py"), part.method, *counts]
    with rows.open("a") as file:
        subprocess.run(command, env=peers.environment(PYTHONPATH=str(HERE.parent / "src")), stdout=file, check=True)


def _judge(rows: Path, plot: Path | None) -> int:
    """In the peers' environment, which has numpy, scipy and matplotlib."""
    drawn = ["--plot", str(plot)] if plot else []
    command = [peers.peers_python(), str(HERE / "search_quality_report.py"), str(rows), *drawn]
    return subprocess.run(command, env=peers.environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
