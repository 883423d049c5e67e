"""Which variables of a trial count when packages are imported for all trials."""

import pytest

from determined.exec.runner.forked.entrypoint import NotForkable
from determined.exec.runner.forked.preload_list import comparable

COMMON = {"TMPDIR": "/tmp", "OMP_NUM_THREADS": "1", "HOME": "/home/ann"}


def of_run(number: int, **more: str) -> dict[str, str]:
    own = {"PATH": f"/runs/{number}/bin:/bin", "DET_TRIAL_ID": str(number), "CUDA_VISIBLE_DEVICES": str(number)}
    return {**COMMON, **own, "C10D_PORT": str(9000 + number), **more}


def test_trials_that_set_the_same_are_equal() -> None:
    first, second = (comparable(of_run(number), f"/runs/{number}", ["C10D_PORT"]) for number in (1, 2))
    assert first == second
    assert first["PATH"] == "{run directory}/bin:/bin"


def test_trials_that_set_something_else_are_not() -> None:
    assert comparable(of_run(1), "/runs/1") != comparable(of_run(1, OMP_NUM_THREADS="2"), "/runs/1")


def test_variable_that_is_other_in_each_trial_is_refused() -> None:
    with pytest.raises(NotForkable, match="HOME is another one in each trial"):
        comparable(of_run(1, HOME="/runs/1"), "/runs/1")
    with pytest.raises(NotForkable, match="temporary files"):
        comparable(of_run(1, TMPDIR="/tmp/determined-x/tmp"), "/runs/1")
