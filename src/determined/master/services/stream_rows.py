"""Changes as messages of `/stream`: each changed thing is read once and written once, for however many clients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection

from determined.master.db.queries import change_rows, experiment_list, trial_list
from determined.master.db.queries.batching import AnyRow
from determined.master.db.rows.changes import Change
from determined.master.services.experiment_view import shown_state
from determined.master.services.stream_spec import SINGULAR, Noun, write_keys
from determined.wire.agent import Agent
from determined.wire.codec import rfc3339
from determined.wire.stream import (
    AgentMsg,
    CheckpointMsg,
    ExperimentMsg,
    JobMsg,
    MetricsMsg,
    ProjectMsg,
    TaskMsg,
    TrialMsg,
)

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Message:
    """One change, ready to be sent to whoever wants it."""

    noun: str
    id: str
    parent: int | None
    seq: int
    deleted: bool
    data: bytes


def messages(conn: Connection, found: Sequence[Change]) -> list[Message]:
    """In the given order. One query per noun, whatever the number of changes."""
    data: dict[int, bytes] = {}
    for noun in dict.fromkeys(change.noun for change in found):
        living = {c.id: c.seq for c in found if c.noun == noun and not c.deleted}
        ticks = [_tick(c) for c in found if c.noun == noun == Noun.METRICS]
        rows = ticks or _READERS[noun](conn, living)
        data |= {row.seq: _encode({SINGULAR[noun]: row}) for row in rows}
    out: list[Message] = []
    for c in found:
        written = deletion(c.noun, [c.id]) if c.deleted else data.get(c.seq)
        if written is not None:
            out.append(Message(c.noun, c.id, c.parent, c.seq, c.deleted, written))
    return out


def deletion(noun: str, keys: Sequence[str]) -> bytes:
    return _encode({f"{noun}_deleted": write_keys(noun, keys)})


def agent_message(agent: Agent, seq: int) -> bytes:
    slots = list((agent.slots or {}).values())
    row = AgentMsg(
        id=agent.id,
        enabled=bool(agent.enabled),
        draining=bool(agent.draining),
        resource_pools=agent.resource_pools or [],
        slots=len(slots),
        used=sum(slot.container is not None for slot in slots),
        seq=seq,
    )
    return _encode({SINGULAR[Noun.AGENTS]: row})


def _projects(conn: Connection, seqs: dict[str, int]) -> list[ProjectMsg]:
    return [
        ProjectMsg(
            id=row.id,
            name=row.name,
            description=row.description,
            archived=row.archived or row.workspace_archived,
            created_at=row.created_at.timestamp(),
            notes=row.notes,
            workspace_id=row.workspace_id,
            user_id=row.user_id,
            immutable=row.immutable,
            state=row.state,
            key=row.key or "",
            seq=seqs[str(row.id)],
        )
        for row in change_rows.of_projects(conn, _numbers(seqs))
    ]


def _experiments(conn: Connection, seqs: dict[str, int]) -> list[ExperimentMsg]:
    rows = change_rows.of_experiments(conn, _numbers(seqs))
    live = experiment_list.furthest_allocations(conn, _active(rows))
    return [
        ExperimentMsg(
            id=row.id,
            project_id=row.project_id,
            user_id=row.owner_id,
            job_id=row.job_id,
            state="STATE_" + shown_state(row.state, live.get(row.id), unmanaged=row.unmanaged),
            name=row.name,
            progress=row.progress,
            archived=row.archived,
            start_time=rfc3339(row.start_time),
            end_time=rfc3339(row.end_time) if row.end_time else None,
            seq=seqs[str(row.id)],
        )
        for row in rows
    ]


def _trials(conn: Connection, seqs: dict[str, int]) -> list[TrialMsg]:
    rows = change_rows.of_trials(conn, _numbers(seqs))
    live = trial_list.furthest_allocations(conn, _active(rows))
    return [
        TrialMsg(
            id=row.id,
            experiment_id=row.experiment_id,
            state="STATE_" + shown_state(row.state, live.get(row.id), unmanaged=row.unmanaged),
            restarts=row.restarts,
            total_batches_processed=row.steps_completed,
            searcher_metric_value=row.best_validation_value,
            checkpoint_count=row.checkpoint_count,
            runner_state=row.runner_state or "",
            start_time=rfc3339(row.start_time),
            end_time=rfc3339(row.end_time) if row.end_time else None,
            seq=seqs[str(row.id)],
        )
        for row in rows
    ]


def _checkpoints(conn: Connection, seqs: dict[str, int]) -> list[CheckpointMsg]:
    return [
        CheckpointMsg(
            id=row.uuid,
            experiment_id=row.experiment_id,
            trial_id=row.trial_id,
            state="STATE_" + row.state,
            steps_completed=row.steps_completed,
            size=row.size,
            report_time=rfc3339(row.report_time),
            seq=seqs[row.uuid],
        )
        for row in change_rows.of_checkpoints(conn, list(seqs))
    ]


def _tasks(conn: Connection, seqs: dict[str, int]) -> list[TaskMsg]:
    states = change_rows.task_states(conn, list(seqs))
    return [
        TaskMsg(
            id=row.id,
            type="TASK_TYPE_" + row.type,
            trial_id=row.trial_id,
            experiment_id=row.experiment_id,
            job_id=row.job_id,
            state="STATE_" + states[row.id] if row.id in states else None,
            start_time=rfc3339(row.start_time),
            end_time=rfc3339(row.end_time) if row.end_time else None,
            seq=seqs[row.id],
        )
        for row in change_rows.of_tasks(conn, list(seqs))
    ]


def _jobs(conn: Connection, seqs: dict[str, int]) -> list[JobMsg]:
    return [
        JobMsg(
            id=row.id,
            type="TYPE_" + row.type,
            user_id=row.owner_id,
            workspace_id=row.workspace_id,
            resource_pool=row.pool,
            priority=row.priority,
            weight=row.weight,
            seq=seqs[row.id],
        )
        for row in change_rows.of_jobs(conn, list(seqs))
    ]


def _tick(change: Change) -> MetricsMsg:
    trial, _, group = change.id.partition("/")
    return MetricsMsg(trial_id=int(trial), group=group, last_batch=change.value or 0, seq=change.seq)


def _numbers(seqs: dict[str, int]) -> list[int]:
    return [int(key) for key in seqs]


def _active(rows: Sequence[AnyRow]) -> list[int]:
    return [row.id for row in rows if row.state == "ACTIVE"]


_READERS: dict[str, Callable[[Connection, dict[str, int]], Sequence[Any]]] = {
    Noun.PROJECTS: _projects,
    Noun.EXPERIMENTS: _experiments,
    Noun.TRIALS: _trials,
    Noun.CHECKPOINTS: _checkpoints,
    Noun.TASKS: _tasks,
    Noun.JOBS: _jobs,
}
