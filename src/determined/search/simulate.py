"""A whole search without a cluster, for tests, previews and benchmarks: trials that cost nothing, in a random order.

`simulate` runs one to its end. `Simulator` is the same in single steps, for those who want to choose what happens next.
Events are as the master logs them, so either log can be replayed into the other's searcher.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from determined._json import JsonObject, JsonValue
from determined.errors import FailedPrecondition
from determined.search.events import Event, feed
from determined.search.method import Close, Create, ExitReason, Operation, Shutdown, Stop, ValidateAfter
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.wire.codec import plain

Metric = Callable[[JsonObject, float], JsonValue]
Client = Callable[[Event], list[JsonObject]]  # of a custom search: an event in, operations out, as on the wire


@dataclass(slots=True)
class SimulatedTrial:
    """`lengths`: where it reported. `reason`: why it left early; None for a plain end. `over`: it has exited."""

    request_id: str
    hparams: JsonObject
    checkpoint_of: str | None = None
    lengths: list[float] = field(default_factory=list)
    reason: ExitReason | None = None
    over: bool = False
    target: float | None = None  # classic: the length of its operation
    told_to_end: bool = False  # Close or Stop

    @property
    def reached(self) -> float:
        return self.lengths[-1] if self.lengths else 0


@dataclass(frozen=True, slots=True)
class Simulation:
    """Course of a search. `operations` has one list for each of `events`; trials are in order of their creation."""

    trials: list[SimulatedTrial]
    events: list[Event]
    operations: list[list[Operation]]
    shutdown: Shutdown


def simulate(
    search: Searcher,
    metric: Metric,
    rng: Rng,
    *,
    reports: Sequence[float] | None = None,
    leaves: Callable[[SimulatedTrial], ExitReason | None] | None = None,
    client: Client | None = None,
    max_events: int = 1_000_000,
) -> Simulation:
    """Run a search that has not started until it shuts down; whose turn it is, is drawn from all that can run.

    Args:
        search: the search.
        metric: the searcher metric of hyperparameters trained to a length.
        rng: draws the order in which trials report and exit.
        reports: late generation: the lengths at which a trial validates; after the last it ends by itself.
            None is the classic generation, where the search hands out the lengths.
        leaves: asked before a trial trains on; a reason makes it exit early instead.
        client: answers the events of a custom search.
        max_events: a search that has not ended by then is taken for one that never will.

    Raises:
        FailedPrecondition: the search waits for nothing, or goes on and on.
    """
    simulator = Simulator(search, metric, reports=reports, client=client)
    simulator.start()
    while simulator.shutdown is None:
        if len(simulator.events) > max_events:
            raise FailedPrecondition(f"the search has not ended after {max_events} events; raise max_events if it may")
        waiting = search.proposals()
        if waiting:
            simulator.propose(waiting[0])
            continue
        trial = simulator.pick(rng)
        reason = leaves(trial) if leaves is not None and simulator.trains(trial) else None
        if reason is None:
            simulator.step(trial)
        else:
            simulator.leave(trial, reason)
    return simulator.result()


class Simulator:
    """The trials of one search. Every method tells the searcher and does what it says, until nothing follows."""

    def __init__(
        self, search: Searcher, metric: Metric, *, reports: Sequence[float] | None = None, client: Client | None = None
    ) -> None:
        self.search = search
        self.trials: dict[str, SimulatedTrial] = {}
        self.events: list[Event] = []
        self.operations: list[list[Operation]] = []
        self.shutdown: Shutdown | None = None
        self._metric = metric
        self._reports = reports
        self._client = client
        self._runnable = _Draw()

    def start(self) -> None:
        self._tell({"type": "start"})

    def runnable(self) -> list[SimulatedTrial]:
        """List the trials that would do something on their turn; a classic trial between its operations would not."""
        return [self.trials[request_id] for request_id in self._runnable.each]

    def pick(self, rng: Rng) -> SimulatedTrial:
        """Draw whose turn it is.

        Raises:
            FailedPrecondition: nobody's, yet the search is not over: its method has lost a trial.
        """
        if not self._runnable.each:
            waiting = [trial.request_id for trial in self.trials.values() if not trial.over]
            raise FailedPrecondition(f"the search stands still: no trial has anything to do; waiting: {waiting}")
        return self.trials[self._runnable.one(rng)]

    def trains(self, trial: SimulatedTrial) -> bool:
        """Tell whether its next step is to train and report, rather than to exit."""
        return trial.reason is None and self._next_length(trial) is not None

    def step(self, trial: SimulatedTrial) -> None:
        """Train to the next length and report, or exit where there is none."""
        length = self._next_length(trial)
        if length is None or trial.reason is not None:
            self.exit(trial)
        else:
            self.report(trial, length)

    def report(self, trial: SimulatedTrial, length: float) -> None:
        """Report that the trial has trained to `length`, even if it has been told to end since it began."""
        trial.lengths.append(length)
        metric = plain(self._metric(trial.hparams, length))
        self._tell({"type": "validation", "id": trial.request_id, "metric": metric, "length": length})

    def leave(self, trial: SimulatedTrial, reason: ExitReason) -> None:
        """Let the trial exit for `reason`, on its next turn."""
        trial.reason = trial.reason or reason
        self._tell({"type": "exited_early", "id": trial.request_id, "reason": str(reason)})

    def exit(self, trial: SimulatedTrial) -> None:
        """End the trial, whatever it was about to do."""
        trial.over = True
        self._tell({"type": "exited", "id": trial.request_id})

    def propose(self, request_id: str) -> None:
        """Ask the sampler for the point of a trial that waits for one."""
        self._tell({"type": "proposed", "id": request_id, "hparams": self.search.propose(request_id)})

    def result(self) -> Simulation:
        assert self.shutdown is not None, "the search is not over"
        return Simulation(list(self.trials.values()), self.events, self.operations, self.shutdown)

    def _tell(self, event: Event) -> None:
        waiting = deque([event])
        while waiting:
            event = waiting.popleft()
            operations = feed(self.search, event)
            self.events.append(event)
            self.operations.append(operations)
            if "id" in event:
                self._weigh(event["id"])
            for operation in operations:
                waiting.extend(self._execute(operation))
            if not waiting and self._client is not None and self.shutdown is None:
                waiting.extend(self._answer(self._client))

    def _execute(self, operation: Operation) -> list[Event]:
        """Do as the search says; returns the event that this is."""
        if isinstance(operation, Shutdown):
            self._end(operation)
            return []
        if isinstance(operation, Create):
            trial = SimulatedTrial(operation.request_id, operation.hparams, operation.checkpoint_of)
            self.trials[operation.request_id] = trial
            self._weigh(operation.request_id)
            return [{"type": "created", "id": operation.request_id}]
        trial = self.trials[operation.request_id]
        match operation:
            case ValidateAfter(length=length):
                trial.target = length
            case Close() | Stop():
                trial.told_to_end = True
        self._weigh(operation.request_id)
        return []

    def _end(self, shutdown: Shutdown) -> None:
        if self.shutdown is not None:
            raise FailedPrecondition("the search has shut down twice")
        self.shutdown = shutdown

    def _answer(self, client: Client) -> list[Event]:
        events = self.search.custom().events()
        if not events:
            return []
        return [{"type": "posted", "triggered_by": events[0]["id"], "operations": client(events[0])}]

    def _weigh(self, request_id: str) -> None:
        """Note whether this trial can run, which has perhaps changed."""
        trial = self.trials.get(request_id)
        if trial is not None:
            self._runnable.put(request_id, there=self._has_something_to_do(trial))

    def _has_something_to_do(self, trial: SimulatedTrial) -> bool:
        if trial.over:
            return False
        if self._reports is not None or trial.reason is not None or trial.told_to_end:
            return True
        return self._next_length(trial) is not None

    def _next_length(self, trial: SimulatedTrial) -> float | None:
        if self._reports is None:
            return trial.target if trial.target is not None and trial.target > trial.reached else None
        if trial.told_to_end or len(trial.lengths) >= len(self._reports):
            return None
        return self._reports[len(trial.lengths)]


class _Draw:
    """A set that gives a random member in constant time, the same for the same history."""

    def __init__(self) -> None:
        self.each: list[str] = []
        self._place: dict[str, int] = {}

    def put(self, member: str, *, there: bool) -> None:
        if there == (member in self._place):
            return
        if there:
            self._place[member] = len(self.each)
            self.each.append(member)
            return
        last, place = self.each.pop(), self._place.pop(member)
        if last != member:
            self.each[place] = last
            self._place[last] = place

    def one(self, rng: Rng) -> str:
        return self.each[rng.below(len(self.each))]
