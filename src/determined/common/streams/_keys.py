"""Ids of rows that a stream has sent, as text: "1,4-9"."""

from collections.abc import Iterable, Iterator


class KeyCache:
    """Ids that a client holds, and the highest number of a change that it has seen."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self.maxseq = 0

    def add(self, key: int, seq: int) -> None:
        self._ids.add(key)
        self.maxseq = max(self.maxseq, seq)

    def discard(self, keys: str) -> None:
        self._ids.difference_update(range_encoded_keys(keys))

    def known(self) -> str:
        return ",".join(_ranges(sorted(self._ids)))


def range_encoded_keys(known: str) -> Iterator[int]:
    """Yield the ids that a text names."""
    for part in filter(None, known.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _ranges(ids: Iterable[int]) -> Iterator[str]:
    start = end = None
    for key in ids:
        if start is not None and end is not None and key == end + 1:
            end = key
            continue
        if start is not None:
            yield _range(start, end)
        start = end = key
    if start is not None:
        yield _range(start, end)


def _range(start: int, end: int | None) -> str:
    return str(start) if start == end else f"{start}-{end}"
