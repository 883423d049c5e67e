"""Bytes into lines: nothing lost, nothing invented."""

from hypothesis import given, settings
from hypothesis import strategies as st

from determined.rundir.line_splitter import LineSplitter, Piece


def split(*chunks: bytes, limit: int = 8191) -> list[Piece]:
    splitter = LineSplitter(limit)
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    return pieces + splitter.end()


def texts(*chunks: bytes, limit: int = 8191) -> list[str]:
    return [piece.decode("utf-8", "replace") for piece, _ in split(*chunks, limit=limit)]


def test_line_may_come_in_pieces() -> None:
    assert texts(b"he", b"llo\nwor", b"ld") == ["hello", "world"]


def test_return_and_newline_together_end_one_line() -> None:
    assert texts(b"a\r\nb\r\n") == ["a", "b"]
    assert texts(b"a\r", b"\nb\r", b"\n") == ["a", "b"]


def test_a_blank_line_survives_a_cut_between_return_and_newline() -> None:
    assert texts(b"a\n\r", b"\nb\n") == ["a", "", "b"]
    assert texts(b"a\r", b"\r\n") == texts(b"a\r\r\n") == ["a"]


def test_progress_states_are_lines_without_empty_ones_between() -> None:
    assert texts(b"\r10%", b"\r20%\r\r30%\n") == ["10%", "20%", "30%"]


def test_blank_lines_are_kept() -> None:
    assert texts(b"a\n\nb\n") == ["a", "", "b"]


def test_pieces_of_a_long_line_say_that_they_continue_it() -> None:
    assert split(b"0123456789", b"abc\nnext\n", limit=4) == [
        (b"0123", False), (b"4567", True), (b"89ab", True), (b"c", True), (b"next", False),
    ]  # fmt: skip


def test_line_as_long_as_its_pieces_is_followed_by_no_empty_one() -> None:
    assert split(b"01234567", b"89\n", b"\n", limit=4) == [
        (b"0123", False), (b"4567", True), (b"89", True), (b"", False),
    ]  # fmt: skip
    assert split(b"01234", b"\n", limit=4) == [(b"0123", False), (b"4", True)]


def test_long_line_without_end_does_not_pile_up() -> None:
    splitter = LineSplitter(10)
    assert len(splitter.feed(b"x" * 1000)) == 99
    assert splitter.feed(b"y\n") == [(b"x" * 10, True), (b"y", True)]


_SOME = st.binary(max_size=60) | st.text("ab\r\n", max_size=4).map(str.encode)


@given(st.lists(_SOME), st.integers(4, 30))
@settings(max_examples=500)
def test_any_bytes_in_any_chunks_give_the_same_lines(chunks: list[bytes], limit: int) -> None:
    whole = texts(b"".join(chunks), limit=limit)
    assert texts(*chunks, limit=limit) == whole
    assert all(len(text) <= limit for text in whole)


@given(st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=200))
def test_text_survives_cutting(text: str) -> None:
    raw = "x" + text
    assert "".join(texts(raw.encode(), limit=8)) == raw
