"""`keras.DeterminedCallback` in a plain `model.fit`: Keras 2 and 3 on TensorFlow, Keras 3 on torch."""

from rows import Row

_ONE_PROCESS = "model.fit on torch is one process"
_LONGER = {"hyperparameters": {"epochs": 40}}

ROWS = [
    Row(
        framework="Keras",
        version="2.15",
        python="tf215",
        generation="DeterminedCallback",
        example="keras/iris_callback",
        script="train.py",
        pause_changes=_LONGER,
        fast=(),
    ),
    Row(
        framework="Keras",
        version="3.15",
        python="current",
        generation="DeterminedCallback",
        example="keras/iris_callback",
        script="train.py",
        pause_changes=_LONGER,
    ),
    Row(
        framework="Keras",
        version="3.15",
        python="torch",
        generation="DeterminedCallback on torch",
        example="keras/iris_callback",
        script="train.py",
        two_slots=_ONE_PROCESS,
        pause_changes=_LONGER,
        fast=(),
    ),
]
