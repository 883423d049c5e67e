"""LightningAdapter: the PyTorchTrial around a LightningModule."""

import contextlib
import functools
import inspect
import numbers
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from determined._json import JsonObject
from determined.errors import InvalidModelException
from determined.pytorch._batch_data import TorchData
from determined.pytorch._callback import PyTorchCallback
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._parallel import parameters_of
from determined.pytorch._trial import PyTorchTrial
from determined.pytorch.lightning._compatibility import check_module, overrides, takes
from determined.pytorch.lightning._hooks import ModuleHooks
from determined.pytorch.lightning._logged import ModuleLog
from determined.pytorch.lightning._optimizers import configured
from determined.pytorch.lightning._trainer_view import TrainerView

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule

_PRECISIONS: dict[str, torch.dtype | None] = {
    "32": None,
    "32-true": None,
    "16": torch.float16,
    "16-mixed": torch.float16,
    "bf16": torch.bfloat16,
    "bf16-mixed": torch.bfloat16,
}
_BATCH_HOOKS = (
    "on_after_backward",
    "on_before_backward",
    "on_train_batch_end",
    "on_train_batch_start",
    "on_validation_batch_end",
    "on_validation_batch_start",
)


class LightningAdapter(PyTorchTrial):
    """Trains a LightningModule by the loop of a PyTorchTrial: its metrics, checkpoints, search and distribution.

    A subclass calls `super().__init__` with its module and builds the two loaders. Hooks that this loop has no place
    for are refused when the trial is built. What the module gives to `self.log` is averaged and reported with what its
    steps return.

    Args:
        context: the trial's.
        lightning_module: of `lightning` or `pytorch_lightning`, with one optimizer, or with several and an
            `optimizer_idx` in its `training_step`.
        precision: 32, or 16 or "bf16" for mixed precision.
        amp_backend: who computes in 16 bits, "native" or "apex".
        amp_level: of apex.

    Attributes:
        lm: the module.
        model: the module as the context has wrapped it.

    Raises:
        InvalidModelException: a hook, a signature or an optimizer that is not supported; it is named.
        ValueError: another precision or backend.

    Example:
        >>> class MyTrial(LightningAdapter):
        ...     def __init__(self, context):
        ...         super().__init__(context, Net(lr=context.get_hparam("lr")))
    """

    def __init__(
        self,
        context: PyTorchTrialContext,
        lightning_module: "LightningModule",
        precision: int | str = 32,
        amp_backend: str = "native",
        amp_level: str = "O2",
    ) -> None:
        dtype = _dtype(precision, amp_backend)
        check_module(lightning_module)
        self.context = context
        self.lm = lightning_module
        self._dtype = dtype if amp_backend == "native" else None
        self._log = ModuleLog(self.lm, context)
        self._hooks = {name: getattr(self.lm, name) for name in _BATCH_HOOKS if overrides(self.lm, name)}
        self._hooks_are_asked = False
        self._validated: list[object] | None = [] if overrides(self.lm, "validation_epoch_end") else None
        self._returned = _Returned()
        self._numbers_training = _wants_number(self.lm.training_step)
        self._numbers_validation = _wants_number(self.lm.validation_step)
        self._adapt()
        if self._dtype is not None:
            context.experimental.use_amp(self._dtype)
        is_split = takes(self.lm.training_step, "optimizer_idx")
        # A step for one of several optimizers leaves parameters of the others without a gradient.
        self.model = context.wrap_model(self.lm, ddp={"find_unused_parameters": True} if is_split else None)
        configuration = configured(self.lm.configure_optimizers())
        self._check_step(is_split, len(configuration.optimizers))
        for number, optimizer in enumerate(configuration.optimizers):
            self._watch(context.wrap_optimizer(optimizer), number)
        if dtype is not None and amp_backend == "apex":
            context.configure_apex_amp(self.model, context.optimizers, opt_level=amp_level)
        for each in configuration.schedulers:
            context.wrap_lr_scheduler(each.scheduler, each.step_mode, each.frequency)

    def build_callbacks(self) -> dict[str, PyTorchCallback]:
        """The module's own hooks. An override adds to them: `{**super().build_callbacks(), "mine": ...}`."""
        self._hooks_are_asked = True
        return {"_lightning_module": ModuleHooks(self.lm, self._log, self._validated)}

    def train_batch(self, batch: TorchData, epoch_idx: int, batch_idx: int) -> torch.Tensor | JsonObject:
        """Train on a batch by `training_step`, for each optimizer."""
        self._check_callbacks()
        batch_idx -= epoch_idx * (self.context._epoch_len or 0)  # Lightning counts the batches of an epoch
        if self._call_hook("on_train_batch_start", batch, batch_idx) == -1:
            raise InvalidModelException(
                "on_train_batch_start returned -1 to leave the epoch, which LightningAdapter cannot; end training by "
                "context.set_stop_requested(True)"
            )
        outputs = [self._train(batch, batch_idx, number) for number in range(len(self.context.optimizers))]
        self._call_hook("on_train_batch_end", outputs[0] if len(outputs) == 1 else outputs, batch, batch_idx)
        return _named([self._returned.metrics(number, output) for number, output in enumerate(outputs)])

    def evaluate_batch(self, batch: TorchData, batch_idx: int) -> JsonObject:
        """Evaluate a batch by `validation_step`."""
        self._call_hook("on_validation_batch_start", batch, batch_idx)
        with self._precision():
            output = self.lm.validation_step(*((batch, batch_idx) if self._numbers_validation else (batch,)))
        self._call_hook("on_validation_batch_end", output, batch, batch_idx)
        if self._validated is not None and output is not None:
            self._validated.append(output)
        return _metrics(output)

    def _adapt(self) -> None:
        """Give the module what it would ask its Trainer for."""
        self.lm._trainer = TrainerView(self.lm, self.context)
        self.lm.log = self._log.log
        self.lm.log_dict = self._log.log_dict
        self.lm.print = self._log.print

    def _check_step(self, is_split: bool, optimizers: int) -> None:
        if is_split == (optimizers > 1):
            return
        raise InvalidModelException(
            f"{type(self.lm).__name__}.training_step {'has' if is_split else 'has no'} optimizer_idx, and "
            f"configure_optimizers returned {optimizers} optimizer(s); it has that argument if there are several"
        )

    def _watch(self, optimizer: torch.optim.Optimizer, number: int) -> None:
        """Hooks around a step that really is one: not while gradients are aggregated, nor after an overflow."""
        if overrides(self.lm, "on_before_optimizer_step"):
            # Lightning 1 told its number.
            more = (number,) if takes(self.lm.on_before_optimizer_step, "optimizer_idx") else ()
            optimizer.register_step_pre_hook(lambda it, *_: self.lm.on_before_optimizer_step(it, *more))
        if overrides(self.lm, "on_before_zero_grad"):
            optimizer.register_step_post_hook(lambda it, *_: self.lm.on_before_zero_grad(it))

    def _check_callbacks(self) -> None:
        if not self._hooks_are_asked:
            raise InvalidModelException(
                f"{type(self).__name__}.build_callbacks leaves out those of LightningAdapter, so that hooks of the "
                'module are never called; return {**super().build_callbacks(), "yours": ...}'
            )

    def _train(self, batch: object, batch_idx: int, number: int) -> object:
        context, optimizer = self.context, self.context.optimizers[number]
        step = self.lm.training_step
        arguments = (batch, batch_idx) if self._numbers_training else (batch,)
        if len(context.optimizers) > 1:
            step = functools.partial(step, optimizer_idx=number)
        with _toggled(optimizer, context.optimizers):
            with self._precision():
                output = self._step(step, *arguments)
            if output is None:
                return None
            loss = _loss(output)
            self._call_hook("on_before_backward", loss)
            context.backward(loss)
            self._call_hook("on_after_backward")
            context.step_optimizer(optimizer)
        return output

    def _step(self, step: Callable[..., object], *arguments: object) -> object:
        """Call a step through whatever is wrapped around the module, if anything is: it exchanges gradients."""
        if self.model is self.lm:
            return step(*arguments)
        own = self.lm.__dict__.get("forward")

        def forward(*given: object) -> Any:
            _put_forward(self.lm, own)  # the step itself calls the module
            return step(*given)

        self.lm.forward = forward
        try:
            return self.model(*arguments)
        finally:
            _put_forward(self.lm, own)

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        """Use mixed precision for all of a step, as Lightning does: a module seldom calls itself, and more often its
        parts."""
        if self._dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self.context.device.type, self._dtype)

    def _call_hook(self, name: str, *arguments: object) -> object:
        hook = self._hooks.get(name)
        return None if hook is None else hook(*arguments)


class _Returned:
    """The names that steps returned, for each optimizer; no dict of the trial, which would be taken for the user's."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, ...]] = {}

    def metrics(self, number: int, output: object) -> JsonObject:
        """Return what a step returned. One that was left out has the names of the last one: those of all batches are
        alike."""
        if output is None:
            return dict.fromkeys(self._names.get(number, ("loss",)))
        metrics = _metrics(output)
        self._names[number] = tuple(metrics)
        return metrics


def _dtype(precision: int | str, amp_backend: str) -> torch.dtype | None:
    if amp_backend not in ("native", "apex"):
        raise ValueError(f"amp_backend={amp_backend!r} is not one of native, apex")
    if str(precision) not in _PRECISIONS:
        raise ValueError(f"precision={precision!r} is not one of {', '.join(_PRECISIONS)}")
    return _PRECISIONS[str(precision)]


@contextlib.contextmanager
def _toggled(optimizer: torch.optim.Optimizer, optimizers: list[torch.optim.Optimizer]) -> Iterator[None]:
    """Parameters that only other optimizers have need no gradient meanwhile."""
    own = {id(parameter) for parameter in parameters_of(optimizer)}
    others = {
        id(parameter): parameter
        for other in optimizers
        if other is not optimizer
        for parameter in parameters_of(other)
        if id(parameter) not in own and parameter.requires_grad
    }
    for parameter in others.values():
        parameter.requires_grad = False
    try:
        yield
    finally:
        for parameter in others.values():
            parameter.requires_grad = True


def _put_forward(module: "LightningModule", own: object) -> None:
    if own is None:
        module.__dict__.pop("forward", None)
    else:
        module.forward = own


def _wants_number(step: Callable[..., object]) -> bool:
    """Return whether a step takes the number of its batch; one without is fine."""
    parameters = inspect.signature(step).parameters
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = [name for name, each in parameters.items() if each.kind in kinds and name != "optimizer_idx"]
    return len(given) > 1 or any(each.kind is each.VAR_POSITIONAL for each in parameters.values())


def _loss(output: object) -> torch.Tensor:
    loss = output.get("loss") if isinstance(output, dict) else output
    if not isinstance(loss, torch.Tensor):
        raise InvalidModelException(
            f"training_step returned {type(output).__name__} without a loss; return the loss, or a dict with 'loss'"
        )
    return loss


def _metrics(output: object) -> JsonObject:
    """The numbers among what a step returned."""
    if output is None:
        return {}
    returned = output if isinstance(output, dict) else {"loss": output}
    return {name: value for name, value in returned.items() if _is_number(value)}


def _is_number(value: object) -> bool:
    return value.numel() == 1 if isinstance(value, torch.Tensor) else isinstance(value, numbers.Real)


def _named(metrics: list[JsonObject]) -> JsonObject:
    """Names that several optimizers have get the optimizer's number."""
    counts: dict[str, int] = {}
    for name in (name for each in metrics for name in each):
        counts[name] = counts.get(name, 0) + 1
    return {
        f"opt{number}_{name}" if counts[name] > 1 else name: value
        for number, each in enumerate(metrics)
        for name, value in each.items()
    }
