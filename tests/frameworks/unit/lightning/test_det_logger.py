"""DetLogger: a logger that opens `core_v2` itself, inside of a trial."""

from pathlib import Path
from typing import Any

import pytest

from determined.experimental import core_v2
from determined.lightning import _flavour, experimental
from determined.lightning.experimental import DetLogger


def test_what_is_logged_is_reported_and_the_end_of_a_fit_closes_it(task: Any, runner: Any) -> None:
    task()
    logger = DetLogger(config=core_v2.Config(name="ignored here"))
    logger.log_metrics({"loss": 0.5}, step=0)
    logger.finalize("success")
    assert core_v2.train is None
    assert logger.version == "trial-7"


class Ends:
    """Delivery that keeps how the context ended."""

    def __init__(self) -> None:
        self.errors: list[BaseException | None] = []

    def start(self) -> None: ...

    def close(self, error: BaseException | None) -> None:
        self.errors.append(error)


def opened() -> tuple[DetLogger, Ends]:
    logger, ends = DetLogger(config=core_v2.Config(name="ignored here")), Ends()
    logger.experiment._delivery = ends
    return logger, ends


def test_a_failed_fit_ends_with_its_error(task: Any, runner: Any) -> None:
    task()
    logger, ends = opened()
    failure = RuntimeError("on purpose")
    try:
        raise failure
    except RuntimeError:
        logger.finalize("failed")  # where Lightning calls it
    assert ends.errors == [failure]


def test_a_failed_status_without_an_error_is_an_error(task: Any, runner: Any) -> None:
    task()
    logger, ends = opened()
    logger.finalize("failed")
    assert [str(error) for error in ends.errors] == ["failed"]


def test_a_successful_fit_in_an_except_block_ends_well(task: Any, runner: Any) -> None:
    task()
    logger, ends = opened()
    try:
        raise RuntimeError("Lightning leaves a fit by an exception of its own")
    except RuntimeError:
        logger.finalize("success")
    assert ends.errors == [None]


def test_a_test_after_a_fit_goes_on_with_the_same_trial(
    task: Any, runner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    task()
    logger, _ = opened()
    fitted = logger.experiment
    logger.finalize("success")
    reopened: list[Any] = []

    def reopen(closed: Any, client: Any) -> None:
        reopened.append((closed, client))
        core_v2._context = fitted

    monkeypatch.setattr(experimental, "get_cluster_info", lambda: None)  # as outside of the cluster
    monkeypatch.setattr(core_v2, "_reopen", reopen)
    assert logger.experiment is fitted
    assert reopened == [(fitted.info, None)]
    monkeypatch.setattr(core_v2, "_context", None)


def test_only_rank_0_opens_a_trial(off_cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_flavour, "rank", lambda: 1)
    logger = DetLogger(config=core_v2.Config(name="of rank 0"))
    logger.experiment.train.report_training_metrics(1, {"loss": 0.5})
    logger.finalize("success")
    assert (logger.version, core_v2.train) == ("unopened", None)


def test_nothing_is_opened_before_something_is_logged(off_cluster: Path) -> None:
    logger = DetLogger()
    assert (logger.version, core_v2.train) == ("unopened", None)
    with pytest.raises(ValueError, match=r"pass config=core_v2.Config"):
        logger.log_metrics({"loss": 0.5}, step=0)
