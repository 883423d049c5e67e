"""The public names of determined.estimator, which users' code has."""

from determined import estimator

NAMES = """
EstimatorExperimentalContext EstimatorTrial EstimatorTrialContext EstimatorTrialController MetricReducer RunHook
ServingInputReceiverFn load_estimator_from_checkpoint_path
"""


def test_public_names_are_the_promised_ones_and_exist() -> None:
    assert estimator.__all__ == NAMES.split()
    assert all(hasattr(estimator, name) for name in estimator.__all__)
