"""LightningAdapter: a LightningModule trained as a PyTorchTrial; `determined.lightning` is for Lightning's Trainer."""

from importlib.util import find_spec

from determined._imports import load_optional

if find_spec("pytorch_lightning") is None:  # the module is the user's, of either package: none is imported here
    load_optional("lightning", extra="lightning")

from determined.pytorch.lightning._adapter import LightningAdapter

__all__ = ["LightningAdapter"]
