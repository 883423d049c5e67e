"""A TFKerasTrial by its entrypoint, on Keras 3 and on Keras 2."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.keras",
        name=f"keras_trial{suffix}",
        directory=Path(__file__).parent,
        entrypoint="model_def:Trial",
        mistake="mistake:UnwrappedModel",
        advice="wrap_model",
        metric="val_loss",
        packages=("tensorflow",),
        environment_name=environment_name,
    )
    for environment_name, suffix in (("current", ""), ("tf215", "-tf215"))
]
