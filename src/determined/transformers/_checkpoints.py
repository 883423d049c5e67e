"""Checkpoints of a Trainer, `checkpoint-<step>` in its output directory: fetched before training, stored when saved."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

from determined import core

logger = logging.getLogger("determined.transformers")

_METADATA, _USER_DATA, _TRAINER_STATE = "metadata.json", "my_data.json", "trainer_state.json"
# Of the training that another trial made; without them a Trainer takes the weights alone.
_PROGRESS = ("optimizer*", "scheduler.pt", "scaler.pt", "rng_state*.pth")


def fetch(core_context: core.Context, storage_id: str, output_dir: Path, trial_id: int) -> Path:
    """Collective: download a checkpoint into the output directory; the directory a Trainer resumes from.

    A checkpoint of another trial is where this one begins: its weights are kept, its steps and optimizer are not.
    """
    core_context.checkpoint.download(storage_id, output_dir)
    metadata = json.loads((output_dir / _METADATA).read_text())
    directory = output_dir / f"checkpoint-{metadata['steps_completed']}"
    if metadata.get("trial_id") in (None, trial_id):
        return directory
    logger.info("checkpoint %s is of trial %s; its weights are loaded", storage_id, metadata["trial_id"])
    if core_context.distributed.local_rank == 0:
        _keep_weights(directory)
    core_context.distributed.allgather(None)  # nobody reads what is being removed
    return directory


def store(core_context: core.Context, output_dir: Path, step: int, trial_id: int, user_data: Any) -> str:
    """Collective: store what a Trainer saved at a step, with its event files."""
    distributed = core_context.distributed
    name = f"checkpoint-{step}"
    if user_data is not None and distributed.local_rank == 0:
        (output_dir / name).mkdir(parents=True, exist_ok=True)
        (output_dir / name / _USER_DATA).write_text(json.dumps(user_data))
    distributed.allgather(None)  # every rank of this node has written its part
    is_sender = distributed.local_rank == 0
    return core_context.checkpoint.upload(
        output_dir if is_sender else None,
        {"steps_completed": step, "trial_id": trial_id},
        shard=True,
        selector=(lambda path: path.startswith((f"{name}/", "runs/"))) if is_sender else None,
    )


def _keep_weights(directory: Path) -> None:
    for pattern in _PROGRESS:
        for path in directory.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    file = directory / _TRAINER_STATE
    state = json.loads(file.read_text()) if file.is_file() else {}
    state |= {"global_step": 0, "epoch": 0, "log_history": [], "best_metric": None, "best_global_step": None}
    state |= {"best_model_checkpoint": None, "total_flos": 0, "num_input_tokens_seen": 0}
    file.write_text(json.dumps(state))
