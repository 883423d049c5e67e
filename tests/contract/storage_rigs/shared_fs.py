"""A directory below another."""

from pathlib import Path

from determined._json import JsonObject


def section(place: Path) -> JsonObject:
    return {"type": "shared_fs", "host_path": str(place / "host"), "storage_path": "checkpoints"}
