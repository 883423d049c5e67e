"""Sends the events that the delivery queue holds, each until it is answered, refused or too old.

A delivery is claimed in one transaction, sent with none open, and its answer is written in another. One that was
answered is never sent again. A master that dies between an answer and its commit cannot know of it: the next one sends
that delivery once more, with the same `event_id`.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection

from determined._backoff import Backoff
from determined.errors import InvalidArgument, Unavailable
from determined.master import supervise
from determined.master.context import MasterContext
from determined.master.db.queries import webhook as webhooks
from determined.master.db.queries import webhook_delivery as deliveries
from determined.master.db.queries.webhook_delivery import DueWebhook
from determined.master.db.rows.webhooks import Webhook, WebhookDelivery, WebhookDeliveryValues
from determined.master.lifecycle import webhook_triggers
from determined.master.lifecycle import webhooks as lifecycle
from determined.master.lifecycle.webhook_event import Event
from determined.master.services import webhook as service
from determined.master.services.webhook_address import AddressRefused, Unreachable
from determined.master.services.webhook_send import Answer, ReceiverConnection

T = TypeVar("T")
Turns = dict[tuple[int | None, int | None], datetime]  # by owner and webhook, and by owner alone: when one last began

logger = logging.getLogger(__name__)

SILENCE_PERIOD_S = 10.0  # between two looks for trials that have fallen silent
_SILENCES_AT_ONCE = 5  # triggers in one transaction
PRUNE_PERIOD_S = 3600.0
_WORKERS = 3  # webhooks that are sent to at the same time, one request each
_BATCH = 10  # deliveries that a worker claims at once
_BATCH_S = 10.0  # after which a worker gives back the rest of its batch: slow receivers must not keep it
_YIELD = 2.0  # pause after a delivery, by the time that it took: a busy master sends slower
_MIN_YIELD_S, _MAX_YIELD_S = 0.006, 0.1  # without the first, quick receivers would get half the master's processor time
_POLL_S = 1.0
_STOP_S = 2.0  # for answers that are on their way when the master stops
_RETRY = Backoff(first=1.0, limit=900.0)
_HOLD = Backoff(first=1.0, limit=60.0)  # of a receiver that fails: its other deliveries wait, those of others go on
_GIVE_UP = timedelta(days=3)
_FORGET = timedelta(hours=1)  # pauses and turns of webhooks; those of deleted ones would stay for ever
_KEEP = timedelta(days=7)
_KEEP_COUNT = 1000  # finished deliveries of one webhook
_NEVER = datetime.min.replace(tzinfo=UTC)
_RETRIED = frozenset({408, 425, 429})


async def sweep_silence(ctx: MasterContext) -> None:
    """Queue events of trials that have fallen silent; called every SILENCE_PERIOD_S.

    Triggers are looked at by a reader, and the writer gets only those that have something, a few at a time: a user with
    hundreds of them must not hold up the writes of others.
    """
    now = ctx.clock.now()
    triggers = await ctx.db.write(lifecycle.silence_triggers)
    met = await ctx.db.read(lambda conn: lifecycle.met_silences(conn, now, triggers)) if triggers else []
    for start in range(0, len(met), _SILENCES_AT_ONCE):
        part = met[start : start + _SILENCES_AT_ONCE]
        if await ctx.db.write(partial(lifecycle.queue_silences, now=now, triggers=part)):
            ctx.bus.publish(lifecycle.TOPIC)


async def prune(ctx: MasterContext) -> None:
    """Remove old deliveries; called every PRUNE_PERIOD_S."""
    before = ctx.clock.now() - _KEEP
    await ctx.db.write(lambda conn: deliveries.prune(conn, before, _KEEP_COUNT))


@dataclass(slots=True)
class _Hold:
    """Pause of a webhook whose receiver has failed."""

    failures: int
    until: datetime


@dataclass(slots=True)
class WebhookSender:
    ctx: MasterContext
    _workers: dict[int, asyncio.Task[Any]] = field(default_factory=dict)  # by webhook
    _holds: dict[int, _Hold] = field(default_factory=dict)
    _owners: dict[int, int | None] = field(default_factory=dict)  # of the webhooks that have a worker
    _turns: Turns = field(default_factory=dict)

    async def run(self) -> None:
        """Send until cancelled."""
        await self._write_until_stored(lambda conn: deliveries.release_of_others(conn, self._owner))
        try:
            async with self.ctx.bus.listen(lifecycle.TOPIC) as hints:
                while not self.ctx.bus.closed:
                    await self._step()
                    await hints.wait(_POLL_S)
            await asyncio.Event().wait()  # until cancelled: a cancel that came during _stop would end it half-way
        finally:
            await self._stop()

    @property
    def _owner(self) -> str:
        return self.ctx.cluster.master_id

    async def _step(self) -> None:
        """Start a worker for each webhook that has something due, as far as workers are free."""
        now, free = self.ctx.clock.now(), _WORKERS - len(self._workers)
        if free <= 0:
            return
        self._forget(now)
        without = {*self._workers, *(i for i, hold in self._holds.items() if hold.until > now)}
        try:
            due = await self.ctx.db.read(lambda conn: deliveries.due_webhooks(conn, now, without))
        except Unavailable as e:
            logger.warning("webhooks wait: %s", e.message)
            return
        running = Counter(self._owners[i] for i in self._workers)
        for chosen in next_turns(due, running, self._turns, free):
            webhook_id, owner_id = chosen.webhook_id, chosen.owner_id
            self._turns[owner_id, webhook_id] = self._turns[owner_id, None] = now
            self._owners[webhook_id] = owner_id
            self._workers[webhook_id] = supervise.spawn(self._work(webhook_id), name=f"webhook {webhook_id}")

    def _forget(self, now: datetime) -> None:
        """Drop pauses and turns that ended long ago."""
        before = now - _FORGET
        self._holds = {i: hold for i, hold in self._holds.items() if hold.until > before}
        self._turns = {key: time for key, time in self._turns.items() if time > before}

    async def _work(self, webhook_id: int) -> None:
        """Send some deliveries of one webhook, one after the other; a failure or _BATCH_S ends the batch."""
        loop = asyncio.get_running_loop()
        end, connection = loop.time() + _BATCH_S, service.connection(self.ctx)
        try:
            read_at = self._changes
            webhook, batch = await self._write_until_stored(partial(self._claim, webhook_id))
            for n, delivery in enumerate(batch):
                begin = loop.time()
                if read_at != self._changes:
                    read_at = self._changes
                    webhook = await self._write_until_stored(
                        lambda conn: webhooks.get(conn, webhook_id), self.ctx.db.read
                    )
                # one that was deleted has taken its deliveries with it
                is_up = webhook is None or await self._try(webhook, delivery, connection)
                await asyncio.sleep(min(max(_YIELD * (loop.time() - begin), _MIN_YIELD_S), _MAX_YIELD_S))
                if not is_up or loop.time() >= end or self.ctx.bus.closed:
                    rest = [later.id for later in batch[n + 1 :]]
                    await self._write_until_stored(partial(deliveries.release, delivery_ids=rest))
                    break
        finally:
            connection.close()
            del self._workers[webhook_id], self._owners[webhook_id]
            self.ctx.bus.publish(lifecycle.TOPIC)

    @property
    def _changes(self) -> int:
        return webhook_triggers.changes(self.ctx.db.engine)

    def _claim(self, webhook_id: int, conn: Connection) -> tuple[Webhook | None, list[WebhookDelivery]]:
        batch = deliveries.claim(conn, self.ctx.clock.now(), webhook_id, self._owner, _BATCH)
        return webhooks.get(conn, webhook_id), batch

    async def _try(self, webhook: Webhook, delivery: WebhookDelivery, connection: ReceiverConnection) -> bool:
        try:
            return await self._deliver(webhook, delivery, connection)
        except Exception as e:
            if self.ctx.bus.closed:
                raise
            # a mistake of ours in one event must not leave it claimed for ever, nor stop the others
            logger.exception("webhook %s: event %s could not be sent", delivery.webhook_id, delivery.event_id)
            return await self._failed(delivery, {"error": f"the master could not send it: {type(e).__name__}"})

    async def _deliver(self, webhook: Webhook, delivery: WebhookDelivery, connection: ReceiverConnection) -> bool:
        """Send one delivery and write what came of it; False when the receiver seems to be down."""
        try:
            answer = await self._send(webhook, delivery, connection)
        except Unreachable as e:
            return await self._failed(delivery, {"url": webhook.url, "error": e.message, "status_code": None})
        except (AddressRefused, InvalidArgument) as e:
            await self._finish(delivery, deliveries.FAILED, {"url": webhook.url, "error": e.message})
            return True
        outcome: WebhookDeliveryValues = {"url": webhook.url, "status_code": answer.status, "answer": answer.text}
        if answer.is_success:
            self._holds.pop(delivery.webhook_id, None)
            await self._finish(delivery, deliveries.DELIVERED, {**outcome, "error": None})
            return True
        outcome["error"] = _reason(answer)
        if answer.status >= 500 or answer.status in _RETRIED:
            return await self._failed(delivery, outcome)
        await self._finish(delivery, deliveries.FAILED, outcome)
        return True

    async def _send(self, webhook: Webhook, delivery: WebhookDelivery, connection: ReceiverConnection) -> Answer:
        event, event_id, time = Event.from_row(delivery.event), delivery.event_id, delivery.created_at
        return await service.send(self.ctx, webhook.url, webhook.type, event, event_id, time, connection)

    async def _failed(self, delivery: WebhookDelivery, outcome: WebhookDeliveryValues) -> bool:
        """Let a delivery wait for its next attempt, or give it up, and the webhook pause; return False."""
        now = self.ctx.clock.now()
        if now - delivery.created_at >= _GIVE_UP:
            await self._finish(delivery, deliveries.FAILED, outcome)
        else:
            until = now + timedelta(seconds=_RETRY.delay(delivery.attempts))
            await self._write_until_stored(lambda conn: deliveries.postpone(conn, until, delivery.id, outcome))
        failures = self._holds[delivery.webhook_id].failures if delivery.webhook_id in self._holds else 0
        pause = timedelta(seconds=_HOLD.delay(failures))
        self._holds[delivery.webhook_id] = _Hold(failures + 1, now + pause)
        return False

    async def _finish(self, delivery: WebhookDelivery, state: str, outcome: WebhookDeliveryValues) -> None:
        now = self.ctx.clock.now()
        if state == deliveries.FAILED:
            logger.warning(
                "webhook %s: event %s was not delivered: %s",
                delivery.webhook_id, delivery.event_id, outcome.get("error"),
            )  # fmt: skip
        await self._write_until_stored(
            lambda conn: deliveries.finish(conn, now, delivery.id, {**outcome, "state": state})
        )

    async def _write_until_stored(
        self,
        run: Callable[[Connection], T],
        through: Callable[[Callable[[Connection], T]], Awaitable[T]] | None = None,
    ) -> T:
        """Write, or read, however long the database is away: an answer that is not written would be asked for again."""
        while True:
            try:
                return await (through or self.ctx.db.write)(run)
            except Unavailable as e:
                if self.ctx.bus.closed:
                    raise
                logger.warning("webhooks wait: %s", e.message)
            await asyncio.sleep(_POLL_S)

    async def _stop(self) -> None:
        if self._workers:
            await asyncio.wait(list(self._workers.values()), timeout=_STOP_S)
        await supervise.stop(*self._workers.values())


def next_turns(due: Sequence[DueWebhook], running: Counter[int | None], turns: Turns, limit: int) -> list[DueWebhook]:
    """Choose the webhooks whose turn it is: of owners in turn, and of each the one served longest ago.

    A user with a hundred webhooks at slow receivers must not make the only webhook of another wait for all of them.
    `running`: workers by owner.
    """
    waiting, chosen = list(due), list[DueWebhook]()
    busy = Counter(running)

    def urgency(one: DueWebhook) -> tuple[int, datetime, datetime]:
        of_owner, of_webhook = (
            turns.get((one.owner_id, None), _NEVER),
            turns.get((one.owner_id, one.webhook_id), _NEVER),
        )
        return busy[one.owner_id], of_owner, of_webhook

    while waiting and len(chosen) < limit:
        following = min(waiting, key=urgency)
        waiting.remove(following)
        busy[following.owner_id] += 1
        chosen.append(following)
    return chosen


def _reason(answer: Answer) -> str:
    if 300 <= answer.status < 400:
        return f"the receiver answers {answer.status}; redirects are not followed"
    return f"the receiver answers {answer.status}"
