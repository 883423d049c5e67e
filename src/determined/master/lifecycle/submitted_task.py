"""Verbs of submitted tasks (commands, notebooks, shells, TensorBoards, generic tasks), inside a write transaction."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config.experiment_schema import DEFAULT_PREEMPTION_TIMEOUT
from determined.config.job import GenericTaskConfig
from determined.config.task_kinds import GENERIC, KINDS, TaskKind
from determined.errors import Conflict, FailedPrecondition
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import job as jobs
from determined.master.db.queries import runner as runners
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.queries.log import append_master_line
from determined.master.db.rows.allocations import Allocation
from determined.master.db.rows.experiments import JobValues
from determined.master.lifecycle import allocation_state
from determined.master.lifecycle.job_limits import check_priority, check_weight
from determined.master.lifecycle.queue_position import queue_position
from determined.master.lifecycle.states import GENERIC_ENDS, ExitKind, GenericState, RunnerEnd, generic_state_after

_STARTS = 5  # of a task that no engine can start; engines avoid a node on which a start failed


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """A submission, merged, validated and resolved."""

    kind: TaskKind
    owner_id: int
    workspace_id: int
    pool: str
    slots: int
    priority: int
    weight: float
    max_slots: int | None
    single_node: bool
    description: str
    config: JsonObject
    submitted_config: JsonObject
    template: str | None = None
    context: bytes | None = None
    submitter_python: str | None = None
    experiment_ids: list[int] | None = None
    trial_ids: list[int] | None = None
    project_id: int | None = None
    parent_id: str | None = None
    forked_from: str | None = None
    no_pause: bool = False


def create(conn: Connection, now: datetime, new: NewTask) -> str:
    """Write the rows of a new task and queue its first allocation; return its id."""
    task_id = str(uuid.uuid4())
    job_id = _create_job(conn, now, new)
    tasks.insert_row(conn, {"id": task_id, "type": new.kind.name, "job_id": job_id, "start_time": now})
    submitted_tasks.insert_row(
        conn,
        {
            "task_id": task_id,
            "description": new.description,
            "config": new.config,
            "submitted_config": new.submitted_config,
            "template": new.template,
            "submitter_python": new.submitter_python,
            "experiment_ids": new.experiment_ids,
            "trial_ids": new.trial_ids,
            "state": GenericState.ACTIVE if new.kind is GENERIC else None,
            "project_id": new.project_id,
            "parent_id": new.parent_id,
            "forked_from": new.forked_from,
            "no_pause": new.no_pause,
        },
    )
    if new.context is not None:
        submitted_tasks.put_context(conn, task_id, new.context)
    _allocate(conn, now, new.kind, task_id, 1, slots=new.slots, pool=new.pool, single_node=new.single_node)
    return task_id


def kill(conn: Connection, now: datetime, task_id: str, reason: str = "user requested kill") -> None:
    """End a task now; nothing to do when it has ended. A paused one is canceled at once."""
    task = submitted_tasks.get(conn, task_id)
    live = _live(conn, task_id)
    if task.state is not None and task.state not in GENERIC_ENDS:
        stopping = GenericState.STOPPING_CANCELED if live is not None else GenericState.CANCELED
        submitted_tasks.update_row(conn, task_id, {"state": stopping})
    if live is None:
        _end(conn, now, task_id)
    elif allocation_state.kill(conn, now, live, reason):
        allocation_ended(conn, now, live, ExitKind.KILLED)


def pause(conn: Connection, now: datetime, task_id: str) -> None:
    """Ask a generic task to save and leave; `unpause` starts it again. Raises Conflict in other states than ACTIVE."""
    task = submitted_tasks.get(conn, task_id)
    if task.state != GenericState.ACTIVE:
        raise Conflict(f"cannot pause task {task_id} as it is in state '{task.state}'")
    if task.no_pause:
        raise Conflict(f"cannot pause task {task_id} with `no_pause` set to true")
    live = _live(conn, task_id)
    paused = GenericState.PAUSED if live is None else GenericState.STOPPING_PAUSED
    submitted_tasks.update_row(conn, task_id, {"state": paused})
    if live is None:
        tasks.end(conn, now, task_id)
        return
    timeout = GenericTaskConfig.load(task.config).preemption_timeout
    limit = DEFAULT_PREEMPTION_TIMEOUT if timeout is None else timeout
    if allocation_state.terminate(conn, now, live, "the task was paused", limit):
        allocation_ended(conn, now, live, ExitKind.KILLED)


def unpause(conn: Connection, now: datetime, task_id: str) -> None:
    """Queue a paused generic task again."""
    task = submitted_tasks.get(conn, task_id)
    if task.state != GenericState.PAUSED:
        raise Conflict(f"cannot unpause task {task_id} as it is not in paused state")
    submitted_tasks.update_row(conn, task_id, {"state": GenericState.ACTIVE})
    tasks.reopen(conn, task_id)
    _allocate_again(conn, now, task_id)


def serves(conn: Connection, allocation: Allocation) -> bool:
    """Return whether the task has a service of its own, which says when it is ready."""
    return allocation.trial_id is None and bool(KINDS[tasks.get(conn, allocation.task_id).type].program)


def allocation_ended(conn: Connection, now: datetime, allocation: Allocation, kind: ExitKind) -> None:
    """Record what the end of an allocation means for its task."""
    task = submitted_tasks.find(conn, allocation.task_id)
    goes_on = task is not None and task.state in (None, GenericState.ACTIVE)
    if goes_on and kind == ExitKind.TRANSIENT and _start_again(conn, now, allocation):
        return
    if task is not None and task.state is not None:
        state = generic_state_after(GenericState(task.state), kind)
        submitted_tasks.update_row(conn, task.task_id, {"state": state})
        if state == GenericState.ACTIVE:
            _allocate_again(conn, now, task.task_id)
            return
    _end(conn, now, allocation.task_id)


def canceled_outside(conn: Connection, now: datetime, task_id: str, why: str) -> None:
    """End a task that somebody canceled in the cluster below us, after its host had warned it and it left."""
    if submitted_tasks.get(conn, task_id).state == GenericState.ACTIVE:
        kill(conn, now, task_id, why)


def set_resources(conn: Connection, task_id: str, changes: JobValues) -> None:
    """Change what scheduling knows of a live task (priority, weight), and its stored config with it.

    A new priority also takes its place in the queue by submission time again.
    """
    task, job_id = submitted_tasks.get(conn, task_id), _job_of(conn, task_id)
    columns: JobValues = {**changes}
    if "priority" in changes:
        check_priority(changes["priority"])
        columns["position"] = queue_position(jobs.get(conn, job_id).submitted_at)
    if "weight" in changes:
        check_weight(changes["weight"])
    jobs.update_row(conn, job_id, columns)
    resources = {**task.config["resources"], **changes}
    submitted_tasks.update_row(conn, task_id, {"config": {**task.config, "resources": resources}})


def _job_of(conn: Connection, task_id: str) -> str:
    task = tasks.get(conn, task_id)
    if task.end_time is not None:
        raise FailedPrecondition(f"task {task_id} has ended or is paused; it has no place in the queue")
    assert task.job_id is not None
    return task.job_id


def _end(conn: Connection, now: datetime, task_id: str) -> None:
    """Record the end of a task. Its files go unless somebody may fork or unpause it."""
    tasks.end(conn, now, task_id)
    if tasks.get(conn, task_id).type != GENERIC.name:
        submitted_tasks.delete_context(conn, task_id)


def _start_again(conn: Connection, now: datetime, ended: Allocation) -> bool:
    """Queue another run of a task if nothing of the last one has begun. Return whether there is one.

    No runner has touched anything, so that is no second run to the user.
    """
    if any(r.exit_cause != RunnerEnd.NOT_STARTED for r in runners.of_allocation(conn, ended.id)):
        return False
    ends = [row.exit_kind for row in allocations.of_task(conn, ended.task_id)]
    starts = next((n for n, kind in enumerate(ends) if kind != ExitKind.TRANSIENT), len(ends))
    if starts >= _STARTS:
        return False
    text = f"nothing of the task has begun: it is started again (start {starts + 1} of {_STARTS})"
    append_master_line(conn, now, ended.task_id, text, level="WARNING")
    _allocate_again(conn, now, ended.task_id)
    return True


def _live(conn: Connection, task_id: str) -> Allocation | None:
    return next((row for row in allocations.of_task(conn, task_id) if row.ended_at is None), None)


def _create_job(conn: Connection, now: datetime, new: NewTask) -> str:
    job_id = str(uuid.uuid4())
    values: JobValues = {
        "id": job_id,
        "type": new.kind.job.name,
        "owner_id": new.owner_id,
        "workspace_id": new.workspace_id,
        "pool": new.pool,
        "priority": new.priority,
        "weight": new.weight,
        "max_slots": new.max_slots,
        "submitted_at": now,
        "position": queue_position(now),
    }
    jobs.insert_row(conn, values)
    return job_id


def _allocate_again(conn: Connection, now: datetime, task_id: str) -> None:
    """Queue another run of a task, with what its last run had asked for."""
    [last, *_] = allocations.of_task(conn, task_id)
    kind, run_id = KINDS[tasks.get(conn, task_id).type], last.run_id + 1
    _allocate(conn, now, kind, task_id, run_id, slots=last.slots, pool=last.pool, single_node=last.single_node)


def _allocate(
    conn: Connection,
    now: datetime,
    kind: TaskKind,
    task_id: str,
    run_id: int,
    *,
    slots: int,
    pool: str,
    single_node: bool,
) -> None:
    allocation_state.request(
        conn,
        now,
        task_id=task_id,
        trial_id=None,
        run_id=run_id,
        slots=slots,
        pool=pool,
        preemptible=kind.is_preemptible,
        single_node=single_node,
    )
