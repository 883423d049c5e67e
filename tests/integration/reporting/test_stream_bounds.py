"""`/stream` where somebody asks for too much: the others go on hearing everything."""

from collections.abc import Iterator
from typing import Any

import pytest
from listening import Listener
from tracked import Tracked
from websockets.exceptions import ConnectionClosed

from determined.wire.report import MetricReport

NOW = {"since": -1}


@pytest.fixture
def listeners(master: Any, admin: Any) -> Iterator[tuple[Listener, Listener]]:
    """Two connections of the administrator."""
    pair = Listener(master.url, admin.headers), Listener(master.url, admin.headers)
    yield pair
    for listener in pair:
        listener.close()


@pytest.mark.parametrize(
    "asked",
    [
        {"jobs": {"job_ids": ["a\0b"]}},
        {"tasks": {"task_ids": ["\0"]}},
        {"trials": {"experiment_ids": [2**63]}},
        {"metrics": {"trial_ids": [-(2**70)]}},
    ],
)
def test_ids_that_no_database_takes_are_refused_and_starve_nobody(
    listeners: tuple[Listener, Listener], trial: Tracked, asked: dict[str, Any]
) -> None:
    honest, strange = listeners
    honest.subscribe(metrics=NOW)
    strange.ask(**asked)
    with pytest.raises(ConnectionClosed) as closed:
        strange.socket.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008 and "nothing can have the id" in closed.value.rcvd.reason
    trial.send(MetricReport("training", 3, {"loss": 1.0}, 1e6))
    assert honest.until(lambda m: "metrics" in m)["metrics"]["last_batch"] == 3


def test_numbers_that_were_never_given_are_answered_with_a_reset(listeners: tuple[Listener, Listener]) -> None:
    listener, _ = listeners
    assert {"reset": ["trials"]} in listener.subscribe(trials={"since": 2**70})
