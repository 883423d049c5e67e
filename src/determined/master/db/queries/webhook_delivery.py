"""Rows of the delivery queue: written with their cause, claimed by one sender, finished by the receiver's answer."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter

import msgspec
from sqlalchemy import ColumnElement, Connection, Update, bindparam, delete, func, select, update

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.dialects import insert_rows
from determined.master.db.queries.batching import batches
from determined.master.db.rows.webhooks import WebhookDelivery, WebhookDeliveryValues
from determined.master.db.schema import webhook_deliveries, webhooks, workspaces
from determined.master.db.schema.base import Time

PENDING, SENDING, DELIVERED, FAILED = "PENDING", "SENDING", "DELIVERED", "FAILED"

_D = webhook_deliveries.c
_IS_DUE = _D.finished_at.is_(None), _D.state == PENDING, _D.next_attempt_at <= bindparam("now")
# Statements of the sending path are built once: building one costs more than running it.
_FIRST_DUE = select(_D.next_attempt_at).where(_D.webhook_id == webhooks.c.id, *_IS_DUE).order_by(_D.next_attempt_at)
_DUE_WEBHOOKS = (
    select(webhooks.c.id, workspaces.c.user_id, _FIRST_DUE.limit(1).correlate(webhooks).scalar_subquery())
    .outerjoin(workspaces, workspaces.c.id == webhooks.c.workspace_id)
    .where(webhooks.c.id.not_in(bindparam("without", expanding=True)))
)
_DUE_IDS = (
    select(_D.id)
    .where(_D.webhook_id == bindparam("webhook"), *_IS_DUE)
    .order_by(_D.next_attempt_at, _D.id)
    .limit(bindparam("most"))
)
_IS_CHOSEN = _D.id.in_(bindparam("ids", expanding=True))
_CLAIM = update(webhook_deliveries).where(_IS_CHOSEN).values(state=SENDING, claimed_by=bindparam("owner"))
_CLAIMED = select(webhook_deliveries).where(_IS_CHOSEN).order_by(_D.next_attempt_at, _D.id)
_QUEUED = ("webhook_id", "event_id", "event_type", "event", "state", "created_at", "next_attempt_at")


class NewestDelivery(msgspec.Struct, frozen=True):
    """The newest delivery of a webhook, without its event."""

    id: int
    webhook_id: int
    state: str
    attempts: int
    created_at: datetime
    status_code: int | None
    error: str | None


class DueWebhook(msgspec.Struct, frozen=True):
    """A webhook with something to send. `owner_id`: of its workspace; None: it is of the whole cluster."""

    webhook_id: int
    owner_id: int | None


def enqueue(conn: Connection, now: datetime, deliveries: Sequence[WebhookDeliveryValues]) -> None:
    """Queue deliveries: webhook_id, event_id, event_type and event of each; due at once.

    An event is encoded once for the deliveries in a row that share the object.
    """
    time = Time().process_bind_param(now, conn.dialect)
    rows: list[tuple[object, ...]] = []
    last: JsonObject | None = None
    text = ""
    for one in deliveries:
        if one["event"] is not last:
            last = one["event"]
            text = msgspec.json.encode(last).decode()
        rows.append((one["webhook_id"], one["event_id"], one["event_type"], text, PENDING, time, time))
    insert_rows(conn, webhook_deliveries, _QUEUED, rows)


def count_waiting(conn: Connection, webhook_ids: Sequence[int]) -> dict[int, int]:
    """Count the deliveries that have not ended, by webhook; one without any is left out."""
    counts: dict[int, int] = {}
    for part in batches(webhook_ids):
        query = select(_D.webhook_id, func.count()).where(_D.webhook_id.in_(part), _D.finished_at.is_(None))
        counts.update((webhook_id, n) for webhook_id, n in conn.execute(query.group_by(_D.webhook_id)))
    return counts


def due_webhooks(conn: Connection, now: datetime, without: Collection[int]) -> list[DueWebhook]:
    """List webhooks with a delivery that is due, the one that waits longest first.

    It looks at the first of each queue: a grouped query would read all that waits.
    """
    found = conn.execute(_DUE_WEBHOOKS, {"now": now, "without": list(without)})
    due = [(time, webhook_id, owner_id) for webhook_id, owner_id, time in found if time is not None]
    return [DueWebhook(webhook_id, owner_id) for _, webhook_id, owner_id in sorted(due, key=itemgetter(0, 1))]


def claim(conn: Connection, now: datetime, webhook_id: int, owner: str, limit: int) -> list[WebhookDelivery]:
    """Take deliveries of a webhook that are due; nobody else takes them until `finish`, `postpone` or `release`."""
    ids = list(conn.execute(_DUE_IDS, {"webhook": webhook_id, "now": now, "most": limit}).scalars())
    conn.execute(_CLAIM, {"ids": ids, "owner": owner})
    return fetch.rows(conn, _CLAIMED, WebhookDelivery, {"ids": ids})


def finish(conn: Connection, now: datetime, delivery_id: int, values: WebhookDeliveryValues) -> None:
    """Write the end of a delivery: `values` has its state, DELIVERED or FAILED, and the answer."""
    _end_attempt(conn, delivery_id, {**values, "finished_at": now})


def postpone(conn: Connection, until: datetime, delivery_id: int, values: WebhookDeliveryValues) -> None:
    """Let a delivery that failed wait for its next attempt."""
    _end_attempt(conn, delivery_id, {**values, "state": PENDING, "next_attempt_at": until})


def release(conn: Connection, delivery_ids: Sequence[int]) -> None:
    """Give back deliveries that were claimed and not sent."""
    values: WebhookDeliveryValues = {"state": PENDING, "claimed_by": None}
    chosen = _D.id.in_(list(delivery_ids)), _D.state == SENDING
    conn.execute(update(webhook_deliveries).where(*chosen).values(**values))


def release_of_others(conn: Connection, owner: str) -> int:
    """Give back what an earlier start of a master had claimed when it ended; return how many."""
    values: WebhookDeliveryValues = {"state": PENDING, "claimed_by": None}
    chosen = _D.finished_at.is_(None), _D.state == SENDING, _D.claimed_by != owner
    return conn.execute(update(webhook_deliveries).where(*chosen).values(**values)).rowcount


def list_of(conn: Connection, webhook_id: int, states: Sequence[str], limit: int, offset: int) -> list[WebhookDelivery]:
    """List deliveries of a webhook, the newest first."""
    query = select(webhook_deliveries).where(*_of(webhook_id, states)).order_by(_D.id.desc())
    return fetch.rows(conn, query.limit(limit).offset(offset), WebhookDelivery)


def count_of(conn: Connection, webhook_id: int, states: Sequence[str]) -> int:
    return conn.execute(select(func.count()).where(*_of(webhook_id, states))).scalar_one()


def newest_of(conn: Connection, webhook_ids: Sequence[int]) -> list[NewestDelivery]:
    """Return the newest delivery of each of these webhooks that has one."""
    newest_id = select(func.max(_D.id)).where(_D.webhook_id == webhooks.c.id).correlate(webhooks).scalar_subquery()
    columns = (_D.id, _D.webhook_id, _D.state, _D.attempts, _D.created_at, _D.status_code, _D.error)
    newest: list[NewestDelivery] = []
    for part in batches(webhook_ids):
        ids = select(newest_id).where(webhooks.c.id.in_(part))
        newest += fetch.rows(conn, select(*columns).where(_D.id.in_(ids)), NewestDelivery)
    return newest


def prune(conn: Connection, before: datetime, keep: int) -> int:
    """Remove finished deliveries older than `before`, and all but the newest `keep` of each webhook."""
    removed = conn.execute(delete(webhook_deliveries).where(_D.finished_at < before)).rowcount
    crowded = select(_D.webhook_id).where(_D.finished_at.is_not(None)).group_by(_D.webhook_id)
    for webhook_id in conn.execute(crowded.having(func.count() > keep)).scalars().all():
        own = _D.webhook_id == webhook_id, _D.finished_at.is_not(None)
        oldest_kept = select(_D.id).where(*own).order_by(_D.id.desc()).offset(keep - 1).limit(1)
        first = conn.execute(oldest_kept).scalar_one()
        removed += conn.execute(delete(webhook_deliveries).where(*own, _D.id < first)).rowcount
    return removed


def _end_attempt(conn: Connection, delivery_id: int, values: WebhookDeliveryValues) -> None:
    """Count an attempt and write the other values."""
    conn.execute(_attempt_update(tuple(values)), {**values, "delivery": delivery_id})


@lru_cache(32)
def _attempt_update(columns: tuple[str, ...]) -> Update:
    """Kept by its columns: what is known of an answer differs between a status, an error and no address."""
    chosen = update(webhook_deliveries).where(_D.id == bindparam("delivery"))
    return chosen.values(attempts=_D.attempts + 1, claimed_by=None, **{name: bindparam(name) for name in columns})


def _of(webhook_id: int, states: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
    own = _D.webhook_id == webhook_id
    return (own, _D.state.in_(list(states))) if states else (own,)
