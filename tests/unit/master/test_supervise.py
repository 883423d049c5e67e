"""Background tasks: a crash is in the log, a loop survives its bad passes, a stop waits."""

import asyncio
import logging

import pytest

from determined.errors import Unavailable
from determined.master import supervise


async def until_done(*tasks: asyncio.Task[object]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_crash_of_a_task_is_logged_by_its_name(caplog: pytest.LogCaptureFixture) -> None:
    async def crash() -> None:
        raise ZeroDivisionError("by nothing")

    await until_done(supervise.spawn(crash(), name="counter of beans"))
    (record,) = caplog.records
    assert record.getMessage() == "task counter of beans crashed"
    assert "by nothing" in caplog.text


async def test_cancelled_task_is_no_crash(caplog: pytest.LogCaptureFixture) -> None:
    task = supervise.spawn(asyncio.sleep(3600), name="sleeper")
    await supervise.stop(task)
    assert task.cancelled()
    assert caplog.text == ""
    assert task not in supervise._running


async def test_loop_goes_on_after_a_failing_pass(caplog: pytest.LogCaptureFixture) -> None:
    passes: list[int] = []
    enough = asyncio.Event()

    async def step() -> None:
        passes.append(len(passes))
        if len(passes) == 1:
            raise ZeroDivisionError("a defect")
        if len(passes) == 2:
            raise Unavailable("the database is away")
        enough.set()

    loop = supervise.repeat(step, name="sweeper", seconds=0)
    await asyncio.wait_for(enough.wait(), 60)
    await supervise.stop(loop)
    defect, away = [r for r in caplog.records if r.name == supervise.__name__][:2]
    assert (defect.levelno, defect.exc_info is not None) == (logging.ERROR, True)
    assert (away.levelno, away.exc_info) == (logging.WARNING, None), "one line, not a traceback"
    assert away.getMessage() == "sweeper waits: the database is away; trying again in 0 s"


async def test_pause_is_asked_for_after_each_pass() -> None:
    asked: list[str] = []
    enough = asyncio.Event()

    async def step() -> None:
        asked.append("step")

    def pause() -> float:
        asked.append("pause")
        if len(asked) >= 6:
            enough.set()
        return 0.0

    loop = supervise.repeat(step, name="by schedule", seconds=pause)
    await asyncio.wait_for(enough.wait(), 60)
    await supervise.stop(loop)
    assert asked[:6] == ["step", "pause"] * 3


async def test_stop_waits_for_what_a_task_does_at_its_end() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            ended.append("tidied up")

    task = supervise.spawn(work(), name="tidy")
    await asyncio.sleep(0)
    await supervise.stop(task)
    assert ended == ["tidied up"]
    await supervise.stop(task)
    await supervise.stop()
