"""TrialContext: what a trial may ask about its experiment, whichever framework it uses."""

import logging
import secrets
import tempfile
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from determined import core
from determined._json import JsonObject
from determined.storage import SharedFSStorageManager
from determined.trial._environment import EnvContext
from determined.trial._practices import warn_of_missing_paths

logger = logging.getLogger("determined.trial")


class TrialContext:
    """Base of every framework's context.

    Attributes:
        distributed: this process among its peers.
        env: what the platform told this trial at its start.
    """

    def __init__(self, core_context: core.Context, env: EnvContext) -> None:
        self._core = core_context
        self.env = env
        self.distributed = core_context.distributed
        self._stop_requested = False
        self._tensorboard_path: Path | None = None

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """A context for trying out a trial class where no experiment runs: in a notebook or a debugger.

        Args:
            config: an experiment config. Hyperparameters with a range are drawn from it at random.

        Example:
            >>> context = TrialContext.from_config({"hyperparameters": {"lr": 0.1}})
            >>> context.get_hparam("lr")
            0.1
        """
        env = EnvContext.from_config(config, seed=secrets.randbits(31), managed_training=False)
        return cls._for_debugging(local_core_context(), env)

    def get_experiment_config(self) -> JsonObject:
        return self.env.experiment_config

    def get_data_config(self) -> JsonObject:
        """The `data` section of the experiment config."""
        data = self.get_experiment_config().get("data") or {}
        if self.distributed.rank == 0:
            warn_of_missing_paths(data)
        return data

    def get_experiment_id(self) -> int:
        """The experiment's number; 0 off cluster."""
        return int(self.env.det_experiment_id)

    def get_trial_id(self) -> int:
        """The trial's number; 0 off cluster."""
        return int(self.env.det_trial_id)

    def get_trial_seed(self) -> int:
        return self.env.trial_seed

    def get_hparams(self) -> JsonObject:
        """Return all hyperparameters of this trial."""
        return self.env.hparams

    def get_hparam(self, name: str) -> Any:
        """Return a hyperparameter.

        Raises:
            ValueError: the experiment has none of this name.
        """
        hparams = self.get_hparams()
        if name not in hparams:
            raise ValueError(
                f"get_hparam({name!r}): this trial has the hyperparameters {sorted(hparams)}; "
                f"add {name} to the config's hyperparameters"
            )
        if name == "global_batch_size":
            logger.warning(
                "get_hparam('global_batch_size') counts all slots together; a data loader takes "
                "get_per_slot_batch_size(), and get_global_batch_size() is what all slots really train on"
            )
        return hparams[name]

    def get_stop_requested(self) -> bool:
        return self._stop_requested

    def set_stop_requested(self, stop_requested: bool) -> None:
        """Ask training to end gracefully, with a checkpoint, at the next reporting, validation or checkpoint boundary.

        Raises:
            AssertionError: not a bool.
        """
        if not isinstance(stop_requested, bool):
            raise AssertionError(f"set_stop_requested({stop_requested!r}): pass True or False")
        logger.info("%s", "a stop of this trial was requested" if stop_requested else "the stop request was withdrawn")
        self._stop_requested = stop_requested

    def get_initial_batch(self) -> int:
        """Return how many batches were trained before this process began."""
        return self.env.steps_completed

    def get_tensorboard_path(self) -> Path:
        """Return where to write files for TensorBoard: copied to the checkpoint storage on a cluster, a temporary
        directory elsewhere."""
        if self._tensorboard_path is None:
            self._tensorboard_path = self._core.train.get_tensorboard_path() or _temporary_directory()
        return self._tensorboard_path

    @classmethod
    def _for_debugging(cls, core_context: core.Context, env: EnvContext) -> Self:
        return cls(core_context, env)


def local_core_context() -> core.Context:
    """A core context that reports nothing, whatever task this process is part of; it need not be closed."""
    alone = core.DummyDistributedContext()
    nowhere = Path(tempfile.gettempdir()) / f"determined-{uuid4().hex}"  # made when something is stored, and not before
    return core.Context(core.DummyCheckpointContext(alone, SharedFSStorageManager(str(nowhere))), distributed=alone)


def _temporary_directory() -> Path:
    path = Path(tempfile.mkdtemp(prefix="determined-tensorboard-"))
    logger.info("files for TensorBoard are written to %s", path)
    return path
