"""A script with `model.fit` and a DeterminedCallback, on Keras 3 and on Keras 2."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.keras",
        name=f"keras_callback{suffix}",
        directory=Path(__file__).parent,
        entrypoint="train.py",
        mistake="mistake.py",
        advice="give model.fit(validation_data=...)",
        metric="val_loss",
        packages=("tensorflow", "keras"),
        environment_name=environment_name,
        training=(4, 8, 12),
    )
    for environment_name, suffix in (("current", ""), ("tf215", "-tf215"))
]
