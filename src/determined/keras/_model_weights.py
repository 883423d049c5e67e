"""The weights of a trial's model: written in the format of the Keras at hand, read in those of all releases."""

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from determined._json import JsonObject
from determined.errors import CheckpointNotFound, CheckpointStateException
from determined.keras import _building, _framework
from determined.keras._tensorflow import KERAS_3, keras, tf

if TYPE_CHECKING:
    import numpy.typing as npt
    from keras import Model, Variable

logger = logging.getLogger("determined.keras")

_NAME = "determined-keras-model-weights"
_WHOLE_MODEL = "determined-keras-model"  # of early releases
_H5 = (f"{_NAME}.weights.h5", f"{_NAME}.h5", f"{_WHOLE_MODEL}.h5")
# TensorFlow checkpoints, by the prefix of their files.
_TENSORFLOW = (_NAME, f"{_WHOLE_MODEL}/variables/variables")
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_ABOUT = f"{_NAME}.json"


def save_model_weights(model: "Model", directory: Path) -> None:
    if KERAS_3:
        model.save_weights(str(directory / _H5[0]))
        (directory / _ABOUT).write_text(json.dumps({"weights": _building.count_weights(keras, model)}))
    else:
        model.save_weights(str(directory / _NAME), save_format="tf")


def lacking_weights(model: "Model", directory: Path) -> str | None:
    """Describe what `load_model_weights` would leave out because parts of the model are not built; None if nothing.

    A checkpoint of an earlier release does not say how many weights it has: it has some.
    """
    about = directory / _ABOUT
    weights = json.loads(about.read_text())["weights"] if about.is_file() else 1
    return _building.lacking(keras, model, int(weights), "in build_model")


def load_model_weights(model: "Model", directory: Path) -> None:
    """Load into a model that is built; one of Keras 2 may also be built later.

    Raises:
        CheckpointNotFound: no weights of a TFKerasTrial are there.
        CheckpointStateException: they are those of another model.
    """
    h5 = next((directory / name for name in _H5 if (directory / name).is_file()), None)
    if h5 is not None:
        model.load_weights(str(h5))
        return
    prefix = next((directory / name for name in _TENSORFLOW if Path(f"{directory / name}.index").is_file()), None)
    if prefix is None:
        files = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else "no such directory"
        raise CheckpointNotFound(
            f"{directory} is no checkpoint of a TFKerasTrial: it has neither {_NAME}* nor {_WHOLE_MODEL}* "
            f"(found: {files})"
        )
    if KERAS_3 or prefix.name == "variables":
        _load_values(model, prefix)
    else:
        status = model.load_weights(str(prefix)).expect_partial()
        if model.built:
            _check_matched(model, status, prefix)


def _load_values(model: "Model", prefix: Path) -> None:
    """Load values by the names under which TensorFlow has saved them: the way from the model to each variable."""
    reader = tf.train.load_checkpoint(str(prefix))
    weights = _weights_by_name(model, reader)
    _check_complete(model, weights, prefix)
    for name, weight in weights.items():
        _assign(weight, reader.get_tensor(name), name, prefix)


def _check_matched(model: "Model", status: Any, prefix: Path) -> None:
    """Keras 2 loads what it finds and is silent about the rest, which may be state of an optimizer or all weights."""
    try:
        status.assert_existing_objects_matched()
    except AssertionError:
        _check_complete(model, _weights_by_name(model, tf.train.load_checkpoint(str(prefix))), prefix)


def _weights_by_name(model: "Model", reader: Any) -> JsonObject:
    weights = {id(weight) for weight in model.weights}
    names = [name for name in sorted(reader.get_variable_to_shape_map()) if name.endswith(_VALUE)]
    values = {name: _find(model, name.removesuffix(_VALUE).split("/")) for name in names}
    return {name: weight for name, weight in values.items() if id(weight) in weights}


def _check_complete(model: "Model", saved: JsonObject, prefix: Path) -> None:
    saved_ids = {id(weight) for weight in saved.values()}
    missing = [str(getattr(weight, "path", weight.name)) for weight in model.weights if id(weight) not in saved_ids]
    if missing:
        raise CheckpointStateException(
            f"{prefix} has no values for {', '.join(sorted(missing))}: it was saved by another model, or one whose "
            "parts have other names; load it with the code and the TensorFlow that saved it "
            f"(this is Keras {_framework.version(keras)})"
        )


def _find(root: object, way: list[str]) -> object:
    """The variable at the end of a way through attributes and layers; None where there is none."""
    value = root
    for part in way:
        numbered = re.fullmatch(r"(layer|layer_with_weights)-(\d+)", part)
        if numbered is not None:
            layers = [each for each in getattr(value, "layers", []) if numbered[1] == "layer" or each.weights]
            place = int(numbered[2])
            value = layers[place] if place < len(layers) else None
        elif part.isdigit() and isinstance(value, list | tuple):
            value = value[int(part)] if int(part) < len(value) else None
        elif isinstance(value, Mapping):
            value = value.get(part)
        else:
            value = getattr(value, part, None)
    return value


def _assign(weight: "Variable", value: "npt.NDArray[np.generic]", name: str, prefix: Path) -> None:
    if tuple(weight.shape) != np.shape(value):
        raise CheckpointStateException(
            f"{name} of {prefix} has the shape {np.shape(value)}, and the model's {tuple(weight.shape)}; "
            "restore it with the model that saved it"
        )
    weight.assign(value)
