"""Turns of webhooks: owners take turns, the one served longest ago is next, and what is known of deleted ones goes."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from determined.master.background.webhooks import Turns, WebhookSender, _Hold, next_turns
from determined.master.db.queries.webhook_delivery import DueWebhook

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def chosen(due: dict[int, int | None], turns: Turns, limit: int, **running: int) -> list[int]:
    """Return the webhooks whose turn it is; `due`: owner by webhook."""
    rows = [DueWebhook(webhook_id, owner_id) for webhook_id, owner_id in due.items()]
    busy = Counter[int | None]({int(owner.removeprefix("of_")): n for owner, n in running.items()})
    return [row.webhook_id for row in next_turns(rows, busy, turns, limit)]


def test_a_long_backlog_does_not_go_before_webhooks_that_had_no_turn() -> None:
    turns: Turns = {(7, 1): NOW, (7, 2): NOW - timedelta(seconds=9), (7, None): NOW}
    assert chosen({1: 7, 2: 7, 3: 7, 4: 7}, turns, 3) == [3, 4, 2]
    assert chosen({1: 7, 2: 7}, turns, 3) == [2, 1]
    assert chosen({}, turns, 3) == []


def test_the_only_webhook_of_a_user_does_not_wait_for_a_hundred_of_another() -> None:
    many: dict[int, int | None] = dict.fromkeys(range(100), 7)
    turns: Turns = {(8, 500): NOW, (8, None): NOW}
    assert chosen({**many, 500: 8}, turns, 3) == [0, 500, 1], "each owner has a turn before one has two"
    assert chosen({**many, 500: 8}, turns, 1, of_7=2) == [500], "whoever has workers already waits"
    assert chosen({**many, 500: None}, {}, 2) == [0, 500], "those of the cluster are as those of one owner"


def test_owners_with_equal_shares_take_turns() -> None:
    turns: Turns = {(7, None): NOW, (8, None): NOW - timedelta(seconds=1)}
    assert chosen({1: 7, 2: 8}, turns, 1) == [2]


def test_pauses_and_turns_are_dropped_after_an_hour() -> None:
    ctx: Any = None
    sender = WebhookSender(ctx, _holds={1: _Hold(3, NOW)}, _turns={(7, 1): NOW})
    sender._forget(NOW + timedelta(minutes=59))
    assert (list(sender._holds), list(sender._turns)) == ([1], [(7, 1)])
    sender._forget(NOW + timedelta(minutes=61))
    assert sender._holds == {} and sender._turns == {}
