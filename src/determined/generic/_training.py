"""Training of a script: metrics it reports, and its seed, hyperparameters and length."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

from determined import core
from determined._info import TrialInfo
from determined._json import JsonObject
from determined.generic._checkpoint import Steps
from determined.generic._search import Search, SearcherOp


@dataclass(frozen=True, slots=True)
class Trial:
    """Trial of a cluster, or what the caller of `init` gave."""

    hparams: JsonObject = field(default_factory=dict)
    seed: int = 0
    trial_id: int | None = None
    experiment_id: int | None = None
    steps_completed: int = 0

    @classmethod
    def of(cls, info: TrialInfo) -> "Trial":
        return cls(info.hparams, info.trial_seed, info.trial_id, info.experiment_id, info._steps_completed)


class Training:
    """`context.training`."""

    def __init__(self, context: core.Context, trial: Trial, search: Search, steps: Steps) -> None:
        self._train = context.train
        self._trial = trial
        self._search = search
        self._steps = steps

    @property
    def trial_id(self) -> int | None:
        """ID of the trial; None off cluster."""
        return self._trial.trial_id

    @property
    def experiment_id(self) -> int | None:
        """ID of the experiment; None off cluster."""
        return self._trial.experiment_id

    @property
    def trial_seed(self) -> int:
        """Seed every random generator with this, and the platform's record of it makes training repeatable."""
        return self._trial.seed

    @property
    def hparams(self) -> JsonObject:
        """The hyperparameters the search chose for this trial."""
        return self._trial.hparams

    def report_training_metrics(
        self,
        batches_trained: int | None = None,
        metrics: JsonObject | None = None,
        batch_metrics: list[JsonObject] | None = None,
        *,
        steps_completed: int | None = None,
        latest_batch: int | None = None,
    ) -> None:
        """Report metrics of the training data.

        Args:
            batches_trained: how many batches are trained so far.
            metrics: names to numbers, text, lists, dicts, tensors or arrays.
            batch_metrics: the same per batch; kept and not charted.
            steps_completed: another name of `batches_trained`.
            latest_batch: an older name of it.

        Raises:
            TypeError: no metrics, or not exactly one of the three counts.

        Example:
            >>> context.training.report_training_metrics(batches_trained=64, metrics={"loss": 0.5})
        """
        batches = self._count(batches_trained, steps_completed, latest_batch)
        self._train.report_training_metrics(batches, _given(metrics), batch_metrics)

    def report_validation_metrics(
        self,
        batches_trained: int | None = None,
        metrics: JsonObject | None = None,
        *,
        steps_completed: int | None = None,
        latest_batch: int | None = None,
    ) -> None:
        """Report metrics of the validation data; arguments as for training metrics.

        Raises:
            TypeError: no metrics, or not exactly one of the three counts.
            RuntimeError: a value is None.
        """
        batches = self._count(batches_trained, steps_completed, latest_batch)
        self._train.report_validation_metrics(batches, _given(metrics))

    def set_status(self, status: str) -> None:
        """Say in a word what the trial does, e.g. "training"."""
        self._train.set_status(status)

    def report_early_exit(self, reason: core.EarlyExitReason) -> None:
        """Say that the trial ends before its time; exit soon after."""
        self._train.report_early_exit(reason)

    def get_experiment_best_validation(self) -> float | None:
        """The best searcher metric of the whole experiment so far, None before the first."""
        return self._train.get_experiment_best_validation()

    def basic_search(self) -> SearcherOp | None:
        """Return how long to train. The same operation until it is completed, then the next one, None after the last.

        A script that calls it once trains for `op.epochs` (or `batches`, `records`), calls `op.complete(metric)`,
        saves and exits: if the search wants more of this trial, it is started again from its latest checkpoint.

        Raises:
            ValueError: the experiment config has no searcher.max_length.
        """
        return self._search.basic()

    def advanced_search(self, auto_ack: bool = True) -> Iterator[SearcherOp]:
        """Yield all operations, one after the other; complete each before going on to the next.

        Raises:
            ValueError: the experiment config has no searcher.max_length.
            RuntimeError: an operation was not completed.
        """
        return self._search.advanced(auto_ack)

    def _count(self, *names: int | None) -> int:
        given = [count for count in names if count is not None]
        if len(given) != 1:
            raise TypeError("say how many batches are trained, once: batches_trained=n")
        batches = operator.index(given[0])
        self._steps.reached(batches)
        return batches


def _given(metrics: JsonObject | None) -> JsonObject:
    if metrics is None:
        raise TypeError("metrics is missing; pass a dict of names to values")
    return metrics
