"""Keras training: `DeterminedCallback` in a plain `model.fit` on any backend, and `TFKerasTrial` on TensorFlow.

Nothing is imported before it is used: the callback runs on Keras 3 where there is no TensorFlow.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from determined.keras import callbacks
    from determined.keras._context import TFKerasExperimentalContext, TFKerasTrialContext
    from determined.keras._controller import TFKerasTrialController
    from determined.keras._determined_callback import DeterminedCallback
    from determined.keras._first_names import InMemorySequence, KerasDataAdapter
    from determined.keras._inputs import ArrayLike, InputData, KerasInputData, SequenceAdapter
    from determined.keras._load import load_model_from_checkpoint_path
    from determined.keras._native import TFKerasNativeContext
    from determined.keras._tensorboard import TensorBoard
    from determined.keras._trial import TFKerasTrial
    from determined.keras.callbacks import TFKerasTensorBoard

__all__ = [
    "ArrayLike",
    "DeterminedCallback",
    "InMemorySequence",
    "InputData",
    "KerasDataAdapter",
    "KerasInputData",
    "SequenceAdapter",
    "TFKerasExperimentalContext",
    "TFKerasNativeContext",
    "TFKerasTensorBoard",
    "TFKerasTrial",
    "TFKerasTrialContext",
    "TFKerasTrialController",
    "TensorBoard",
    "callbacks",
    "init",
    "load_model_from_checkpoint_path",
]

_HOMES = {
    "ArrayLike": "_inputs",
    "DeterminedCallback": "_determined_callback",
    "InMemorySequence": "_first_names",
    "InputData": "_inputs",
    "KerasDataAdapter": "_first_names",
    "KerasInputData": "_inputs",
    "SequenceAdapter": "_inputs",
    "TFKerasExperimentalContext": "_context",
    "TFKerasNativeContext": "_native",
    "TFKerasTensorBoard": "callbacks",
    "TFKerasTrial": "_trial",
    "TFKerasTrialContext": "_context",
    "TFKerasTrialController": "_controller",
    "TensorBoard": "_tensorboard",
    "load_model_from_checkpoint_path": "_load",
}

_ON_ANY_BACKEND = ("DeterminedCallback", "TensorBoard")


def __getattr__(name: str) -> Any:
    if name == "callbacks":
        return importlib.import_module("determined.keras.callbacks")
    if name == "init":  # of 0.12.0; by name, as it lies above this package
        return importlib.import_module("determined.experimental.keras").init
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Before our own modules, which import what comes with it plainly: where there is none, this names the extra.
    if name in _ON_ANY_BACKEND:
        importlib.import_module(f"{__name__}._framework").load_keras()
    else:
        importlib.import_module(f"{__name__}._tensorflow")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
