"""`load_model_from_checkpoint_path`: a trained model, built from what lies in a checkpoint."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from determined._json import JsonObject
from determined.errors import CheckpointStateException
from determined.keras._context import TFKerasTrialContext
from determined.keras._model_inputs import build
from determined.keras._model_weights import lacking_weights, load_model_weights
from determined.keras._trial import TFKerasTrial
from determined.trial import EnvContext, ExperimentConfig, StoredTrial, local_core_context, stored_class

if TYPE_CHECKING:
    from keras import Model

logger = logging.getLogger("determined.keras")


def load_model_from_checkpoint_path(path: str, tags: list[str] | None = None) -> "Model":
    """The model of a TFKerasTrial's checkpoint, built by the trial's own `build_model`, with its trained weights.

    Building it runs the code that lies in the checkpoint.

    Args:
        path: a directory that holds a checkpoint, as `Checkpoint.download` returns it.
        tags: accepted for older scripts: checkpoints that need them are not written any more.

    Raises:
        AssertionError: the directory has neither load_data.json nor metadata.json.
        CheckpointNotFound: it has no weights of a TFKerasTrial.
        CheckpointStateException: they are not those of the model that its code builds, or that has no variables yet.
            Where only parts of it have none, a warning names these.
        TrialNotImportable: its code, or a library that the code needs, is not found here.

    Example:
        >>> model = keras.load_model_from_checkpoint_path(client.get_checkpoint(uuid).download())
        >>> model.predict(x)
    """
    directory = Path(path)
    saved = StoredTrial.of(directory)
    env = EnvContext(
        experiment_config=ExperimentConfig(saved.config or {}), hparams=saved.hparams or {}, managed_training=False
    )
    with stored_class(directory, saved, TFKerasTrial) as trial_class:
        model = trial_class(TFKerasTrialContext(local_core_context(), env)).build_model()
    build(model, directory)
    lack = lacking_weights(model, directory)
    if lack is not None:
        if not model.weights:
            raise CheckpointStateException(lack)
        logger.warning("a part of checkpoint %s is not loaded: %s", path, lack)
    load_model_weights(model, directory)
    return model


def load_stored(path: str, tags: list[str] | None, kwargs: JsonObject) -> "Model":
    """Load a checkpoint as `Checkpoint.load` did, whose `kwargs` are for another API."""
    return load_model_from_checkpoint_path(path, tags)
