"""Webhooks over HTTP."""

from determined.api.session import Session
from determined.errors import NotFound
from determined.wire.webhook import (
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    GET_WEBHOOK_SIGNING_KEY,
    LIST_WEBHOOK_DELIVERIES,
    LIST_WEBHOOKS,
    PATCH_WEBHOOK,
    TEST_WEBHOOK,
    ListDeliveries,
    PatchWebhook,
    PostWebhookResponse,
    Webhook,
    WebhookDelivery,
)


def listing(session: Session) -> list[Webhook]:
    return session.call(LIST_WEBHOOKS).webhooks


def get(session: Session, webhook_id: int) -> Webhook:
    """Return one webhook. Raises NotFound."""
    for webhook in listing(session):
        if webhook.id == webhook_id:
            return webhook
    raise NotFound(f"webhook {webhook_id} not found; list them with: det webhook list")


def create(session: Session, webhook: Webhook) -> PostWebhookResponse:
    return session.call(CREATE_WEBHOOK, webhook)


def set_url(session: Session, webhook_id: int, url: str) -> None:
    session.call(PATCH_WEBHOOK, PatchWebhook(url=url), webhook_id=webhook_id)


def delete(session: Session, webhook_id: int) -> None:
    session.call(DELETE_WEBHOOK, webhook_id=webhook_id)


def test(session: Session, webhook_id: int) -> None:
    """Let the master send a test event. Raises the reason when it is not answered with success."""
    session.call(TEST_WEBHOOK, webhook_id=webhook_id)


def deliveries(session: Session, webhook_id: int, params: ListDeliveries) -> list[WebhookDelivery]:
    """List deliveries, the newest first; the master answers at most 500 of them."""
    return session.call(LIST_WEBHOOK_DELIVERIES, params, webhook_id=webhook_id).deliveries


def signing_key(session: Session) -> str:
    return session.call(GET_WEBHOOK_SIGNING_KEY).signing_key
