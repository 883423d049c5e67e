"""context.experimental: choices before wrapping."""

import logging
from pathlib import Path

import pytest
from made_context import made_context


def test_checks_of_the_data_are_on_until_they_are_switched_off(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    assert (context._reproducible_data, context._auto_to_device) == (True, True)
    context.experimental.disable_dataset_reproducibility_checks()
    context.experimental.disable_auto_to_device()
    assert (context._reproducible_data, context._auto_to_device) == (False, False)


def test_reducers_of_old_code_go_to_the_context(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    context = made_context(tmp_path)
    with caplog.at_level(logging.WARNING):
        reducer = context.experimental.wrap_reducer(len, "n")
        reducer.update("x")
        assert context.experimental.reduce_metrics(for_training=True) == {"n": 1}
        context.experimental.reset_reducers()
    assert context.reduce_metrics(for_training=True) == {"n": 0}
    assert "context.experimental.wrap_reducer is deprecated; call context.wrap_reducer" in caplog.text
