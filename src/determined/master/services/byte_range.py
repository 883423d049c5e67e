"""Part of a file that a Range header asks for. Pure."""

import re

from determined.errors import RangeNotSatisfiable

_ONE_RANGE = re.compile(r"bytes=\s*([0-9]{0,19})\s*-\s*([0-9]{0,19})\s*")


def wanted_part(header: str | None, size: int) -> tuple[int, int] | None:
    """Return first byte and end (not included) of the part; None where the whole file is to be sent.

    Several ranges, other units and what cannot be read ask for the whole file, as RFC 9110 says.

    Raises:
        RangeNotSatisfiable: the part begins past the end.
    """
    match = _ONE_RANGE.fullmatch(header or "")
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:  # the last bytes
        start, end = max(0, size - int(match[2])), size
    else:
        start, end = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
        if match[2] and int(match[2]) < start:
            return None
    if start >= size or (not match[1] and int(match[2]) == 0):
        raise RangeNotSatisfiable(
            f"{header} is past the end of a file of {size} bytes; a copy of so many bytes is complete", size=size
        )
    return start, end
