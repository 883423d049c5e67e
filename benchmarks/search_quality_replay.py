"""Replay recorded learning curves to one search method, many seeds, on a simulated clock; prints a JSON line per seed.

    python benchmarks/search_quality_replay.py TABLE.npz METHOD --seeds 20

`WORKERS` trials run side by side; an epoch costs one unit of time, deciding costs nothing. Each library's own code
decides: it is asked for points, told each epoch's loss, and says which trials to stop.
"""

import argparse
import heapq
import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np

import search_quality_methods as methods
from search_quality_table import EPOCHS, points

WORKERS = 4
BUDGET = 12 * EPOCHS  # epochs in all: a search that begins fewer trials than the table has points


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("method", choices=sorted(methods.METHODS))
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    table = np.load(options.table)
    for task, seed in itertools.product(table.files, range(options.seeds)):
        began = time.process_time()
        best = replay(methods.METHODS[options.method](seed), table[task])
        seconds = time.process_time() - began
        print(json.dumps({"method": options.method, "task": task, "seed": seed, "best": best, "seconds": seconds}))
    return 0


def replay(method: methods.Method, curves: np.ndarray) -> list[float]:
    """The lowest loss seen after each epoch of the budget, whichever trial it was of."""
    index = {tuple(point.values()): place for place, point in enumerate(points())}
    order = itertools.count()
    running: list[tuple[int, int, str, int, int]] = []  # time, tie-break, trial, row of the table, epoch
    best, spent = np.inf, []

    def begin(now: int) -> None:
        while len(running) < WORKERS and (asked := method.ask()) is not None:
            trial, point = asked
            heapq.heappush(running, (now + 1, next(order), trial, index[tuple(point[name] for name in points()[0])], 1))

    begin(0)
    while running and len(spent) < BUDGET:
        now, _, trial, row, epoch = heapq.heappop(running)
        loss = float(curves[row, epoch - 1])
        best = min(best, loss)
        spent.append(best)
        if method.tell(trial, epoch, loss) and epoch < EPOCHS:
            heapq.heappush(running, (now + 1, next(order), trial, row, epoch + 1))
        else:
            method.ended(trial, epoch, loss)
        begin(now)
    return [float(value) for value in spent + [best] * (BUDGET - len(spent))]


if __name__ == "__main__":
    sys.exit(main())
