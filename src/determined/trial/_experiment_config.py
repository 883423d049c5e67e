"""ExperimentConfig: the config of an experiment as user code sees it, a dict that answers the usual questions."""

from determined._json import JsonObject
from determined.config.experiment_schema import ExperimentConfig as DeclaredConfig
from determined.config.sections import Optimizations
from determined.schema.quantities import Length, Unit


class ExperimentConfig(JsonObject):
    """A config as it was written; methods answer with the defaults where it says nothing.

    Example:
        >>> ExperimentConfig({"resources": {"slots_per_trial": 4}}).slots_per_trial()
        4
    """

    @property
    def _typed(self) -> DeclaredConfig:
        """The config as it is declared; what it lacks has its default."""
        return DeclaredConfig.load(self)

    def debug_enabled(self) -> bool:
        return self._typed.debug

    def scheduling_unit(self) -> int:
        """Return after how many batches training metrics are reported."""
        return self._typed.scheduling_unit

    def native_parallel_enabled(self) -> bool:
        return self._typed.resources.native_parallel

    def average_training_metrics_enabled(self) -> bool:
        return self._typed.optimizations.average_training_metrics

    def slots_per_trial(self) -> int:
        return self._typed.resources.slots_per_trial

    def experiment_seed(self) -> int:
        """The seed of the experiment; 0 where none was chosen."""
        return self._typed.reproducibility.experiment_seed or 0

    def profiling_enabled(self) -> bool:
        return self._typed.profiling.enabled

    def profiling_interval(self) -> tuple[int, int | None]:
        """First and last batch to be profiled; None is to the end."""
        return self._typed.profiling.begin_on_batch, self._typed.profiling.end_after_batch

    def profiling_sync_timings(self) -> bool:
        return self._typed.profiling.sync_timings

    def get_records_per_epoch(self) -> int | None:
        """Return the records of an epoch; None where the config does not say."""
        return self._typed.records_per_epoch or None

    def get_min_validation_period(self) -> dict[str, int]:
        return _with_unit(self._typed.min_validation_period)

    def get_min_checkpoint_period(self) -> dict[str, int]:
        return _with_unit(self._typed.min_checkpoint_period)

    def get_searcher_metric(self) -> str:
        """The validation metric the searcher looks at; ValueError in a config without one."""
        metric = (self.get("searcher") or {}).get("metric")
        if not isinstance(metric, str):
            raise ValueError("the config has no searcher.metric; name there the validation metric to be searched by")
        return metric

    def get_optimizations_config(self) -> JsonObject:
        optimizations = self._typed.optimizations
        return {name: getattr(optimizations, name) for name in Optimizations.schema.fields}

    def get_checkpoint_storage(self) -> JsonObject:
        return dict(self.get("checkpoint_storage") or {})

    def get_entrypoint(self) -> str | list[str] | None:
        entrypoint: str | list[str] | None = self.get("entrypoint")
        return entrypoint


def _with_unit(length: Length) -> dict[str, int]:
    """A bare number counts batches, as `min_*_period` always did."""
    return {(length.unit or Unit.BATCHES).value: length.value}
