"""What a client that comes back to a terminal is shown."""

from determined.exec.shell_server.screen_history import ScreenHistory


def history(*chunks: bytes) -> ScreenHistory:
    found = ScreenHistory()
    for chunk in chunks:
        found.add(chunk)
    return found


def test_the_last_lines_are_shown_as_many_as_the_window_has_rows() -> None:
    lines = b"".join(b"line %d\r\n" % number for number in range(100))
    shown = history(lines + b"$ ").replay(rows=3)
    assert shown == b"\x1b[0mline 98\r\nline 99\r\n$ "


def test_modes_that_programs_have_set_are_set_again() -> None:
    shown = history(b"\x1b[?2004h$ ", b"\x1b[?1h").replay(rows=24)
    assert shown.startswith(b"\x1b[?2004h\x1b[?1h") and shown.endswith(b"$ ")


def test_a_full_screen_program_gets_an_empty_screen_to_draw_on() -> None:
    found = history(b"$ vim\r\n", b"\x1b[?1049h", b"text of a file")
    assert found.is_alternate
    assert b"text" not in found.replay(rows=24) and found.replay(rows=24).endswith(b"\x1b[2J")


def test_what_a_full_screen_program_drew_is_gone_with_it() -> None:
    found = history(b"$ vim\r\n\x1b[?1049htext of a file\x1b[?1049l", b"$ ")
    assert not found.is_alternate
    assert found.replay(rows=24).endswith(b"$ vim\r\n$ ")


def test_a_sequence_in_two_pieces_is_one() -> None:
    for cut in range(1, len(b"\x1b[?1049h")):
        sequence = b"\x1b[?1049h"
        assert history(b"a" + sequence[:cut], sequence[cut:]).is_alternate


def test_only_so_much_is_kept() -> None:
    found = history(*[b"x" * 1000 + b"\r\n"] * 2000)
    assert len(found.replay(rows=10_000)) < 300_000
