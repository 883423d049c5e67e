"""Webhooks of the tests: triggers, settings of a master that may call loopback, and deliveries once they are made."""

from typing import Any

from tracked import until

LOOPBACK = {"allowed_networks": ["127.0.0.0/8"], "signing_key": "secret", "base_url": "http://page"}
STATE = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "COMPLETED"}}
METRIC = {"triggerType": "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED"}
SPECIFIC = {"mode": "WEBHOOK_MODE_SPECIFIC"}
SLACK = {"webhookType": "WEBHOOK_TYPE_SLACK"}


def settled(admin: Any, webhook_id: int) -> list[Any]:
    """Deliveries of a webhook once none waits."""
    path, waiting = f"/api/v1/webhooks/{webhook_id}/deliveries", ("DELIVERY_STATE_PENDING", "DELIVERY_STATE_SENDING")
    until(lambda: all(d["state"] not in waiting for d in admin.get(path).json["deliveries"]))
    deliveries: list[Any] = admin.get(path).json["deliveries"]
    return deliveries
