"""Models for tests of their pages: a training with two checkpoints, registered as versions 1 and 2 of `counter`."""

from pathlib import Path
from typing import Any

from ground import submit

from cluster import Client

MODELS = "/api/v1/models"
STORING = """\
from determined import core
with core.init() as ctx:
    for step in (1, 2):
        ctx.train.report_training_metrics(steps_completed=step, metrics={"loss": 4 / step})
        ctx.train.report_validation_metrics(steps_completed=step, metrics={"x": 0.5 / step, "same": 3})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "weights.txt").write_text(str(step))
"""
KEEP = {"checkpoint_storage": {"save_trial_latest": 2}}


def train(client: Client, directory: Path, **config: Any) -> tuple[int, list[str]]:
    """Run the training. Its experiment, and its checkpoints by step."""
    experiment = submit(client, directory, STORING, **KEEP, **config)
    client.wait_state(experiment, "COMPLETED")
    stored = client.get(f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]
    return experiment, [one["uuid"] for one in sorted(stored, key=lambda one: one["metadata"]["steps_completed"])]


def make_model(client: Client, name: str, **fields: Any) -> int:
    made: int = client.post(MODELS, {"name": name, **fields})["model"]["id"]
    return made


def register(client: Client, model: int, uuids: list[str]) -> None:
    for uuid in uuids:
        client.post(f"{MODELS}/{model}/versions", {"checkpointUuid": uuid})


def counter(client: Client, directory: Path, **config: Any) -> int:
    """Make the model `counter` with its two versions; the alias `production` is the first."""
    _, uuids = train(client, directory, **config)
    model = make_model(client, "counter", description="adds one", labels=["demo"])
    register(client, model, uuids)
    client.call("PUT", f"{MODELS}/{model}/aliases/production", {"version": 1})
    return model


def get(client: Client, model: int) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{MODELS}/{model}")["model"]
    return found


def get_version(client: Client, model: int, number: int) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{MODELS}/{model}/versions/{number}")["modelVersion"]
    return found
