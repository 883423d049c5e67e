"""Counters of a training loop (TrialState), and the states of the random number generators it depends on."""

import random
from dataclasses import dataclass

import numpy as np
import torch

from determined._json import JsonObject

# Plain values, arrays and tensors, as they lie in a checkpoint under `rng_state`.
RngState = JsonObject


@dataclass(slots=True)
class TrialState:
    """Counters of one trial. `last_ckpt` and `last_val` are the batches at which these last happened."""

    trial_id: int
    last_ckpt: int = 0
    step_id: int = 0
    last_val: int = 0
    batches_trained: int = 0
    epochs_trained: int = 0


def take_rng() -> RngState:
    """The state of this process's generators: torch, numpy, random, and the current GPU's where one is in use."""
    state: RngState = {
        "cpu_rng_state": torch.random.get_rng_state(),
        "np_rng_state": np.random.get_state(),
        "random_rng_state": random.getstate(),
    }
    # Asking would else claim memory of a GPU that nobody uses.
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["gpu_rng_state"] = torch.cuda.get_rng_state()
    return state


def restore_rng(rng: RngState) -> None:
    """Put back what `take_rng` or an earlier release has taken; a generator without a state is left as it is."""
    if "cpu_rng_state" in rng:
        torch.random.set_rng_state(rng["cpu_rng_state"])
    if "np_rng_state" in rng:
        np.random.set_state(rng["np_rng_state"])
    if "random_rng_state" in rng:
        random.setstate(rng["random_rng_state"])
    if "gpu_rng_state" in rng and torch.cuda.is_available():
        torch.cuda.set_rng_state(rng["gpu_rng_state"])
