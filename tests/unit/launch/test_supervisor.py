"""The supervisor of a node's ranks by itself: whom it waits for, and how it writes."""

import io
import os
import threading
import time
from pathlib import Path

import pytest

from determined.launch import _supervisor, _worker
from determined.launch._supervisor import supervise
from determined.launch._worker import Work

HANDLED = 'echo "Traceback (most recent call last):" >&2; touch raised; sleep 20; exit 5'
KILLED = "until [ -e raised ]; do sleep 0.05; done; sleep 0.3; echo step; kill -9 $$"
TEXT = b"x" * (1 << 20)


class Counted(io.FileIO):
    writes = 0

    def write(self, text: object) -> int:
        self.writes += 1
        return super().write(text)  # type: ignore[arg-type]


def test_killed_rank_is_the_cause_though_another_has_shown_a_traceback_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_supervisor, "_CAUSE_SECONDS", 600.0)
    monkeypatch.chdir(tmp_path)
    work = [Work(["sh", "-c", script], dict(os.environ), rank) for rank, script in enumerate((HANDLED, KILLED))]
    with Path(os.devnull).open("wb") as nowhere:
        outcome = supervise(work, outputs=(nowhere, nowhere))
    assert outcome.failure is not None
    assert (outcome.failure.rank, outcome.failure.status) == (1, 128 + 9)


def test_full_stream_that_does_not_block_is_waited_for_and_not_tried_in_a_circle() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    read: list[bytes] = []

    def listen() -> None:
        time.sleep(0.5)  # the pipe is most likely full by then
        with os.fdopen(reading, "rb") as source:
            read.append(source.read())

    listener = threading.Thread(target=listen)
    listener.start()
    with Counted(writing, "w") as target:
        _worker._write(target, TEXT)  # type: ignore[arg-type]
    listener.join()
    assert read == [TEXT]
    assert target.writes <= 2 * len(TEXT) // 4096 + 2  # where there is room, it is of a page
