"""Writes wait in one lane per user, and lanes take turns."""

import queue
import random
import threading

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


@pytest.mark.parametrize("seed", range(10))
def test_nobody_waits_for_more_than_one_write_of_each_other_user(seed: int) -> None:
    rng = random.Random(seed)
    waiting: WriteQueue[tuple[str, int]] = WriteQueue()
    written = dict.fromkeys("abcde", 0)
    handed_out: list[tuple[str, int]] = []
    for _ in range(500):
        if rng.random() < 0.6:
            user = rng.choice("aaaabcde")
            waiting.put((user, written[user]), user)
            written[user] += 1
        elif (item := waiting.get_nowait()) is not None:
            handed_out.append(item)
    while (item := waiting.get_nowait()) is not None:
        handed_out.append(item)
    for user, count in written.items():
        assert [n for who, n in handed_out if who == user] == list(range(count)), "in the order of arrival, each once"


def test_a_user_who_always_writes_gets_every_other_turn_at_most() -> None:
    waiting: WriteQueue[str] = WriteQueue()
    for _ in range(50):
        waiting.put("busy", "busy")
    turns = []
    for n in range(20):
        waiting.put(f"quiet {n}", "quiet")
        turns += [waiting.get(), waiting.get()]
    assert turns[::2] == ["busy"] * 20
    assert turns[1::2] == [f"quiet {n}" for n in range(20)]


def test_a_waiting_writer_is_woken_by_what_comes_and_by_the_end() -> None:
    waiting: WriteQueue[str] = WriteQueue()
    handed_out: list[str | None] = []

    def take_all() -> None:
        while (item := waiting.get(timeout=60)) is not None:
            handed_out.append(item)

    writer = threading.Thread(target=take_all)
    writer.start()
    for n in range(100):
        waiting.put(str(n), "ann")
    waiting.close()
    writer.join(60)
    assert not writer.is_alive()
    assert handed_out == [str(n) for n in range(100)]


def test_what_comes_after_the_end_is_still_handed_out() -> None:
    waiting = _filled(("a", "ann"))
    waiting.close()
    waiting.put("b", "bob")
    assert [waiting.get(), waiting.get(), waiting.get()] == ["a", "b", None]
