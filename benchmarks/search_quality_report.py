"""Tables, verdicts and plot of benchmarks/search_quality.py from its replayed rows. Needs numpy, scipy, matplotlib."""

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

import machine
from search_quality_methods import AUTO, METHODS, OURS
from search_quality_replay import BUDGETS, MARKS
from search_quality_tasks import TABLES, TASKS

_RESAMPLES = 5_000
_LEVEL = 0.05
_FEWEST = 5  # seeds of a method that is ranked
_SHOWN = (MARKS // 4, MARKS // 2, MARKS)
Curves = dict[str, dict[str, np.ndarray]]  # task -> method -> seeds x marks: normalised regret


@dataclass(frozen=True)
class Verdict:
    """Ours against the best peer of one task, paired by seed."""

    task: str
    peer: str
    seeds: int
    ours: float
    theirs: float
    low: float
    high: float
    chance: float

    @property
    def word(self) -> str:
        if self.chance >= _LEVEL or self.low <= 0 <= self.high:
            return "even"
        return "**worse**" if self.low > 0 else "better"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    curves = regrets(options.rows)
    print("# search_quality: regret of searches that replay recorded learning curves\n")
    print(_introduction(curves))
    held = True
    for workers in sorted(curves, key=lambda workers: (workers != 4, workers)):
        held = _section(workers, curves[workers], whole=workers == 4) and held
    if options.plot:
        _draw(_compared(curves[4]), options.plot)
    print(
        f"\n{'held' if held else '**missed**'}: `auto` is nowhere significantly worse than the best peer, has the best"
    )
    print("mean rank, and is nowhere significantly worse than random search.")
    return 0 if held else 1


def regrets(rows: Path) -> dict[int, Curves]:
    """Return by workers, task and method: seeds x marks."""
    tables = np.load(TABLES)
    scales = {name: (float(np.nanmin(tables[name])), float(np.nanmedian(tables[name][:, -1]))) for name in tables.files}
    found: dict[tuple[int, str, str], dict[int, list[float]]] = defaultdict(dict)
    for line in rows.read_text().splitlines():
        row = json.loads(line)
        found[row["workers"], row["task"], row["method"]][row["seed"]] = row["best"]
    curves: dict[int, Curves] = defaultdict(lambda: defaultdict(dict))
    for (workers, task, method), seeds in found.items():
        low, typical = scales[task]
        best = np.array([seeds[seed] for seed in sorted(seeds)])
        curves[workers][task][method] = np.minimum((best - low) / (typical - low), 2.0)
    return curves


def _introduction(curves: dict[int, Curves]) -> str:
    real = [task.name for task in TASKS.values() if not task.made]
    developed = [f"`{task.name}`" for task in TASKS.values() if task.developed_on]
    return (
        f"{len(real)} recorded tasks and {len(TASKS) - len(real)} made ones. Parameters of `auto` were chosen on"
        f" {', '.join(developed)}; the others were kept apart. Regret 0 is the best loss of the table, 1 what the"
        " median point reaches when it is fully trained. Budgets are whole trainings of all trials together:"
        f" {', '.join(f'{budget} with {workers}' for workers, budget in BUDGETS.items())}."
        " Differences are paired by seed: a 95 % interval by bootstrap, and the chance of Wilcoxon's signed-rank test."
        " *Worse* and *better* mean that both agree at 5 %, uncorrected for the number of tasks."
    )


def _section(workers: int, curves: Curves, *, whole: bool) -> bool:
    print(f"\n## {workers} worker{'s' if workers > 1 else ''}\n")
    compared = _compared(curves)
    print(_ranks(compared))
    if whole:
        print("\nMean regret at the whole budget:\n")
        print(_means(compared))
    verdicts = [_verdict(task, compared[task]) for task in compared]
    random = [_verdict(task, compared[task], only="random") for task in compared]
    print("\n`auto` against the best peer of each task at the whole budget, and against random search:\n")
    print(_verdict_table(verdicts, random))
    if slow := _slow(curves, compared):
        print(f"\nPeers that take minutes a search, on the few seeds that there was time for:\n\n{slow}")
    ranks = _mean_ranks(compared, list(compared))
    first = min(ranks, key=lambda method: ranks[method].mean()) == AUTO
    return first and all(one.word != "**worse**" for one in (*verdicts, *random))


def _compared(curves: Curves) -> Curves:
    """Leave out methods that have not replayed every task, or with too few seeds to be tested."""
    tasks = [task for task in TASKS if task in curves]
    methods = [
        method
        for method in METHODS
        if all(method in curves[task] and len(curves[task][method]) >= _FEWEST for task in tasks)
    ]
    return {task: {method: curves[task][method] for method in methods} for task in tasks}


def _slow(curves: Curves, compared: Curves) -> str:
    ranked = set(next(iter(compared.values())))
    rows = []
    for method in (method for method in METHODS if method not in ranked):
        seen = [task for task in compared if method in curves[task]]
        if not seen:
            continue
        seeds = min(len(curves[task][method]) for task in seen)
        theirs = np.array([curves[task][method][:seeds, -1].mean() for task in seen])
        ours = np.array([curves[task][AUTO][:seeds, -1].mean() for task in seen])
        wins = f"{int((ours < theirs).sum())} of {len(seen)}"
        rows.append([method, str(len(seen)), str(seeds), f"{theirs.mean():.3f}", f"{ours.mean():.3f}", wins])
    header = ["method", "tasks", "seeds", "its mean regret", "`auto` on the same", "tasks on which `auto` is ahead"]
    return machine.table(header, rows) if rows else ""


def _mean_ranks(curves: Curves, tasks: list[str]) -> dict[str, np.ndarray]:
    """Return by method the rank of each seed, averaged over tasks; of seeds that all methods have."""
    methods = list(curves[tasks[0]])
    seeds = min(len(values) for task in tasks for values in curves[task].values())
    finals = np.array([[curves[task][method][:seeds, -1] for method in methods] for task in tasks])
    ranks = stats.rankdata(finals, axis=1).mean(axis=0)
    return dict(zip(methods, ranks, strict=True))


def _ranks(curves: Curves) -> str:
    groups = {
        "all tasks": list(curves),
        "tasks kept apart": [task for task in curves if not TASKS[task].developed_on],
        "recorded tasks": [task for task in curves if not TASKS[task].made],
    }
    ranks = {name: _mean_ranks(curves, tasks) for name, tasks in groups.items() if tasks}
    first = next(iter(ranks.values()))
    rows = []
    for method in sorted(first, key=lambda method: first[method].mean()):
        cells = []
        for group in ranks.values():
            low, high = _interval(group[method])
            cells.append(f"{group[method].mean():.2f} [{low:.2f}, {high:.2f}]")
        at = (np.mean([curves[task][method][:, mark - 1].mean() for task in curves]) for mark in _SHOWN)
        rows.append([method, *cells, *(f"{value:.3f}" for value in at)])
    header = ["method", *(f"mean rank, {name}" for name in ranks), "regret at 25%", "at 50%", "at 100%"]
    return machine.table(header, rows)


def _means(curves: Curves) -> str:
    methods = list(next(iter(curves.values())))
    rows = []
    for task in curves:
        finals = {method: curves[task][method][:, -1].mean() for method in methods}
        best = min(finals.values())
        rows.append([task, *(f"**{value:.3f}**" if value == best else f"{value:.3f}" for value in finals.values())])
    return machine.table(["task", *methods], rows)


def _verdict(task: str, methods: dict[str, np.ndarray], *, only: str = "") -> Verdict:
    others = [name for name in methods if name not in OURS and (not only or name == only)]
    peer = min(others, key=lambda name: methods[name][:, -1].mean())
    seeds = min(len(methods[AUTO]), len(methods[peer]))
    ours, theirs = methods[AUTO][:seeds, -1], methods[peer][:seeds, -1]
    difference = ours - theirs
    low, high = _interval(difference)
    chance = float(stats.wilcoxon(difference).pvalue) if np.any(difference != 0) else 1.0
    return Verdict(task, peer, seeds, float(ours.mean()), float(theirs.mean()), low, high, chance)


def _verdict_table(verdicts: list[Verdict], random: list[Verdict]) -> str:
    rows = [
        [
            one.task,
            one.peer,
            str(one.seeds),
            f"{one.ours:.3f}",
            f"{one.theirs:.3f}",
            f"{one.ours - one.theirs:+.3f} [{one.low:+.3f}, {one.high:+.3f}]",
            f"{one.chance:.3f}",
            one.word,
            other.word,
        ]
        for one, other in zip(verdicts, random, strict=True)
    ]
    header = ["task", "best peer", "seeds", "`auto`", "peer", "difference (95 %)", "p", "verdict", "beside random"]
    return machine.table(header, rows)


def _interval(values: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    draws = rng.choice(values, size=(_RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def _draw(curves: Curves, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    trainings = np.arange(1, MARKS + 1) * BUDGETS[4] / MARKS
    for method in next(iter(curves.values())):
        mean = np.mean([curves[task][method].mean(axis=0) for task in curves], axis=0)
        ours = method in OURS
        axes.plot(trainings, mean, label=method, linewidth=2.2 if ours else 1.2, linestyle="-" if ours else "--")
    axes.set(xlabel="whole trainings, all trials together", ylabel="mean regret over all tasks", yscale="log")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
