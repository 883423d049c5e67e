"""Map states of Slurm's jobs to what becomes of their runners."""

import pytest

from determined.engines.model import GoneReason
from determined.engines.slurm.states import JobView, describe, is_over, is_waiting, verdict


def _job(state: str, reason: str = "None", nodes: str = "n1") -> JobView:
    return JobView(17, state, reason, nodes, "tag")


@pytest.mark.parametrize("state", ["PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT"])
def test_job_that_may_still_hold_runners_is_not_over(state: str) -> None:
    assert not is_over(_job(state))


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("COMPLETED", GoneReason.EXITED),
        ("CANCELLED", GoneReason.CANCELED),
        ("DEADLINE", GoneReason.CANCELED),
        ("FAILED", GoneReason.LOST),
        ("NODE_FAIL", GoneReason.LOST),
        ("PREEMPTED", GoneReason.LOST),
        ("TIMEOUT", GoneReason.LOST),
        ("OUT_OF_MEMORY", GoneReason.LOST),
        ("A_WORD_OF_TOMORROW", GoneReason.LOST),
    ],
)
def test_ended_job_says_why_its_runners_are_gone(state: str, reason: GoneReason) -> None:
    assert is_over(_job(state))
    assert verdict(_job(state)) is reason


def test_job_that_slurm_took_and_can_never_run_is_not_tried_again() -> None:
    assert verdict(_job("FAILED", "BadConstraints")) is GoneReason.CANCELED


def test_waiting_job_is_described_in_the_words_of_slurm() -> None:
    assert describe(_job("PENDING", "Resources", "")) == "Slurm job 17 is PENDING: Resources"
    assert describe(_job("NODE_FAIL")) == "Slurm job 17 is NODE_FAIL on n1"
    assert is_waiting(_job("PENDING"))
    assert not is_waiting(_job("RUNNING"))
