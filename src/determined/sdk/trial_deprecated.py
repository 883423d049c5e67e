"""Old names on Trial: they warn and do what they did."""

from collections.abc import Callable, Iterator
from typing import Any

from determined.sdk.checkpoint import Checkpoint
from determined.sdk.checkpoint_choice import ListCheckpoints, best
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.enums import CheckpointSortBy, OrderBy
from determined.sdk.metrics import TrialMetrics


class DeprecatedTrialMethods:
    """Mixed into Trial."""

    iter_logs: Callable[..., Iterator[str]]
    iter_metrics: Callable[[str], Iterator[TrialMetrics]]
    list_checkpoints: ListCheckpoints

    def logs(self, *args: Any, **filters: Any) -> Iterator[str]:
        """Deprecated: iter_logs, with the same arguments."""
        warn_deprecated("Trial.logs()", "Trial.iter_logs()")
        return self.iter_logs(*args, **filters)

    def stream_metrics(self, group: str) -> Iterator[TrialMetrics]:
        """Deprecated: iter_metrics."""
        warn_deprecated("Trial.stream_metrics()", "Trial.iter_metrics()")
        return self.iter_metrics(group)

    def stream_training_metrics(self) -> Iterator[TrialMetrics]:
        """Deprecated: iter_metrics("training")."""
        warn_deprecated("Trial.stream_training_metrics()", 'Trial.iter_metrics("training")')
        return self.iter_metrics("training")

    def stream_validation_metrics(self) -> Iterator[TrialMetrics]:
        """Deprecated: iter_metrics("validation")."""
        warn_deprecated("Trial.stream_validation_metrics()", 'Trial.iter_metrics("validation")')
        return self.iter_metrics("validation")

    def get_checkpoints(
        self, sort_by: str | CheckpointSortBy | None = None, order_by: OrderBy | None = None
    ) -> list[Checkpoint]:
        """Deprecated: list_checkpoints."""
        warn_deprecated("Trial.get_checkpoints()", "Trial.list_checkpoints()")
        return self.list_checkpoints(sort_by=sort_by, order_by=order_by)

    def top_checkpoint(self, sort_by: str | None = None, smaller_is_better: bool | None = None) -> Checkpoint:
        """Deprecated: list_checkpoints."""
        warn_deprecated("Trial.top_checkpoint()", "Trial.list_checkpoints(max_results=1)")
        return best(self.list_checkpoints, sort_by, smaller_is_better)[0]

    def select_checkpoint(
        self,
        latest: bool = False,
        best: bool = False,
        uuid: str | None = None,
        sort_by: str | None = None,
        smaller_is_better: bool | None = None,
    ) -> Checkpoint:
        """Deprecated: list_checkpoints.

        Raises:
            AssertionError: not exactly one of latest, best, uuid; or sorting without best; or there is none.
        """
        warn_deprecated("Trial.select_checkpoint()", "Trial.list_checkpoints()")
        assert sum([latest, best, uuid is not None]) == 1, "give exactly one of latest, best and uuid"
        assert best or (sort_by is None and smaller_is_better is None), "sort_by and smaller_is_better go with best"
        if best:
            return _best(self.list_checkpoints, sort_by, smaller_is_better)
        checkpoints = self.list_checkpoints(sort_by=CheckpointSortBy.BATCH_NUMBER, order_by=OrderBy.DESC)
        chosen = checkpoints if latest else [c for c in checkpoints if c.uuid == uuid]
        assert chosen, "there is no such checkpoint"
        return chosen[0]


def _best(listing: ListCheckpoints, sort_by: str | None, smaller_is_better: bool | None) -> Checkpoint:
    return best(listing, sort_by, smaller_is_better)[0]
