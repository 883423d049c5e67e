"""Changes as messages of `/stream`: each changed thing is read once and written once, for however many clients."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection

from determined.master.db.queries import change_rows, experiment_list, streamed, trial_list
from determined.master.db.queries.streamed import ExperimentMsg, TrialMsg
from determined.master.db.rows.changes import Change
from determined.master.lifecycle.states import displayed_state
from determined.master.services.stream_spec import TRAITS, Noun, write_keys
from determined.wire.agent import Agent
from determined.wire.stream import AgentMsg, MetricsMsg

_ACTIVE = "STATE_ACTIVE"
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Message:
    """Change, ready to be sent to whoever wants it."""

    noun: str
    id: str
    parent: int | None
    seq: int
    deleted: bool
    data: bytes
    value: int | None = None


def messages(conn: Connection, changes: Sequence[Change]) -> list[Message]:
    """Write changes as messages in the given order. One query per noun, whatever the number of changes."""
    data: dict[int, bytes] = {}
    for noun in dict.fromkeys(change.noun for change in changes):
        rows = _rows(conn, noun, [change for change in changes if change.noun == noun and not change.deleted])
        data |= {seq: _encode({TRAITS[Noun(noun)].singular: row}) for seq, row in rows.items()}
    out: list[Message] = []
    for change in changes:
        written = deletion(change.noun, [change.id]) if change.deleted else data.get(change.seq)
        if written is not None:
            out.append(
                Message(change.noun, change.id, change.parent, change.seq, change.deleted, written, change.value)
            )
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
    return _encode({TRAITS[Noun.AGENTS].singular: row})


_FURTHEST: Mapping[str, Callable[[Connection, Sequence[int]], Mapping[int, str]]] = {
    Noun.EXPERIMENTS: experiment_list.furthest_allocations,
    Noun.TRIALS: trial_list.furthest_allocations,
}


def _rows(conn: Connection, noun: str, changes: Sequence[Change]) -> Mapping[int, msgspec.Struct]:
    """Read what has changed; the rows by the numbers of their changes."""
    if noun == Noun.METRICS:
        return {change.seq: _tick(change) for change in changes}
    rows = change_rows.read(conn, streamed.BY_NOUN[noun], {change.id: change.seq for change in changes})
    if noun in _FURTHEST:
        _show_allocations(conn, noun, rows)
    return rows


def _show_allocations(conn: Connection, noun: str, rows: Mapping[int, ExperimentMsg | TrialMsg]) -> None:
    """Show of what is active how far its live allocations have come."""
    active = [row for row in rows.values() if row.state == _ACTIVE]
    furthest = _FURTHEST[noun](conn, [row.id for row in active])
    for row in active:
        row.state = "STATE_" + displayed_state("ACTIVE", furthest.get(row.id))


def _tick(change: Change) -> MetricsMsg:
    trial, _, group = change.id.partition("/")
    return MetricsMsg(trial_id=int(trial), group=group, last_batch=change.value or 0, seq=change.seq)
