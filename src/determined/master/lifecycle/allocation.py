"""Changes of allocations and their runners (phases, acks, exits, signals), each inside a write transaction."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from determined.config.experiment_schema import DEFAULT_PREEMPTION_TIMEOUT
from determined.engines.model import GoneReason
from determined.errors import Gone, InvalidArgument
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.queries import trial as trials
from determined.master.db.queries.log import append_master_line
from determined.master.db.rows.allocations import Allocation, Runner, RunnerValues
from determined.master.lifecycle import allocation_state, experiment, search, submitted_task, trial_state
from determined.master.lifecycle.states import (
    SYSTEM_FAILURES,
    AllocationState,
    ExitKind,
    RunnerEnd,
    RunnerExit,
    State,
    classify,
    first_failure,
    further,
    least_advanced,
)
from determined.wire.report import Exit, ExitCause

# From the request to end a runner to the kill of whatever is left of it; repeated after as long.
FORCE_AFTER = timedelta(seconds=30)
PEER_FAILED = "another of its resources failed"
# Why an allocation was asked to leave whose host was about to be taken away.
HOST_WISH = "the task asked to be terminated"
TAKEN_AWAY = "its node was taken away: the scheduler there preempted or canceled it"
# Phase of a runner whose service answers; it is no state of the allocation.
READY = "READY"
_PHASES = (AllocationState.PULLING, AllocationState.STARTING, AllocationState.RUNNING, AllocationState.WAITING)
_LOST_CODE = -1
_CLOCKS_AGREE = 1.0  # seconds; a report is under way for less


def request_preemption(
    conn: Connection, now: datetime, allocation_id: str, reason: str, timeout_s: int | None = None
) -> None:
    """Preempt a task that is preemptible and ready; kill any other."""
    allocation = allocations.get(conn, allocation_id)
    if allocation.ended_at is not None:
        return
    if timeout_s is None:
        timeout_s = _timeout(conn, allocation)
    if allocation_state.terminate(conn, now, allocation, reason, timeout_s):
        _consequences(conn, now, allocation, ExitKind.KILLED)


def request_kill(conn: Connection, now: datetime, allocation_id: str, reason: str) -> None:
    """Stop its runners now; a repeat changes nothing (the reconciler repeats the kill itself)."""
    allocation = allocations.get(conn, allocation_id)
    if allocation_state.kill(conn, now, allocation, reason):
        _consequences(conn, now, allocation, ExitKind.KILLED)


def reject(conn: Connection, now: datetime, allocation_id: str, why: str) -> None:
    """Reject a request that no resources can ever satisfy: its trial ends in ERROR without a retry."""
    allocation = allocations.get(conn, allocation_id)
    if allocation.ended_at is not None:
        return
    allocation_state.end(conn, now, allocation, kind=ExitKind.INVALID_REQUEST, reason=why)
    _consequences(conn, now, allocation, ExitKind.INVALID_REQUEST)


def refuse(conn: Connection, now: datetime, resource_id: str, why: str) -> None:
    """Refuse a runner that must not be started, now or later: its allocation ends without a retry."""
    allocation_id = runners.get(conn, resource_id).allocation_id
    for runner in runners.of_allocation(conn, allocation_id):
        runners.update_row(conn, runner.resource_id, {"state": AllocationState.TERMINATED, "exited_at": now})
        mark_drained(conn, runner.resource_id)
    reject(conn, now, allocation_id, why)


def preempt_acked(conn: Connection, now: datetime, allocation_id: str) -> None:
    """Record that the process exits because it was asked to (or has no operations). Only its exit's meaning changes."""
    allocation = allocations.get(conn, allocation_id)
    if allocation.ended_at is None and allocation.preempt_acked_at is None:
        allocations.update_row(conn, allocation_id, {"preempt_acked_at": now})


def ready(conn: Connection, now: datetime, allocation_id: str) -> None:
    """Record that the task is up: from now on it can be asked to leave gracefully. It waits for data no longer."""
    allocation = allocations.get(conn, allocation_id)
    if allocation.ended_at is None and allocation.state == AllocationState.WAITING:
        allocations.update_row(conn, allocation_id, {"state": AllocationState.RUNNING})
    if allocation.ended_at is not None or allocation.ready_at is not None:
        return
    allocations.update_row(conn, allocation_id, {"ready_at": now})
    _say(conn, now, allocation, "ready")


def waiting(conn: Connection, now: datetime, allocation_id: str) -> None:
    """Record that the task runs but has nothing to show yet (a TensorBoard without data)."""
    _advance(conn, allocations.get(conn, allocation_id), AllocationState.WAITING)


def runner_phase(conn: Connection, now: datetime, resource_id: str, state: str) -> None:
    """Record how far a runner has come: PULLING, STARTING, RUNNING; or of a service, READY or WAITING for data."""
    runner = runners.get(conn, resource_id)
    if state == READY:
        ready(conn, now, runner.allocation_id)
        return
    phase = _phase(state)
    if phase == AllocationState.WAITING:
        waiting(conn, now, runner.allocation_id)
        return
    if runner.exited_at is not None or further(AllocationState(runner.state), phase) != phase:
        return
    values: RunnerValues = {"state": phase}
    if phase == AllocationState.RUNNING and runner.started_at is None:
        values["started_at"] = now
    runners.update_row(conn, resource_id, values)
    allocation = allocations.get(conn, runner.allocation_id)
    group = runners.of_allocation(conn, allocation.id)
    slowest = least_advanced([AllocationState(r.state) for r in group])
    _advance(conn, allocation, slowest)
    if slowest == AllocationState.RUNNING and allocation.started_at is None:
        allocations.update_row(conn, allocation.id, {"started_at": now})
        _say(conn, now, allocation, f"started on {_places(group)}")
        if not submitted_task.serves(conn, allocation):
            ready(conn, now, allocation.id)


def runner_news(conn: Connection, now: datetime, resource_id: str, text: str) -> None:
    """Record what the engine says of a runner that cannot speak itself yet: what it needs is being fetched."""
    runner = runners.find(conn, resource_id)
    if runner is not None and runner.exited_at is None:
        runner_phase(conn, now, resource_id, AllocationState.PULLING)
        _say(conn, now, allocations.get(conn, runner.allocation_id), text)


def joined(conn: Connection, now: datetime, resource_id: str) -> bool:
    """Record that a runner asks for rendezvous. True once all runners of its allocation have: then it is ready."""
    runner = runners.get(conn, resource_id)
    allocation = allocations.get(conn, runner.allocation_id)
    if allocation.ended_at is not None:
        raise Gone(f"allocation {allocation.id}: task terminated")
    if runner.rendezvous_at is None:
        runners.update_row(conn, resource_id, {"rendezvous_at": now})
    group = runners.of_allocation(conn, allocation.id)
    if any(r.rendezvous_at is None for r in group):
        return False
    if not submitted_task.serves(conn, allocation):
        ready(conn, now, allocation.id)
    return True


def hint_missing(conn: Connection, now: datetime, allocation_id: str) -> None:
    """Rendezvous takes long: say whom it waits for. Only a hint; a big image or a slow hook may need the time."""
    allocation = allocations.get(conn, allocation_id)
    missing = [r for r in runners.of_allocation(conn, allocation_id) if r.rendezvous_at is None]
    who = ", ".join(f"rank {r.rank} on {r.node_id} ({r.state})" for r in missing)
    _say(conn, now, allocation, f"rendezvous still waits for {who}; see its lines in this log")


def mark_daemon(conn: Connection, now: datetime, resource_id: str) -> None:
    """Mark a runner that only serves the others: it is stopped when they have left. All daemons: nothing is left."""
    runner = runners.get(conn, resource_id)
    group = runners.of_allocation(conn, runner.allocation_id)
    if len(group) == 1:
        return
    runners.update_row(conn, resource_id, {"daemon": True})
    if all(r.daemon or r.resource_id == resource_id for r in group):
        request_kill(conn, now, runner.allocation_id, "all of its resources are daemons")
        return
    _follow_exits(conn, now, runner.allocation_id)


def confirm_kill(conn: Connection, now: datetime, resource_id: str) -> None:
    """Record that the runner knows of its end: it outlived the failure of its peer, whatever becomes of it now."""
    runner = runners.get(conn, resource_id)
    if runner.exited_at is None and allocations.get(conn, runner.allocation_id).kill_at is not None:
        runners.update_row(conn, resource_id, {"state": AllocationState.TERMINATING})


def runner_exited(conn: Connection, now: datetime, resource_id: str, exit: Exit, sent: float | None = None) -> None:
    """Record a runner's exit. The first failure ends the others; when all have left, the allocation ends.

    `sent`: when that word left its host, by the same clock as `exit.time`.
    """
    runner = runners.get(conn, resource_id)
    if runner.exited_at is not None:
        return
    runners.update_row(
        conn,
        resource_id,
        {
            "state": AllocationState.TERMINATED,
            "exited_at": _failed_at(now, runner, exit, sent),
            "exit_code": exit.code,
            "exit_cause": ExitCause.KILLED if _was_forced(conn, now, runner, exit) else exit.cause,
            "exit_message": exit.message,
        },
    )
    _follow_exits(conn, now, runner.allocation_id)


def runner_gone(conn: Connection, now: datetime, resource_id: str, reason: str, detail: str) -> None:
    """Record that the engine lost the runner. Without an exit record it is lost: the system failed, not the task."""
    runner = runners.find(conn, resource_id)
    if runner is None:
        return
    if reason == GoneReason.CANCELED and not _is_leaving(conn, runner):
        _canceled(conn, now, runner, detail)
        return
    if runner.exited_at is None:
        message = detail or f"the runner is gone ({reason})"
        exit = Exit(_cause_of_gone(runner, reason), _LOST_CODE, message, now.timestamp())
        runner_exited(conn, now, resource_id, exit)
    mark_drained(conn, resource_id)


def _cause_of_gone(runner: Runner, reason: str) -> ExitCause:
    """Return the cause of an end without an exit record. What was claimed, or reported anything, may have begun."""
    if reason == GoneReason.CANCELED:
        return ExitCause.KILLED
    has_begun = runner.claimant is not None or runner.state != AllocationState.ASSIGNED
    return ExitCause.LOST if has_begun or reason != GoneReason.NOT_STARTED else ExitCause.NOT_STARTED


def _is_leaving(conn: Connection, runner: Runner) -> bool:
    """We asked for its end ourselves: to whoever canceled it then, that was on its way."""
    allocation = allocations.get(conn, runner.allocation_id)
    return allocation.kill_at is not None and allocation.kill_reason != HOST_WISH


def _canceled(conn: Connection, now: datetime, runner: Runner, why: str) -> None:
    """End a canceled runner. It is not tried again, even if its host warned it of its end and it left in good order."""
    if runner.exited_at is None:
        refuse(conn, now, runner.resource_id, why)
        return
    allocation = allocations.get(conn, runner.allocation_id)
    if HOST_WISH in (allocation.preempt_reason, allocation.kill_reason):
        _say(conn, now, allocation, why)
        _stay_canceled(conn, now, allocation, why)
    mark_drained(conn, runner.resource_id)


def _stay_canceled(conn: Connection, now: datetime, allocation: Allocation, why: str) -> None:
    if allocation.trial_id is None:
        submitted_task.canceled_outside(conn, now, allocation.task_id, why)
        return
    trial_state.push(conn, now, allocation.trial_id, State.STOPPING_ERROR, why)
    search.settle(conn, now, trials.get(conn, allocation.trial_id).experiment_id)


def mark_drained(conn: Connection, resource_id: str) -> None:
    """Mark a runner as having written everything it had to report; when all have, the allocation's token is void."""
    runner = runners.get(conn, resource_id)
    runners.update_row(conn, resource_id, {"drained": True})
    group = runners.of_allocation(conn, runner.allocation_id)
    if all(r.drained for r in group):
        allocations.update_row(conn, runner.allocation_id, {"drained": True})


def _failed_at(now: datetime, runner: Runner, exit: Exit, sent: float | None) -> datetime:
    """Return when it failed by its own clock: peers of a failed rank fail within milliseconds and may report first.

    Of a clock that is off only the time between the failure and the report counts.
    """
    if runner.started_at is None or exit.cause != ExitCause.EXITED:
        return now
    latest, time = now.timestamp(), exit.time
    if sent is not None and abs(latest - sent) > _CLOCKS_AGREE:
        time += latest - sent
    # As numbers: what a host says may be no time at all.
    return datetime.fromtimestamp(max(runner.started_at.timestamp(), min(latest, time)), UTC)


def _was_forced(conn: Connection, now: datetime, runner: Runner, exit: Exit) -> bool:
    """Return whether the runner knew of its end and was killed by force. It leaves no word either, but it was not lost.

    One that never heard of it is, however late that is found: engines wait minutes for a node that is silent.
    """
    if exit.cause != ExitCause.LOST or runner.state != AllocationState.TERMINATING:
        return False
    kill_at = allocations.get(conn, runner.allocation_id).kill_at
    return kill_at is not None and kill_at + FORCE_AFTER <= now


def _follow_exits(conn: Connection, now: datetime, allocation_id: str) -> None:
    allocation = allocations.get(conn, allocation_id)
    if allocation.ended_at is not None:
        return
    group = runners.of_allocation(conn, allocation_id)
    left = [r for r in group if r.exited_at is None]
    if not left:
        _end(conn, now, allocation, group)
        return
    exited = _exits(group)
    if first_failure(exited) is not None:
        allocation_state.kill(conn, now, allocation, PEER_FAILED)
    elif exited and all(r.daemon for r in left):
        allocation_state.kill(conn, now, allocation, "only daemons are left")


def _end(conn: Connection, now: datetime, allocation: Allocation, group: Sequence[Runner]) -> None:
    exits = _exits(group)
    killed = allocation.exit_kind == ExitKind.KILLED
    acked, asked = allocation.preempt_acked_at is not None, allocation.preempt_at is not None
    kind = classify(exits, killed=killed, acked=acked, asked=asked)
    if killed and _was_taken_away(allocation):
        kind = ExitKind.PREEMPTED if allocation.preemptible else ExitKind.TRANSIENT
    failure = first_failure(exits)
    code = failure.code if failure is not None else max((e.code for e in exits if not e.daemon), default=0)
    reason, shown = _summary(allocation, group, kind), _shown(conn, allocation, kind)
    allocation_state.end(conn, now, allocation, kind=kind, reason=reason, code=code, shown=shown)
    unusable = next((r for r in group if r.exit_cause == RunnerEnd.UNUSABLE), None)
    if unusable is not None and kind == ExitKind.INVALID_REQUEST and allocation.trial_id is not None:
        # All trials of the experiment ask for the same: none of them needs to find that out again.
        whole = trials.get(conn, allocation.trial_id).experiment_id
        experiment.fail(conn, now, whole, unusable.exit_message or "")
    _consequences(conn, now, allocation, kind)


def _was_taken_away(allocation: Allocation) -> bool:
    """Return whether the host of a submitted task wanted its end: nobody else did, so it is no kill."""
    return allocation.trial_id is None and allocation.kill_reason == HOST_WISH


def _consequences(conn: Connection, now: datetime, allocation: Allocation, kind: ExitKind) -> None:
    if allocation.trial_id is None:
        submitted_task.allocation_ended(conn, now, allocation, kind)
        return
    trial_state.allocation_ended(conn, now, allocation.trial_id, kind)
    search.settle(conn, now, trials.get(conn, allocation.trial_id).experiment_id)


def _exits(group: Sequence[Runner]) -> list[RunnerExit]:
    """Return the exits in the order in which the runners left. A single resource is never a daemon."""
    gone = sorted((r for r in group if r.exited_at is not None), key=lambda r: (r.exited_at, r.rank))
    alone = len(group) == 1
    return [RunnerExit(RunnerEnd(r.exit_cause or ""), r.exit_code or 0, r.daemon and not alone) for r in gone]


def _shown(conn: Connection, allocation: Allocation, kind: ExitKind) -> ExitKind:
    """Return the exit kind to show: one out of operations leaves as if preempted, but nobody sent it away."""
    if kind != ExitKind.PREEMPTED or allocation.trial_id is None:
        return kind
    is_done = allocation.preempt_at is None or trial_state.is_finished(trials.get(conn, allocation.trial_id))
    return ExitKind.COMPLETED if is_done else kind


def _summary(allocation: Allocation, group: Sequence[Runner], kind: ExitKind) -> str:
    if kind == ExitKind.KILLED:
        return str(allocation.kill_reason or "killed")
    if kind == ExitKind.PREEMPTED:
        return str(allocation.preempt_reason or allocation.kill_reason or "it has done the operations it was given")
    if kind == ExitKind.COMPLETED:
        return "resources exited successfully with a zero exit code"
    if _was_taken_away(allocation):
        return TAKEN_AWAY
    failed = min(
        (r for r in group if r.exit_cause != RunnerEnd.EXITED or r.exit_code != 0),
        key=lambda r: (r.exit_cause not in SYSTEM_FAILURES, r.exited_at, r.rank),
    )
    if allocation.trial_id is None and failed.exit_cause == RunnerEnd.EXITED:
        # Clients of upstream look for these words.
        first, newline, explanation = (failed.exit_message or failed.node_id).partition("\n")
        code = f"(exit code {failed.exit_code})"
        return f"resources failed with non-zero exit code: {first} {code}{newline}{explanation}"
    return f"node {failed.rank} ({failed.node_id}): {failed.exit_message or failed.exit_code}"


def _advance(conn: Connection, allocation: Allocation, state: AllocationState) -> None:
    reached = further(AllocationState(allocation.state), state)
    if allocation.ended_at is None and reached != allocation.state:
        allocations.update_row(conn, allocation.id, {"state": reached})


def _phase(state: str) -> AllocationState:
    if state not in _PHASES:
        raise InvalidArgument(f"phase {state!r} is unknown; report one of {', '.join(_PHASES)} or {READY}")
    return AllocationState(state)


def _places(group: Sequence[Runner]) -> str:
    return ", ".join(f"{r.node_id} slots {r.slot_ids}" for r in group)


def _timeout(conn: Connection, allocation: Allocation) -> int:
    if allocation.trial_id is None:
        return DEFAULT_PREEMPTION_TIMEOUT
    return trial_state.timeout_of(conn, trials.get(conn, allocation.trial_id))


def _say(conn: Connection, now: datetime, allocation: Allocation, text: str) -> None:
    append_master_line(conn, now, allocation.task_id, text, allocation_id=allocation.id)
