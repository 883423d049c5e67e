"""Compute hyperparameters of waiting trials: a sampler's model runs in a thread, outside of transactions.

One trial at a time in each search (the next point depends on the one before), several searches at once. Where more
searches wait than there are places, each gives its place up after an answer, and those go first that have not been
served for longest.
"""

import asyncio
import logging
from dataclasses import dataclass, field

from sqlalchemy import Connection

from determined.errors import DeterminedError, NotFound
from determined.master import supervise
from determined.master.context import MasterContext
from determined.master.lifecycle import proposals, topics
from determined.master.lifecycle.proposals import Question
from determined.master.lifecycle.searchers import Mirror

logger = logging.getLogger(__name__)

_PERIOD = 2.0  # the bus is a hint and may be lost
_REST = 0.05  # a busy scheduler hints many times a second
_AT_ONCE = 4


@dataclass(slots=True)
class Proposer:
    ctx: MasterContext
    _busy: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _mirrors: dict[int, Mirror] = field(default_factory=dict)
    _turns: dict[int, int] = field(default_factory=dict)  # when each search was last given a place
    _unplaced: int = 0  # searches that wait for a place

    async def run(self) -> None:
        """Run until cancelled."""
        async with self.ctx.bus.listen(topics.PROPOSALS) as hints:
            try:
                while not self.ctx.bus.closed:
                    await self._look()
                    await hints.wait(_PERIOD)
                    await asyncio.sleep(_REST)
            finally:
                await supervise.stop(*self._busy.values())

    async def _look(self) -> None:
        try:
            waiting = await self.ctx.db.read(proposals.waiting)
        except DeterminedError as e:
            # the database is away: those who wait are found by the next look
            logger.warning("proposing hyperparameters waits: %s", e.message)
            return
        self._mirrors = {key: mirror for key, mirror in self._mirrors.items() if key in waiting or key in self._busy}
        self._turns = {key: turn for key, turn in self._turns.items() if key in waiting or key in self._busy}
        idle = sorted((key for key in waiting if key not in self._busy), key=lambda key: self._turns.get(key, 0))
        free = max(_AT_ONCE - len(self._busy), 0)
        for experiment_id in idle[:free]:
            self._turns[experiment_id] = max(self._turns.values(), default=0) + 1
            work = self._serve(experiment_id)
            self._busy[experiment_id] = supervise.spawn(work, name=f"proposals of experiment {experiment_id}")
        self._unplaced = len(idle[free:])

    async def _serve(self, experiment_id: int) -> None:
        """Answer until nobody waits in this search, or another search waits for the place."""
        try:
            while not self.ctx.bus.closed and await self._answer(experiment_id):
                if self._unplaced:
                    self._unplaced -= 1
                    break
            self.ctx.bus.publish(topics.PROPOSALS)  # others may have waited for the place that is free now
        except NotFound:
            logger.info("experiment %s: deleted while its sampler was thinking", experiment_id)
        except DeterminedError as e:
            # the database is away: the trial still waits and is found by the next look
            logger.warning("experiment %s: proposing hyperparameters waits: %s", experiment_id, e.message)
        finally:
            del self._busy[experiment_id]

    async def _answer(self, experiment_id: int) -> bool:
        """Answer with the point of one trial; return False when none waits."""
        old = self._mirrors.get(experiment_id)
        question = await self.ctx.db.read(lambda conn: proposals.question(conn, experiment_id, old))
        if question is None:
            return False
        self._mirrors[experiment_id] = question.mirror
        await self._think(experiment_id, question)
        self.ctx.bus.publish("schedule", f"experiment:{experiment_id}")
        return True

    async def _think(self, experiment_id: int, question: Question) -> None:
        try:
            hparams = await asyncio.to_thread(question.think)
        except Exception as e:
            # Any model may fail in its own way. The search cannot go on without: its experiment ends in ERROR.
            logger.exception("experiment %s: the sampler failed", experiment_id)
            why = str(e) or type(e).__name__
            await self.ctx.db.write(lambda conn: proposals.give_up(conn, self.ctx.clock.now(), experiment_id, why))
            return

        def write(conn: Connection) -> None:
            proposals.answer(conn, self.ctx.clock.now(), experiment_id, question.request_id, hparams)

        await self.ctx.db.write(write)
