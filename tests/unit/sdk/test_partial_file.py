"""A file that comes in parts, over connections that break."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from urllib3.exceptions import ProtocolError

from determined.errors import MasterNotFound, Unavailable
from determined.sdk.partial_file import fill

CONTENT = bytes(range(100))


class Answer:
    """What one request brings: `blocks`, then a broken connection where `breaks`."""

    def __init__(self, status: int, *blocks: bytes, breaks: bool = False) -> None:
        self.status = status
        self.blocks = blocks
        self.breaks = breaks
        self.closed = False

    def stream(self, amount: int, decode_content: bool) -> Iterator[bytes]:
        assert not decode_content
        yield from self.blocks
        if self.breaks:
            raise ProtocolError("broken")

    def close(self) -> None:
        self.closed = True


class Master:
    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.positions: list[int] = []

    def open_at(self, position: int) -> Any:
        self.positions.append(position)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def _fill(part: Path, master: Master) -> list[int]:
    """The amounts by which progress was told."""
    told: list[int] = []
    fill(part, len(CONTENT), master.open_at, told.append, sleep=lambda _: None)
    return told


def test_a_file_comes_in_one_answer(tmp_path: Path) -> None:
    answer = Answer(200, CONTENT[:30], CONTENT[30:])
    assert _fill(tmp_path / "part", Master(answer)) == [30, 70]
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert answer.closed


def test_a_broken_connection_goes_on_from_where_it_broke(tmp_path: Path) -> None:
    master = Master(Answer(200, CONTENT[:30], breaks=True), Unavailable("restarting"), Answer(206, CONTENT[30:]))
    _fill(tmp_path / "part", master)
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert master.positions == [0, 30, 30]


def test_what_an_earlier_try_left_is_not_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(CONTENT[:60])
    master = Master(Answer(206, CONTENT[60:]))
    assert _fill(tmp_path / "part", master) == [40]
    assert (master.positions, (tmp_path / "part").read_bytes()) == ([60], CONTENT)


def test_a_file_that_is_whole_is_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(CONTENT)
    master = Master(Answer(200))
    assert (_fill(tmp_path / "part", master), master.positions) == ([], [])


def test_a_master_that_sends_the_whole_file_begins_it_again(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"x" * 60)
    assert sum(_fill(tmp_path / "part", Master(Answer(200, CONTENT)))) == len(CONTENT) - 60
    assert (tmp_path / "part").read_bytes() == CONTENT


def test_an_empty_file_is_made_without_a_request(tmp_path: Path) -> None:
    master = Master(Answer(200))
    fill(tmp_path / "part", 0, master.open_at, lambda _: None)
    assert ((tmp_path / "part").read_bytes(), master.positions) == (b"", [])


def test_more_than_was_promised_is_not_read_without_end(tmp_path: Path) -> None:
    endless = Answer(200, *[CONTENT] * 1000)
    fill(tmp_path / "part", len(CONTENT), Master(endless).open_at, lambda _: None)
    assert (tmp_path / "part").stat().st_size == 2 * len(CONTENT)


def test_a_master_that_is_gone_leaves_what_came_and_says_how_to_go_on(tmp_path: Path) -> None:
    master = Master(Answer(200, CONTENT[:30], breaks=True), MasterNotFound("nobody answers"))
    with pytest.raises(MasterNotFound, match=r"sent 30 of 100 bytes .*nobody answers.*same command again"):
        _fill(tmp_path / "part", master)
    assert (tmp_path / "part").read_bytes() == CONTENT[:30]


def test_a_slow_master_that_sends_some_bytes_each_time_is_not_given_up(tmp_path: Path) -> None:
    pieces = [Answer(206 if i else 200, CONTENT[i : i + 10], breaks=True) for i in range(0, 100, 10)]
    _fill(tmp_path / "part", Master(*pieces))
    assert (tmp_path / "part").read_bytes() == CONTENT
