"""Layers of configs: one raw experiment config over another."""

from determined._json import JsonObject
from determined.config.experiment_schema import ExperimentConfig


def merge(high: JsonObject, low: JsonObject) -> JsonObject:
    """Lay `high` over `low`, both canonical. Neither is changed; the result may share parts with them."""
    return ExperimentConfig.merge(high, low)
