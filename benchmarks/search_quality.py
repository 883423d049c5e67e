"""Quality of the points that a search finds: adaptive_asha, with and without a model, beside its peers.

    python benchmarks/search_quality.py [--quick] [--plot FILE.svg]

All replay one table of recorded learning curves (search_quality_table.py, recorded at the first run) over the same
seeds. Regret: the best loss seen so far less the table's best, over what knowing nothing gives (the median of fully
trained points less the table's best), averaged over the tasks. Differences are paired by seed, intervals
bootstrapped.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import peers
from search_quality_table import TASKS

HERE = Path(__file__).parent
TABLE = HERE / ".search_quality_table.npz"
OURS = (
    "determined adaptive_asha",
    "determined adaptive_asha + tpe",
    "determined adaptive_asha, aggressive",
    "determined adaptive_asha, aggressive + tpe",
)
PEERS = ("ray asha", "syne tune asha", "optuna tpe", "optuna tpe + hyperband")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three seeds: see that it works")
    parser.add_argument(
        "--table", type=Path, default=TABLE, help="recorded curves (default: recorded once, beside this)"
    )
    parser.add_argument("--plot", type=Path, help="draw regret over budget into this file")
    options = parser.parse_args()
    if not options.table.exists():
        _record(options.table)
    seeds = 3 if options.quick else 24
    rows = [row for name in (*OURS, *PEERS) for row in _replay(name, options.table, seeds)]
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / "rows.jsonl"
        lines.write_text("\n".join(json.dumps(row) for row in rows))
        return _judge(lines, options)


def _record(table: Path) -> None:
    sys.stderr.write("recording learning curves (once, some ten minutes)\n")
    _run([peers.peers_python(), str(HERE / "search_quality_table.py"), str(table)])


def _replay(name: str, table: Path, seeds: int) -> list[dict[str, object]]:
    python = sys.executable if name in OURS else peers.peers_python()
    sys.stderr.write(f"{name}: {seeds} seeds of {len(TASKS)} tasks\n")
    output = _run([python, str(HERE / "search_quality_replay.py"), str(table), name, "--seeds", str(seeds)])
    return [json.loads(line) for line in output.splitlines()]


def _judge(rows: Path, options: argparse.Namespace) -> int:
    """In the peers' environment, which has numpy and matplotlib."""
    command = [peers.peers_python(), str(HERE / "search_quality_report.py"), str(options.table), str(rows)]
    plot = ["--plot", str(options.plot)] if options.plot else []
    done = subprocess.run([*command, *plot], env=peers.environment(), check=False)
    return done.returncode


def _run(command: list[str]) -> str:
    done = subprocess.run(command, env=peers.environment(), stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
