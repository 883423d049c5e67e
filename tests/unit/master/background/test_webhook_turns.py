"""Turns of webhooks: the one served longest ago is next, and what is known of deleted ones goes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from determined.master.background.webhooks import WebhookSender, _Hold, least_recent

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def test_a_long_backlog_does_not_go_before_webhooks_that_had_no_turn() -> None:
    served = {1: NOW, 2: NOW - timedelta(seconds=9)}
    assert least_recent([1, 2, 3, 4], served, 3) == [3, 4, 2]
    assert least_recent([1, 2], served, 3) == [2, 1]
    assert least_recent([], served, 3) == []


def test_pauses_and_turns_are_dropped_after_an_hour() -> None:
    ctx: Any = None
    sender = WebhookSender(ctx, _holds={1: _Hold(3, NOW)}, _served={1: NOW})
    sender._forget(NOW + timedelta(minutes=59))
    assert list(sender._holds) == list(sender._served) == [1]
    sender._forget(NOW + timedelta(minutes=61))
    assert sender._holds == {} and sender._served == {}
