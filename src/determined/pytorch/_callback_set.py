"""CallbackSet: all callbacks of a trial; knows which of them have something to do at a hook."""

import functools
import inspect
import logging
import warnings
from collections.abc import Callable

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.pytorch._callback import PyTorchCallback

logger = logging.getLogger("determined.pytorch")

Hook = Callable[..., None]

# Hooks of older releases, called right before the one that replaced them.
_OLDER_NAMES = {
    "on_validation_start": "on_validation_step_start",
    "on_validation_end": "on_validation_step_end",
}
_REPLACED_BY = {older: hook for hook, older in _OLDER_NAMES.items()} | {"on_checkpoint_end": "on_checkpoint_write_end"}
_HOOKS = [name for name in vars(PyTorchCallback) if name.startswith("on_") and name not in _OLDER_NAMES.values()]


class CallbackSet:
    """The callbacks of `build_callbacks`, in its order.

    Args:
        callbacks: by the names that key their state in checkpoints.

    Raises:
        TypeError: not a dict of names to PyTorchCallback objects.

    Example:
        >>> CallbackSet({"stop": StopOnNaN(context)}).fire("on_training_epoch_end", 3)
    """

    def __init__(self, callbacks: dict[str, PyTorchCallback]) -> None:
        self._callbacks = _checked(callbacks)
        self._hooks: dict[str, list[Hook]] = {name: self._overriding(name) for name in _HOOKS}
        self._anywhere = {name for name, calls in self._hooks.items() if calls}

    def share(self, distributed: core.DistributedContext) -> None:
        """Learn what the callbacks of the other ranks override. All ranks must call it."""
        if distributed.size > 1:
            self._anywhere = set().union(*distributed.allgather(sorted(self._anywhere)))

    def overrides(self, hook: str) -> bool:
        """Return whether any callback of this rank does something at `hook`."""
        return bool(self._hooks[hook])

    def anywhere(self, hook: str) -> bool:
        """Return whether any callback of any rank does, once shared: what all ranks must decide alike is decided by
        this."""
        return hook in self._anywhere

    def fire(self, hook: str, *arguments: object) -> None:
        """Call `hook` of every callback that overrides it, in order."""
        for call in self._hooks[hook]:
            call(*arguments)

    def shut_down(self) -> None:
        """`on_trial_shutdown` of all, in reverse order; the first error is raised when all were asked."""
        failure: BaseException | None = None
        for call in reversed(self._hooks["on_trial_shutdown"]):
            try:
                call()
            except (Exception, InvalidExperimentException) as err:
                # Raised below: what the other callbacks hold must be let go of first.
                if failure is not None:
                    logger.exception("on_trial_shutdown failed as well, in %s", _owner(call))
                failure = failure or err
        if failure is not None:
            raise failure

    def state_dict(self) -> JsonObject:
        """Return every callback's state by name."""
        return {name: callback.state_dict() for name, callback in self._callbacks.items()}

    def load_state_dict(self, states: JsonObject) -> None:
        """Give each callback its state; one without a state keeps what it has, with a warning."""
        for name, callback in self._callbacks.items():
            if name in states:
                callback.load_state_dict(states[name])
            else:
                logger.warning("the checkpoint has no state of callback %r; it starts anew", name)
        unknown = sorted(set(states) - set(self._callbacks))
        if unknown:
            logger.warning("the checkpoint has states of callbacks %s, which build_callbacks does not return", unknown)

    def _overriding(self, hook: str) -> list[Hook]:
        names = [_OLDER_NAMES[hook], hook] if hook in _OLDER_NAMES else [hook]
        return [
            _adapted(callback, name)
            for callback in self._callbacks.values()
            for name in names
            if _is_overridden(callback, name)
        ]


def _checked(callbacks: object) -> dict[str, PyTorchCallback]:
    if not isinstance(callbacks, dict):
        raise TypeError(
            f"build_callbacks returned a {type(callbacks).__name__}; return a dict of names to PyTorchCallback objects"
        )
    for name, callback in callbacks.items():
        if not isinstance(callback, PyTorchCallback):
            what = f"the class {callback.__name__}" if isinstance(callback, type) else f"a {type(callback).__name__}"
            raise TypeError(
                f"build_callbacks returned {what} as {name!r}; return an object of a subclass of "
                "determined.pytorch.PyTorchCallback"
            )
    return dict(callbacks)


def _is_overridden(callback: PyTorchCallback, hook: str) -> bool:
    method = getattr(callback, hook)
    return getattr(method, "__func__", method) is not getattr(PyTorchCallback, hook)


def _adapted(callback: PyTorchCallback, hook: str) -> Hook:
    """The hook as it is called today, with a word on names and signatures of older releases."""
    method: Hook = getattr(callback, hook)
    owner = type(callback).__name__
    if hook in _REPLACED_BY:
        _deprecated(f"{owner}.{hook} is deprecated; rename it to {_REPLACED_BY[hook]}")
    if hook == "on_training_epoch_start" and not inspect.signature(method).parameters:
        _deprecated(f"{owner}.on_training_epoch_start without a parameter is deprecated; add epoch_idx")
        return functools.partial(_without_arguments, method)
    return method


def _without_arguments(method: Hook, *_arguments: object) -> None:
    method()


def _deprecated(message: str) -> None:
    warnings.warn(message, FutureWarning, stacklevel=2)


def _owner(call: Hook) -> str:
    return type(getattr(call, "__self__", call)).__name__
