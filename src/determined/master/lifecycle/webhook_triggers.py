"""Triggers of all webhooks in memory by workspace, so that ingest looks at those that may fire and at no others.

The number of webhooks and of their triggers is limited, and so is what is kept here. Whoever creates, changes or
removes a webhook calls `forget` after the transaction. Before an event is queued its trigger is read again: one that
was removed a moment ago fires no more.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

from determined.master.db.queries import webhook as webhooks
from determined.master.db.queries.webhook import PlacedTrigger
from determined.master.lifecycle import webhook_queue_capacity
from determined.master.lifecycle.log_pattern import LogPattern, compile_pattern
from determined.master.lifecycle.webhook_condition import Threshold, silence_of, threshold_of
from determined.master.lifecycle.webhook_event import CUSTOM, METRIC, STATE_CHANGE, TASK_LOG

_MAX_COMPILED = 2000  # patterns, each below MAX_REGEX_MEMORY


@dataclass(frozen=True, slots=True)
class LogTriggers:
    """Triggers that share a pattern."""

    pattern: LogPattern
    trigger_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Triggers:
    """Ids of the triggers of one workspace, or of the whole cluster, by what they wait for."""

    by_state: dict[str, list[int]] = field(default_factory=dict)
    logs: tuple[LogTriggers, ...] = ()
    thresholds: tuple[tuple[Threshold, int], ...] = ()
    silences: tuple[tuple[float, int], ...] = ()  # seconds, trigger
    custom: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AllTriggers:
    """Triggers by workspace; None: of the whole cluster."""

    by_workspace: dict[int | None, Triggers]

    def of(self, workspace_id: int | None) -> list[Triggers]:
        """Return the triggers that an event in this workspace may fire: its own and the cluster's."""
        return [self.by_workspace[key] for key in dict.fromkeys((None, workspace_id)) if key in self.by_workspace]

    def any_of(self, choose: Callable[[Triggers], object]) -> bool:
        """Say whether any workspace has triggers of one kind."""
        return any(choose(triggers) for triggers in self.by_workspace.values())


def current(conn: Connection) -> AllTriggers:
    """Return the triggers as the last committed change has left them. Only the writer calls this."""
    with _lock:
        known = _known.get(conn.engine)
    if known is None:
        known = _by_workspace(webhooks.all_triggers(conn))
        with _lock:
            _known[conn.engine] = known
    return known


def forget(engine: Engine) -> None:
    """Drop what is known of a database: the next event, and the next delivery, reads it again."""
    with _lock:
        _known.pop(engine, None)
        _changes[engine] = _changes.get(engine, 0) + 1
    webhook_queue_capacity.forget(engine)


def changes(engine: Engine) -> int:
    """Return how often something was forgotten: a webhook that was read at the same number is as it was."""
    return _changes.get(engine, 0)


@lru_cache(_MAX_COMPILED)
def compiled_pattern(regex: str) -> LogPattern | None:
    """Compile a pattern once, whatever is forgotten in between: the writer must not wait for it again."""
    return compile_pattern(regex)


def _by_workspace(rows: Sequence[PlacedTrigger]) -> AllTriggers:
    placed: defaultdict[int | None, list[PlacedTrigger]] = defaultdict(list)
    for row in rows:
        placed[row.workspace_id].append(row)
    return AllTriggers({workspace_id: _grouped(some) for workspace_id, some in placed.items()})


def _grouped(rows: Sequence[PlacedTrigger]) -> Triggers:
    by_state: defaultdict[str, list[int]] = defaultdict(list)
    by_regex: defaultdict[str, list[int]] = defaultdict(list)
    metrics = [row for row in rows if row.type == METRIC]
    for row in rows:
        if row.type == STATE_CHANGE:
            by_state[row.condition["state"]].append(row.id)
        elif row.type == TASK_LOG:
            by_regex[row.condition["regex"]].append(row.id)
    compiled = ((compiled_pattern(regex), ids) for regex, ids in by_regex.items())
    thresholds = ((threshold_of(row.condition), row.id) for row in metrics)
    return Triggers(
        by_state=dict(by_state),
        logs=tuple(LogTriggers(pattern, tuple(ids)) for pattern, ids in compiled if pattern is not None),
        thresholds=tuple((threshold, i) for threshold, i in thresholds if threshold is not None),
        silences=tuple((silence_of(r.condition), r.id) for r in metrics if "no_report_for" in r.condition),
        custom=tuple(row.id for row in rows if row.type == CUSTOM),
    )


_known: WeakKeyDictionary[Engine, AllTriggers] = WeakKeyDictionary()
_changes: WeakKeyDictionary[Engine, int] = WeakKeyDictionary()
_lock = threading.Lock()  # several masters in one test process have a writer thread each
