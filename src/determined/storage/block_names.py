"""Names of blocks, and the directory of a checkpoint that has them: `<checkpoint>/.det-blocks/<name>`.

A name begins with the block's size and its CRC-32, which say where to look for the same block; it is compared. Two
blocks of one checkpoint that have both in common differ by a number.
"""

import zlib

DIRECTORY = ".det-blocks"
PATTERN = r"\A[1-9a-f][0-9a-f]{0,6}-[0-9a-f]{8}(\.[1-9][0-9]{0,3})?\Z"


def key(content: bytes) -> str:
    """Return the key of a block in an index of contents, and its usual name."""
    return f"{len(content):x}-{zlib.crc32(content):08x}"


def numbered(key: str, number: int) -> str:
    """Return a name for this key."""
    return f"{key}.{number}" if number else key


def size_of(name: str) -> int:
    """Return the size of a block by its name."""
    return int(name.partition("-")[0], 16)


def key_of(name: str) -> str:
    """Return the key of a block by its name."""
    return name.partition(".")[0]


def path(name: str) -> str:
    """Return where a block is in its checkpoint."""
    return f"{DIRECTORY}/{name}"
