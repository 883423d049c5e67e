"""Random numbers of a training, taken into a checkpoint and put back: Python's, numpy's, torch's, and the seeds that
layers such as Dropout carry along."""

import random
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from determined._json import JsonObject
from determined.keras import _framework

if TYPE_CHECKING:
    from keras import Model, Variable


def random_state(keras: ModuleType, model: "Model") -> JsonObject:
    """Return everything that draws, in plain values; TensorFlow's own stateful operations cannot be read."""
    legacy: Any = np.random.get_state()
    kind, keys, *position = legacy
    state: JsonObject = {"random": random.getstate(), "numpy": (kind, keys.tolist(), *position)}
    if _framework.backend(keras) == "torch":
        state["torch"] = _torch_state()
    state["seeds"] = [np.asarray(seed.numpy()).tolist() for seed in _seeds(model)]
    return state


def restore_random_state(state: JsonObject, model: "Model") -> None:
    if "random" in state:
        random.setstate(state["random"])
    if "numpy" in state:
        kind, keys, *position = state["numpy"]
        np.random.set_state((kind, np.array(keys, dtype=np.uint32), *position))
    torch = sys.modules.get("torch")
    if "torch" in state and torch is not None:
        _set_torch_state(torch, state["torch"])
    seeds = _seeds(model) if state.get("seeds") else []
    if len(seeds) != len(state.get("seeds") or []):
        return  # another model than the one that was saved: it begins with seeds of its own
    for seed, value in zip(seeds, state.get("seeds") or [], strict=True):
        seed.assign(value)


def _seeds(model: "Model") -> list["Variable"]:
    """Variables of a Keras 3 model that are no weights, and those of the generators that layers of Keras 2 have."""
    weights = {id(weight) for weight in model.weights}
    seeds = [variable for variable in model.variables if id(variable) not in weights]
    layers = [getattr(layer, "_random_generator", None) for layer in model._flatten_layers()]
    generators = [getattr(layer, "_generator", None) for layer in layers]
    return seeds + [generator.state for generator in generators if generator is not None]


def _torch_state() -> JsonObject:
    torch: ModuleType = sys.modules["torch"]
    has_gpu = torch.cuda.is_available()
    gpus = torch.cuda.get_rng_state_all() if has_gpu else []
    return {"cpu": torch.get_rng_state().numpy().tobytes(), "cuda": [state.numpy().tobytes() for state in gpus]}


def _set_torch_state(torch: ModuleType, state: JsonObject) -> None:
    torch.set_rng_state(_tensor(torch, state["cpu"]))
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([_tensor(torch, each) for each in state["cuda"]])


def _tensor(torch: ModuleType, content: bytes) -> object:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)
