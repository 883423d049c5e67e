"""Rows of webhooks and their triggers, and which task or trial a trigger has fired for."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, or_, select, update

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.queries.batching import batches
from determined.master.db.rows.webhooks import Webhook, WebhookTrigger, WebhookTriggerValues, WebhookValues
from determined.master.db.schema import webhook_firings, webhook_triggers, webhooks, workspaces


class ArmedTrigger(Webhook, frozen=True):
    """A webhook with one of its triggers."""

    trigger_id: int
    trigger_type: str
    condition: JsonObject


class PlacedTrigger(WebhookTrigger, frozen=True):
    """A trigger with the workspace of its webhook; None: the whole cluster."""

    workspace_id: int | None


# Statements of reporting and sending are built once: building one costs more than running it.
_GET = select(webhooks).where(webhooks.c.id == bindparam("webhook"))
_T = webhook_triggers.c
_ARMED = select(webhooks, _T.id.label("trigger_id"), _T.type.label("trigger_type"), _T.condition).join(
    webhook_triggers, _T.webhook_id == webhooks.c.id
)
_ARMED_IN = _ARMED.where(
    _T.id.in_(bindparam("trigger_ids", expanding=True)),
    or_(webhooks.c.workspace_id.is_(None), webhooks.c.workspace_id == bindparam("workspace")),
).order_by(_T.id)
# Looks up the few triggers that have fired for the trial, not all of a type.
_FORGET = delete(webhook_firings).where(
    webhook_firings.c.trial_id == bindparam("trial"),
    exists().where(_T.id == webhook_firings.c.trigger_id, _T.type == bindparam("trigger_type")),
)


def list_all(conn: Connection) -> list[Webhook]:
    return fetch.rows(conn, select(webhooks).order_by(webhooks.c.id), Webhook)


def visible_to(conn: Connection, user_id: int) -> list[Webhook]:
    """List the global webhooks and those of the workspaces that this user owns."""
    owned = select(workspaces.c.id).where(workspaces.c.user_id == user_id)
    condition = or_(webhooks.c.workspace_id.is_(None), webhooks.c.workspace_id.in_(owned))
    return fetch.rows(conn, select(webhooks).where(condition).order_by(webhooks.c.id), Webhook)


def reachable_from(conn: Connection, workspace_id: int) -> list[Webhook]:
    """List the webhooks that experiments of a workspace may name: its own and those of the whole cluster."""
    condition = or_(webhooks.c.workspace_id.is_(None), webhooks.c.workspace_id == workspace_id)
    return fetch.rows(conn, select(webhooks).where(condition).order_by(webhooks.c.id), Webhook)


def get(conn: Connection, webhook_id: int) -> Webhook | None:
    return fetch.row(conn, _GET, Webhook, {"webhook": webhook_id})


def count(conn: Connection) -> int:
    return conn.execute(select(func.count()).select_from(webhooks)).scalar_one()


def count_in(conn: Connection, workspace_id: int) -> tuple[int, int]:
    """Count the webhooks of a workspace and their triggers."""
    own = select(webhooks.c.id).where(webhooks.c.workspace_id == workspace_id)
    triggers = select(func.count()).where(webhook_triggers.c.webhook_id.in_(own))
    query = select(select(func.count()).select_from(own.subquery()).scalar_subquery(), triggers.scalar_subquery())
    webhook_count, trigger_count = conn.execute(query).one()
    return webhook_count, trigger_count


def count_of_owner(conn: Connection, user_id: int) -> int:
    """Count the webhooks in all workspaces of a user."""
    query = select(func.count()).select_from(webhooks).join(workspaces, workspaces.c.id == webhooks.c.workspace_id)
    return conn.execute(query.where(workspaces.c.user_id == user_id)).scalar_one()


def create(conn: Connection, now: datetime, values: WebhookValues, triggers: Sequence[WebhookTriggerValues]) -> int:
    row: WebhookValues = {**values, "created_at": now}
    webhook_id = conn.execute(insert(webhooks).values(**row).returning(webhooks.c.id)).scalar_one()
    conn.execute(insert(webhook_triggers), [{**trigger, "webhook_id": webhook_id} for trigger in triggers])
    return webhook_id


def set_url(conn: Connection, webhook_id: int, url: str) -> None:
    conn.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(url=url))


def remove(conn: Connection, webhook_id: int) -> None:
    """Remove a webhook and, by cascade, its triggers and deliveries."""
    conn.execute(delete(webhooks).where(webhooks.c.id == webhook_id))


def triggers_of(conn: Connection, webhook_ids: Sequence[int]) -> list[WebhookTrigger]:
    """List the triggers of these webhooks in the order in which they were given."""
    triggers: list[WebhookTrigger] = []
    for part in batches(webhook_ids):
        query = select(webhook_triggers).where(webhook_triggers.c.webhook_id.in_(part)).order_by(webhook_triggers.c.id)
        triggers += fetch.rows(conn, query, WebhookTrigger)
    return triggers


def all_triggers(conn: Connection) -> list[PlacedTrigger]:
    query = select(webhook_triggers, webhooks.c.workspace_id).join(webhooks)
    return fetch.rows(conn, query.order_by(webhook_triggers.c.id), PlacedTrigger)


def armed(conn: Connection, trigger_ids: Sequence[int], workspace_id: int | None) -> list[ArmedTrigger]:
    """List those of the triggers that are still there, of webhooks that are global or of this workspace."""
    triggers: list[ArmedTrigger] = []
    for part in batches(trigger_ids):
        triggers += fetch.rows(conn, _ARMED_IN, ArmedTrigger, {"trigger_ids": list(part), "workspace": workspace_id})
    return triggers


def armed_anywhere(conn: Connection, trigger_id: int) -> ArmedTrigger | None:
    """Return a trigger with its webhook, whatever its workspace."""
    return fetch.row(conn, _ARMED.where(webhook_triggers.c.id == trigger_id), ArmedTrigger)


def fire_once(conn: Connection, trigger_id: int, *, task_id: str | None = None, trial_id: int | None = None) -> bool:
    """Remember that a trigger has fired for this task or trial; False when it had before."""
    if not unfired(conn, [trigger_id], task_id=task_id, trial_id=trial_id):
        return False
    conn.execute(insert(webhook_firings).values(trigger_id=trigger_id, task_id=task_id, trial_id=trial_id))
    return True


def forget_firings(conn: Connection, trigger_type: str, trial_id: int) -> None:
    """Let all triggers of a type fire for this trial again."""
    conn.execute(_FORGET, {"trial": trial_id, "trigger_type": trigger_type})


def unfired(
    conn: Connection, trigger_ids: Sequence[int], *, task_id: str | None = None, trial_id: int | None = None
) -> list[int]:
    """Keep the triggers that have not fired for this task or trial."""
    f = webhook_firings.c
    same = f.task_id == task_id if task_id is not None else f.trial_id == trial_id
    fired: set[int] = set()
    for part in batches(trigger_ids):
        fired.update(conn.execute(select(f.trigger_id).where(f.trigger_id.in_(part), same)).scalars())
    return [trigger_id for trigger_id in trigger_ids if trigger_id not in fired]
