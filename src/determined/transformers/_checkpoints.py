"""Checkpoints of a Trainer, `checkpoint-<step>` in its output directory: fetched before training, stored when saved."""

import json
import logging
import shutil
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from determined import core
from determined._json import JsonObject

logger = logging.getLogger("determined.transformers")

_METADATA, _USER_DATA, _TRAINER_STATE = "metadata.json", "my_data.json", "trainer_state.json"
# What goes on with a training; without them a Trainer takes the weights alone.
_PROGRESS = ("optimizer*", "scheduler.pt", "scaler.pt", "rng_state*.pth")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A checkpoint in the output directory.

    Args:
        storage_id: of the checkpoint.
        directory: what a Trainer resumes from.
        step: where it then goes on.
        is_own: whether this very trial had stored it.
    """

    storage_id: str
    directory: Path
    step: int
    is_own: bool


class CallbackStates(JsonObject):
    """Callback states in a Trainer's state. Saving fails over a callback that the checkpoint's script did not have."""

    def __missing__(self, name: str) -> JsonObject:
        return {}


def fetch(core_context: core.Context, storage_id: str, output_dir: Path, trial_id: int) -> Fetched:
    """Collective: download a checkpoint into the output directory.

    A checkpoint of another trial is where this one begins: its weights are kept, its steps and optimizer are not.

    Raises:
        ValueError: it is not what a Trainer saves.
    """
    core_context.checkpoint.download(storage_id, output_dir)
    metadata = json.loads((output_dir / _METADATA).read_text())
    steps = metadata.get("steps_completed")
    directory = output_dir / f"checkpoint-{steps}"
    if not directory.is_dir():
        raise ValueError(
            f"checkpoint {storage_id} has no {directory.name}, so no Trainer with a DetCallback stored it; load it "
            "into the model yourself, and start the trial without it"
        )
    is_own = metadata.get("trial_id") in (None, trial_id)
    if not is_own:
        logger.info("checkpoint %s is of trial %s; its weights are loaded", storage_id, metadata["trial_id"])
    if core_context.distributed.local_rank == 0:
        _locate_best(directory) if is_own else _keep_weights(directory)
    core_context.distributed.allgather(None)  # nobody reads what is being changed
    return Fetched(storage_id, directory, steps if is_own else 0, is_own)


def store(
    core_context: core.Context, output_dir: Path, step: int, trial_id: int, user_data: object, best: str | None
) -> str:
    """Collective: store what a Trainer saved at a step, with its event files.

    Args:
        core_context: where to store it.
        output_dir: of the Trainer.
        step: at which it saved.
        trial_id: whose it is.
        user_data: kept beside it, unless it is None.
        best: the name of the checkpoint whose weights the Trainer loads at its end, if it is another.
    """
    distributed = core_context.distributed
    name = f"checkpoint-{step}"
    if user_data is not None and distributed.local_rank == 0:
        (output_dir / name).mkdir(parents=True, exist_ok=True)
        (output_dir / name / _USER_DATA).write_text(json.dumps(user_data))
    distributed.allgather(None)  # every rank of this node has written its part
    is_sender = distributed.local_rank == 0
    mine = _files(output_dir, name, best) if is_sender else set()
    # With save_on_each_node every node has the same files, and with other times in them.
    others = set().union(*distributed.allgather(mine)[: distributed.rank])
    return core_context.checkpoint.upload(
        output_dir if is_sender else None,
        {"steps_completed": step, "trial_id": trial_id},
        shard=True,
        selector=(mine - others).__contains__ if is_sender else None,
    )


def _files(output_dir: Path, name: str, best: str | None) -> set[str]:
    """Return what to store; of the best model the weights alone: nobody goes on from there."""
    tops = {name, "runs", best or name}
    paths = [path for top in tops for path in (output_dir / top).rglob("*") if path.is_file()]
    parts = [path.relative_to(output_dir) for path in paths]
    return {path.as_posix() for path in parts if path.parts[0] in (name, "runs") or not _is_progress(path.parts[1])}


def _is_progress(entry: str) -> bool:
    return any(fnmatch(entry, pattern) for pattern in _PROGRESS)


def _locate_best(directory: Path) -> None:
    """Note where the best model is now: the output directory may have had another name."""
    state = _read_state(directory)
    best = state.get("best_model_checkpoint")
    if not best:
        return
    state["best_model_checkpoint"] = str(directory.parent / Path(best).name)
    (directory / _TRAINER_STATE).write_text(json.dumps(state))


def _keep_weights(directory: Path) -> None:
    for pattern in _PROGRESS:
        for path in directory.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    state = _read_state(directory)
    state |= {"global_step": 0, "epoch": 0, "log_history": [], "best_metric": None, "best_global_step": None}
    state |= {"best_model_checkpoint": None, "total_flos": 0, "num_input_tokens_seen": 0}
    (directory / _TRAINER_STATE).write_text(json.dumps(state))


def _read_state(directory: Path) -> JsonObject:
    file = directory / _TRAINER_STATE
    return dict(json.loads(file.read_text())) if file.is_file() else {}
