"""Log lines: level and rank are taken out of the text, and stay with every piece of a long one."""

from determined.rundir.log_line_parser import Line, LineParser, parse_line


def split(*chunks: bytes, limit: int = 8191) -> list[Line]:
    parser = LineParser(limit)
    lines = [line for chunk in chunks for line in parser.feed(chunk)]
    return lines + parser.end()


def test_long_line_is_cut_between_characters_with_level_and_rank_on_each_piece() -> None:
    lines = split(b"[rank=2] ERROR: " + "ü".encode() * 50 + b"\nnext\n", limit=21)
    *pieces, last = lines
    assert "".join(piece[0] for piece in pieces) == "ü" * 50
    assert {piece[1:] for piece in pieces} == {("ERROR", 2)}
    assert last == ("next", None, None)


def test_rank_comes_before_level_and_both_leave_the_text() -> None:
    assert parse_line("[rank=12] WARNING: text") == ("text", "WARNING", 12)
    assert parse_line("INFO: [77] determined: hello") == ("[77] determined: hello", "INFO", None)
    assert parse_line("[rank=x] INFO: a") == ("[rank=x] INFO: a", None, None)
    assert parse_line("INFORMATION: a") == ("INFORMATION: a", None, None)
    assert parse_line("text INFO: a") == ("text INFO: a", None, None)
