"""DetLogger: a logger that opens `core_v2` itself, inside of a trial."""

from pathlib import Path
from typing import Any

import pytest

from determined.experimental import core_v2
from determined.lightning.experimental import DetLogger


def test_what_is_logged_is_reported_and_the_end_of_a_fit_closes_it(task: Any, runner: Any) -> None:
    task()
    logger = DetLogger(config=core_v2.Config(name="ignored here"))
    logger.log_metrics({"loss": 0.5}, step=0)
    logger.finalize("success")
    assert core_v2.train is None
    assert logger.version == "trial-7"


def test_outside_of_a_trial_it_says_what_to_do(off_cluster: Path) -> None:
    with pytest.raises(NotImplementedError, match="detached mode"):
        DetLogger()
