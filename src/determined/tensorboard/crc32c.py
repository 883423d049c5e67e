"""CRC-32C (Castagnoli), the checksum of TFRecord files, in pure Python, which pays per step.

A step takes one byte, or two with a table of 65,536 entries. That table takes longer to make than a short trial takes
to write its events, so it is made only for those who write many.
"""

import sys
from array import array
from functools import cache

_POLYNOMIAL = 0x82F63B78
_WIDE_AFTER = 512 * 1024  # bytes, which take as long one by one as the large table does


def masked(data: bytes) -> int:
    """Mask a checksum as TFRecord stores it: bytes may contain checksums."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    _summed.bytes += len(data)
    crc, rest = 0xFFFFFFFF, data
    if _summed.bytes > _WIDE_AFTER:
        even = len(data) & ~1
        crc, rest = _two_by_two(data[:even], crc), data[even:]
    narrow = _narrow()
    for byte in rest:
        crc = narrow[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _two_by_two(data: bytes, crc: int) -> int:
    wide, words = _wide(), array("H", data)
    if sys.byteorder == "big":
        words.byteswap()
    for word in words:
        crc = wide[(crc ^ word) & 0xFFFF] ^ (crc >> 16)
    return crc


class _Summed:
    """Counter of the bytes that this process has summed up."""

    bytes = 0


_summed = _Summed()


@cache
def _narrow() -> list[int]:
    table = []
    for index in range(256):
        crc = index
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


@cache
def _wide() -> list[int]:
    narrow = _narrow()
    once = [(index >> 8) ^ narrow[index & 0xFF] for index in range(65536)]
    return [(crc >> 8) ^ narrow[crc & 0xFF] for crc in once]
