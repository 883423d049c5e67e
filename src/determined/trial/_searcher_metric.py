"""Metric of the searcher among those of a validation, and whether it is the best so far."""

import math
from dataclasses import dataclass
from typing import Any

from determined import core
from determined._json import JsonObject
from determined.search.searcher_config import SearcherConfig


@dataclass(frozen=True, slots=True)
class Goal:
    """The searcher's metric or metrics; none off cluster."""

    names: tuple[str, ...] = ()
    smaller_is_better: bool = True

    @classmethod
    def of(cls, searcher: JsonObject) -> "Goal":
        several = tuple(str(metric["name"]) for metric in searcher.get("metrics") or ())
        declared = SearcherConfig.load(searcher)
        return cls(several or ((declared.metric,) if declared.metric else ()), declared.smaller_is_better)

    def result(self, metrics: JsonObject) -> Any:
        """Return what the searcher is told at the end of an operation: a number, or one for each of several metrics.

        Raises:
            RuntimeError: validation did not give the metric, or gave something else than a number.
        """
        if len(self.names) > 1:
            return {name: _number(metrics, name) for name in self.names}
        return _number(metrics, self.names[0]) if self.names else None

    def check(self, metrics: JsonObject) -> None:
        """Raise RuntimeError where `is_best` has no number to compare."""
        if self.names:
            _number(metrics, self.names[0])

    def is_best(self, metrics: JsonObject, core_context: core.Context, batches: int) -> bool:
        """Return whether no earlier validation of the whole experiment was as good. Ask before reporting this one.

        One without the metric is none: `check` says so once it is reported and saved.

        Args:
            metrics: of the validation.
            core_context: asks the master.
            batches: how many this trial has trained. One that was killed before it had saved its best state comes here
                again, and the best validation so far may be this very one.
        """
        if not self.names:
            return True
        name = self.names[0]
        if _flaw(metrics, name) is not None or math.isnan(value := float(metrics[name])):
            return False
        best = core_context.train.get_experiment_best_validation()
        if best is None or math.isnan(best):
            return True
        if value == best:
            return core_context.train._get_last_validation() == batches
        return value < best if self.smaller_is_better else value > best


def _number(metrics: JsonObject, name: str) -> float:
    flaw = _flaw(metrics, name)
    if flaw is not None:
        raise RuntimeError(flaw)
    return float(metrics[name])


def _flaw(metrics: JsonObject, name: str) -> str | None:
    """Return why the metric is no number; None where it is one."""
    if name not in metrics:
        return (
            f"the searcher's metric {name!r} is not among the validation metrics {sorted(metrics)}; let "
            "validation give it, or correct searcher.metric"
        )
    value = metrics[name]
    if isinstance(value, bool) or getattr(value, "size", 1) not in (1,) or not hasattr(value, "__float__"):
        return f"the searcher's metric {name!r} is {value!r}; validation must give one number for it"
    return None
