"""What other users wrote does nothing to the terminal of whoever reads it."""

import argparse
import io
import json
import sys
import unicodedata

import pytest

from determined.cli import render
from determined.cli.terminal import cell, harmless, json_text, log_text

TITLE, CLEAR, OVERWRITE = "\x1b]0;PWNED\x07", "\x1b[2K\x1b[1A", "real\rFAKE"
EVIL = f"a{TITLE}b{CLEAR}c{OVERWRITE}\x9b2Jd\u202ee\x7f\x00\x08\ud800"


def is_harmless(text: str) -> bool:
    """No control but tab and line ends, no override of the direction of writing, nothing that cannot be encoded."""
    return all(unicodedata.category(char) not in ("Cc", "Cf", "Cs") or char in "\t\n" for char in text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def without_paint(text: str) -> str:
    for code in ("\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"):
        text = text.replace(code, "")
    return text


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_every_way_to_print_is_harmless(kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    out = kind()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    formats = argparse.Namespace(csv=False, json=False, yaml=False)
    render.line(EVIL, style="green")
    render.warn(EVIL)
    render.fail(EVIL)
    render.raw(EVIL)
    render.table(["Name"], [[EVIL], [[EVIL]], [{EVIL: EVIL}]])
    render.rows(["Name"], [[EVIL]], args=formats)
    assert is_harmless(without_paint(out.getvalue()))
    assert "\\x1b]0;PWNED\\x07" in out.getvalue()


def test_structured_output_is_harmless_and_still_the_same_value(monkeypatch: pytest.MonkeyPatch) -> None:
    text = EVIL.replace("\ud800", "")
    piped = io.StringIO()
    monkeypatch.setattr(sys, "stdout", piped)
    render.structured({"name": text})
    assert is_harmless(piped.getvalue())
    assert json.loads(piped.getvalue()) == {"name": text}
    watched = Terminal()
    monkeypatch.setattr(sys, "stdout", watched)
    render.structured({"name": text})
    assert "\x9b" not in watched.getvalue() and "\u202e" not in watched.getvalue() and "\x1b]" not in watched.getvalue()
    yaml = io.StringIO()
    monkeypatch.setattr(sys, "stdout", yaml)
    render.structured({"name": text}, args=argparse.Namespace(yaml=True))
    assert is_harmless(yaml.getvalue())


def test_cell_stays_on_its_line() -> None:
    assert cell("a\nb\tc\r\nd") == "a\\nb\\tc\\r\\nd"


def test_ordinary_text_is_not_changed() -> None:
    text = "größe \u4f60\u597d \U0001f600 a\tb\nc\r\n"
    assert harmless(text) == log_text(text, colours=True) == json_text(text) == text


def test_log_line_keeps_colours_on_a_terminal_alone_and_ends_with_a_reset() -> None:
    line = f"\x1b[1;31mred\x1b[38;5;8m{TITLE}\n"
    assert log_text(line, colours=True) == "\x1b[1;31mred\x1b[38;5;8m\\x1b]0;PWNED\\x07\x1b[0m\n"
    assert log_text(line, colours=False) == "red\\x1b]0;PWNED\\x07\n"
    assert log_text(OVERWRITE, colours=True) == "real\\x0dFAKE"
    assert is_harmless(log_text(EVIL, colours=True))
