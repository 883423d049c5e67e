"""Output in chunks: lines do not depend on where a pipe happened to cut them."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.rundir.line_splitter import LineSplitter, Piece
from determined.rundir.log_line_parser import Line, LineParser


def split(chunks: list[bytes], limit: int = 4) -> list[Piece]:
    splitter = LineSplitter(limit)
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    return pieces + splitter.end()


def parse(chunks: list[bytes], limit: int = 12) -> list[Line]:
    parser = LineParser(limit)
    lines = [line for chunk in chunks for line in parser.feed(chunk)]
    return lines + parser.end()


def chunkings(raw: bytes) -> list[list[bytes]]:
    """Return every way to cut bytes into chunks."""
    found = []
    for cuts in itertools.product((False, True), repeat=max(len(raw) - 1, 0)):
        at = [0, *(place for place, is_cut in enumerate(cuts, 1) if is_cut), len(raw)]
        found.append([raw[begin:end] for begin, end in itertools.pairwise(at)])
    return found


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"a", b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"a\r\nb", b"\n\r\n\r", b"a\n\r\nb\n", b"\r\r\n\n\ra",
        b"01234567\n", b"0123\n4567\r", b"012345\r6\n", b"\r01234\r\n5", "é\né€".encode(), "aé€\r\n".encode(),
    ],
)  # fmt: skip
def test_every_chunking_gives_the_same_pieces_with_the_same_marks(raw: bytes) -> None:
    whole = split([raw])
    for chunks in chunkings(raw):
        assert split(chunks) == whole, chunks


@pytest.mark.parametrize("raw", [b"[rank=1] INFO: loooong\nx\n", b"ERROR: \r\n[rank=2] \xff\n", b"[rank=3"])
def test_every_chunking_gives_the_same_levels_and_ranks(raw: bytes) -> None:
    whole = parse([raw])
    cuts = [[raw[:a], raw[a:b], raw[b:]] for a in range(len(raw) + 1) for b in range(a, len(raw) + 1)]
    for chunks in [*cuts, [raw[i : i + 1] for i in range(len(raw))]]:
        assert parse(chunks) == whole, chunks


_OUTPUT = st.text("ab\r\né€", max_size=40).map(str.encode) | st.binary(max_size=40)


@settings(max_examples=300)
@given(_OUTPUT, st.lists(st.integers(0, 40), max_size=8), st.integers(4, 12))
def test_pieces_and_their_marks_do_not_depend_on_chunks(raw: bytes, cuts: list[int], limit: int) -> None:
    at = [0, *sorted(cut for cut in cuts if cut <= len(raw)), len(raw)]
    assert split([raw[begin:end] for begin, end in itertools.pairwise(at)], limit) == split([raw], limit)


@settings(max_examples=300)
@given(_OUTPUT, st.integers(4, 12))
def test_nothing_but_line_ends_is_lost_and_no_piece_is_longer_than_the_limit(raw: bytes, limit: int) -> None:
    pieces = split([raw], limit)
    assert b"".join(piece for piece, _ in pieces) == raw.replace(b"\r", b"").replace(b"\n", b"")
    assert all(len(piece) <= limit for piece, _ in pieces)
    assert not pieces or not pieces[0][1], "the first piece continues nothing"


def test_every_piece_of_a_long_line_has_its_level_and_rank_and_the_next_line_has_none() -> None:
    lines = parse([b"[rank=1] ERROR: 0123456789\nplain\n"], 20)
    assert [(level, rank) for _, level, rank in lines] == [("ERROR", 1), ("ERROR", 1), (None, None)]
    assert "".join(text for text, _, _ in lines) == "0123456789plain"


def test_a_rank_or_level_in_the_middle_of_a_line_is_text() -> None:
    assert parse([b"a [rank=1] b\nsee ERROR: c\n"], 100) == [("a [rank=1] b", None, None), ("see ERROR: c", None, None)]


def test_a_rank_that_is_none_and_a_level_that_is_none_stay_in_the_text() -> None:
    lines = [b"[rank=x] a", b"[rank=1234567890] b", b"INFOS: c", b"info: d", b"[rank=4]INFO:e"]
    assert parse([b"\n".join(lines)], 100) == [
        ("[rank=x] a", None, None), ("[rank=1234567890] b", None, None), ("INFOS: c", None, None),
        ("info: d", None, None), ("e", "INFO", 4),
    ]  # fmt: skip


def test_end_of_an_empty_output_is_no_line() -> None:
    assert split([]) == split([b""]) == []
    splitter = LineSplitter()
    assert splitter.feed(b"a\n") == [(b"a", False)]
    assert splitter.end() == splitter.end() == []
