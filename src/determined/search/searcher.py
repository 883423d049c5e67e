"""`Searcher`: a search method with the bookkeeping every method shares, as one value that snapshots.

The experiment feeds it events and executes the operations it returns. It is pure: equal events give equal operations.
A trial whose point a sampler must think up is held back, with all that is said to it, until `proposed` (sampler.py).
"""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from determined._json import JsonObject, JsonValue
from determined.errors import FailedPrecondition, InvalidArgument
from determined.search.build import build_sampler
from determined.search.hyperparameters import flatten
from determined.search.method import (
    INVALID_HPARAMS,
    Create,
    ExitReason,
    Operation,
    SearchContext,
    Shutdown,
    decode_operation,
    encode_operation,
)
from determined.search.objectives import Objectives
from determined.search.progress import RunningTally
from determined.search.registry import load_searcher, searcher_names
from determined.search.rng import Rng
from determined.search.sampler import Sampler
from determined.search.sampling import complete, sample
from determined.wire.codec import plain

if TYPE_CHECKING:
    from determined.search.methods.classic.custom import CustomSearch

SNAPSHOT_VERSION = 2
MAX_AT_ONCE = 100_000  # trials that one event may create
MAX_VALUES_AT_ONCE = 2_000_000  # hyperparameters of all of them together: they are in memory at the same time


class Searcher:
    """Build with `create` or `restore`. Every event method returns the operations it causes, in order.

    Attributes:
        declared: the searcher of the config, with its traits and parameters.
    """

    def __init__(self, config: JsonObject, rng: Rng, *, models: bool = True) -> None:
        searcher, space = config["searcher"], config["hyperparameters"]
        self._config = config
        self._objectives = Objectives.of(searcher)
        self.declared = load_searcher(searcher)
        self._method = self.declared.build(space, classic=config["classic"])
        self._sampler = build_sampler(self.declared, space) if models else None
        points = searcher.get("initial_points") or []
        self._context = _Context(space, rng, points, self._sampler)
        self._started = False
        self._requested = 0
        self._created: set[str] = set()
        self._closed: set[str] = set()
        self._exits: set[str] = set()
        self._cancels: set[str] = set()
        self._failures: set[str] = set()
        self._has_validations = False  # any validation at all
        self._left_plainly = False  # any trial of its own accord, neither failed, canceled nor invalid
        self._tally = RunningTally()
        self._held: dict[str, list[Operation]] = {}  # by request id: its Create, then whatever was said to it
        self._newly_held: list[str] = []

    @classmethod
    def create(cls, searcher: JsonObject, hyperparameters: JsonObject, *, seed: int, classic: bool) -> "Searcher":
        """Return a search that has not started.

        Args:
            searcher: the active config's `searcher` section.
            hyperparameters: the active config's `hyperparameters`.
            seed: `reproducibility.experiment_seed`.
            classic: the generation: the master drives trials with lengths (True), or only watches their metrics.

        Raises:
            InvalidConfig: the searcher is unknown, or its hyperparameters are unusable.
        """
        # As JSON carries them, so that a restored searcher hands out exactly what this one does.
        config = plain({"searcher": searcher, "hyperparameters": hyperparameters, "classic": classic})
        return cls(config, Rng(seed))

    @classmethod
    def restore(cls, snapshot: JsonObject) -> "Searcher":
        """Return the searcher whose `snapshot` this is; it has the same future."""
        if snapshot["version"] > SNAPSHOT_VERSION:
            raise FailedPrecondition(
                f"search snapshot version {snapshot['version']} is newer than this master understands"
                f" ({SNAPSHOT_VERSION}); start the master version that wrote it"
            )
        if snapshot["version"] < SNAPSHOT_VERSION:
            snapshot = _upgraded(snapshot)
        searcher = cls(snapshot["config"], Rng.restore(snapshot["rand"]))
        searcher._started = snapshot["started"]
        searcher._requested = snapshot["trials_requested"]
        searcher._created = set(snapshot["trials_created"])
        searcher._closed = set(snapshot["trials_closed"])
        searcher._exits = set(snapshot["exits"])
        searcher._cancels = set(snapshot["cancels"])
        searcher._failures = set(snapshot["failures"])
        searcher._has_validations = snapshot["heard"]
        searcher._left_plainly = snapshot["left_plainly"]
        searcher._tally.restore(snapshot["tally"])
        searcher._context.points_used = snapshot["points_used"]
        searcher._held = {key: [decode_operation(op) for op in ops] for key, ops in snapshot["held"].items()}
        searcher._method.restore(snapshot["search_method_state"])
        if searcher._sampler is not None:
            searcher._sampler.restore(snapshot["sampler_state"])
        return searcher

    def snapshot(self) -> JsonObject:
        """Return the state, as JSON can carry it; it shares nothing with this searcher that later events change."""
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
            "heard": self._has_validations,
            "left_plainly": self._left_plainly,
            "tally": self._tally.snapshot(),
            "rand": self._context.rng.snapshot(),
            "points_used": self._context.points_used,
            "held": {key: [encode_operation(op) for op in ops] for key, ops in self._held.items()},
            "search_method_state": self._method.snapshot(),
            "sampler_state": None if self._sampler is None else self._sampler.snapshot(),
        }

    @property
    def classic(self) -> bool:
        return bool(self._config["classic"])

    @property
    def trials_requested(self) -> int:
        """Number of all trials that the method has ever asked for."""
        return self._requested

    def start(self) -> list[Operation]:
        """Start the first trials. Once in a searcher's life.

        Raises:
            InvalidArgument: they are more than MAX_AT_ONCE.
        """
        if self._started:
            raise FailedPrecondition("this search has already started; feed it events instead")
        self._started = True
        return self._issue(self._method.initial(self._context))

    def trial_created(self, request_id: str) -> list[Operation]:
        """Record that the trial is in the database."""
        if request_id in self._created:
            return []
        self._created.add(request_id)
        self._tally.opened(request_id)
        return self._issue(self._method.trial_created(self._context, request_id))

    def validation(self, request_id: str, metric: JsonValue, length: float) -> list[Operation]:
        """Late: a validation report at `length` of the time metric. Classic: the operation to `length` is complete.

        Args:
            request_id: the trial.
            metric: the searcher metric as reported; several metrics as a map of names; a custom search takes any JSON.
            length: how far the trial had trained.

        Raises:
            InvalidArgument: a metric that the config names is missing or is not a number.
        """
        if self.declared.driven_by_user:
            return self._issue(self.custom().validated(request_id, metric, length))
        values = self._objectives.signed(metric)
        self._has_validations = True
        if self._sampler is not None:
            self._sampler.observed(request_id, values, length)
        return self._issue(self._method.validation_completed(self._context, request_id, values[0], length))

    def progress_reported(self, request_id: str, progress: float) -> list[Operation]:
        """Late: 0..1 of the trial. Classic: units trained. A trial dropped as invalid stays dropped."""
        self._tally.reported(request_id, progress)
        if self.declared.driven_by_user:
            self.custom().progressed(request_id, progress)
        return []

    def exited_early(self, request_id: str, reason: ExitReason | str) -> list[Operation]:
        """Record that the trial will exit (or has) for `reason`; every rank may say so, the first report counts."""
        if request_id in self._exits:
            return []
        reason = ExitReason(reason)
        if reason in INVALID_HPARAMS:
            self._tally.dropped(request_id)
        elif reason is ExitReason.USER_CANCELED:
            self._cancels.add(request_id)
        elif reason is ExitReason.ERRORED:
            self._failures.add(request_id)
        elif reason is ExitReason.USER_REQUESTED_STOP:
            self._left_plainly = True
        self._exits.add(request_id)
        if self._sampler is not None:
            self._sampler.ended(request_id, reason)
        operations = self._issue(self._method.exited_early(self._context, request_id, reason))
        return [*operations, *self._shutdown(cancel=False)]

    def exited(self, request_id: str) -> list[Operation]:
        """Record that the trial is over. Always its last event; a repeat is ignored."""
        if request_id in self._closed:
            return []
        self._closed.add(request_id)
        self._tally.closed(request_id)
        self._left_plainly = self._left_plainly or request_id not in self._exits
        if self._sampler is not None and request_id not in self._exits:
            self._sampler.ended(request_id, None)
        operations = self._issue(self._method.exited(self._context, request_id))
        return [*operations, *self._shutdown(cancel=len(self._cancels) >= self._requested)]

    def extend(self, trials: int) -> list[Operation]:
        """Let the search, running or over, run `trials` more.

        Raises:
            FailedPrecondition: the method has nothing more to draw, or the search has not started.
            InvalidArgument: more than MAX_AT_ONCE trials would begin.
        """
        if not self._started:
            raise FailedPrecondition("this search has not started; raise searcher.max_trials in its config instead")
        if not self.declared.extendable:
            extendable = ", ".join(searcher_names(lambda searcher: searcher.extendable))
            raise FailedPrecondition(
                f"this search cannot be extended by {trials} trials: only {extendable} draw further trials; fork the"
                " experiment with a larger search instead"
            )
        return self._issue(self._method.extend(self._context, trials))

    def proposals(self) -> list[str]:
        """Request ids of the trials that wait for a point, oldest first."""
        return list(self._held)

    def oldest_held(self) -> str | None:
        """Return the first of `proposals`."""
        return next(iter(self._held), None)

    def newly_held(self) -> list[str]:
        """List the trials that were held back since the last call."""
        fresh, self._newly_held = self._newly_held, []
        return fresh

    def propose(self, request_id: str) -> JsonObject:
        """Think up the point of a held trial. May take long; changes nothing. Give it back by `proposed`."""
        create = self._held[request_id][0]
        assert isinstance(create, Create) and self._sampler is not None
        return self._sampler.propose(create.seed)

    def proposed(self, request_id: str, hparams: JsonObject) -> list[Operation]:
        """Give a held trial its point, and return it and what was said to it since. A second answer is ignored."""
        held = self._held.pop(request_id, None)
        if held is None:
            return []
        create, *rest = held
        assert isinstance(create, Create) and self._sampler is not None
        self._sampler.created(request_id, hparams)
        return [replace(create, hparams=hparams), *rest]

    def custom(self) -> "CustomSearch":
        """Return the event queue of a custom search.

        Raises:
            FailedPrecondition: the searcher is another one.
        """
        if not self.declared.driven_by_user:
            names = " or ".join(searcher_names(lambda searcher: searcher.driven_by_user))
            raise FailedPrecondition(
                f"searcher {self.declared.name!r} decides by itself; only `searcher.name: {names}` has events"
            )
        return cast("CustomSearch", self._method)

    def posted(self, triggered_by: int | None, operations: list[JsonObject]) -> list[Operation]:
        """Custom search: what its client wants, having handled the events up to `triggered_by`."""
        return self._issue(self.custom().posted(triggered_by, operations))

    def progress(self) -> float:
        """0..1 of the whole search."""
        return self._method.progress(self._tally.now())

    def _issue(self, operations: list[Operation]) -> list[Operation]:
        """Count what the method wants; hold back trials that have no point yet."""
        self._context.at_once = 0
        issued: list[Operation] = []
        for operation in operations:
            if isinstance(operation, Create):
                self._requested += 1
                if operation.request_id in self._context.deferred:
                    self._context.deferred.remove(operation.request_id)
                    self._held[operation.request_id] = [operation]
                    self._newly_held.append(operation.request_id)
                    continue
                if self._sampler is not None:
                    self._sampler.created(operation.request_id, operation.hparams)
            held = None if isinstance(operation, Shutdown) else self._held.get(operation.request_id)
            (issued if held is None else held).append(operation)
        return issued

    def _shutdown(self, *, cancel: bool) -> list[Operation]:
        if not self._method.ends_by_itself or self._requested != len(self._closed):
            return []
        if self._left_plainly and not self._has_validations and (self.declared.compares or self._sampler is not None):
            raise FailedPrecondition(
                f"no trial ever reported the searcher metric {', '.join(map(repr, self._objectives.names))}, so none"
                " could be compared; report it (report_validation_metrics, and op.report_completed in the classic"
                " generation), or correct searcher.metric"
            )
        return [Shutdown(cancel=cancel, failure=len(self._failures) >= self._requested)]


class _Context(SearchContext):
    def __init__(self, space: JsonObject, rng: Rng, points: list[JsonObject], sampler: Sampler | None) -> None:
        self.space = space
        self.rng = rng
        self.points_used = 0
        self.deferred: set[str] = set()
        self.at_once = 0  # trials created by the present event
        self._values = len(flatten(space))
        self._points = points
        self._sampler = sampler

    def create(self, hparams: JsonObject | None = None, *, checkpoint_of: str | None = None) -> Create:
        self.at_once += 1
        if self.at_once > MAX_AT_ONCE:
            raise InvalidArgument(
                f"this search would begin more than {MAX_AT_ONCE} trials at once; set searcher.max_concurrent_trials to"
                " a smaller number (0 is no bound), or lower max_trials, population_size or budget, whichever it has"
            )
        if self.at_once * self._values > MAX_VALUES_AT_ONCE:
            raise InvalidArgument(
                f"this search would begin more than {self.at_once - 1} trials of {self._values} hyperparameters at"
                f" once: that is over {MAX_VALUES_AT_ONCE} values; set a smaller searcher.max_concurrent_trials"
            )
        # The order of the three draws is part of what a seed means: hyperparameters, id, trial seed.
        chosen = self._choose() if hparams is None else hparams
        request_id = self.rng.uuid4()
        if chosen is None:
            self.deferred.add(request_id)
        return Create(request_id, chosen or {}, seed=self.rng.below(2**31), checkpoint_of=checkpoint_of)

    def _choose(self) -> JsonObject | None:
        """Return the next initial point, completed by a draw; else a draw, or a sampler's, None: later."""
        if self.points_used < len(self._points):
            self.points_used += 1
            return complete(self.space, self._points[self.points_used - 1], sample(self.space, self.rng))
        return sample(self.space, self.rng) if self._sampler is None else self._sampler.at_once()


def _upgraded(old: JsonObject) -> JsonObject:
    """Return a snapshot of version 1 (single, random and grid only) as version 2 writes it."""
    tally = RunningTally()
    for request_id, units in old["trial_progress"].items():
        tally.opened(request_id)
        tally.reported(request_id, units)
    for request_id in old["trials_closed"]:
        tally.closed(request_id)
    return {
        **old,
        "tally": tally.snapshot(),
        "points_used": 0,
        "held": {},
        "sampler_state": None,
        "heard": True,
        "left_plainly": False,
    }
