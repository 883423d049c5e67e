"""Previews take turns: however many ask, one simulation at a time keeps a processor busy."""

import asyncio
import threading
from typing import Any

import pytest
from world import World

from determined.master.services import search
from determined.search.preview import Preview, TrialGroup


async def test_previews_are_made_one_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    busy, met = threading.Semaphore(1), threading.Event()

    def slow(*args: Any, **options: Any) -> Preview:
        if not busy.acquire(blocking=False):
            met.set()
        else:
            met.wait(0.2)  # long enough for the others to come in, if they could
            busy.release()
        return Preview((TrialGroup(1, ()),), None)

    monkeypatch.setattr(search, "preview", slow)
    config = {"searcher": {"name": "single", "metric": "loss"}}
    answers = await asyncio.gather(*(search.summarize(world.ctx, config) for _ in range(3)))
    assert [answer.total_trials for answer in answers] == [1, 1, 1]
    assert not met.is_set(), "two at once"
