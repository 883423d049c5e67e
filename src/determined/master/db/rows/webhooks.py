"""Rows of webhooks, their triggers, what has triggered them, and the queue of deliveries.

Written by scripts/make_rows.py from db/schema/webhooks.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class Webhook(msgspec.Struct, frozen=True):
    id: int
    url: str
    type: str
    mode: str
    name: str
    workspace_id: int | None
    created_at: datetime


class WebhookValues(TypedDict, total=False):
    id: int
    url: str
    type: str
    mode: str
    name: str
    workspace_id: int | None
    created_at: datetime


class WebhookTrigger(msgspec.Struct, frozen=True):
    id: int
    webhook_id: int
    type: str
    condition: JsonObject


class WebhookTriggerValues(TypedDict, total=False):
    id: int
    webhook_id: int
    type: str
    condition: JsonObject


class TrialReportTimeValues(TypedDict, total=False):
    trial_id: int
    reported_at: datetime


class WebhookDelivery(msgspec.Struct, frozen=True):
    """Events on their way to a webhook, each written with its cause. The payload is built when it is sent."""

    id: int
    webhook_id: int
    event_id: str
    event_type: str
    event: JsonObject
    state: str
    attempts: int
    created_at: datetime
    next_attempt_at: datetime
    claimed_by: str | None
    finished_at: datetime | None
    url: str | None
    status_code: int | None
    answer: str | None
    error: str | None


class WebhookDeliveryValues(TypedDict, total=False):
    id: int
    webhook_id: int
    event_id: str
    event_type: str
    event: JsonObject
    state: str
    attempts: int
    created_at: datetime
    next_attempt_at: datetime
    claimed_by: str | None
    finished_at: datetime | None
    url: str | None
    status_code: int | None
    answer: str | None
    error: str | None
