"""Replay recorded learning curves to one search method, many seeds, on a simulated clock; prints a JSON line per seed.

    python benchmarks/search_quality_replay.py METHOD --seeds 30 --workers 4 --tasks digits_linear

`workers` trials run side by side; an epoch costs one unit of time, deciding costs nothing. Each library's own code
decides: it is asked for points, told each epoch's loss, and says which trials to stop.
"""

import argparse
import heapq
import itertools
import json
import math
import sys
import time

import numpy as np

import search_quality_methods as methods
from search_quality_tasks import TABLES, TASKS, Task

BUDGETS = {1: 20, 4: 20, 16: 40, 64: 80}  # whole trainings that all trials together may cost, by workers
MARKS = 40  # places of the budget at which the best loss is written down


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=sorted(methods.METHODS))
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--workers", type=int, nargs="*", default=[4], choices=sorted(BUDGETS))
    parser.add_argument("--seeds", type=int, default=30)
    options = parser.parse_args()
    tables = np.load(TABLES)
    for name, workers, seed in itertools.product(options.tasks, options.workers, range(options.seeds)):
        began = time.process_time()
        best, trials = replay(methods.METHODS[options.method], TASKS[name], tables[name], workers, seed)
        row = {"method": options.method, "task": name, "workers": workers, "seed": seed, "best": best}
        print(json.dumps({**row, "trials": trials, "seconds": time.process_time() - began}), flush=True)
    return 0


def replay(maker: methods.Maker, task: Task, curves: np.ndarray, workers: int, seed: int) -> tuple[list[float], int]:
    """Return the lowest loss seen at each mark of the budget, whichever trial it was of, and the number of trials."""
    method = maker(task, workers, seed)
    index = {tuple(point.values()): place for place, point in enumerate(task.points())}
    budget = BUDGETS[workers] * task.epochs
    order = itertools.count()
    running: list[tuple[int, int, str, int, int]] = []  # time, tie-break, trial, row of the table, epoch
    best, spent, trials = math.inf, [], 0

    def begin(now: int) -> None:
        nonlocal trials
        while len(running) < workers and (asked := method.ask()) is not None:
            trial, point = asked
            trials += 1
            row = index[tuple(point[name] for name in task.space)]
            heapq.heappush(running, (now + 1, next(order), trial, row, 1))

    begin(0)
    while running and len(spent) < budget:
        now, _, trial, row, epoch = heapq.heappop(running)
        loss = float(curves[row, epoch - 1])
        best = min(best, loss) if math.isfinite(loss) else best
        spent.append(best)
        if method.tell(trial, epoch, loss) and epoch < task.epochs:
            heapq.heappush(running, (now + 1, next(order), trial, row, epoch + 1))
        else:
            method.ended(trial, epoch, loss)
        begin(now)
    spent += [best] * (budget - len(spent))
    return [float(spent[math.ceil(budget * mark / MARKS) - 1]) for mark in range(1, MARKS + 1)], trials


if __name__ == "__main__":
    sys.exit(main())
