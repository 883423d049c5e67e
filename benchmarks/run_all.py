"""Run every benchmark, each in a process of its own, and write benchmarks/results/<name>.md.

    python benchmarks/run_all.py [--quick] [NAME ...]

The exit status says whether every number was held. With --quick nothing is written: its numbers mean nothing.
"""

import argparse
import datetime
import subprocess
import sys
from pathlib import Path

import machine
import peers

HERE = Path(__file__).parent
_SECONDS = 3600.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="see that they work, not how fast")
    options = parser.parse_args()
    if unknown := set(options.names) - BENCHMARKS.keys():
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    peers.peers_python()
    missed = [name for name in options.names or BENCHMARKS if not _run(name, quick=options.quick)]
    if missed:
        print(f"not every number was held: {', '.join(missed)}")
    return 1 if missed else 0


def _run(name: str, *, quick: bool) -> bool:
    print(f"-- {name}", flush=True)
    full, short = BENCHMARKS[name]
    chosen = [*(short if quick else full), *(["--mlflow-python", peers.peers_python()] if name == "ingest" else [])]
    facts = machine.facts()
    command = [sys.executable, str(HERE / f"{name}.py"), *chosen]
    done = subprocess.run(
        command, env=peers.environment(), stdout=subprocess.PIPE, text=True, timeout=_SECONDS, check=False
    )
    print(done.stdout, flush=True)
    if done.stdout and not quick:
        (HERE / "results" / f"{name}.md").write_text(_document(name, done.stdout, facts))
    return done.returncode == 0


def _document(name: str, table: str, facts: str) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return f"{table.rstrip()}\n\nTaken on {today} on {facts}\nAgain: `.venv/bin/python benchmarks/run_all.py {name}`\n"


# name -> arguments of a full and of a quick run
BENCHMARKS: dict[str, tuple[list[str], list[str]]] = {
    "report_metrics": ([], ["--quick"]),
    "startup": ([], ["--quick"]),
    "ingest": (["--seconds", "10"], ["--seconds", "1"]),
    "import_upstream": ([], ["--quick"]),
    "table": ([], ["--quick"]),
    "registry": ([], ["--quick"]),
    "webhooks": ([], ["--quick"]),
    "tasks": ([], ["--quick"]),
    "abuse": ([], ["--quick"]),
    "webui": ([], ["--quick"]),
    "checkpoint": ([], ["--quick"]),
    "checkpoint_dedup": ([], ["--quick"]),
    "launch": ([], ["--quick"]),
    "environment": ([], ["--quick"]),
    "recovery": ([], ["--quick"]),
    "search_speed": ([], ["--quick"]),
    "train_loop": ([], ["--quick"]),
    "train_loop_trial": ([], ["--quick"]),
    "search_quality": (["--plot", str(HERE / "results" / "search_quality.svg")], ["--quick"]),
}

if __name__ == "__main__":
    sys.exit(main())
