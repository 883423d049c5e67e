"""Plan of uploads when every rank has part of a checkpoint. Pure: ranks make the same plan from the same facts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from determined._json import JsonObject
from determined.wire.userdata import json_encode

METADATA = "metadata.json"


@dataclass(frozen=True, slots=True)
class Share:
    """Part that one rank brings. `directory` identifies it across ranks: (node, device, inode)."""

    directory: tuple[int, int, int] | None = None
    has_selector: bool = False
    paths: dict[str, int] = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    error: str | None = None


def uploaders(shares: Sequence[Share]) -> list[bool]:
    """Return which ranks upload: of those sharing a directory only the lowest, unless it selects just a part of it."""
    lowest: dict[tuple[int, int, int], Share] = {}
    result = []
    for share in shares:
        if share.directory is None:
            result.append(False)
            continue
        first = lowest.setdefault(share.directory, share)
        result.append(first is share or first.has_selector)
    return result


def duplicates(shares: Sequence[Share]) -> set[str]:
    """Files that more than one rank would upload; their contents must be compared."""
    seen: set[str] = set()
    twice: set[str] = set()
    for share in shares:
        files = {path for path in share.paths if not path.endswith("/")}
        twice |= seen & files
        seen |= files
    return twice


def conflicts(shares: Sequence[Share], hashes: Sequence[dict[str, str]]) -> dict[str, list[int]]:
    """Path -> ranks that disagree about it: different content, or a file here and a directory there."""
    holders: dict[str, list[int]] = {}
    for rank, share in enumerate(shares):
        for path in share.paths:
            holders.setdefault(path, []).append(rank)
    clashing = {path: ranks for path, ranks in holders.items() if _differ(path, ranks, hashes)}
    for path, ranks in holders.items():
        if not path.endswith("/") and f"{path}/" in holders:
            clashing[path] = sorted({*ranks, *holders[f"{path}/"]})
    return clashing


def assigned(rank: int, shares: Sequence[Share]) -> set[str]:
    """Return what `rank` uploads: its paths, less those that a lower rank uploads too."""
    taken: set[str] = set()
    for lower in shares[:rank]:
        taken |= {path for path in lower.paths if not path.endswith("/")}
    return set(shares[rank].paths) - taken


def merge_metadata(parts: Sequence[JsonObject]) -> tuple[JsonObject, list[str]]:
    """The union of all ranks' metadata, and the full paths (`/a/b`) where they differ."""
    merged: JsonObject = {}
    clashes: list[str] = []
    for part in parts:
        _merge_into(merged, part, "", clashes)
    return merged, sorted(set(clashes))


def _differ(path: str, ranks: list[int], hashes: Sequence[dict[str, str]]) -> bool:
    return not path.endswith("/") and len({hashes[rank].get(path) for rank in ranks}) > 1


def _merge_into(merged: JsonObject, part: JsonObject, prefix: str, clashes: list[str]) -> None:
    for key, value in part.items():
        path = f"{prefix}/{key}"
        if key not in merged:
            merged[key] = _copied(value)
        elif isinstance(merged[key], dict) and isinstance(value, dict):
            _merge_into(merged[key], value, path, clashes)
        elif type(merged[key]) is not type(value) or _stored(merged[key]) != _stored(value):
            clashes.append(path)


def _stored(value: object) -> str:
    """Return the text that is stored. Values themselves are not compared: NaN is not equal to itself, nor an array."""
    return json_encode(value, sort_keys=True)


def _copied(value: object) -> object:
    return {key: _copied(item) for key, item in value.items()} if isinstance(value, dict) else value
