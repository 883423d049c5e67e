"""Metrics of several ranks made one."""

import numpy as np
import pytest

from determined.errors import InvalidExperimentException
from determined.estimator._validation import means, over_ranks, plain


def test_numbers_are_averaged_and_anything_else_is_the_chiefs() -> None:
    ranks = [({"loss": 1.0, "words": "a", "counts": [1]}, 4), ({"loss": 2.0, "words": "b", "counts": [2]}, 1)]
    assert over_ranks(ranks) == {"loss": 1.5, "words": "a", "counts": [1]}


def test_equal_values_stay_what_they_are() -> None:
    assert means([{"a": 0.1, "n": 3}] * 3) == {"a": 0.1, "n": 3}


def test_a_rank_without_data_does_not_count() -> None:
    assert over_ranks([({"loss": 0.0}, 0), ({"loss": 2.0}, 1)]) == {"loss": 2.0}


def test_no_data_at_all_is_refused() -> None:
    with pytest.raises(InvalidExperimentException, match="not one batch"):
        over_ranks([({"loss": 0.0}, 0)])


def test_numpys_numbers_are_plain_and_steps_and_summaries_no_metrics() -> None:
    found = plain({"loss": np.float32(0.5), "global_step": 3, "picture": b"png"})
    assert found == {"loss": 0.5} and type(found["loss"]) is float
