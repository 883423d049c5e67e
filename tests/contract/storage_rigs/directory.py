"""A directory."""

from pathlib import Path

from determined._json import JsonObject


def section(place: Path) -> JsonObject:
    return {"type": "directory", "container_path": str(place / "directory")}
