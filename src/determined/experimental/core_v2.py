"""Core API as module variables (0.25 to 0.38): `core_v2.init()`, then `core_v2.train`, `core_v2.checkpoint` and so on.

Inside of a trial it is `core.init()`. Outside of one (detached mode) this process becomes a trial of its own: it makes
an experiment at the master, or goes on with one, and reports to it.
"""

import atexit
import logging
import sys
import warnings
from dataclasses import dataclass, fields
from typing import Any

from determined import core
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.api import trial as trials
from determined.core import DistributedContext, PreemptMode, TensorboardMode
from determined.core.detached import context as detached
from determined.core.detached.experiment import ExperimentRequest, storage_section
from determined.core.detached.registration import cluster_info, start
from determined.sdk.determined import Determined

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
    """Experiment and trial outside of the cluster; a trial on the cluster has its own config.

    Attributes:
        name, description, labels, data, searcher: as in an experiment's config.
        hparams: hyperparameters of the trial.
        workspace, project: where the experiment goes; both or neither.
        checkpoint_storage: where checkpoints go: a path, an address, or a section as in an experiment's config.
        external_experiment_id: a name of your own for the experiment. It is made on first use; every later run and
            every other worker with this name reports to the same one.
        external_trial_id: the same for the trial: a later run goes on with it, from its latest checkpoint.
        integrations: as in an experiment's config: the webhooks that alerts of the trial go to.
    """

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
    integrations: JsonObject | None = None


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
    client: Determined | None = None,
    distributed: DistributedContext | None = None,
    checkpoint_storage: Any = None,
    preempt_mode: PreemptMode = PreemptMode.WorkersAskChief,
    tensorboard_mode: TensorboardMode = TensorboardMode.AUTO,
) -> core.Context:
    """Return a Core API context for a `with` block.

    Args:
        config: the experiment and the trial to report to; not used in a trial, which has the config it was submitted
            with.
        defaults, unmanaged: deprecated forms of `config`.
        client: logged in at the master to report to; by default as `Determined()` does. Not used in a trial, which
            talks to its own master.
        distributed: who this process is among its peers; the chief makes the experiment, its peers join.
        checkpoint_storage: instead of the one of the config.
        preempt_mode, tensorboard_mode: as for `core.init`.

    Raises:
        ValueError: neither `config` nor `defaults` outside of a trial, or external ids that name nothing.
        MasterNotFound: no master answers.

    Example:
        >>> with core_v2.init_context(config=core_v2.Config(name="mnist", hparams={"lr": 0.1})) as core_context:
        ...     core_context.train.report_training_metrics(1, {"loss": 0.5})
    """
    running = trial_of(get_cluster_info())
    if running is None:
        chosen = _merged(config, defaults, unmanaged)
        return detached.begin(
            (client or Determined())._session,
            _request(chosen),
            distributed=distributed,
            checkpoint_storage=chosen.checkpoint_storage if checkpoint_storage is None else checkpoint_storage,
            preempt_mode=preempt_mode,
            tensorboard_mode=tensorboard_mode,
        )
    if any(each is not None for each in (config, defaults, unmanaged)):
        level = logging.INFO if defaults is None and unmanaged is None else logging.WARNING
        text = "core_v2: this is a trial, so the config it was submitted with is used and not the one in the code"
        logger.log(level, text)
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
    close()
    _open(init_context(**options))


def _reopen(closed: ClusterInfo, client: Determined | None) -> None:
    """Open a trial outside of the cluster again, which this process has closed."""
    close()
    session, config = (client or Determined())._session, closed.trial._config
    registered = start(session, trials.get(session, closed.trial.trial_id), config)
    _open(
        detached.context(
            session,
            cluster_info(session, registered),
            distributed=None,
            checkpoint_storage=storage_section(config.get("checkpoint_storage"), detached.default_storage()),
            preempt_mode=PreemptMode.WorkersAskChief,
            tensorboard_mode=TensorboardMode.AUTO,
        )
    )


def _open(context: core.Context) -> None:
    global _context
    _context = context.start()
    _set(_context)
    atexit.register(close)


def close() -> None:
    """Close what `init` opened; without it there is nothing to do.

    In a `finally` or `except` block the exception at hand is how the run ended.
    """
    _close(sys.exc_info()[1])


def _close(error: BaseException | None) -> None:
    """Close what `init` opened, as ended by this error."""
    global _context
    closing, _context = _context, None
    _set(None)
    atexit.unregister(close)
    if closing is not None:
        closing.close(None if error is None else type(error), error, error.__traceback__ if error else None)


def url_reverse_webui_exp_view() -> str:
    """Return the address of this experiment's page.

    Raises:
        RuntimeError: `init` has not been called.
    """
    if info is None:
        raise RuntimeError("call core_v2.init() before url_reverse_webui_exp_view()")
    return f"{info.master_url.rstrip('/')}/det/experiments/{info.trial.experiment_id}"


def _merged(config: Config | None, defaults: Config | None, unmanaged: Config | None) -> Config:
    """Return one config. Of the deprecated two, `unmanaged` goes before `defaults`."""
    if config is not None:
        return config
    if defaults is None:
        raise ValueError("outside of a trial core_v2 needs an experiment; pass config=core_v2.Config(name=...)")
    merged = Config()
    for given in (defaults, unmanaged):
        for field in fields(Config):
            value = getattr(given, field.name, None)
            if value is not None:
                setattr(merged, field.name, value)
    return merged


def _request(config: Config) -> ExperimentRequest:
    names = (field.name for field in fields(ExperimentRequest))
    return ExperimentRequest(**{name: getattr(config, name) for name in names})


def _set(context: core.Context | None) -> None:
    for name in ("train", "distributed", "preempt", "checkpoint", "searcher", "info"):
        globals()[name] = None if context is None else getattr(context, name)
    if isinstance(searcher, core.SearcherContextMissing):
        globals()["searcher"] = None  # without a length there are no operations
