"""Core API as module variables (0.25 to 0.38): `core_v2.init()`, then `core_v2.train`, `core_v2.checkpoint` and so on.

Inside of a trial it is `core.init()`. Outside of one (detached mode) it is not implemented yet and says so.
"""

import atexit
import logging
import warnings
from dataclasses import dataclass
from typing import Any

from determined import core
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.core import DistributedContext, PreemptMode, TensorboardMode

__all__ = [
    "Config",
    "DefaultConfig",
    "DistributedContext",
    "PreemptMode",
    "TensorboardMode",
    "UnmanagedConfig",
    "checkpoint",
    "close",
    "distributed",
    "info",
    "init",
    "init_context",
    "preempt",
    "searcher",
    "train",
    "url_reverse_webui_exp_view",
]

logger = logging.getLogger("determined.core")

# Set by init(), None before it and after close().
train: core.TrainContext | core.DummyTrainContext | None = None
distributed: core.DistributedContext | None = None
preempt: core.PreemptContext | None = None
checkpoint: core.CheckpointContext | None = None
searcher: object = None
info: ClusterInfo | None = None

_context: core.Context | None = None


@dataclass
class Config:
    """Name and checkpoint storage of an experiment outside of the cluster; a trial has its own config."""

    name: str | None = None
    hparams: JsonObject | None = None
    data: JsonObject | None = None
    description: str | None = None
    labels: list[str] | None = None
    workspace: str | None = None
    project: str | None = None
    checkpoint_storage: str | JsonObject | None = None
    searcher: JsonObject | None = None
    external_experiment_id: str | None = None
    external_trial_id: str | None = None


class DefaultConfig(Config):
    """Deprecated: Config."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        warnings.warn("core_v2.DefaultConfig is deprecated; use core_v2.Config", FutureWarning, stacklevel=2)
        super().__init__(*args, **fields)


class UnmanagedConfig(Config):
    """Deprecated: Config."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        warnings.warn("core_v2.UnmanagedConfig is deprecated; use core_v2.Config", FutureWarning, stacklevel=2)
        super().__init__(*args, **fields)


def init_context(
    *,
    config: Config | None = None,
    defaults: DefaultConfig | None = None,
    unmanaged: UnmanagedConfig | None = None,
    client: object = None,
    distributed: DistributedContext | None = None,
    checkpoint_storage: Any = None,
    preempt_mode: PreemptMode = PreemptMode.WorkersAskChief,
    tensorboard_mode: TensorboardMode = TensorboardMode.AUTO,
) -> core.Context:
    """Return a Core API context for a `with` block.

    Args:
        config: not used in a trial, which has the config it was submitted with.
        defaults, unmanaged: deprecated forms of `config`.
        client: not used in a trial, which talks to its own master.
        distributed, checkpoint_storage, preempt_mode, tensorboard_mode: as for `core.init`.

    Raises:
        NotImplementedError: this process runs in no trial.
    """
    running = trial_of(get_cluster_info())
    if running is None:
        raise NotImplementedError(
            "core_v2 outside of a trial (detached mode) is not implemented yet; submit this script with det experiment "
            "create, or use determined.core.init(), which reports nothing off cluster"
        )
    if any(each is not None for each in (config, defaults, unmanaged)):
        logger.info("core_v2: this is a trial, so the config it was submitted with is used and not the one in the code")
    return core.init(
        distributed=distributed,
        checkpoint_storage=checkpoint_storage,
        preempt_mode=preempt_mode,
        tensorboard_mode=tensorboard_mode,
    )


def init(**options: Any) -> None:
    """Set `train`, `distributed`, `preempt`, `checkpoint`, `searcher` and `info` of this module.

    Takes the arguments of `init_context` and raises what it raises. A context of an earlier call is closed, and the
    last one at the end of the process.
    """
    global _context
    close()
    _context = init_context(**options).start()
    _set(_context)
    atexit.register(close)


def close() -> None:
    """Close what `init` opened; without it there is nothing to do."""
    global _context
    if _context is not None:
        _context.close()
    _context = None
    _set(None)
    atexit.unregister(close)


def url_reverse_webui_exp_view() -> str:
    """Return the address of this experiment's page.

    Raises:
        RuntimeError: `init` has not been called.
    """
    if info is None:
        raise RuntimeError("call core_v2.init() before url_reverse_webui_exp_view()")
    return f"{info.master_url.rstrip('/')}/det/experiments/{info.trial.experiment_id}"


def _set(context: core.Context | None) -> None:
    for name in ("train", "distributed", "preempt", "checkpoint", "searcher", "info"):
        globals()[name] = None if context is None else getattr(context, name)
