"""The hooks of a LightningModule that a PyTorchTrial has a place for, called there."""

import sys
from typing import TYPE_CHECKING, Any

from determined._json import JsonObject
from determined.pytorch._callback import PyTorchCallback
from determined.pytorch.lightning._compatibility import overrides
from determined.pytorch.lightning._logged import ModuleLog

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule

# Ours -> the module's, which takes no argument.
_BARE = {
    "on_training_epoch_start": "on_train_epoch_start",
    "on_training_epoch_end": "on_train_epoch_end",
    "on_validation_start": "on_validation_start",
    "on_validation_epoch_start": "on_validation_epoch_start",
    "on_validation_end": "on_validation_end",
}


class ModuleHooks(PyTorchCallback):
    """The callback `_lightning_module`. It has only the hooks that the module has: others cost nothing."""

    def __init__(self, module: "LightningModule", log: ModuleLog, validated: list[object] | None) -> None:
        self._module = module
        self._log = log
        self._validated = validated  # what `validation_step` returned, for a module that asks
        self._has_begun = False
        for ours, theirs in _BARE.items():
            if overrides(module, theirs):
                setattr(self, ours, _without_arguments(getattr(module, theirs)))
        if overrides(module, "validation_epoch_end") or overrides(module, "on_validation_epoch_end"):
            setattr(self, "on_validation_epoch_end", self._end_validation_epoch)  # noqa: B010
        if overrides(module, "on_save_checkpoint"):
            setattr(self, "on_checkpoint_save_start", self._save)  # noqa: B010
        if overrides(module, "on_load_checkpoint"):
            setattr(self, "on_checkpoint_load_start", self._load)  # noqa: B010

    def on_training_start(self) -> None:
        self._has_begun = True
        self._module.on_train_start()

    def on_training_workload_end(self, avg_metrics: JsonObject, batch_metrics: list[JsonObject]) -> None:
        self._log.write_points()

    def on_trial_shutdown(self) -> None:
        self._log.close()
        if self._has_begun and sys.exc_info()[0] is None:  # a training that failed has not ended
            self._module.on_train_end()

    def _end_validation_epoch(self, outputs: list[object]) -> None:
        if self._validated is not None:  # of Lightning 1
            returned, self._validated[:] = list(self._validated), []
            self._module.validation_epoch_end(returned)
        self._module.on_validation_epoch_end()

    def _save(self, checkpoint: JsonObject) -> None:
        _as_lightning(checkpoint, self._module.on_save_checkpoint)

    def _load(self, checkpoint: JsonObject | None) -> None:
        if checkpoint is not None:
            _as_lightning(checkpoint, self._module.on_load_checkpoint)


def _as_lightning(checkpoint: JsonObject, hook: Any) -> None:
    """Call the hook with the module's weights where Lightning has them; what it puts there is taken."""
    models = checkpoint.get("models_state_dict")
    if not models:
        hook(checkpoint)
        return
    checkpoint["state_dict"] = models[0]
    hook(checkpoint)
    models[0] = checkpoint.pop("state_dict", models[0])


def _without_arguments(hook: Any) -> object:
    def call(*_arguments: object) -> None:
        hook()

    return call
