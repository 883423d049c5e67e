"""One batch of a LightningAdapter off cluster, which is a PyTorchTrial."""

from determined.pytorch._one_batch import run

__all__ = ["run"]
