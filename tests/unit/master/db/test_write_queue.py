"""Writes wait in one lane per user, and lanes take turns."""

import queue

import pytest

from determined.master.db.write_queue import WriteQueue


def _filled(*items: tuple[str, str]) -> WriteQueue[str]:
    waiting: WriteQueue[str] = WriteQueue()
    for item, lane in items:
        waiting.put(item, lane)
    return waiting


def _all(waiting: WriteQueue[str]) -> list[str]:
    found = []
    while (item := waiting.get_nowait()) is not None:
        found.append(item)
    return found


def test_a_thousand_writes_of_one_user_delay_anothers_by_one() -> None:
    waiting = _filled(*((f"a{n}", "ann") for n in range(1000)), ("b", "bob"))
    assert waiting.get() == "a0"
    assert waiting.get() == "b"
    assert _all(waiting) == [f"a{n}" for n in range(1, 1000)]


def test_order_inside_a_lane_is_that_of_arrival() -> None:
    waiting = _filled(("a1", "ann"), ("b1", "bob"), ("a2", "ann"), ("c1", "cid"), ("b2", "bob"))
    assert _all(waiting) == ["a1", "b1", "c1", "a2", "b2"]


def test_what_waits_is_handed_out_after_the_end_and_then_nothing() -> None:
    waiting = _filled(("a", "ann"))
    waiting.close()
    assert waiting.get() == "a"
    assert waiting.get() is None


def test_waiting_for_nothing_ends() -> None:
    waiting: WriteQueue[str] = WriteQueue()
    with pytest.raises(queue.Empty):
        waiting.get(timeout=0.01)
    assert waiting.get_nowait() is None
