"""Building of a model, after which it has weights. One that is a class of the user's has none before it is called: the
shapes of what it is called with are kept in a checkpoint."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from determined._json import JsonObject
from determined.keras._building import build_uncallable
from determined.keras._tensorflow import keras, tf

if TYPE_CHECKING:
    from keras import Model

_FILE = "determined-keras-model-inputs.json"


def write_inputs(described: object, directory: Path) -> None:
    (directory / _FILE).write_text(json.dumps(described))


def describe(x: Any) -> Any:
    """A batch of inputs: tensors, and tuples and dicts of them."""
    if isinstance(x, dict):
        return {"names": {name: describe(part) for name, part in x.items()}}
    if isinstance(x, list | tuple):
        return {"parts": [describe(part) for part in x]}
    return {"shape": [int(size) for size in x.shape[1:]], "dtype": x.dtype.name}


def build(model: "Model", directory: Path) -> None:
    """Have the model make its weights, if it has not and the checkpoint says how."""
    build_uncallable(keras, model)
    file = directory / _FILE
    if not model.built and file.is_file():
        model(_zeros(json.loads(file.read_text())), training=False)


def _zeros(described: JsonObject) -> object:
    if "names" in described:
        return {name: _zeros(part) for name, part in described["names"].items()}
    if "parts" in described:
        return tuple(_zeros(part) for part in described["parts"])
    return tf.zeros([1, *described["shape"]], described["dtype"])
