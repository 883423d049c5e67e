"""Webhooks."""

from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER, OWNER, OWNER_OR_TRIAL, noted
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import webhook as webhooks
from determined.wire.webhook import (
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    GET_WEBHOOK_SIGNING_KEY,
    LIST_WEBHOOK_DELIVERIES,
    LIST_WEBHOOKS,
    PATCH_WEBHOOK,
    POST_WEBHOOK_EVENT_DATA,
    TEST_WEBHOOK,
    GetWebhookDeliveriesResponse,
    GetWebhookSigningKeyResponse,
    GetWebhooksResponse,
    ListDeliveries,
    PatchWebhook,
    PostWebhookEventDataRequest,
    PostWebhookResponse,
    TestWebhookResponse,
    Webhook,
)

_OWNER = noted(OWNER, "of its workspace; one of the whole cluster: administrator")


@serve(LIST_WEBHOOKS, noted(ANY_USER, "those of the whole cluster and of own workspaces; administrators: all"))
async def list_webhooks(ctx: MasterContext, caller: Caller) -> GetWebhooksResponse:
    return GetWebhooksResponse(webhooks=await webhooks.list_webhooks(ctx, caller))


@serve(CREATE_WEBHOOK, _OWNER, errors=(FailedPrecondition,))
async def create_webhook(payload: Webhook, ctx: MasterContext, caller: Caller) -> PostWebhookResponse:
    webhook = await webhooks.create(ctx, caller, payload)
    return PostWebhookResponse(webhook=webhook, messages=webhooks.remarks(ctx, payload.url))


@serve(PATCH_WEBHOOK, _OWNER)
async def patch_webhook(payload: PatchWebhook, ctx: MasterContext, caller: Caller, webhook_id: int) -> None:
    await webhooks.set_url(ctx, caller, webhook_id, payload.url)


@serve(DELETE_WEBHOOK, _OWNER)
async def delete_webhook(ctx: MasterContext, caller: Caller, webhook_id: int) -> None:
    await webhooks.delete(ctx, caller, webhook_id)


@serve(TEST_WEBHOOK, _OWNER, errors=(FailedPrecondition,))
async def test_webhook(ctx: MasterContext, caller: Caller, webhook_id: int) -> TestWebhookResponse:
    answer = await webhooks.test(ctx, caller, webhook_id)
    return TestWebhookResponse(completed=True, status_code=answer.status, answer=answer.text)


@serve(LIST_WEBHOOK_DELIVERIES, _OWNER)
async def list_webhook_deliveries(
    ctx: MasterContext, caller: Caller, webhook_id: int, params: ListDeliveries
) -> GetWebhookDeliveriesResponse:
    rows, pagination = await webhooks.list_deliveries(ctx, caller, webhook_id, params)
    return GetWebhookDeliveriesResponse(deliveries=rows, pagination=pagination)


@serve(POST_WEBHOOK_EVENT_DATA, OWNER_OR_TRIAL)
async def post_webhook_event(payload: PostWebhookEventDataRequest, ctx: MasterContext, caller: Caller) -> None:
    await webhooks.post_alert(ctx, caller, payload)


@serve(GET_WEBHOOK_SIGNING_KEY, ADMIN)
async def get_webhook_signing_key(ctx: MasterContext) -> GetWebhookSigningKeyResponse:
    return GetWebhookSigningKeyResponse(signing_key=webhooks.signing_key(ctx))
