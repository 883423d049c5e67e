"""CRC-32C (Castagnoli), the checksum of TFRecord files; two bytes a step, since pure Python pays per step."""

import sys
from array import array
from functools import cache

_POLYNOMIAL = 0x82F63B78


def masked(data: bytes) -> int:
    """As TFRecord stores it: a checksum of bytes that may contain checksums."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    wide, narrow = _tables()
    crc = 0xFFFFFFFF
    even = len(data) & ~1
    words = array("H", data[:even])
    if sys.byteorder == "big":
        words.byteswap()
    for word in words:
        crc = wide[(crc ^ word) & 0xFFFF] ^ (crc >> 16)
    for byte in data[even:]:
        crc = narrow[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@cache
def _tables() -> tuple[list[int], list[int]]:
    narrow = []
    for index in range(256):
        crc = index
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        narrow.append(crc)
    wide = []
    for index in range(65536):
        crc = (index >> 8) ^ narrow[index & 0xFF]
        wide.append((crc >> 8) ^ narrow[crc & 0xFF])
    return wide, narrow
