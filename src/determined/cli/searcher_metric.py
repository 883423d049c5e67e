"""The metric that a search goes by, in tables of experiments and trials: its name, the best and the last value."""

from collections.abc import Iterable, Mapping
from typing import Any

from determined.wire.trial import MetricsWorkload, Trial

COLUMNS = ["Metric", "Best", "Last"]
_SHOWN = 3  # metrics of a row where none is the searcher's


def name_of(config: Mapping[str, Any] | None) -> str | None:
    """Return the searcher's metric; the first where it has several."""
    metric = ((config or {}).get("searcher") or {}).get("metric")
    return str(metric[0] if isinstance(metric, list) and metric else metric) if metric else None


def cells(trial: Trial, name: str | None) -> list[Any]:
    """Return the cells under COLUMNS."""
    best = trial.searcher_metric_value
    return [name, _value(trial.best_validation, name) if best is None else best, _value(trial.latest_validation, name)]


def best_of(trials: Iterable[Trial], config: Mapping[str, Any] | None) -> float | None:
    """Return the best value among all trials of an experiment."""
    smaller = bool(((config or {}).get("searcher") or {}).get("smaller_is_better", True))
    values = [t.searcher_metric_value for t in trials if t.searcher_metric_value is not None]
    return (min if smaller else max)(values, default=None)


def shortened(metrics: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """Return the searcher's metric alone where it is there, else the first few."""
    if name is not None and name in metrics:
        return {name: metrics[name]}
    return dict(sorted(metrics.items())[:_SHOWN])


def _value(workload: MetricsWorkload | None, name: str | None) -> Any:
    metrics = workload.metrics.avg_metrics if workload is not None else None
    value = (metrics or {}).get(name) if name is not None else None
    return float(value) if isinstance(value, int) else value  # JSON knows no difference
