"""Cost of a crash: the master killed -9 in a search, one dead rank; and how soon a report reaches its reader.

    python benchmarks/recovery.py [--quick] [--ours]

Beside the master: MLflow's tracking server, killed at the same seeded moments under as many clients, and the driver of
a Ray Tune search, resumed by Tuner.restore. Beside the dead rank: torchrun's.
"""

import argparse
import sys
from dataclasses import dataclass

import recovery_ranks
from recovery_mlflow import tracking
from recovery_outcome import Outcome
from recovery_ranks import Times
from recovery_report import held, render
from recovery_search import search
from recovery_stream import delays
from recovery_tune import tune


@dataclass(frozen=True, slots=True)
class Effort:
    """Numbers of rounds. Peers are killed less often than the master: each of their rounds takes ten times as long."""

    kills: int
    successors: int  # trials that begin while the master is killed
    mlflow: int
    tune: int
    ranks: int
    reports: int


FULL = Effort(kills=100, successors=16, mlflow=6, tune=4, ranks=3, reports=60)
QUICK = Effort(kills=3, successors=2, mlflow=1, tune=1, ranks=1, reports=10)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few kills: to see that it works, not how well")
    parser.add_argument("--ours", action="store_true", help="leave the peers out")
    options = parser.parse_args()
    effort = QUICK if options.quick else FULL
    kills = {"ours": search(effort.kills, effort.successors)}
    ranks = {"ours, two nodes": recovery_ranks.ours(effort.ranks)}
    told = delays(effort.reports)
    if not options.ours:
        kills |= _peers(effort)
        ranks |= _torchrun(effort, quick=options.quick)
    print(render(kills, ranks, told))
    return 0 if held(kills["ours"], ranks["ours, two nodes"], told) else 1


def _peers(effort: Effort) -> dict[str, Outcome]:
    return {
        "MLflow": tracking(effort.mlflow, "sync"),
        "MLflow, async logging": tracking(effort.mlflow, "async"),
        "Ray Tune": tune(effort.tune),
    }


def _torchrun(effort: Effort, *, quick: bool) -> dict[str, Times]:
    """A kind that takes torchrun half a minute by its own clock is seen once, and not in a hurry."""
    often = {"collective": effort.ranks, "asleep": effort.ranks}
    one = recovery_ranks.torchrun(1, often if quick else {**often, "deaf": 1})
    two = {} if quick else recovery_ranks.torchrun(2, {"collective": effort.ranks - 1, "asleep": effort.ranks - 1})
    return {"torchrun, one node": one, "torchrun, two nodes": two}


if __name__ == "__main__":
    sys.exit(main())
