"""An allocation's own rows: asked for, signalled, ended. What that means for its trial is decided a floor above."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.queries.log import append_master_line
from determined.master.db.rows.allocations import Allocation, AllocationValues
from determined.master.lifecycle.states import AllocationState, ExitKind, Signal
from determined.rundir.failure_cause import in_one_line


def request(
    conn: Connection,
    now: datetime,
    *,
    task_id: str,
    trial_id: int | None,
    run_id: int,
    slots: int,
    pool: str,
    preemptible: bool,
    single_node: bool,
) -> str:
    """Queue a new allocation of a task."""
    allocation_id = f"{task_id}.{run_id}"
    allocations.insert_row(
        conn,
        {
            "id": allocation_id,
            "task_id": task_id,
            "trial_id": trial_id,
            "run_id": run_id,
            "state": AllocationState.PENDING,
            "slots": slots,
            "pool": pool,
            "preemptible": preemptible,
            "single_node": single_node,
            "requested_at": now,
        },
    )
    text = f"scheduling: waiting for {slots} slot(s) of pool '{pool}'"
    append_master_line(conn, now, task_id, text, allocation_id=allocation_id)
    return allocation_id


def signal(
    conn: Connection, now: datetime, allocation: Allocation, what: Signal, *, reason: str, timeout_s: int
) -> bool:
    """Tell a live allocation to leave. True when it thereby ended: nothing had been assigned to it."""
    if what == Signal.KILL:
        return kill(conn, now, allocation, reason)
    return terminate(conn, now, allocation, reason, timeout_s)


def terminate(conn: Connection, now: datetime, allocation: Allocation, reason: str, timeout_s: int) -> bool:
    """Preempt the task if it is preemptible and ready, else kill it."""
    if not allocation.preemptible or allocation.ready_at is None:
        return kill(conn, now, allocation, reason)
    preempt(conn, now, allocation, reason, timeout_s)
    return False


def preempt(conn: Connection, now: datetime, allocation: Allocation, reason: str, timeout_s: int) -> None:
    """Raise the preemption flag; the first request starts the clock, later ones change nothing."""
    if allocation.preempt_at is not None or allocation.ended_at is not None:
        return
    deadline = now + timedelta(seconds=timeout_s)
    values: AllocationValues = {"preempt_at": now, "preempt_reason": reason, "preempt_deadline": deadline}
    allocations.update_row(conn, allocation.id, values)
    terms = f"a script that watches for preemption has {timeout_s} s, another one is ended soon"
    _say(conn, now, allocation, f"{reason}: asked to save and exit ({terms})")


def limit_stay(conn: Connection, now: datetime, allocation: Allocation, seconds: int) -> None:
    """Limit the stay of an allocation that says it is about to exit; past this deadline it is killed."""
    deadline = now + timedelta(seconds=seconds)
    earlier = allocation.preempt_deadline
    if allocation.ended_at is None and (earlier is None or earlier > deadline):
        allocations.update_row(conn, allocation.id, {"preempt_deadline": deadline})


def kill(conn: Connection, now: datetime, allocation: Allocation, reason: str) -> bool:
    """Ask for its runners to be stopped. True when it ended at once because it had none.

    `exit_kind` is settled here when nothing has exited yet: whatever the runners report later, it was killed by us.
    """
    if allocation.ended_at is not None:
        return False
    if allocation.state == AllocationState.PENDING:
        end(conn, now, allocation, kind=ExitKind.KILLED, reason=f"canceled before it was assigned: {reason}")
        return True
    if allocation.kill_at is not None:
        return False
    values: AllocationValues = {"kill_at": now, "kill_reason": reason, "state": AllocationState.TERMINATING}
    if all(r.exited_at is None for r in runners.of_allocation(conn, allocation.id)):
        values["exit_kind"] = ExitKind.KILLED
    allocations.update_row(conn, allocation.id, values)
    _say(conn, now, allocation, f"killing: {reason}")
    return False


def end(
    conn: Connection,
    now: datetime,
    allocation: Allocation,
    *,
    kind: ExitKind,
    reason: str,
    code: int | None = None,
    shown: ExitKind | None = None,
) -> None:
    """Close the row. It is drained when it never had a runner; otherwise its runners say when they are.

    `shown`: what people read where `kind` would mislead them.
    """
    has_runners = bool(runners.of_allocation(conn, allocation.id))
    values: AllocationValues = {
        "state": AllocationState.TERMINATED,
        "ended_at": now,
        "exit_kind": kind,
        "exit_reason": reason,
        "exit_code": code,
    }
    if not has_runners:
        values["drained"] = True
    allocations.update_row(conn, allocation.id, values)
    failed = kind in (ExitKind.ERRORED, ExitKind.TRANSIENT, ExitKind.INVALID_REQUEST)
    text = f"allocation ended ({shown or kind}): {in_one_line(reason)}"
    _say(conn, now, allocation, text, "ERROR" if failed else "INFO")


def _say(conn: Connection, now: datetime, allocation: Allocation, text: str, level: str = "INFO") -> None:
    append_master_line(conn, now, allocation.task_id, text, level=level, allocation_id=allocation.id)
