"""Room in the queue of each webhook for more deliveries, remembered so that an event does not count the queue.

Only the writer of the one master queues events, and all else that happens to a queue makes it shorter. So a number that
was counted stays true as a lower bound when it is lowered by what is queued; it is counted anew when it is used up.
"""

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

from determined.master.db.queries import webhook_delivery as deliveries


def room(conn: Connection, needed: Mapping[int, int], limit: int) -> dict[int, int]:
    """Return for each of these webhooks how many deliveries fit: at least `needed`, or exactly how many.

    Args:
        needed: deliveries to queue, by webhook.
        limit: how many may wait.
    """
    known = _known.setdefault(conn.engine, {})
    short = [webhook_id for webhook_id, count in needed.items() if known.get(webhook_id, 0) < count]
    _count(conn, known, short, limit)
    return {webhook_id: known[webhook_id] for webhook_id in needed}


def use(conn: Connection, webhook_ids: Sequence[int]) -> None:
    """Note that one more delivery is queued for each of these; a webhook may stand there several times."""
    known = _known.setdefault(conn.engine, {})
    for webhook_id in webhook_ids:
        known[webhook_id] = known.get(webhook_id, 0) - 1


def forget(engine: Engine) -> None:
    """Drop what is known of a database: webhooks that are gone would stay for ever."""
    _known.pop(engine, None)


def _count(conn: Connection, known: dict[int, int], webhook_ids: Sequence[int], limit: int) -> None:
    waiting = deliveries.count_waiting(conn, webhook_ids) if webhook_ids else {}
    known.update((webhook_id, limit - waiting.get(webhook_id, 0)) for webhook_id in webhook_ids)


_known: WeakKeyDictionary[Engine, dict[int, int]] = WeakKeyDictionary()
