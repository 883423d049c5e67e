"""Reader of the protobuf wire format: fields by their numbers, without generated classes."""

from collections.abc import Iterator

Field = tuple[int, int | bytes]  # number, and the value: an int, or the bytes of anything else

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}


def fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of an encoded message. Raises ValueError for bytes that are none."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = varint(message, at)
            yield key >> 3, value
            continue
        size = _SIZES.get(kind, 0)
        if kind == _BYTES:
            size, at = varint(message, at)
        elif not size:
            raise ValueError(f"wire type {kind} is not known")
        if at + size > len(message):
            raise ValueError("a field is longer than its message")
        yield key >> 3, message[at : at + size]
        at += size


def varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and the position behind it. Raises ValueError."""
    value = shift = 0
    try:
        while shift < 70:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7
    except IndexError:
        raise ValueError("a number is cut off") from None
    raise ValueError("a number is too long")
