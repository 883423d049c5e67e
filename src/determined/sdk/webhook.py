"""Webhook: an address that the master tells of events."""

from typing import Self

from determined._json import JsonObject
from determined.api import webhook as api
from determined.api.session import Session
from determined.wire.webhook import ListDeliveries, WebhookDelivery
from determined.wire.webhook import Webhook as WireWebhook


class Webhook:
    """A webhook. `triggers` are dicts of `type` and `condition`, as `Determined.create_webhook` takes them."""

    def __init__(self, session: Session, webhook_id: int) -> None:
        self._session = session
        self.id = webhook_id
        self.url: str | None = None
        self.name: str | None = None
        self.webhook_type: str | None = None
        self.mode: str | None = None
        self.workspace_id: int | None = None
        self.triggers: list[JsonObject] = []

    def reload(self) -> None:
        """Read it again. Raises NotFound when it was deleted."""
        self._load(api.get(self._session, self.id))

    def test(self) -> None:
        """Let the master send a test event. Raises the reason when the receiver does not answer with success."""
        api.test(self._session, self.id)

    def set_url(self, url: str) -> None:
        """Change the address, at once and for deliveries that wait."""
        api.set_url(self._session, self.id, url)
        self.url = url

    def delete(self) -> None:
        api.delete(self._session, self.id)

    def list_deliveries(self, limit: int = 50) -> list[WebhookDelivery]:
        """List what was sent or waits, the newest first."""
        return api.deliveries(self._session, self.id, ListDeliveries(limit=limit))

    @classmethod
    def _from_wire(cls, session: Session, row: WireWebhook) -> "Webhook":
        assert row.id is not None
        return cls(session, row.id)._load(row)

    def _load(self, row: WireWebhook) -> Self:
        self.url, self.name, self.workspace_id = row.url, row.name, row.workspace_id
        self.webhook_type = row.webhook_type.removeprefix("WEBHOOK_TYPE_")
        self.mode = row.mode.removeprefix("WEBHOOK_MODE_")
        self.triggers = [
            {"type": trigger.trigger_type.removeprefix("TRIGGER_TYPE_"), "condition": trigger.condition or {}}
            for trigger in row.triggers or []
        ]
        return self
