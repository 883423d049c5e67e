"""ExperimentConfig: the config of an experiment as user code sees it, a dict that answers the usual questions."""

from typing import Any

from determined._json import JsonObject
from determined.config import apply_defaults


class ExperimentConfig(JsonObject):
    """A config as it was written; methods answer with the defaults where it says nothing.

    Example:
        >>> ExperimentConfig({"resources": {"slots_per_trial": 4}}).slots_per_trial()
        4
    """

    def debug_enabled(self) -> bool:
        return bool(self._filled("debug"))

    def scheduling_unit(self) -> int:
        """Return after how many batches training metrics are reported."""
        return int(self._filled("scheduling_unit"))

    def native_parallel_enabled(self) -> bool:
        return bool(self._filled("resources")["native_parallel"])

    def average_training_metrics_enabled(self) -> bool:
        return bool(self.get_optimizations_config()["average_training_metrics"])

    def slots_per_trial(self) -> int:
        return int(self._filled("resources")["slots_per_trial"])

    def experiment_seed(self) -> int:
        """The seed of the experiment; 0 where none was chosen."""
        return int(self._filled("reproducibility")["experiment_seed"])

    def profiling_enabled(self) -> bool:
        return bool(self._filled("profiling")["enabled"])

    def profiling_interval(self) -> tuple[int, int | None]:
        """First and last batch to be profiled; None is to the end."""
        profiling = self._filled("profiling")
        return int(profiling["begin_on_batch"]), profiling["end_after_batch"]

    def profiling_sync_timings(self) -> bool:
        return bool(self._filled("profiling")["sync_timings"])

    def get_records_per_epoch(self) -> int | None:
        """Return the records of an epoch; None where the config does not say."""
        return int(self._filled("records_per_epoch")) or None

    def get_min_validation_period(self) -> dict[str, int]:
        return _with_unit(self._filled("min_validation_period"))

    def get_min_checkpoint_period(self) -> dict[str, int]:
        return _with_unit(self._filled("min_checkpoint_period"))

    def get_searcher_metric(self) -> str:
        """The validation metric the searcher looks at; ValueError in a config without one."""
        metric = (self.get("searcher") or {}).get("metric")
        if not isinstance(metric, str):
            raise ValueError("the config has no searcher.metric; name there the validation metric to be searched by")
        return metric

    def get_optimizations_config(self) -> JsonObject:
        return dict(self._filled("optimizations"))

    def get_checkpoint_storage(self) -> JsonObject:
        return dict(self.get("checkpoint_storage") or {})

    def get_entrypoint(self) -> str | list[str] | None:
        entrypoint: str | list[str] | None = self.get("entrypoint")
        return entrypoint

    def _filled(self, section: str) -> Any:
        return apply_defaults({section: self[section]} if section in self else {}, seed=0, name="")[section]


def _with_unit(length: Any) -> dict[str, int]:
    """A bare number counts batches, as `min_*_period` always did."""
    return {"batches": int(length)} if isinstance(length, int) else dict(length)
