"""Webhooks: of a workspace by its owner, of the whole cluster by administrators."""

import asyncio
import hashlib
import hmac
import uuid
from datetime import datetime

from sqlalchemy import Connection

from determined.errors import FailedPrecondition, Forbidden, InvalidArgument, TooManyRequests
from determined.master.auth.identity import Caller, require_admin, require_owner
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial_access
from determined.master.db.queries import webhook as webhooks
from determined.master.db.queries import webhook_delivery as deliveries
from determined.master.db.queries import workspace as workspaces
from determined.master.db.rows.webhooks import Webhook, WebhookTriggerValues, WebhookValues
from determined.master.lifecycle import webhook_condition, webhook_triggers
from determined.master.lifecycle import webhooks as lifecycle
from determined.master.lifecycle.webhook_condition import at_field
from determined.master.lifecycle.webhook_event import CUSTOM, STATE_CHANGE, TASK_LOG, AlertFacts, Event
from determined.master.lifecycle.webhook_payload import DEFAULT, SLACK, Envelope, payload
from determined.master.services.own_trial import check_author
from determined.master.services.paging import window
from determined.master.services.webhook_address import AddressRule, parse_url, refused_literal
from determined.master.services.webhook_send import Answer, ReceiverConnection, post, signed_headers
from determined.master.services.webhook_view import delivery, to_wire
from determined.wire import webhook as wire
from determined.wire.base import Pagination

MAX_PAGE = 500  # deliveries in one answer, each with its payload
MAX_WEBHOOKS = 1000  # of a cluster: their triggers are kept in memory
RESERVED_WEBHOOKS = 100  # of these, which only administrators create: users cannot take the last one
MAX_WORKSPACE_WEBHOOKS, MAX_WORKSPACE_TRIGGERS = 20, 100  # each line of a workspace's logs is searched for all
MAX_OWN_WEBHOOKS = 100  # in all workspaces of a user, who may have any number of these
_TYPES = {wire.WebhookType.DEFAULT: DEFAULT, wire.WebhookType.SLACK: SLACK}
_SPECIFIC, _WORKSPACE = "SPECIFIC", "WORKSPACE"
_MODES = {wire.WebhookMode.WORKSPACE: _WORKSPACE, wire.WebhookMode.SPECIFIC: _SPECIFIC}
_LEVELS = {"TRACE": "DEBUG", "CRITICAL": "ERROR", "UNSPECIFIED": "INFO"}  # the others are sent as they are
_KEY_PURPOSE = b"signing key of webhooks"
_TEST = Event(STATE_CHANGE, {}, is_test=True)


async def list_webhooks(ctx: MasterContext, caller: Caller) -> list[wire.Webhook]:
    """List the webhooks that a caller may see: global ones and those of own workspaces; administrators see all."""

    def read(conn: Connection) -> list[wire.Webhook]:
        rows = webhooks.list_all(conn) if caller.admin else webhooks.visible_to(conn, caller.user_id)
        return to_wire(conn, rows, is_admin=caller.admin)

    return await ctx.db.read(read)


async def create(ctx: MasterContext, caller: Caller, request: wire.Webhook) -> wire.Webhook:
    """Create a webhook with its triggers. They are in effect when this returns."""
    values, triggers = await asyncio.to_thread(_checked, request)  # it compiles patterns
    now = ctx.clock.now()

    def write(conn: Connection) -> wire.Webhook:
        require_right(conn, caller, values.get("workspace_id"))
        _check_quota(conn, caller, values.get("workspace_id"), len(triggers))
        webhook_id = webhooks.create(conn, now, values, triggers)
        return to_wire(conn, [_existing(conn, webhook_id)], is_admin=caller.admin)[0]

    try:
        return await ctx.db.write(write)
    finally:
        webhook_triggers.forget(ctx.db.engine)


def remarks(ctx: MasterContext, url: str) -> list[str]:
    """Say that an address cannot be called, where the URL itself has it."""
    host = refused_literal(url, AddressRule.of(ctx.config.webhooks))
    if host is None:
        return []
    return [
        f"this master does not call {host}; its deliveries will fail until webhooks.allowed_networks has it"
        " (docs/webhooks.md#addresses)"
    ]


async def set_url(ctx: MasterContext, caller: Caller, webhook_id: int, url: str) -> None:
    """Change the address: of deliveries that wait as well."""
    with at_field("url"):
        parse_url(url)

    def write(conn: Connection) -> None:
        _changeable(conn, caller, webhook_id)
        webhooks.set_url(conn, webhook_id, url)

    try:
        await ctx.db.write(write)
    finally:
        webhook_triggers.forget(ctx.db.engine)
    ctx.bus.publish(lifecycle.TOPIC)


async def delete(ctx: MasterContext, caller: Caller, webhook_id: int) -> None:
    """Delete a webhook, its triggers and its deliveries, also those that wait."""

    def write(conn: Connection) -> None:
        _changeable(conn, caller, webhook_id)
        webhooks.remove(conn, webhook_id)

    try:
        await ctx.db.write(write)
    finally:
        webhook_triggers.forget(ctx.db.engine)


async def test(ctx: MasterContext, caller: Caller, webhook_id: int) -> Answer:
    """Send a test event and return the answer.

    Raises:
        FailedPrecondition: the receiver answers with an error. AddressRefused, Unreachable: it cannot be asked.
        TooManyRequests: other tests of this user wait for their receivers.
    """
    webhook = await ctx.db.read(lambda conn: _changeable(conn, caller, webhook_id))
    async with ctx.webhook_tests.take(caller.user_id):
        answer = await send(ctx, webhook.url, webhook.type, _TEST, str(uuid.uuid4()), ctx.clock.now())
    if not answer.is_success:
        said = f": {answer.text}" if answer.text else ""
        hint = "; redirects are not followed, use the address that it leads to" if answer.status < 400 else ""
        raise FailedPrecondition(f"the receiver of webhook {webhook_id} answers {answer.status}{hint}{said}")
    return answer


async def list_deliveries(
    ctx: MasterContext, caller: Caller, webhook_id: int, params: wire.ListDeliveries
) -> tuple[list[wire.WebhookDelivery], Pagination]:
    """Return a page of the deliveries of a webhook, the newest first; at most MAX_PAGE of them."""
    states = [state.removeprefix("DELIVERY_STATE_") for state in params.states or ()]
    base_url = ctx.config.webhooks.base_url or ""

    def read(conn: Connection) -> tuple[list[wire.WebhookDelivery], Pagination]:
        webhook = _changeable(conn, caller, webhook_id)
        page = window(deliveries.count_of(conn, webhook_id, states), params.limit, params.offset)
        start = page.start_index or 0
        page.end_index = min(page.end_index or 0, start + MAX_PAGE)
        rows = deliveries.list_of(conn, webhook_id, states, page.end_index - start, start)
        return [delivery(base_url, webhook, row) for row in rows], page

    return await ctx.db.read(read)


async def post_alert(ctx: MasterContext, caller: Caller, request: wire.PostWebhookEventDataRequest) -> None:
    """Queue an alert for the webhooks that the experiment's config names. Raises Forbidden for another's trial."""
    level = (request.data.level or "LOG_LEVEL_INFO").removeprefix("LOG_LEVEL_")
    facts = AlertFacts(request.data.title or "", request.data.description or "", _LEVELS.get(level, level))
    now = ctx.clock.now()

    def write(conn: Connection) -> None:
        trial_id = request.trial_id or None
        _check_source(conn, caller, request.experiment_id, trial_id)
        full = lifecycle.alert(conn, now, request.experiment_id, trial_id, [facts])
        if full is not None:
            raise TooManyRequests(str(full))

    await ctx.db.write(write)
    ctx.bus.publish(lifecycle.TOPIC)


def connection(ctx: MasterContext) -> ReceiverConnection:
    """Return what several events of one webhook may be sent over; the caller closes it."""
    return ReceiverConnection(AddressRule.of(ctx.config.webhooks))


async def send(
    ctx: MasterContext,
    url: str,
    kind: str,
    event: Event,
    event_id: str,
    event_time: datetime,
    over: ReceiverConnection | None = None,
) -> Answer:
    """Send one event, over a connection of its own unless one is given. Raises AddressRefused or Unreachable."""
    config = ctx.config.webhooks
    body = payload(kind, event, Envelope(event_id, int(event_time.timestamp()), config.base_url or ""))
    headers = signed_headers(signing_key(ctx), ctx.clock.now(), body)
    if over is not None:
        return await over.post(url, body, headers)
    return await post(url, body, headers, AddressRule.of(config))


def signing_key(ctx: MasterContext) -> str:
    """Return the key of the config, or the cluster's own, which is the same after every start."""
    own = hmac.new(ctx.cluster.secret, _KEY_PURPOSE, hashlib.sha256).hexdigest()
    return ctx.config.webhooks.signing_key or own


def require_right(conn: Connection, caller: Caller, workspace_id: int | None) -> None:
    """Require the right to the webhooks of a workspace; None: to those of the whole cluster."""
    if workspace_id is None:
        require_admin(
            caller,
            "manage webhooks of the whole cluster, or name a workspace of yours (make one: det workspace create NAME)",
        )
        return
    workspace = workspaces.existing(conn, workspace_id)
    require_owner(caller, workspace.user_id, f"workspace '{workspace.name}'")


def _check_source(conn: Connection, caller: Caller, experiment_id: int, trial_id: int | None) -> None:
    if trial_id is not None:
        check_author(conn, caller, trial_id)
        if trial_access.experiment_of_trial(conn, trial_id) != experiment_id:
            raise InvalidArgument(f"trial {trial_id} is not of experiment {experiment_id}; send its own")
        return
    owner_id = experiments.get(conn, experiment_id).owner_id
    if caller.kind != "task":
        require_owner(caller, owner_id, f"experiment {experiment_id}")
    elif caller.experiment_id != experiment_id:
        raise Forbidden(f"allocation {caller.allocation_id} may not send alerts of experiment {experiment_id}")


def _check_quota(conn: Connection, caller: Caller, workspace_id: int | None, new_triggers: int) -> None:
    limit = MAX_WEBHOOKS if caller.admin else MAX_WEBHOOKS - RESERVED_WEBHOOKS
    if webhooks.count(conn) >= limit:
        raise FailedPrecondition(f"the cluster has {limit} webhooks or more; delete some first: det webhook list")
    if workspace_id is None:
        return
    if not caller.admin and webhooks.count_of_owner(conn, caller.user_id) >= MAX_OWN_WEBHOOKS:
        raise FailedPrecondition(
            f"your workspaces have {MAX_OWN_WEBHOOKS} webhooks or more; delete some first: det webhook list"
        )
    webhook_count, trigger_count = webhooks.count_in(conn, workspace_id)
    if webhook_count >= MAX_WORKSPACE_WEBHOOKS or trigger_count + new_triggers > MAX_WORKSPACE_TRIGGERS:
        raise FailedPrecondition(
            f"workspace {workspace_id} has {webhook_count} webhooks with {trigger_count} triggers; at most"
            f" {MAX_WORKSPACE_WEBHOOKS} with {MAX_WORKSPACE_TRIGGERS} are kept; delete some first: det webhook list"
        )


def _checked(request: wire.Webhook) -> tuple[WebhookValues, list[WebhookTriggerValues]]:
    """Check a webhook and return its rows. Raises InvalidArgument; its details name the `field`."""
    with at_field("url"):
        parse_url(request.url)
    if not request.triggers:
        raise InvalidArgument("at least one trigger required; name what the webhook is to be told of", field="triggers")
    kind, mode = _TYPES.get(request.webhook_type), _MODES.get(request.mode, _WORKSPACE)
    if kind is None:
        raise InvalidArgument(f"webhookType {request.webhook_type}: use {' or '.join(_TYPES)}", field="webhookType")
    triggers = []
    for n, trigger in enumerate(request.triggers):
        with at_field(f"triggers[{n}]"):
            triggers.append(_checked_trigger(trigger, mode))
    values: WebhookValues = {
        "url": request.url,
        "type": kind,
        "mode": mode,
        "name": request.name.replace("\0", "").strip(),
        "workspace_id": request.workspace_id or None,
    }
    return values, triggers


def _checked_trigger(trigger: wire.Trigger, mode: str) -> WebhookTriggerValues:
    kind = trigger.trigger_type.removeprefix("TRIGGER_TYPE_")
    if kind == CUSTOM and mode != _SPECIFIC:
        raise InvalidArgument("a custom trigger needs mode SPECIFIC: alerts go to the webhooks that a config names")
    condition = webhook_condition.checked(kind, trigger.condition)
    if kind == TASK_LOG:
        webhook_triggers.compiled_pattern(condition["regex"])  # here, so that the writer finds it compiled
    return {"type": kind, "condition": condition}


def _existing(conn: Connection, webhook_id: int) -> Webhook:
    return fetch.existing(
        webhooks.get(conn, webhook_id), f"webhook {webhook_id} not found; `det webhook list` shows all"
    )


def _changeable(conn: Connection, caller: Caller, webhook_id: int) -> Webhook:
    row = _existing(conn, webhook_id)
    require_right(conn, caller, row.workspace_id)
    return row
