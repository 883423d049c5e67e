"""Webhooks and their deliveries as the wire shows them."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from sqlalchemy import Connection

from determined.master.db.queries import webhook as webhooks
from determined.master.db.queries.webhook_delivery import NewestDelivery, newest_of
from determined.master.db.rows.webhooks import Webhook, WebhookDelivery, WebhookTrigger
from determined.master.lifecycle.webhook_event import Event
from determined.master.lifecycle.webhook_payload import Envelope, payload
from determined.wire import webhook as wire
from determined.wire.codec import rfc3339, rfc3339_or_none


def to_wire(conn: Connection, rows: Sequence[Webhook], *, is_admin: bool) -> list[wire.Webhook]:
    """Show webhooks that somebody may see: all to administrators, others' own and those of the whole cluster.

    Of those of the whole cluster only administrators see the full URL and the last delivery.
    """
    by_webhook: dict[int, list[WebhookTrigger]] = {row.id: [] for row in rows}
    for trigger in webhooks.triggers_of(conn, list(by_webhook)):
        by_webhook[trigger.webhook_id].append(trigger)
    managed = {row.id for row in rows if is_admin or row.workspace_id is not None}
    newest = {found.webhook_id: found for found in newest_of(conn, sorted(managed))}
    return [_webhook(row, by_webhook[row.id], newest.get(row.id), is_manager=row.id in managed) for row in rows]


def masked_url(url: str) -> str:
    """Return scheme and host of a URL: its path and query often are a secret, as those of Slack."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/..."


def _webhook(
    row: Webhook, triggers: Sequence[WebhookTrigger], newest: NewestDelivery | None, *, is_manager: bool
) -> wire.Webhook:
    return wire.Webhook(
        id=row.id,
        url=row.url if is_manager else masked_url(row.url),
        webhook_type=wire.WebhookType(f"WEBHOOK_TYPE_{row.type}"),
        mode=wire.WebhookMode(f"WEBHOOK_MODE_{row.mode}"),
        name=row.name,
        workspace_id=row.workspace_id,
        triggers=[
            wire.Trigger(
                id=trigger.id,
                webhook_id=row.id,
                trigger_type=wire.TriggerType(f"TRIGGER_TYPE_{trigger.type}"),
                condition=trigger.condition,
            )
            for trigger in triggers
        ],
        may_change=is_manager,
        last_delivery=None if newest is None else _last_delivery(newest),
    )


def _last_delivery(row: NewestDelivery) -> wire.LastDelivery:
    return wire.LastDelivery(
        id=row.id,
        state=wire.DeliveryState(f"DELIVERY_STATE_{row.state}"),
        attempts=row.attempts,
        created_at=rfc3339(row.created_at),
        status_code=row.status_code,
        error=row.error,
    )


def delivery(base_url: str, webhook: Webhook, row: WebhookDelivery) -> wire.WebhookDelivery:
    envelope = Envelope(row.event_id, int(row.created_at.timestamp()), base_url)
    is_waiting = row.finished_at is None
    return wire.WebhookDelivery(
        id=row.id,
        webhook_id=row.webhook_id,
        event_id=row.event_id,
        event_type=row.event_type,
        state=wire.DeliveryState(f"DELIVERY_STATE_{row.state}"),
        payload=payload(webhook.type, Event.from_row(row.event), envelope).decode(),
        attempts=row.attempts,
        created_at=rfc3339(row.created_at),
        url=row.url,
        next_attempt_at=rfc3339(row.next_attempt_at) if is_waiting else None,
        finished_at=rfc3339_or_none(row.finished_at),
        status_code=row.status_code,
        answer=row.answer,
        error=row.error,
    )
