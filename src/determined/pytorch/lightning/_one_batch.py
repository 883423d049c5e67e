"""Test of a LightningAdapter on one batch off cluster, which is a PyTorchTrial."""

from determined.pytorch._one_batch import run

__all__ = ["run"]
