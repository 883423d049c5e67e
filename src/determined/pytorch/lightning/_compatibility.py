"""Checks of a LightningModule: parts without a place in a PyTorchTrial are refused with their name and the way out."""

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from determined.errors import InvalidModelException

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule

_PLAIN = "train with Lightning's own Trainer and `determined.lightning`, which has every hook"
_IN_INIT = "do it in __init__ of the module or of the trial"
_CLIP = "override train_batch of the trial, or " + _PLAIN
_MOVE = "call context.experimental.disable_auto_to_device() in the trial and move batches in the steps"
_TEST = "test with Lightning's own Trainer after training"

# Hooks of Lightning 1 and 2 that are not called, and what to do instead.
_UNSUPPORTED = {
    "backward": _PLAIN,
    "clip_gradients": _CLIP,
    "configure_callbacks": "return PyTorchCallbacks from build_callbacks of the trial",
    "configure_gradient_clipping": _CLIP,
    "configure_model": _IN_INIT,
    "configure_sharded_model": _IN_INIT,
    "get_progress_bar_dict": "log what it shows by self.log",
    "lr_scheduler_step": _PLAIN,
    "manual_backward": _PLAIN,
    "on_after_batch_transfer": "do it in training_step and validation_step",
    "on_before_batch_transfer": "do it in the dataset",
    "on_fit_end": _PLAIN,
    "on_fit_start": "use on_train_start",
    "on_pretrain_routine_end": "use on_train_start",
    "on_pretrain_routine_start": "use on_train_start",
    "on_test_batch_end": _TEST,
    "on_test_batch_start": _TEST,
    "on_test_end": _TEST,
    "on_test_epoch_end": _TEST,
    "on_test_epoch_start": _TEST,
    "on_test_model_eval": _TEST,
    "on_test_model_train": _TEST,
    "on_test_start": _TEST,
    "on_validation_model_eval": _PLAIN,
    "on_validation_model_train": _PLAIN,
    "optimizer_step": _PLAIN,
    "optimizer_zero_grad": _PLAIN,
    "setup": _IN_INIT,
    "tbptt_split_batch": "split sequences in the dataset",
    "teardown": "use on_trial_shutdown of a PyTorchCallback",
    "test_epoch_end": _TEST,
    "test_step": _TEST,
    "test_step_end": _TEST,
    "training_epoch_end": "keep in training_step what it needs, and use on_train_epoch_end; averages are had by "
    "self.log(..., on_epoch=True)",
    "training_step_end": "do it at the end of training_step",
    "transfer_batch_to_device": _MOVE,
    "validation_step_end": "do it at the end of validation_step",
}
_REQUIRED = ("training_step", "validation_step", "configure_optimizers")
_FRAMEWORKS = ("lightning", "pytorch_lightning", "torch", "torchmetrics")


def check_module(module: "LightningModule") -> None:
    """Raise InvalidModelException for a module that cannot be trained as it is meant."""
    if not _is_lightning_module(module):
        raise InvalidModelException(
            f"LightningAdapter got a {type(module).__name__}; pass an object of a subclass of LightningModule"
        )
    if getattr(module, "_trainer", None) is not None:
        raise InvalidModelException(
            f"{type(module).__name__} is attached to a Trainer; the adapter trains it by itself: pass a fresh module"
        )
    if not module.automatic_optimization:
        raise _refused(module, "automatic_optimization = False", _PLAIN)
    _check_hooks(module)
    _check_parameters(module)


def overrides(module: "LightningModule", hook: str) -> bool:
    """Return whether the user's code, and not Lightning's, has this method; through any chain of base classes."""
    if hook in vars(module):
        return True
    owner = next((base for base in type(module).__mro__ if hook in vars(base)), None)
    return owner is not None and owner.__module__.partition(".")[0] not in _FRAMEWORKS


def takes(method: Callable[..., object], parameter: str) -> bool:
    return parameter in inspect.signature(method).parameters


def _is_lightning_module(module: "LightningModule") -> bool:
    return any(base.__name__ == "LightningModule" for base in type(module).__mro__)


def _check_hooks(module: "LightningModule") -> None:
    for hook in _REQUIRED:
        if not overrides(module, hook):
            raise InvalidModelException(f"{type(module).__name__} has no {hook}; LightningAdapter needs one")
    for hook, way_out in _UNSUPPORTED.items():
        if overrides(module, hook):
            raise _refused(module, hook, way_out)


def _check_parameters(module: "LightningModule") -> None:
    for hook in _overridden_hooks(module):
        needed = _needed(getattr(module, hook))
        if "dataloader_idx" in needed:
            raise _refused(module, f"{hook} with dataloader_idx", "there is one validation loader: leave it out")
        if "hiddens" in needed:
            raise _refused(module, f"{hook} with hiddens", "keep the state of a sequence in the module")
        if hook == "on_train_epoch_end" and needed:
            raise _refused(module, f"{hook} with {', '.join(needed)}", "take no argument, as in Lightning 2")


def _overridden_hooks(module: "LightningModule") -> Iterator[str]:
    for name in dir(type(module)):
        is_hook = name.startswith("on_") or name in ("training_step", "validation_step")
        if is_hook and overrides(module, name) and callable(getattr(type(module), name)):
            yield name


def _needed(method: Callable[..., object]) -> list[str]:
    """Parameters that a call must give."""
    parameters = inspect.signature(method).parameters.values()
    given = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [each.name for each in parameters if each.kind in given and each.default is each.empty]


def _refused(module: "LightningModule", what: str, way_out: str) -> InvalidModelException:
    return InvalidModelException(
        f"{type(module).__name__} has {what}, which LightningAdapter does not support; {way_out}"
    )
