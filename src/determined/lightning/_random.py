"""The random numbers of this process, as plain values and tensors: loading them runs no code."""

import random

import numpy as np
import torch

from determined._json import JsonObject

RandomState = JsonObject


def take() -> RandomState:
    name, keys, *rest = np.random.get_state()
    state: RandomState = {
        "torch": torch.get_rng_state(),
        "numpy": [name, torch.from_numpy(np.asarray(keys, dtype=np.int64)), *rest],
        "python": random.getstate(),
    }
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # asking would else claim memory of a GPU
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def put_back(state: RandomState) -> None:
    torch.set_rng_state(state["torch"])
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), *rest))
    random.setstate(state["python"])
    if "cuda" in state and torch.cuda.device_count() == len(state["cuda"]):
        torch.cuda.set_rng_state_all(state["cuda"])
