"""DET_LOG_WAIT_TIME: how long programs that a task has left behind may write on."""

import pytest

from determined.exec.runner.command import log_wait_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 10.0), ("0", 0.0), ("2.5", 2.5), ("", 30.0), ("soon", 30.0), ("-1", 30.0), ("nan", 30.0), ("inf", 30.0)],
)
def test_what_is_no_number_of_seconds_counts_as_the_default(text: str, seconds: float) -> None:
    assert log_wait_seconds({"DET_LOG_WAIT_TIME": text}) == seconds
    assert log_wait_seconds({}) == 30.0
