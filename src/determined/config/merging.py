"""Layers of configs: one raw experiment config over another."""

from typing import Any

from determined.config.experiment_schema import EXPERIMENT


def merge(high: dict[str, Any], low: dict[str, Any]) -> dict[str, Any]:
    """`high` over `low`, both canonical. Neither is changed; the result may share parts with them."""
    merged: dict[str, Any] = EXPERIMENT.merge(high, low)
    return merged
