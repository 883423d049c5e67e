"""Framing of `run-<id>.wandb`: blocks of 32 KiB with checked records, the log format of LevelDB with its own header."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = 32768
_LONGEST = 64 << 20  # bytes of a message; its parts are joined in memory
_FILE_HEADER = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
_HEADER = struct.Struct("<IHB")  # checksum, length, type
_LOST, _FULL, _FIRST, _MIDDLE, _LAST = 0, 1, 2, 3, 4


@dataclass(slots=True)
class LogFile:
    """Log of one run. `damage` names what `messages` could not read; a block with damage is left at that point."""

    path: Path
    damage: list[str] = field(default_factory=list)

    def messages(self) -> Iterator[bytes]:
        """Yield the messages, each joined from its parts."""
        parts: list[bytes] = []
        size = 0
        for kind, data in self._records():
            if kind in (_LOST, _FULL, _FIRST):
                parts = []
            elif not parts:
                continue  # the beginning was lost, and named as damage there
            if kind == _LOST:
                continue
            parts.append(data)
            size = len(data) if len(parts) == 1 else size + len(data)
            if size > _LONGEST:
                self._lose(f"a record is longer than {_LONGEST} bytes")
                parts = []
                continue
            if kind in (_FULL, _LAST):
                yield b"".join(parts)
                parts = []
        if parts:
            self._lose("the last record is not complete")

    def _records(self) -> Iterator[tuple[int, bytes]]:
        try:
            with self.path.open("rb") as file:
                if file.read(len(_FILE_HEADER)) != _FILE_HEADER:
                    self._lose("it does not begin as a log of W&B does")
                    return
                offset = len(_FILE_HEADER)
                while block := file.read(_BLOCK - offset % _BLOCK):
                    yield from self._block(block, offset)
                    offset += len(block)
        except OSError as e:
            self._lose(e.strerror or str(e))

    def _block(self, block: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
        place = 0
        while len(block) - place >= _HEADER.size:
            checksum, length, kind = _HEADER.unpack_from(block, place)
            data = block[place + _HEADER.size : place + _HEADER.size + length]
            if not (checksum or length or kind):
                return  # padding
            if kind not in (_FULL, _FIRST, _MIDDLE, _LAST) or len(data) < length or _checksum(kind, data) != checksum:
                break
            yield kind, data
            place += _HEADER.size + length
        if any(block[place:]):
            self._lose(f"the record at byte {offset + place} is damaged")
            yield _LOST, b""

    def _lose(self, reason: str) -> None:
        self.damage.append(f"{self.path.name}: {reason}")


def _checksum(kind: int, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(bytes([kind])))
