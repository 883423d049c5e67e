"""States, which may follow which, and what the end of an allocation means for its trial. Pure: enums and data only.

The tables are those of the runtime specification, sections 1, 3 and 5; every decision about an exit is made here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """State of an experiment or trial."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    STOPPING_COMPLETED = "STOPPING_COMPLETED"
    STOPPING_CANCELED = "STOPPING_CANCELED"
    STOPPING_KILLED = "STOPPING_KILLED"
    STOPPING_ERROR = "STOPPING_ERROR"
    COMPLETED = "COMPLETED"
    CANCELED = "CANCELED"
    ERROR = "ERROR"
    DELETING = "DELETING"
    DELETE_FAILED = "DELETE_FAILED"
    DELETED = "DELETED"


class GenericState(StrEnum):
    """State of a generic task."""

    ACTIVE = "ACTIVE"
    STOPPING_CANCELED = "STOPPING_CANCELED"
    STOPPING_PAUSED = "STOPPING_PAUSED"
    PAUSED = "PAUSED"
    CANCELED = "CANCELED"
    COMPLETED = "COMPLETED"
    ERROR = "ERROR"


GENERIC_ENDS = frozenset({GenericState.CANCELED, GenericState.COMPLETED, GenericState.ERROR})


class AllocationState(StrEnum):
    """State of an allocation, in the order of progress; an allocation never moves back."""

    PENDING = "PENDING"
    ASSIGNED = "ASSIGNED"
    PULLING = "PULLING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"


class ExitKind(StrEnum):
    """Kind of an allocation's end, as far as its trial is concerned."""

    COMPLETED = "completed"  # exit 0 without an acknowledged preemption: the user's code is done
    PREEMPTED = "preempted"  # acknowledged, or ended by the runner for a pause
    KILLED = "killed"  # ended by us, or before anything ran
    ERRORED = "errored"  # the task failed; costs a restart
    TRANSIENT = "transient"  # the system failed; costs nothing
    INVALID_REQUEST = "invalid_request"  # no resources, or no environment, can ever satisfy it


class Signal(StrEnum):
    TERMINATE = "terminate"
    KILL = "kill"


class RunnerEnd(StrEnum):
    """Values of wire.report.ExitCause, as stored with a runner."""

    EXITED = "exited"
    PREEMPTED = "preempted"
    KILLED = "killed"
    FAILED = "failed"
    UNUSABLE = "unusable"
    LOST = "lost"
    NOT_STARTED = "not_started"


SYSTEM_FAILURES = frozenset({RunnerEnd.LOST, RunnerEnd.NOT_STARTED})
STOPPING = frozenset({State.STOPPING_COMPLETED, State.STOPPING_CANCELED, State.STOPPING_KILLED, State.STOPPING_ERROR})
TERMINAL = frozenset({State.COMPLETED, State.CANCELED, State.ERROR})
DELETION = frozenset({State.DELETING, State.DELETE_FAILED, State.DELETED})
LIVE = frozenset({State.ACTIVE, State.PAUSED}) | STOPPING

_ANY_STOP = STOPPING | {State.ERROR}

EXPERIMENT_TRANSITIONS: dict[State, frozenset[State]] = {
    State.ACTIVE: _ANY_STOP | {State.PAUSED},
    State.PAUSED: _ANY_STOP | {State.ACTIVE},
    State.STOPPING_CANCELED: frozenset({State.CANCELED, State.STOPPING_KILLED, State.STOPPING_ERROR, State.ERROR}),
    State.STOPPING_KILLED: frozenset({State.CANCELED, State.STOPPING_ERROR, State.ERROR}),
    State.STOPPING_COMPLETED: frozenset({State.COMPLETED, State.STOPPING_ERROR, State.ERROR}),
    State.STOPPING_ERROR: frozenset({State.ERROR, State.ACTIVE}),
    State.CANCELED: frozenset({State.DELETING}),
    State.COMPLETED: frozenset({State.DELETING}),
    State.ERROR: frozenset({State.DELETING}),
    State.DELETE_FAILED: frozenset({State.DELETING}),
    State.DELETING: frozenset({State.DELETED, State.DELETE_FAILED}),
    State.DELETED: frozenset(),
}

_TERMINAL_OF = {
    State.STOPPING_COMPLETED: State.COMPLETED,
    State.STOPPING_CANCELED: State.CANCELED,
    State.STOPPING_KILLED: State.CANCELED,
    State.STOPPING_ERROR: State.ERROR,
}

_SEVERITY = {
    State.STOPPING_COMPLETED: 1,
    State.STOPPING_CANCELED: 2,
    State.STOPPING_KILLED: 3,
    State.STOPPING_ERROR: 4,
}

_SIGNALS = {
    State.PAUSED: Signal.TERMINATE,
    State.STOPPING_CANCELED: Signal.TERMINATE,
    State.STOPPING_COMPLETED: Signal.TERMINATE,
    State.STOPPING_KILLED: Signal.KILL,
    State.STOPPING_ERROR: Signal.KILL,
}

_PROGRESS = {state: n for n, state in enumerate(AllocationState)}


def may_become(current: State, wanted: State) -> bool:
    """Return whether an experiment may go from one state to another (the same state is not a change)."""
    return wanted in EXPERIMENT_TRANSITIONS[current]


def terminal_of(stopping: State) -> State:
    """Return where a stopping state ends once nothing is left running."""
    return _TERMINAL_OF[stopping]


def trial_accepts(current: State, wanted: State) -> bool:
    """Return whether a trial takes a pushed state: never a terminal one, never out of an end, never less severe."""
    if current in TERMINAL or wanted in TERMINAL or wanted in DELETION:
        return False
    return _SEVERITY.get(wanted, 0) >= _SEVERITY.get(current, 0)


def signal_for(state: State) -> Signal | None:
    """Return what a trial's running allocation is told when the trial enters (or is told again) this state."""
    return _SIGNALS.get(state)


def further(current: AllocationState, reported: AllocationState) -> AllocationState:
    """Return the more advanced of two allocation states."""
    return max(current, reported, key=_PROGRESS.__getitem__)


def least_advanced(reported: Sequence[AllocationState]) -> AllocationState:
    """Return the state of the slowest runner: an allocation has come as far as that."""
    return min(reported, key=_PROGRESS.__getitem__)


def displayed_state(state: str, newest_allocation_state: str | None) -> str:
    """Return what people see: an ACTIVE experiment or trial shows how far its newest allocation has come."""
    if state != State.ACTIVE:
        return state
    if newest_allocation_state in (AllocationState.PULLING, AllocationState.STARTING):
        return newest_allocation_state
    if newest_allocation_state in (
        AllocationState.RUNNING,
        AllocationState.WAITING,
        AllocationState.TERMINATING,
    ):
        return AllocationState.RUNNING
    return "QUEUED"


@dataclass(frozen=True, slots=True)
class RunnerExit:
    """Exit of one runner; given to `classify` in the order in which they ended."""

    cause: RunnerEnd
    code: int
    daemon: bool = False

    @property
    def is_systems(self) -> bool:
        """Tell whether the system failed, not the task."""
        return self.cause in SYSTEM_FAILURES

    @property
    def failed(self) -> bool:
        unable = (RunnerEnd.FAILED, RunnerEnd.UNUSABLE)
        return self.is_systems or self.cause in unable or (self.cause == RunnerEnd.EXITED and self.code != 0)


def classify(exits: Sequence[RunnerExit], *, killed: bool, acked: bool, asked: bool = True) -> ExitKind:
    """Return the kind of an allocation's end; first match wins.

    Args:
        exits: how its runners ended, in that order.
        killed: a kill was asked for before anything had exited.
        acked: the task said that it leaves and may be started again.
        asked: it had been asked to leave. Of its own accord (it is out of operations) it must also end well.
    """
    if killed or not exits:
        return ExitKind.KILLED
    failure = first_failure(exits)
    if acked and (asked or failure is None):
        return ExitKind.PREEMPTED
    if any(e.cause == RunnerEnd.UNUSABLE for e in exits):
        return ExitKind.INVALID_REQUEST
    if failure is not None:
        # Where a node vanishes, its peers fail before anybody knows why: their failures are its.
        return ExitKind.TRANSIENT if any(e.is_systems for e in exits) else ExitKind.ERRORED
    causes = {e.cause for e in exits}
    if RunnerEnd.PREEMPTED in causes:
        return ExitKind.PREEMPTED
    return ExitKind.COMPLETED if RunnerEnd.EXITED in causes else ExitKind.KILLED


def first_failure(exits: Sequence[RunnerExit]) -> RunnerExit | None:
    """Return the failure that is the allocation's error. What daemons do after the others left cleanly is none."""
    workers_left_at = max((n for n, e in enumerate(exits) if not e.daemon), default=len(exits) - 1)
    return next((e for e in exits[: workers_left_at + 1] if e.failed), None)


def generic_state_after(state: GenericState, kind: ExitKind) -> GenericState:
    """Return the state of a generic task whose allocation has ended. Still ACTIVE: allocate it again.

    One that was asked to pause and ends with 0 instead, without saying that it leaves, is done.
    """
    if state == GenericState.STOPPING_CANCELED:
        return GenericState.CANCELED
    if state == GenericState.STOPPING_PAUSED:
        return GenericState.COMPLETED if kind == ExitKind.COMPLETED else GenericState.PAUSED
    return _GENERIC_AFTER[kind] if state == GenericState.ACTIVE else state


_GENERIC_AFTER = {
    ExitKind.COMPLETED: GenericState.COMPLETED,
    ExitKind.PREEMPTED: GenericState.ACTIVE,
    ExitKind.KILLED: GenericState.CANCELED,
    ExitKind.ERRORED: GenericState.ERROR,
    ExitKind.TRANSIENT: GenericState.ERROR,
    ExitKind.INVALID_REQUEST: GenericState.ERROR,
}


@dataclass(frozen=True, slots=True)
class TrialAtExit:
    """Facts on which the decision about a trial depends when its allocation has ended."""

    state: State
    restarts: int
    max_restarts: int
    early_stopped: bool = False  # the searcher said stop
    early_exit: bool = False  # INVALID_HP was reported
    finished: bool = False  # classic: its last operation is complete and the searcher has closed it
    retries_canceled: bool = False  # a log policy matched


@dataclass(frozen=True, slots=True)
class TrialDecision:
    state: State
    restarts: int


def decide_exit(trial: TrialAtExit, kind: ExitKind) -> TrialDecision:
    """Decide about a trial whose allocation has ended; first match wins. Still live: allocate again if ACTIVE."""
    failed = kind in (ExitKind.ERRORED, ExitKind.TRANSIENT, ExitKind.INVALID_REQUEST)
    if trial.state in STOPPING:
        return _end(trial, State.ERROR if failed else terminal_of(trial.state))
    if trial.early_stopped:
        return _end(trial, State.ERROR if failed else State.COMPLETED)
    if kind == ExitKind.INVALID_REQUEST:
        return _end(trial, State.ERROR)
    if kind == ExitKind.ERRORED:
        return _decide_failure(trial)
    if kind == ExitKind.COMPLETED or trial.early_exit or trial.finished:
        return _end(trial, State.COMPLETED)
    return TrialDecision(trial.state, trial.restarts)


def _decide_failure(trial: TrialAtExit) -> TrialDecision:
    if trial.retries_canceled:
        return _end(trial, State.ERROR)
    if trial.restarts >= trial.max_restarts:
        return _end(trial, State.ERROR)  # the last failure is no restart: clients count runs by these
    if trial.early_exit:
        # It would never be allocated again (its hyperparameters are invalid), so there is nothing to retry.
        return _end(trial, State.COMPLETED)
    return TrialDecision(trial.state, trial.restarts + 1)


def _end(trial: TrialAtExit, state: State) -> TrialDecision:
    return TrialDecision(state, trial.restarts)
