"""Calls of a trial to its model in build_model: noted by `capture`, done when the trial begins."""

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.keras._tensorflow import keras

if TYPE_CHECKING:
    from keras import Model
    from keras.callbacks import Callback

logger = logging.getLogger("determined.keras")


@dataclass(frozen=True, slots=True)
class FitCall:
    """The arguments of a `model.fit` that was not run."""

    x: object = None
    y: object = None
    sample_weight: object = None
    validation_data: object = None
    callbacks: list["Callback"] = field(default_factory=list)
    options: JsonObject = field(default_factory=dict)  # of configure_fit


class ModelCalls:
    """A wrapped model and what was asked of it."""

    def __init__(self, model: "Model") -> None:
        self.model = model
        self._compile: inspect.BoundArguments | None = None
        self._fit: FitCall | None = None

    def compile_now(self, optimizer: Callable[[object], object], is_distributed: bool) -> FitCall | None:
        """Compile for real.

        Args:
            optimizer: gets what `compile` was given as an optimizer; what it returns is compiled with.
            is_distributed: gradients leave TensorFlow's graph, which XLA cannot compile then.
        """
        call = self._compile
        if call is None:
            raise InvalidExperimentException("build_model must call compile on the model that wrap_model returned")
        for name in ("compile", "fit"):  # those of the class are seen again
            object.__delattr__(self.model, name)
        _map_optimizers(call, optimizer)
        if _is_kerass_own(self.model.compile):
            _set_options(call, is_distributed)
        self.model.compile(*call.args, **call.kwargs)
        if is_distributed:
            self.model.jit_compile = False  # a `compile` of the user's own may not have passed it on
        return self._fit

    def compile(self, *args: object, **kwargs: object) -> None:
        own = type(self.model).compile.__get__(self.model)
        self._compile = inspect.signature(own).bind(*args, **kwargs)

    def fit(self, *args: object, **kwargs: object) -> None:
        call = inspect.signature(keras.Model.fit).bind(self.model, *args, **kwargs).arguments
        if call.get("validation_data") is None:
            raise InvalidExperimentException(
                "model.fit was called without validation_data; the searcher compares trials by validation metrics"
            )
        options = {name: call[name] for name in _FIT_OPTIONS if call.get(name) is not None}
        self._fit = FitCall(
            call.get("x"),
            call.get("y"),
            call.get("sample_weight"),
            call["validation_data"],
            list(call.get("callbacks") or []),
            options,
        )


def capture(model: "Model") -> ModelCalls:
    """Have `compile` and `fit` of the model only note their arguments."""
    calls = ModelCalls(model)
    # Past Keras, which would look whether these are layers to be saved.
    object.__setattr__(model, "compile", calls.compile)
    object.__setattr__(model, "fit", calls.fit)
    return calls


def is_optimizer(value: object) -> bool:
    kinds = [keras.optimizers.Optimizer]
    legacy = getattr(getattr(keras.optimizers, "legacy", None), "Optimizer", None)
    return isinstance(value, tuple(kind for kind in [*kinds, legacy] if isinstance(kind, type)))


_FIT_OPTIONS = ("class_weight", "shuffle", "validation_steps", "workers", "use_multiprocessing", "max_queue_size")


def _map_optimizers(call: inspect.BoundArguments, optimizer: Callable[[object], object]) -> None:
    for name, value in list(call.arguments.items()):
        if is_optimizer(value) or (name == "optimizer" and isinstance(value, str | dict)):  # a name, or a config
            call.arguments[name] = optimizer(value)
        elif isinstance(value, dict):  # of **kwargs
            call.arguments[name] = {key: optimizer(v) if is_optimizer(v) else v for key, v in value.items()}


def _set_options(call: inspect.BoundArguments, is_distributed: bool) -> None:
    """The platform counts batches one by one."""
    steps = call.arguments.get("steps_per_execution")
    if steps not in (None, 1):
        logger.warning("steps_per_execution=%s is ignored: metrics, validations and pauses are due by batch", steps)
    call.arguments["steps_per_execution"] = 1
    if is_distributed:
        if call.arguments.get("jit_compile") is True:
            logger.warning("jit_compile=True is ignored on several slots: gradients are averaged outside of XLA")
        call.arguments["jit_compile"] = False


def _is_kerass_own(compile_method: Any) -> bool:
    return "steps_per_execution" in inspect.signature(compile_method).parameters
