"""The first part of a subscription to `/stream`: what changed before it, in the snapshot that the live part follows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import change
from determined.master.db.rows.changes import Change
from determined.master.services.stream_rows import deletion, messages
from determined.master.services.stream_spec import TRAITS, Filter, Noun, Subscription
from determined.wire.stream import FROM_NOW, ResetMsg

KEPT_TOMBSTONES = 100_000  # whoever has missed more deletions than these is told to start again

_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Caught:
    """Messages to send, and which things that can move the client then holds."""

    data: list[bytes] = field(default_factory=list)
    held: dict[Noun, set[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Known:
    """Extent of what the database knows: numbers run to `newest`, deletions are known since `horizon`."""

    newest: int
    horizon: int
    epoch: str


def catch_up(conn: Connection, subscription: Subscription, known: Known) -> Caught:
    """Upstream's rules: with `known` it hears what it lacks and what it must drop; with `since` what is newer."""
    caught = Caught()
    lost: list[str] = []
    for noun in (n for n in subscription.filters if TRAITS[n].stored):
        since = subscription.since.get(noun) or 0
        if since == FROM_NOW:
            continue
        if _forgotten(subscription, noun, since, known):
            if subscription.extended:
                lost.append(noun)
                continue
            since = 0
        _catch_up_noun(conn, subscription, noun, since, caught)
    if lost:
        caught.data.append(_encode(ResetMsg(lost)))
    return caught


async def sweep_tombstones(ctx: MasterContext, keep: int = KEPT_TOMBSTONES) -> int:
    """Forget the oldest deletions; answers how many."""
    return await ctx.db.write(lambda conn: change.sweep(conn, keep))


def _forgotten(subscription: Subscription, noun: Noun, since: int, known: Known) -> bool:
    """Return whether numbers are of another database, or so old that deletions since may have been swept away."""
    if since == 0:
        return False
    if since > known.newest or (subscription.epoch and subscription.epoch != known.epoch):
        return True
    return since < known.horizon and noun not in subscription.known


def _catch_up_noun(conn: Connection, subscription: Subscription, noun: Noun, since: int, caught: Caught) -> None:
    wanted, had = subscription.filters[noun], subscription.known.get(noun)
    if had is None:
        fresh = _matching(conn, noun, since, wanted)
        gone = [] if since == 0 else [c.id for c in fresh if c.deleted]
    else:
        now = [c for c in _matching(conn, noun, 0, wanted) if not c.deleted]
        fresh = [c for c in now if c.seq > since or c.id not in had]
        gone = list(had - {c.id for c in now})
        if subscription.follows(noun):
            caught.held[noun] = {c.id for c in now}
    if gone:
        caught.data.append(deletion(noun, gone))
    living = [c for c in fresh if not c.deleted]
    caught.data += [m.data for m in messages(conn, living)]
    if subscription.follows(noun) and noun not in caught.held:
        caught.held[noun] = {c.id for c in living}


def _matching(conn: Connection, noun: Noun, since: int, wanted: Filter) -> Sequence[Change]:
    if wanted.everything:
        return change.of_noun(conn, noun, since)
    named = {"parents": sorted(wanted.parents), "users": sorted(wanted.users)}
    return change.of_noun(conn, noun, since, ids=sorted(wanted.ids), **named)
