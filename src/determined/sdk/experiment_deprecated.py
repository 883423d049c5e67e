"""Old names on Experiment: they warn and do what they did."""

from collections.abc import Callable
from typing import Any

from determined.sdk.checkpoint import Checkpoint
from determined.sdk.checkpoint_choice import ListCheckpoints, best, first_of_each_trial
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.enums import OrderBy, TrialSortBy
from determined.sdk.trial import Trial


class DeprecatedExperimentMethods:
    """Mixed into Experiment."""

    config: dict[str, Any] | None
    reload: Callable[[], None]
    list_trials: Callable[[TrialSortBy, OrderBy], list[Trial]]
    list_checkpoints: ListCheckpoints

    def get_config(self) -> dict[str, Any]:
        """Deprecated: config."""
        warn_deprecated("Experiment.get_config()", "Experiment.config")
        self.reload()
        return dict(self.config or {})

    def get_trials(self, sort_by: TrialSortBy = TrialSortBy.ID, order_by: OrderBy = OrderBy.ASCENDING) -> list[Trial]:
        """Deprecated: list_trials."""
        warn_deprecated("Experiment.get_trials()", "Experiment.list_trials()")
        return self.list_trials(sort_by, order_by)

    def top_checkpoint(self, sort_by: str | None = None, smaller_is_better: bool | None = None) -> Checkpoint:
        """Deprecated: list_checkpoints."""
        warn_deprecated("Experiment.top_checkpoint()", "Experiment.list_checkpoints(max_results=1)")
        return best(self.list_checkpoints, sort_by, smaller_is_better)[0]

    def top_n_checkpoints(
        self, limit: int, sort_by: str | None = None, smaller_is_better: bool | None = None
    ) -> list[Checkpoint]:
        """Deprecated: list_checkpoints. The best of each trial, best first."""
        warn_deprecated("Experiment.top_n_checkpoints()", "Experiment.list_checkpoints()")
        return first_of_each_trial(best(self.list_checkpoints, sort_by, smaller_is_better))[:limit]
