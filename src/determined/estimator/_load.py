"""load_estimator_from_checkpoint_path: the SavedModel of a checkpoint."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from determined._json import JsonObject

_SAVED_MODEL = "saved_model.pb"
_CODE = "code"


def load_estimator_from_checkpoint_path(path: str, tags: Sequence[str] | None = None) -> Any:
    """The model of a checkpoint as it was exported for serving.

    Args:
        path: a directory that holds a checkpoint, as `Checkpoint.download` returns it.
        tags: of the graph in the SavedModel; `["serve"]` unless given.

    Returns:
        What `tf.saved_model.load` returns: an object with `signatures`.

    Raises:
        AssertionError: the checkpoint has no SavedModel, or several.

    Example:
        >>> model = load_estimator_from_checkpoint_path(client.get_checkpoint(uuid).download())
        >>> model.signatures["serving_default"](x=tf.constant([[1.0]]))
    """
    directory = Path(path)
    models = [file for file in directory.rglob(_SAVED_MODEL) if file.relative_to(directory).parts[0] != _CODE]
    if len(models) != 1:
        names = sorted(str(file.parent.relative_to(directory)) for file in models)
        raise AssertionError(
            f"{directory} has {len(models)} SavedModels {names}, and exactly one can be loaded; have the trial's "
            "build_serving_input_receiver_fns return one function, or pass the directory of one of them"
        )
    return tf.saved_model.load(str(models[0].parent), tags=list(tags or ["serve"]))


def load_stored(path: str, tags: list[str] | None, kwargs: JsonObject) -> Any:
    """Load a checkpoint as `Checkpoint.load` did, whose `kwargs` are for another API."""
    return load_estimator_from_checkpoint_path(path, tags)
