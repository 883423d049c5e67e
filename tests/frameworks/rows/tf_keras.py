"""TFKerasTrial on Keras 2 and Keras 3."""

from rows import Row

# Long enough for a pause to fall into it.
_LONGER = {"searcher": {"max_length": {"epochs": 60}}}

ROWS = [
    Row(
        framework="Keras",
        version="2.15",
        python="tf215",
        generation="TFKerasTrial",
        example="keras/iris_trial",
        pause_changes=_LONGER,
    ),
    Row(
        framework="Keras",
        version="3.15",
        python="current",
        generation="TFKerasTrial",
        example="keras/iris_trial",
        pause_changes=_LONGER,
        fast=(),
    ),
]
