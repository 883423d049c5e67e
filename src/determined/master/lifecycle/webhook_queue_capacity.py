"""Free places in the queue of each webhook, remembered so that an event does not count the queue.

Only the writer of the one master queues events, and all else that happens to a queue makes it shorter. So a number that
was counted stays true as a lower bound when it is lowered by what is queued; it is counted anew when it is used up.
"""

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

from determined.master.db.queries import webhook_delivery as deliveries


def free_places(conn: Connection, needed: Mapping[int, int], limit: int) -> dict[int, int]:
    """Return for each of these webhooks how many deliveries fit: at least `needed`, or exactly how many.

    Args:
        needed: deliveries to queue, by webhook.
        limit: how many may wait.
    """
    counted = _counted.setdefault(conn.engine, {})
    short = [webhook_id for webhook_id, count in needed.items() if counted.get(webhook_id, 0) < count]
    _count(conn, counted, short, limit)
    return {webhook_id: counted[webhook_id] for webhook_id in needed}


def use(conn: Connection, webhook_ids: Sequence[int]) -> None:
    """Note that one more delivery is queued for each of these; a webhook may stand there several times."""
    counted = _counted.setdefault(conn.engine, {})
    for webhook_id in webhook_ids:
        counted[webhook_id] = counted.get(webhook_id, 0) - 1


def forget(engine: Engine) -> None:
    """Drop the numbers of a database: webhooks that are gone would stay for ever."""
    _counted.pop(engine, None)


def _count(conn: Connection, counted: dict[int, int], webhook_ids: Sequence[int], limit: int) -> None:
    waiting = deliveries.count_waiting(conn, webhook_ids) if webhook_ids else {}
    counted.update((webhook_id, limit - waiting.get(webhook_id, 0)) for webhook_id in webhook_ids)


_counted: WeakKeyDictionary[Engine, dict[int, int]] = WeakKeyDictionary()
