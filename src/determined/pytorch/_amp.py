"""Mixed precision: autocast around wrapped models' forward, the gradient scaler, and NVIDIA apex for old code."""

import copy
import dataclasses
import functools
import logging
from collections.abc import Callable, Mapping, MutableMapping
from types import ModuleType
from typing import Any

import torch
from torch import nn

from determined._imports import load_optional
from determined.errors import InvalidExperimentException

logger = logging.getLogger("determined.pytorch")


class MixedPrecision:
    """Choice of mixed precision that a trial made in its constructor.

    Attributes:
        dtype: what models compute in under `use_amp`; None without it.
        scaler: the gradient scaler saved in checkpoints, whoever drives it.
        is_automatic: the scaler is driven by `backward` and `step_optimizer`.
        apex: the module `apex.amp` once `configure_apex_amp` was called.
        apex_optimizers: the optimizers it was called with, as apex made them.
    """

    def __init__(self) -> None:
        self.dtype: torch.dtype | None = None
        self.scaler: torch.amp.GradScaler | None = None
        self.is_automatic = False
        self.apex: Any = None
        self.apex_optimizers: object = None

    def enable(self, device: torch.device, dtype: torch.dtype | None, models: list[nn.Module]) -> None:
        """`use_amp`. Only float16 needs its gradients scaled."""
        self._check_first("use_amp", models)
        default = torch.float16 if device.type == "cuda" else torch.bfloat16
        self.dtype = dtype or default
        if self.dtype is torch.float16:
            self.scaler, self.is_automatic = torch.amp.GradScaler(device.type), True

    def adopt(self, scaler: object, models: list[nn.Module]) -> None:
        """`wrap_scaler`: the user drives it, we save it."""
        self._check_first("wrap_scaler", models)
        if not isinstance(scaler, torch.amp.GradScaler):
            raise TypeError(f"wrap_scaler got a {type(scaler).__name__}; pass a torch.amp.GradScaler")
        self.scaler = scaler

    def cast(self, model: nn.Module, device: torch.device) -> None:
        """Let a model compute in `dtype` from now on."""
        if self.dtype is not None:
            model.forward = AutocastForward(model.forward, device.type, self.dtype)

    def configure_apex(
        self, models: object, optimizers: object, *, distributed_size: int, every: int, options: Any
    ) -> tuple[Any, Any]:
        """`configure_apex_amp`: models and optimizers as apex made them, in the shape given."""
        name = "configure_apex_amp"
        if self.apex is not None:
            raise InvalidExperimentException(f"{name} was called twice; call it once with all models and optimizers")
        if self.scaler is not None or self.dtype is not None:
            raise InvalidExperimentException(f"{name} cannot be joined with use_amp or wrap_scaler; use one of them")
        if distributed_size > 1 and (options["num_losses"] != 1 or every > 1):
            raise InvalidExperimentException(
                f"{name} over several slots needs num_losses=1 and aggregation_frequency=1, not "
                f"num_losses={options['num_losses']} and aggregation_frequency={every}; use_amp has no such limit"
            )
        if not torch.cuda.is_available():
            raise InvalidExperimentException(f"{name} needs a CUDA device; context.experimental.use_amp() does not")
        logger.warning("%s is deprecated: context.experimental.use_amp() is part of torch itself", name)
        apex = _load_apex()
        models, optimizers = apex.initialize(models, optimizers, **options)
        self.apex, self.apex_optimizers = apex, optimizers
        return models, optimizers

    def _check_first(self, method: str, models: list[nn.Module]) -> None:
        if self.apex is not None:
            raise InvalidExperimentException(f"{method} cannot be joined with configure_apex_amp; use one of them")
        if self.scaler is not None or self.dtype is not None:
            raise InvalidExperimentException(
                f"{method} was called after use_amp or wrap_scaler; call one of the two, once, before wrap_model"
            )
        if models:
            raise InvalidExperimentException(f"{method} was called after wrap_model; call it before")


def in_place_of(originals: list[Any], given: object, made: object) -> list[Any]:
    """`known` with what apex made of what it was given, one or a list. What it was not given stays in its place."""
    of = {id(old): new for old, new in zip(_listed(given), _listed(made), strict=True)}
    return [*(of.pop(id(one), one) for one in originals), *of.values()]


class AutocastForward:
    """Replacement of a module's `forward`. A copy of the module gets one that calls the copy."""

    def __init__(self, forward: Callable[..., object], device_type: str, dtype: torch.dtype) -> None:
        functools.update_wrapper(self, forward)
        self._forward = forward
        self._device_type = device_type
        self._dtype = dtype

    def __call__(self, *arguments: object, **named: object) -> Any:
        with torch.autocast(self._device_type, self._dtype):
            output = self._forward(*arguments, **named)
        return _as_float(output, self._dtype)


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _as_float(output: Any, dtype: torch.dtype) -> Any:
    """Tensors of `dtype` in full precision, in whatever structure a model returned them."""
    if isinstance(output, torch.Tensor):
        return output.float() if output.dtype is dtype else output
    if type(output) in (list, tuple):
        return type(output)(_as_float(value, dtype) for value in output)
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(_as_float(value, dtype) for value in output))
    if isinstance(output, Mapping):
        return _mapping_as_float(output, dtype)
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        return _dataclass_as_float(output, dtype)
    return output


def _mapping_as_float(output: Mapping[object, object], dtype: torch.dtype) -> object:
    values = {name: _as_float(value, dtype) for name, value in output.items()}
    if all(values[name] is value for name, value in output.items()):
        return output
    if not isinstance(output, MutableMapping):
        return type(output)(values)  # type: ignore[call-arg]  # as those of the standard library are made
    made = copy.copy(output)  # some, such as defaultdict, are not made from their items alone
    for name, value in values.items():
        made[name] = value  # Hugging Face's ModelOutput keeps its attributes in step, and has no `update`
    return made


def _dataclass_as_float(output: Any, dtype: torch.dtype) -> object:
    given = {field.name: getattr(output, field.name, None) for field in dataclasses.fields(output)}
    values = {name: _as_float(value, dtype) for name, value in given.items()}
    changed = {name: value for name, value in values.items() if value is not given[name]}
    if not changed:
        return output
    made = copy.copy(output)
    for name, value in changed.items():
        object.__setattr__(made, name, value)  # it may be frozen
    return made


def _load_apex() -> ModuleType:
    try:
        return load_optional("apex.amp", extra="torch")
    except ImportError as err:
        raise ImportError(
            "configure_apex_amp needs NVIDIA apex, which is not installed; context.experimental.use_amp() does the "
            "same with torch alone"
        ) from err
