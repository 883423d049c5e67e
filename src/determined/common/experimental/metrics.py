"""Upstream's `determined.common.experimental.metrics`."""

from determined.experimental.client import TrainingMetrics, TrialMetrics, ValidationMetrics

__all__ = ["TrainingMetrics", "TrialMetrics", "ValidationMetrics"]
