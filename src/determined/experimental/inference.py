"""Earlier place of `determined.pytorch.experimental`: batch inference (0.21, 0.22)."""

from determined.pytorch.experimental import (
    TorchBatchProcessor,
    TorchBatchProcessorContext,
    get_default_device,
    torch_batch_process,
)

__all__ = ["TorchBatchProcessor", "TorchBatchProcessorContext", "get_default_device", "torch_batch_process"]
