"""PyTorch training: `PyTorchTrial` by entrypoint or by a script with `pytorch.init` and `Trainer`."""

from determined._imports import load_optional

load_optional("torch", extra="torch")  # before our own modules, which import it plainly

from determined.pytorch import samplers  # noqa: E402
from determined.pytorch._batch_data import TorchData, data_length, to_device  # noqa: E402
from determined.pytorch._callback import PyTorchCallback  # noqa: E402
from determined.pytorch._context import PyTorchTrialContext  # noqa: E402
from determined.pytorch._controller import PyTorchTrialController  # noqa: E402
from determined.pytorch._experimental import PyTorchExperimentalContext  # noqa: E402
from determined.pytorch._first_interface import ClipGradsL2Norm, ClipGradsL2Value  # noqa: E402
from determined.pytorch._load import CheckpointLoadContext, load_trial_from_checkpoint_path  # noqa: E402
from determined.pytorch._loader import DataLoader, adapt_batch_sampler  # noqa: E402
from determined.pytorch._lr_scheduler import LRScheduler  # noqa: E402
from determined.pytorch._reducer import MetricReducer, Reducer  # noqa: E402
from determined.pytorch._reset import reset_parameters  # noqa: E402
from determined.pytorch._trainer import Trainer, init  # noqa: E402
from determined.pytorch._trial import PyTorchTrial  # noqa: E402
from determined.trial import Batch, Epoch, TrainUnit  # noqa: E402

__all__ = [
    "Batch",
    "CheckpointLoadContext",
    "ClipGradsL2Norm",
    "ClipGradsL2Value",
    "DataLoader",
    "Epoch",
    "LRScheduler",
    "MetricReducer",
    "PyTorchCallback",
    "PyTorchExperimentalContext",
    "PyTorchTrial",
    "PyTorchTrialContext",
    "PyTorchTrialController",
    "Reducer",
    "TorchData",
    "TrainUnit",
    "Trainer",
    "adapt_batch_sampler",
    "data_length",
    "init",
    "load_trial_from_checkpoint_path",
    "reset_parameters",
    "samplers",
    "to_device",
]
