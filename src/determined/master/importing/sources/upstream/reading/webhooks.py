"""Upstream's webhooks with their triggers. Older schemas lack names, modes and workspaces of webhooks."""

import msgspec

from determined.master.importing.sources.upstream.source import Source


class TriggerRow(msgspec.Struct, frozen=True):
    trigger_type: str
    condition: object = None  # JSON


class WebhookRow(msgspec.Struct, frozen=True):
    id: int
    url: str
    webhook_type: str
    workspace_id: int | None = None
    name: str | None = None
    mode: str | None = None
    triggers: list[TriggerRow] = []


_WEBHOOKS = """
SELECT to_jsonb(w) || jsonb_build_object('triggers', COALESCE(
  (SELECT jsonb_agg(jsonb_build_object('trigger_type', t.trigger_type, 'condition', t.condition) ORDER BY t.id)
   FROM webhook_triggers t WHERE t.webhook_id = w.id), '[]'))
FROM webhooks w ORDER BY w.id
"""


def read(source: Source) -> list[WebhookRow]:
    return [msgspec.convert(row, WebhookRow) for (row,) in source.tuples(_WEBHOOKS)]
