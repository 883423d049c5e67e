"""Ids in the paths of requests: none of them leads to another path."""

import pytest

from determined.wire.operation import Nothing, Operation

LABEL = Operation("DELETE", "/api/v1/experiments/{experiment_id:int}/labels/{label}", Nothing, Nothing)


@pytest.mark.parametrize(
    ("label", "last"),
    [
        ("plain", "plain"),
        ("a/b", "a%2Fb"),
        ("a b?c#d%e", "a%20b%3Fc%23d%25e"),
        ("\u00e4", "%C3%A4"),
        ("1.0", "1.0"),
        ("...", "..."),
        ("..", "%2E%2E"),
        (".", "%2E"),
    ],
)
def test_a_name_stays_one_part_of_its_path(label: str, last: str) -> None:
    """A request for `labels/..` would arrive as one for the experiment, and delete it."""
    assert LABEL.at(experiment_id=5, label=label) == f"/api/v1/experiments/5/labels/{last}"
