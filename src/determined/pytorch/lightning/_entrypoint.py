"""`entrypoint: model_def:MyTrial` with a LightningAdapter, which is a PyTorchTrial."""

from determined.pytorch._entrypoint import run_trial

__all__ = ["run_trial"]
