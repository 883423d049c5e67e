"""`Searcher`: a search method with the bookkeeping every method shares (spec/search.md 1), as one value that snapshots.

The experiment feeds it events and executes the operations it returns. It is pure: equal events give equal operations.
"""

from typing import Any

from determined.errors import FailedPrecondition, InvalidConfig
from determined.search.grid import GridSearch
from determined.search.method import (
    Create,
    ExitReason,
    Operation,
    SearchContext,
    SearchMethod,
    Shutdown,
)
from determined.search.random import RandomSearch
from determined.search.rng import Rng
from determined.search.sampling import sample
from determined.search.single import SingleSearch
from determined.wire.codec import plain

SNAPSHOT_VERSION = 1
_MAX_CONCURRENT = 16
_INVALID = frozenset({ExitReason.INVALID_HP, ExitReason.INIT_INVALID_HP})


class Searcher:
    """Build with `create` or `restore`. Every event method returns the operations it causes, in order."""

    def __init__(self, config: dict[str, Any], rng: Rng) -> None:
        self._config = config
        self._context = _Context(config["hyperparameters"], rng)
        self._method = _build(config)
        self._started = False
        self._requested = 0
        self._created: set[str] = set()
        self._closed: set[str] = set()
        self._exits: set[str] = set()
        self._cancels: set[str] = set()
        self._failures: set[str] = set()
        self._progress: dict[str, float] = {}

    @classmethod
    def create(
        cls, searcher: dict[str, Any], hyperparameters: dict[str, Any], *, seed: int, classic: bool
    ) -> "Searcher":
        """A search that has not started.

        Args:
            searcher: the active config's `searcher` section.
            hyperparameters: the active config's `hyperparameters`.
            seed: `reproducibility.experiment_seed`.
            classic: the generation: the master drives trials with lengths (True), or only watches their metrics.

        Raises:
            InvalidConfig: the searcher is unknown, not available in this version, or its hyperparameters are unusable.
        """
        # As JSON carries them, so that a restored searcher hands out exactly what this one does.
        config = plain({"searcher": searcher, "hyperparameters": hyperparameters, "classic": classic})
        return cls(config, Rng(seed))

    @classmethod
    def restore(cls, snapshot: dict[str, Any]) -> "Searcher":
        """The searcher whose `snapshot` this is; it has the same future."""
        if snapshot["version"] > SNAPSHOT_VERSION:
            raise FailedPrecondition(
                f"search snapshot version {snapshot['version']} is newer than this master understands"
                f" ({SNAPSHOT_VERSION}); start the master version that wrote it"
            )
        searcher = cls(snapshot["config"], Rng.restore(snapshot["rand"]))
        searcher._started = snapshot["started"]
        searcher._requested = snapshot["trials_requested"]
        searcher._created = set(snapshot["trials_created"])
        searcher._closed = set(snapshot["trials_closed"])
        searcher._exits = set(snapshot["exits"])
        searcher._cancels = set(snapshot["cancels"])
        searcher._failures = set(snapshot["failures"])
        searcher._progress = dict(snapshot["trial_progress"])
        searcher._method.restore(snapshot["search_method_state"])
        return searcher

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON can carry it; it shares nothing with this searcher that later events change."""
        return {
            "version": SNAPSHOT_VERSION,
            "config": self._config,
            "started": self._started,
            "trials_requested": self._requested,
            "trials_created": sorted(self._created),
            "trials_closed": sorted(self._closed),
            "exits": sorted(self._exits),
            "cancels": sorted(self._cancels),
            "failures": sorted(self._failures),
            "trial_progress": dict(self._progress),
            "rand": self._context.rng.snapshot(),
            "search_method_state": self._method.snapshot(),
        }

    def start(self) -> list[Operation]:
        """The first trials. Once in a searcher's life."""
        if self._started:
            raise FailedPrecondition("this search has already started; feed it events instead")
        self._started = True
        return self._count(self._method.initial(self._context))

    def trial_created(self, request_id: str) -> list[Operation]:
        """The trial is in the database."""
        if request_id in self._created:
            return []
        self._created.add(request_id)
        self._progress[request_id] = 0.0
        return self._count(self._method.trial_created(self._context, request_id))

    def validation(self, request_id: str, metric: float, length: float) -> list[Operation]:
        """Late: a validation report at `length` of the time metric. Classic: the operation to `length` is complete."""
        return self._count(self._method.validation_completed(self._context, request_id, metric, length))

    def progress_reported(self, request_id: str, progress: float) -> list[Operation]:
        """Late: 0..1 of the trial. Classic: units trained. A trial dropped as invalid stays dropped."""
        if request_id in self._progress:
            self._progress[request_id] = progress
        return []

    def exited_early(self, request_id: str, reason: ExitReason | str) -> list[Operation]:
        """The trial will exit (or has) for `reason`; every rank may say so, the first report counts."""
        if request_id in self._exits:
            return []
        reason = ExitReason(reason)
        if reason in _INVALID:
            self._progress.pop(request_id, None)
        elif reason is ExitReason.USER_CANCELED:
            self._cancels.add(request_id)
        elif reason is ExitReason.ERRORED:
            self._failures.add(request_id)
        self._exits.add(request_id)
        operations = self._count(self._method.exited_early(self._context, request_id, reason))
        return [*operations, *self._shutdown(cancel=False)]

    def exited(self, request_id: str) -> list[Operation]:
        """The trial is over. Always the last event of a trial; a repeat is ignored."""
        if request_id in self._closed:
            return []
        self._closed.add(request_id)
        operations = self._count(self._method.exited(self._context, request_id))
        return [*operations, *self._shutdown(cancel=len(self._cancels) >= self._requested)]

    def progress(self) -> float:
        """0..1 of the whole search."""
        return self._method.progress(self._progress, self._closed)

    def _count(self, operations: list[Operation]) -> list[Operation]:
        self._requested += sum(isinstance(op, Create) for op in operations)
        return operations

    def _shutdown(self, *, cancel: bool) -> list[Operation]:
        if self._requested != len(self._closed):
            return []
        return [Shutdown(cancel=cancel, failure=len(self._failures) >= self._requested)]


class _Context(SearchContext):
    def __init__(self, space: dict[str, Any], rng: Rng) -> None:
        self._space = space
        self.rng = rng

    def create(self, hparams: dict[str, Any] | None = None) -> Create:
        # The order of the three draws is part of what a seed means: hyperparameters, id, trial seed.
        chosen = sample(self._space, self.rng) if hparams is None else hparams
        return Create(request_id=self.rng.uuid4(), hparams=chosen, seed=self.rng.below(2**31))


def _build(config: dict[str, Any]) -> SearchMethod:
    searcher = config["searcher"]
    length = _length(searcher) if config["classic"] else None
    concurrent = searcher.get("max_concurrent_trials")
    concurrent = _MAX_CONCURRENT if concurrent is None else int(concurrent)
    match searcher.get("name"):
        case "single":
            return SingleSearch(length=length)
        case "random":
            trials = int(_required(searcher, "max_trials"))
            return RandomSearch(max_trials=trials, max_concurrent=concurrent, length=length)
        case "grid":
            return GridSearch(config["hyperparameters"], max_concurrent=concurrent, length=length)
    raise _invalid(
        "name",
        f"searcher {searcher.get('name')!r} is not available yet in this version; use single, random or grid",
    )


def _length(searcher: dict[str, Any]) -> int:
    """`max_length: 50` or `max_length: {batches: 50}`; the unit is the trial's business."""
    length = _required(searcher, "max_length")
    if not isinstance(length, dict):
        return int(length)
    if len(length) != 1:
        raise _invalid("max_length", f"needs exactly one of batches, records, epochs, not {sorted(length)}")
    return int(next(iter(length.values())))


def _required(searcher: dict[str, Any], name: str) -> Any:
    if searcher.get(name) is None:
        raise _invalid(name, f"`{name}` is a required property of searcher {searcher.get('name')!r}")
    return searcher[name]


def _invalid(field: str, why: str) -> InvalidConfig:
    return InvalidConfig("invalid experiment configuration", [f"<config>.searcher.{field}: {why}"])
