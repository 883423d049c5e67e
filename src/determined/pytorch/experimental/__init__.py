"""Batch inference over a dataset on any number of workers; paused and restarted as training is. May still change."""

from determined.pytorch.experimental._batch_process import torch_batch_process
from determined.pytorch.experimental._batch_processor import (
    TorchBatchProcessor,
    TorchBatchProcessorContext,
    get_default_device,
)

__all__ = [
    "TorchBatchProcessor",
    "TorchBatchProcessorContext",
    "get_default_device",
    "torch_batch_process",
]
