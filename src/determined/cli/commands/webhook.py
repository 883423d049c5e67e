"""det webhook: messages to other services when something happens."""

import argparse
import json
import math
from typing import Any

from determined.api import webhook, workspace
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command, group
from determined.wire.webhook import (
    DeliveryState,
    ListDeliveries,
    Trigger,
    TriggerType,
    Webhook,
    WebhookDelivery,
    WebhookMode,
    WebhookType,
)

_OPERATORS = ("<=", ">=", "==", "!=", "<", ">")  # the longer ones first: `<` is the beginning of `<=`
_STATES = [state.removeprefix("DELIVERY_STATE_").lower() for state in DeliveryState][1:]


def list_webhooks(args: argparse.Namespace) -> None:
    webhooks = webhook.listing(connect(args))
    render.rows(_HEADERS, [_row(one) for one in webhooks], args=args, data=webhooks)


def create(args: argparse.Namespace) -> None:
    triggers = _triggers(args)
    if not triggers:
        raise UsageError("say what to tell of: --on-state, --on-log, --on-metric, --on-silence or --on-alert")
    session = connect(args)
    is_specific = args.specific or args.on_alert
    request = Webhook(
        url=args.url,
        name=args.name or "",
        webhook_type=WebhookType.SLACK if args.slack else WebhookType.DEFAULT,
        mode=WebhookMode.SPECIFIC if is_specific else WebhookMode.WORKSPACE,
        workspace_id=workspace.by_name(session, args.workspace).id if args.workspace else None,
        triggers=triggers,
    )
    answer = webhook.create(session, request)
    if args.json:
        render.structured(answer.webhook)
    else:
        render.line(f"Created webhook {answer.webhook.id}")
    for message in answer.messages:
        render.warn(f"Warning: {message}")


def describe(args: argparse.Namespace) -> None:
    row = webhook.get(connect(args), args.webhook_id)
    if args.json:
        render.structured(row)
        return
    render.table(_HEADERS, [_row(row)])
    render.line()
    render.table(["Trigger", "Type", "Condition"], [_trigger_row(trigger) for trigger in row.triggers or []])


def test(args: argparse.Namespace) -> None:
    webhook.test(connect(args), args.webhook_id)
    render.line(f"Webhook {args.webhook_id} has answered with success")


def set_url(args: argparse.Namespace) -> None:
    webhook.set_url(connect(args), args.webhook_id, args.url)
    render.line(f"Changed the address of webhook {args.webhook_id}")


def delete(args: argparse.Namespace) -> None:
    webhook.delete(connect(args), args.webhook_id)
    render.line(f"Deleted webhook {args.webhook_id}")


def deliveries(args: argparse.Namespace) -> None:
    states = [DeliveryState(f"DELIVERY_STATE_{args.state.upper()}")] if args.state else None
    rows = webhook.deliveries(connect(args), args.webhook_id, ListDeliveries(states=states, limit=args.limit))
    headers = ["ID", "Event", "State", "Attempts", "Created At", "Finished At", "Answer", "Error"]
    render.rows(headers, [_delivery_row(row) for row in rows], args=args, data=rows)


def signing_key(args: argparse.Namespace) -> None:
    render.line(webhook.signing_key(connect(args)))


def _triggers(args: argparse.Namespace) -> list[Trigger]:
    kinds, silence = TriggerType, [args.on_silence] if args.on_silence else []
    metrics = [_threshold(text, args.group) for text in args.on_metric]
    return [
        *(_trigger(kinds.EXPERIMENT_STATE_CHANGE, {"state": state.upper()}) for state in args.on_state),
        *(_trigger(kinds.TASK_LOG, {"regex": regex}) for regex in args.on_log),
        *(_trigger(kinds.METRIC_THRESHOLD_EXCEEDED, condition) for condition in metrics),
        *(_trigger(kinds.METRIC_THRESHOLD_EXCEEDED, {"no_report_for": text}) for text in silence),
        *([_trigger(kinds.CUSTOM, {})] if args.on_alert else []),
    ]


def _trigger(kind: TriggerType, condition: dict[str, Any]) -> Trigger:
    return Trigger(trigger_type=kind, condition=condition)


def _threshold(text: str, metric_group: str) -> dict[str, Any]:
    sign = next((sign for sign in _OPERATORS if sign in text), None)
    name, _, value = text.rpartition(sign) if sign else ("", "", "")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not name.strip() or not math.isfinite(number):
        raise UsageError(f'--on-metric {text!r}: write it like "validation_loss < 0.1"')
    return {"metric": name.strip(), "group": metric_group, "operator": sign, "value": number}


def _row(one: Webhook) -> list[Any]:
    triggers = ", ".join(_trigger_text(trigger) for trigger in one.triggers or [])
    kind, mode = one.webhook_type.removeprefix("WEBHOOK_TYPE_"), one.mode.removeprefix("WEBHOOK_MODE_")
    return [one.id, one.name, one.url, kind, mode, one.workspace_id or "all", triggers, _last_delivery(one)]


def _last_delivery(one: Webhook) -> str:
    """Return the state of the newest delivery; empty without one, and for whoever may not see it."""
    last = one.last_delivery
    if last is None:
        return ""
    is_again = last.state == DeliveryState.PENDING and last.attempts > 0
    return "TRIES AGAIN" if is_again else last.state.removeprefix("DELIVERY_STATE_")


def _trigger_text(trigger: Trigger) -> str:
    condition = trigger.condition or {}
    if "metric" in condition:
        return f"{condition['group']} {condition['metric']} {condition['operator']} {condition['value']}"
    if "no_report_for" in condition:
        return f"no report for {condition['no_report_for']}"
    if "regex" in condition:
        return f"log {condition['regex']}"
    return str(condition.get("state", "alert"))


def _trigger_row(trigger: Trigger) -> list[Any]:
    return [trigger.id, trigger.trigger_type.removeprefix("TRIGGER_TYPE_"), json.dumps(trigger.condition or {})]


def _delivery_row(row: WebhookDelivery) -> list[Any]:
    answer = row.status_code if row.status_code is not None else ""
    return [
        row.id,
        row.event_type,
        row.state.removeprefix("DELIVERY_STATE_"),
        row.attempts,
        render.time_of(row.created_at),
        render.time_of(row.finished_at),
        answer,
        row.error or "",
    ]


_HEADERS = ["ID", "Name", "URL", "Type", "Mode", "Workspace ID", "Triggers", "Last Delivery"]
_ID = arg("webhook_id", type=int)

TREE = group(
    "webhook",
    "manage webhooks",
    command("list ls", "list webhooks", list_webhooks, render.FORMATS, default=True),
    command(
        "create",
        "create webhook",
        create,
        arg("url", help="http:// or https:// address that is sent to"),
        arg("--name", help="a config names it in integrations.webhooks.webhook_name"),
        arg("-w", "--workspace", help="only of experiments in this workspace; default: all, for administrators"),
        arg("--slack", action="store_true", help="send messages as Slack takes them"),
        arg("--specific", action="store_true", help="only for experiments whose config names it"),
        arg(
            "--on-state",
            action="append",
            default=[],
            metavar="STATE",
            help="an experiment becomes COMPLETED, ERROR, ...",
        ),
        arg("--on-log", action="append", default=[], metavar="REGEX", help="a line of a task's log matches"),
        arg("--on-metric", action="append", default=[], metavar="CONDITION", help='such as "validation_loss < 0.1"'),
        arg("--group", default="validation", help="group of the metrics of --on-metric"),
        arg("--on-silence", metavar="DURATION", help="a running trial reports no metrics for so long, such as 30m"),
        arg("--on-alert", action="store_true", help="core_context.alert() of experiments that name it"),
        render.JSON,
    ),
    command("describe", "describe webhook and its triggers", describe, _ID, render.JSON),
    command("test", "send test event and wait for the answer", test, _ID),
    command("set-url", "change the address", set_url, _ID, arg("url")),
    command("delete", "delete webhook and its deliveries", delete, _ID),
    command(
        "deliveries",
        "list what was sent, newest first",
        deliveries,
        _ID,
        arg("--state", choices=_STATES, help="only these"),
        arg("--limit", type=int, default=50, help="how many"),
        render.FORMATS,
    ),
    command("signing-key", "print the signing key", signing_key),
)
