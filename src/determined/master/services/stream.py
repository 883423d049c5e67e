"""Hub of `/stream`: clients and their messages. One reader for all, woken by commits, ten times a second at most.

A pass reads what changed since the last one, once for all clients, and in the same snapshot what new subscriptions
have missed; so nothing falls between the two, and nothing is said twice.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection

from determined.errors import Unavailable
from determined.master import supervise
from determined.master.context import MasterContext
from determined.master.db.queries import change
from determined.master.db.queries import session as sessions
from determined.master.services.stream_agents import AgentFeed
from determined.master.services.stream_rows import Message, deletion, messages
from determined.master.services.stream_spec import TRAITS, Filter, Noun, Subscription, union
from determined.master.services.stream_sync import Caught, Known, catch_up
from determined.wire.stream import AliveMsg, SyncMsg

MAX_CLIENTS = 1000
MAX_BACKLOG = 4 * 1024 * 1024  # bytes that wait for a client; whoever is slower is dropped and comes back with `since`
TOO_SLOW = 1013
REFUSED = 1008
_PACE = 0.1
_RETRY = 1.0
_AGENTS_PERIOD = 1.0  # nodes come and go without a commit
_PAGE = 5000

_encode = msgspec.json.Encoder().encode


class Subscriber:
    """Connection: its subscription and the frames that wait to be sent. `session_id`: None for a task's token."""

    def __init__(self, session_id: int | None = None) -> None:
        self.session_id = session_id
        self.subscription: Subscription | None = None
        self.after = 0  # everything up to this number has been said
        self.held: dict[Noun, set[str]] = {}
        self.failure: str | None = None
        self.close_code = TOO_SLOW
        self._frames: deque[bytes] = deque()
        self._backlog = 0
        self._allowed = MAX_BACKLOG
        self._ready = asyncio.Event()

    async def frame(self, seconds: float) -> bytes | None:
        """Return the next frame; None when none came for so long, or when `failure` says that there will be no more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        # One may have come in the very moment in which the time was over: `alive` must not overtake it.
        if self.failure is not None or not self._frames:
            return None
        frame = self._frames.popleft()
        self._backlog -= len(frame)
        if not self._frames:
            self._ready.clear()
            self._allowed = MAX_BACKLOG
        return frame

    def unsubscribe(self) -> None:
        """Say nothing until `begin`. What still waits is of the old subscription; `since` asks for it again."""
        self.subscription = None
        self._backlog = 0
        self._frames.clear()
        if self.failure is None:
            self._ready.clear()

    def begin(
        self, subscription: Subscription, caught: Iterable[bytes], held: dict[Noun, set[str]], known: Known
    ) -> None:
        """Begin this subscription: first what was missed, then what comes."""
        done = SyncMsg(subscription.sync_id, True)
        if subscription.extended:
            done = SyncMsg(subscription.sync_id, True, known.newest, known.epoch)
        self.subscription, self.held, self.after = subscription, held, known.newest
        self._push(
            [_encode(SyncMsg(subscription.sync_id, False)), *caught, _encode(done)], extended=subscription.extended
        )
        # what comes while the client still reads all this is no sign of slowness
        self._allowed = MAX_BACKLOG + self._backlog

    def tell(self, said: Sequence[Message]) -> None:
        if self.subscription is None:
            return
        data = [d for m in said if (d := self._worded(self.subscription, m)) is not None]
        if not data:
            return
        if self._backlog > self._allowed:
            self.fail(TOO_SLOW, f"{self._backlog} bytes wait to be read; connect again and say `since`")
            return
        self._push(data, extended=self.subscription.extended)

    def fail(self, code: int, reason: str) -> None:
        """Say nothing more; whoever sends closes the connection with this code and reason."""
        self.close_code, self.failure = code, reason
        self._frames.clear()
        self._ready.set()

    def alive(self) -> bytes | None:
        """Return what is sent in quiet times: a client that hears nothing at all knows that the connection is dead."""
        if self.subscription is None or not self.subscription.extended:
            return None
        return _encode(AliveMsg(self.after))

    def wants(self, noun: Noun) -> bool:
        return self.subscription is not None and noun in self.subscription.filters

    def _worded(self, subscription: Subscription, message: Message) -> bytes | None:
        noun = Noun(message.noun)
        if TRAITS[noun].stored and message.seq <= self.after:
            return None
        held = self.held.setdefault(noun, set()) if subscription.follows(noun) else set()
        if subscription.takes(message.noun, message.id, message.parent, message.value):
            if message.deleted:
                held.discard(message.id)
            else:
                held.add(message.id)
            return message.data
        if message.id not in held:
            return None
        held.discard(message.id)
        return deletion(message.noun, [message.id])  # it has moved to an owner that was not asked for

    def _push(self, data: Sequence[bytes], *, extended: bool) -> None:
        frames = [b"[" + b",".join(data) + b"]"] if extended else data
        self._frames.extend(frames)
        self._backlog += sum(map(len, frames))
        self._ready.set()


@dataclass(frozen=True, slots=True)
class _Seen:
    """Rows that one pass found in the database."""

    known: Known
    position: int
    messages: list[Message]
    caught: list[Caught]


class StreamHub:
    """`join`, `subscribe`, `leave`; `open` once, `close` at the end. In the event loop only."""

    def __init__(self, ctx: MasterContext) -> None:
        self._ctx = ctx
        self._clients: set[Subscriber] = set()
        self._pending: dict[Subscriber, Subscription] = {}
        self._position: int | None = None  # None: nobody has listened, so nothing needs to be read
        self._agents = AgentFeed(ctx)
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._ctx.db.on_commit(self._committed)
        self._task = supervise.repeat(self._step, name="stream", seconds=_PACE)

    async def close(self) -> None:
        self._ctx.db.on_commit(None)
        if self._task is not None:
            await supervise.stop(self._task)

    def join(self, session_id: int | None = None) -> Subscriber:
        if len(self._clients) >= MAX_CLIENTS:
            raise Unavailable(f"{MAX_CLIENTS} clients listen already; close some or poll the REST API")
        client = Subscriber(session_id)
        self._clients.add(client)
        return client

    def subscribe(self, client: Subscriber, subscription: Subscription) -> None:
        client.unsubscribe()  # what belongs to the old one would be taken for the new one's
        self._pending[client] = subscription
        self._wake.set()

    def leave(self, client: Subscriber) -> None:
        self._clients.discard(client)
        self._pending.pop(client, None)
        if not self._clients:
            self._position = None

    def _committed(self) -> None:
        """Wake the reader, in the writer's thread, after every commit."""
        if self._clients and not self._wake.is_set():
            self._loop.call_soon_threadsafe(self._wake.set)

    async def _step(self) -> None:
        await self._woken()
        try:
            await self._pass()
        except Exception:
            # nobody is told anything until a pass succeeds; what was not said is found again then
            self._wake.set()
            await asyncio.sleep(_RETRY)
            raise

    async def _woken(self) -> None:
        listened = any(client.wants(Noun.AGENTS) for client in self._clients)
        try:
            async with asyncio.timeout(_AGENTS_PERIOD if listened else None):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()

    async def _pass(self) -> None:
        pending = dict(self._pending)
        wanted, position, epoch = self._wanted(), self._position, self._ctx.cluster.cluster_id
        listening, now = {client.session_id for client in self._clients}, self._ctx.clock.now()

        def read(conn: Connection) -> tuple[_Seen, set[int]]:
            seen = _look(conn, position, wanted, list(pending.values()), epoch)
            return seen, sessions.live_among(conn, now, listening)

        seen, live = await self._ctx.db.read(read)
        self._end_sessions(listening - live - {None})
        watched = any(Noun.AGENTS in s.filters for s in pending.values()) or Noun.AGENTS in wanted
        agents = await self._agents.look() if watched else []
        for client in list(self._clients):
            client.tell([*seen.messages, *agents])
            client.after = max(client.after, seen.position)
        for (client, asked), caught in zip(pending.items(), seen.caught, strict=True):
            self._begin(client, asked, caught, seen.known)
        self._position = seen.position if self._clients else None
        if seen.position < seen.known.newest:
            self._wake.set()

    def _end_sessions(self, ended: set[int | None]) -> None:
        """Close the streams of logins and tokens that a commit has ended. A task's are looked at once a minute."""
        for client in self._clients:
            if client.session_id in ended:
                client.fail(REFUSED, "the session ended; log in again")

    def _begin(self, client: Subscriber, subscription: Subscription, caught: Caught, known: Known) -> None:
        if self._pending.get(client) is not subscription:
            return  # it left, or asked for something else meanwhile
        del self._pending[client]
        here = self._agents.everything(subscription) if Noun.AGENTS in subscription.filters else []
        client.begin(subscription, [*caught.data, *here], caught.held, known)

    def _wanted(self) -> dict[Noun, Filter]:
        live = [client for client in self._clients if client.subscription is not None]
        wanted = union(client.subscription for client in live if client.subscription is not None)
        for noun in [noun for noun in wanted if TRAITS[noun].moving]:
            held = frozenset(key for client in live for key in client.held.get(noun, ()))
            wanted[noun] |= Filter(everything=False, ids=held)
        return wanted


def _look(
    conn: Connection,
    position: int | None,
    wanted: Mapping[Noun, Filter],
    subscriptions: Sequence[Subscription],
    epoch: str,
) -> _Seen:
    known = Known(change.newest(conn), change.horizon(conn) if subscriptions else 0, epoch)
    fresh = [] if position is None else change.since(conn, position, _PAGE)
    reached = fresh[-1].seq if len(fresh) == _PAGE else known.newest
    matching = [c for c in fresh if (f := wanted.get(Noun(c.noun))) is not None and f.takes(c.id, c.parent, c.value)]
    return _Seen(known, reached, messages(conn, matching), [catch_up(conn, one, known) for one in subscriptions])
