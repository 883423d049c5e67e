"""Checkpoints as a test looks at them: their directory, their states."""

from pathlib import Path
from typing import Any


def directory(client: Any, trial: dict[str, Any]) -> Path:
    config = client.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]["config"]
    found = config["checkpoint_storage"]
    return Path(found["host_path"]) / (found.get("storage_path") or "")


def states(client: Any, trial: dict[str, Any]) -> dict[int, str]:
    found = client.get(f"/api/v1/trials/{trial['id']}/checkpoints").json["checkpoints"]
    return {c["metadata"]["steps_completed"]: c["state"].removeprefix("STATE_") for c in found}
