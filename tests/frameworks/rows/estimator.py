"""Estimators, on the last TensorFlow that has them."""

from rows import Row

ROWS = [
    Row(
        framework="Estimator",
        version="2.15",
        python="tf215",
        generation="EstimatorTrial",
        example="estimator/mnist",
        # Long enough for a pause to fall between two validations.
        pause_changes={"searcher": {"max_length": {"epochs": 20}}, "min_validation_period": {"epochs": 10}},
    ),
    Row(
        framework="Estimator",
        version="2.15",
        python="tf215",
        generation="EstimatorTrial, TF Core graph",
        example="estimator/tf_core_graph",
        pause_changes={"searcher": {"max_length": {"batches": 2000}}, "min_validation_period": {"batches": 1000}},
        fast=(),
    ),
]
