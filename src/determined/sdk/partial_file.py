"""A file that comes in parts: what an earlier try has left is kept, and only the rest is asked for."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import urllib3
from urllib3.exceptions import HTTPError

from determined._backoff import Backoff
from determined.errors import MasterNotFound, Unavailable

OpenAt = Callable[[int], urllib3.BaseHTTPResponse]  # the rest of the file from a position on
Advance = Callable[[int], None]  # hears of so many bytes more; of fewer where the file begins again

_CHUNK = 1024 * 1024
_AGAIN = Backoff(first=0.5, limit=5.0)
_MOST_FAILURES = 5  # in a row, without a single byte between them


def fill(
    part: Path, size: int, open_at: OpenAt, advance: Advance, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Bring `part` to `size` bytes. A connection that breaks is opened again, as long as bytes come.

    Raises:
        MasterNotFound: no more bytes come; what has come stays in `part`.
    """
    failures = 0
    while (before := _size(part)) < size:
        error = _append(part, before, size, open_at, advance)
        if _size(part) != before:
            failures = 0
            continue
        failures += 1
        if failures > _MOST_FAILURES:
            raise MasterNotFound(
                f"the master sent {before} of {size} bytes and then nothing more ({error}); "
                "give the same command again: it goes on from there"
            )
        sleep(_AGAIN.delay(failures - 1))
    if size == 0:
        part.touch()


def _append(part: Path, begin: int, size: int, open_at: OpenAt, advance: Advance) -> Exception | None:
    """Write what one answer brings. Returns the error that ended it, if one did."""
    try:
        with contextlib.closing(open_at(begin)) as response:
            is_rest = response.status == 206
            if begin and not is_rest:
                advance(-begin)  # a master that sends the whole file
            _write(response, part, begin if is_rest else 0, size, advance)
    except (HTTPError, MasterNotFound, Unavailable) as err:
        return err
    return None


def _write(response: urllib3.BaseHTTPResponse, part: Path, begin: int, size: int, advance: Advance) -> None:
    position = begin
    with part.open("ab" if begin else "wb") as file:
        for block in response.stream(_CHUNK, decode_content=False):
            file.write(block)
            position += len(block)
            advance(len(block))
            if position > size:  # more than the manifest says: its check refuses it
                return


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
