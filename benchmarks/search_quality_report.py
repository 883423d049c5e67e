"""Tables, verdict and plot of benchmarks/search_quality.py from its replayed rows. Needs numpy, matplotlib."""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import machine

SHARES = (0.25, 0.5, 1.0)
_RESAMPLES = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    regret = regrets(np.load(options.table), [json.loads(line) for line in options.rows.read_text().splitlines()])
    seeds, budget = next(iter(regret.values())).shape
    print("# search_quality: regret of searches that replay one table of learning curves\n")
    print(f"{seeds} seeds, mean over tasks, {budget} epochs on 4 simulated workers; lower is better.\n")
    print(_means(regret, budget))
    print()
    verdicts, lines = _comparisons(regret, budget)
    print(lines)
    if options.plot:
        _draw(regret, options.plot)
    print(f"\n{'held' if all(verdicts) else '**missed**'}: our better method against the best peer at each budget.")
    return 0 if all(verdicts) else 1


def regrets(table: dict[str, np.ndarray], rows: list[dict]) -> dict[str, np.ndarray]:
    """Return by method: seeds x budget, each task's regret normalised, then averaged over tasks."""
    collected: dict[str, dict[int, list[np.ndarray]]] = {}
    for row in rows:
        curves = table[row["task"]]
        low, ignorant = float(curves.min()), float(np.median(curves[:, -1]))
        normal = (np.array(row["best"]) - low) / (ignorant - low)
        collected.setdefault(row["method"], {}).setdefault(row["seed"], []).append(normal)
    return {
        method: np.array([np.mean(tasks, axis=0) for _, tasks in sorted(by_seed.items())])
        for method, by_seed in collected.items()
    }


def _means(regret: dict[str, np.ndarray], budget: int) -> str:
    header = ["method", *(f"at {share:.0%}" for share in SHARES)]
    rows = []
    for method, values in regret.items():
        at = [values[:, int(budget * share) - 1] for share in SHARES]
        rows.append([method, *(f"{v.mean():.4f} ± {1.96 * v.std(ddof=1) / len(v) ** 0.5:.4f}" for v in at)])
    return machine.table(header, rows)


def _comparisons(regret: dict[str, np.ndarray], budget: int) -> tuple[list[bool], str]:
    """Ours less the best peer's, seed by seed; not worse means that the interval reaches down to zero or below."""
    rows, verdicts = [], []
    for share in SHARES:
        at = {method: values[:, int(budget * share) - 1] for method, values in regret.items()}
        ours = min((m for m in at if m.startswith("determined")), key=lambda m: at[m].mean())
        best = min((m for m in at if not m.startswith("determined")), key=lambda m: at[m].mean())
        low, high = _interval(at[ours] - at[best])
        verdicts.append(low <= 0)
        verdict = "better" if high < 0 else "not worse" if low <= 0 else "**worse**"
        rows.append(
            [f"{share:.0%}", ours, best, f"{(at[ours] - at[best]).mean():+.4f} [{low:+.4f}, {high:+.4f}]", verdict]
        )
    return verdicts, machine.table(["budget", "ours", "best peer", "difference (95 %, paired)", "verdict"], rows)


def _interval(differences: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    draws = rng.choice(differences, size=(_RESAMPLES, len(differences))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def _draw(regret: dict[str, np.ndarray], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    for method, values in regret.items():
        mean, error = values.mean(axis=0), 1.96 * values.std(axis=0, ddof=1) / len(values) ** 0.5
        epochs = np.arange(1, len(mean) + 1)
        ours = method.startswith("determined")
        (line,) = axes.plot(epochs, mean, label=method, linewidth=2.2 if ours else 1.2, linestyle="-" if ours else "--")
        axes.fill_between(epochs, mean - error, mean + error, color=line.get_color(), alpha=0.12)
    axes.set(xlabel="epochs trained, all trials together", ylabel="normalised regret", xscale="log", yscale="log")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
