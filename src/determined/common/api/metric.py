"""Upstream's `determined.common.api.metric`."""

from typing import Any

__all__ = ["get_validation_metric"]


def get_validation_metric(metric_name: str, validation: Any) -> Any:
    """Return a metric of a validation as the API answers it; None where it has none."""
    metrics = (validation or {}).get("metrics") or {}
    return metrics.get("validation_metrics", {}).get(metric_name)
