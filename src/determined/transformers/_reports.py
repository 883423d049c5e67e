"""Reports of a training: each name once a step, and a validation as a whole, with the searcher's metric."""

from determined import core
from determined._json import JsonObject
from determined.transformers._logs import TRAINING, VALIDATION

POSITION = frozenset({"batches", "epochs"})


class Reports:
    """Call it on every rank; the chief reports.

    Args:
        core_context: where to report.
        needed: names that the searcher wants to see in every validation.
    """

    def __init__(self, core_context: core.Context, needed: list[str]) -> None:
        self._core = core_context
        self._is_chief = core_context.distributed.rank == 0
        self._needed = needed
        self._reported: dict[str, tuple[int, frozenset[str]]] = {}  # group: its last step, and the names reported of it
        self._is_pending = False
        self.validation: tuple[int, JsonObject] = (-1, {})  # step and metrics of the last

    def remember(self, step: int, validation: JsonObject) -> None:
        """Record a validation that was reported before this process began."""
        self.validation = (step, validation)
        self._reported[VALIDATION] = (step, frozenset(validation))

    def report(self, group: str, step: int, metrics: JsonObject) -> None:
        """Report what is new of this step; of the training one report alone, for the second is a summary of all
        steps."""
        last, names = self._reported.get(group, (-1, frozenset()))
        reported = names if last == step else frozenset()
        new = metrics.keys() - reported - POSITION
        if not new or (reported and group == TRAINING):
            return
        self._reported[group] = (step, reported | metrics.keys())
        chosen = new | POSITION | set(self._needed)
        if self._is_chief:
            values = {name: value for name, value in metrics.items() if name in chosen}
            self._core.train.report_metrics(group, step, values)

    def add_validation(self, step: int, metrics: JsonObject) -> None:
        """A part: of several evaluation datasets each is logged by itself."""
        last, parts = self.validation
        self.validation = (step, parts | metrics if last == step else metrics)
        self._is_pending = True

    def tell_validation(self, *, is_complete: bool = True) -> None:
        """Report what was added.

        Args:
            is_complete: False where other parts may follow, which what is missing may be among.

        Raises:
            ValueError: it lacks something that the searcher looks at.
        """
        step, metrics = self.validation
        missing = [name for name in self._needed if name not in metrics]
        if not self._is_pending or (missing and not is_complete):
            return
        self._is_pending = False
        if missing:
            raise ValueError(
                f"the validation at step {step} has no {', '.join(missing)}, which the searcher looks at; it has "
                f"{', '.join(sorted(metrics))}. Return it from compute_metrics, or correct the searcher's config"
            )
        self.report(VALIDATION, step, metrics)
