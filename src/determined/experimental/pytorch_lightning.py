"""Earlier place of `determined.pytorch.lightning` (0.13 to 0.14)."""

from determined.pytorch.lightning import LightningAdapter

__all__ = ["LightningAdapter"]
