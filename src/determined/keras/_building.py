"""Models that have no variables yet: Keras 3 makes those of a class of the user's, or of a Sequential without an Input,
at the first batch, and saves and loads only what is there."""

from types import ModuleType
from typing import TYPE_CHECKING

from determined.errors import CheckpointStateException
from determined.keras import _data_position, _framework

if TYPE_CHECKING:
    from keras import Layer, Model


def build_uncallable(keras: ModuleType, model: "Model") -> None:
    """A model that only trains, by parts that are models themselves, has no `call`: it has all weights there are."""
    if not model.built and type(model).call is keras.Model.call:
        model.built = True  # else Keras 3 saves and loads nothing


def count_weights(keras: ModuleType, model: "Model") -> int | None:
    """Count weights for `build_from_data`. Keras 2 does not need it, and counts none of a model that it takes for
    unbuilt."""
    return len(model.weights) if _framework.is_keras_3(keras) else None


def build_from_data(keras: ModuleType, model: "Model", weights: int | None) -> None:
    """Let the model make its variables, from `on_train_begin`, as the data of this `fit` are shaped. None are read, so
    that they come in the same order afterwards.

    Args:
        keras: that of the model.
        model: the one to load into.
        weights: how many the checkpoint has; None where it does not say.

    Raises:
        CheckpointStateException: their shapes cannot be told, or the data go through a part of the model alone.
    """
    build_uncallable(keras, model)
    if not _framework.is_keras_3(keras):  # Keras 2 loads into variables that are made later
        return
    if not model.built:
        _call_on_shapes(keras, model)
    lack = lacking(keras, model, weights or 0, "before fit")
    if lack is not None:
        raise CheckpointStateException(lack)


def unbuilt(keras: ModuleType, model: "Model") -> list["Layer"]:
    """The parts of a model, itself among them, that have no variables yet and that Keras would load nothing into."""
    return [layer for layer in model._flatten_layers() if not layer.built] if _framework.is_keras_3(keras) else []


def lacking(keras: ModuleType, model: "Model", weights: int, when: str) -> str | None:
    """Describe what Keras 3 would leave out of a checkpoint; None where there is nothing.

    Args:
        keras: that of the model.
        model: the one to load into.
        weights: how many the checkpoint has.
        when: parts may be called, so that they have variables in time.
    """
    parts = unbuilt(keras, model)
    if not parts or len(model.weights) >= weights:
        return None
    return (
        f"{type(model).__name__} has {len(model.weights)} of the {weights} weights of the checkpoint before its first "
        f"batch; give its parts an Input, or call them on a batch {when}: {', '.join(part.name for part in parts)}"
    )


def _call_on_shapes(keras: ModuleType, model: "Model") -> None:
    words = (
        f"{type(model).__name__} has no variables before its first batch, so that no checkpoint can be loaded; "
        "call it on a batch before fit, or give it an Input"
    )
    spec = _data_position.data_spec()
    if spec is None:
        raise CheckpointStateException(words)
    inputs, _, _ = keras.utils.unpack_x_y_sample_weight(spec)
    try:
        shapes = keras.tree.map_structure(lambda each: keras.KerasTensor(each.shape, each.dtype.name), inputs)
        model(shapes, training=True)  # as fit calls it
    except Exception as err:  # the user's code, and data of any kind: training ends, with what can be done
        raise CheckpointStateException(f"{words}. By the shapes of the data it could not be built: {err}") from err
