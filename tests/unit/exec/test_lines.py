"""Bytes into lines: nothing lost, nothing invented."""

from hypothesis import given
from hypothesis import strategies as st

from determined.exec.runner.lines import Line, LineSplitter, parse_line


def split(*chunks: bytes, limit: int = 8191) -> list[Line]:
    splitter = LineSplitter(limit)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.end()


def texts(*chunks: bytes, limit: int = 8191) -> list[str]:
    return [line[0] for line in split(*chunks, limit=limit)]


def test_line_may_come_in_pieces() -> None:
    assert texts(b"he", b"llo\nwor", b"ld") == ["hello", "world"]


def test_return_and_newline_together_end_one_line() -> None:
    assert texts(b"a\r\nb\r\n") == ["a", "b"]
    assert texts(b"a\r", b"\nb\r", b"\n") == ["a", "b"]


def test_progress_states_are_lines_without_empty_ones_between() -> None:
    assert texts(b"\r10%", b"\r20%\r\r30%\n") == ["10%", "20%", "30%"]


def test_blank_lines_are_kept() -> None:
    assert texts(b"a\n\nb\n") == ["a", "", "b"]


def test_long_line_is_cut_between_characters_with_level_and_rank_on_each_piece() -> None:
    lines = split(b"[rank=2] ERROR: " + "ü".encode() * 50 + b"\nnext\n", limit=21)
    *pieces, last = lines
    assert "".join(piece[0] for piece in pieces) == "ü" * 50
    assert {piece[1:] for piece in pieces} == {("ERROR", 2)}
    assert last == ("next", None, None)


def test_long_line_without_end_does_not_pile_up() -> None:
    splitter = LineSplitter(10)
    assert len(splitter.feed(b"x" * 1000)) == 99
    assert [line[0] for line in splitter.feed(b"y\n")] == ["x" * 10, "y"]


def test_rank_comes_before_level_and_both_leave_the_text() -> None:
    assert parse_line("[rank=12] WARNING: text") == ("text", "WARNING", 12)
    assert parse_line("INFO: [77] determined: hello") == ("[77] determined: hello", "INFO", None)
    assert parse_line("[rank=x] INFO: a") == ("[rank=x] INFO: a", None, None)
    assert parse_line("INFORMATION: a") == ("INFORMATION: a", None, None)
    assert parse_line("text INFO: a") == ("text INFO: a", None, None)


@given(st.lists(st.binary(max_size=60)), st.integers(4, 30))
def test_any_bytes_in_any_chunks_give_the_same_lines(chunks: list[bytes], limit: int) -> None:
    whole = texts(b"".join(chunks), limit=limit)
    assert texts(*chunks, limit=limit) == whole
    assert all(len(text) <= limit for text in whole)


@given(st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=200))
def test_text_survives_cutting(text: str) -> None:
    raw = "x" + text
    assert "".join(texts(raw.encode(), limit=8)) == raw
