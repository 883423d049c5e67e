"""The actor of a runner without Ray around it, with a real sitter whose master is away."""

import socket
import time
from collections.abc import Iterator

import pytest

from determined.engines.ray.actor import RunnerActor
from determined.engines.ray.tracked_actor import order_line
from determined.wire.claim import Order

SITTER_LOST = 1


@pytest.fixture
def actor() -> Iterator[RunnerActor]:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        order = Order(master_url=f"http://127.0.0.1:{nobody.getsockname()[1]}", allocation_id="1.t.1", ticket="ticket")
        actor = RunnerActor(order_line(order), "n1", {"GPU": 2.0})
        yield actor
        _until_it_asks(actor)
        actor.end(force=True)
        actor.wait(60)
    assert actor._sitter.stdin is not None and actor._sitter.stderr is not None
    actor._sitter.stdin.close()
    actor._sitter.stderr.close()


def test_question_for_the_end_has_an_end_itself(actor: RunnerActor) -> None:
    assert actor.wait(0.05) is None
    assert actor.facts() == ("n1", {"GPU": 2.0})


def test_status_and_last_words_of_the_sitter_are_told_again_and_again(actor: RunnerActor) -> None:
    _until_it_asks(actor)
    actor.end(force=False)
    answer = actor.wait(60)
    assert answer is not None
    assert answer[0] == SITTER_LOST
    assert "ended before the master answered" in answer[1]
    assert actor.wait(60) == answer


def _until_it_asks(actor: RunnerActor) -> None:
    """Before that it has no ears."""
    deadline = time.monotonic() + 60
    while not actor._words and time.monotonic() < deadline:
        time.sleep(0.01)
    assert actor._words
