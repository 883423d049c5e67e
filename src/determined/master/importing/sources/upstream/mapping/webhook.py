"""Webhooks with their triggers; a trigger whose condition is not understood is left out."""

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.master.db.rows.webhooks import WebhookTriggerValues, WebhookValues
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.reading.webhooks import TriggerRow, WebhookRow
from determined.master.lifecycle import webhook_condition
from determined.master.lifecycle.webhook_event import CUSTOM

_WORKSPACE, _SPECIFIC = "WORKSPACE", "SPECIFIC"


def map_webhook(row: WebhookRow, context: MappingContext) -> Mapped:
    mode = row.mode or _WORKSPACE
    values: WebhookValues = {
        "id": row.id,
        "url": row.url,
        "type": row.webhook_type,
        "mode": mode,
        "name": row.name or "",
        "workspace_id": row.workspace_id,
        "created_at": context.now,
    }
    mapped = Mapped([("webhooks", values)], [Note(rules.WEBHOOKS, _shown(row))])
    for trigger in row.triggers:
        try:
            mapped.rows.append(("webhook_triggers", _trigger(row.id, trigger, mode)))
        except InvalidArgument as e:
            mapped.notes.append(Note(rules.BAD_TRIGGER, f"{_shown(row)}: {e.message}"))
    return mapped


def _trigger(webhook_id: int, trigger: TriggerRow, mode: str) -> WebhookTriggerValues:
    """Map a trigger. Raises InvalidArgument."""
    if trigger.trigger_type == CUSTOM and mode != _SPECIFIC:
        raise InvalidArgument("a custom trigger needs mode SPECIFIC")
    given: JsonObject = trigger.condition if isinstance(trigger.condition, dict) else {}
    condition = webhook_condition.checked(trigger.trigger_type, given)
    return {"webhook_id": webhook_id, "type": trigger.trigger_type, "condition": condition}


def _shown(row: WebhookRow) -> str:
    """Name a webhook without its address, which may hold a secret."""
    return f"webhook {row.id}" + (f" ({row.name})" if row.name else "")
