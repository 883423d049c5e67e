"""Text of others made harmless for a terminal: no escape sequence, no cursor movement, no hidden direction of writing.

Names, labels, messages and log lines come from other users. Printed raw they could change the window's title, overwrite
lines that were printed before, or make one command look like another. Control characters are shown as `\\x1b` instead.
"""

import re
import unicodedata

_RESET = "\x1b[0m"
_COLOURS = re.compile(r"(\x1b\[[0-9;:]*m)")
# Controls but tab and line ends; those of the eight-bit sets; what changes the direction of writing or breaks lines in
# secret; halves of characters, which no terminal can be sent.
_CONTROL = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Return lines of text: control characters are shown, tabs and line ends stay."""
    return _CONTROL.sub(_shown, text)


def cell(text: str) -> str:
    """Return one cell of a table: as `harmless`, and line ends and tabs are shown as well."""
    return harmless(text).replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")


def width(text: str) -> int:
    """Return the columns that a terminal draws it in: two for wide characters, none for accents of their own."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def log_text(text: str, *, colours: bool) -> str:
    """Return a log line: colours stay where a person watches, and end with the line; elsewhere they go."""
    body = text.rstrip("\r\n")
    parts = _COLOURS.split(body)
    if len(parts) == 1:
        return harmless(text)
    kept = [part if index % 2 else harmless(part) for index, part in enumerate(parts) if colours or index % 2 == 0]
    return "".join(kept) + (_RESET if colours else "") + text[len(body) :]


def json_text(text: str) -> str:
    """JSON stays the same value: what its own escapes leave out is escaped as well."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
