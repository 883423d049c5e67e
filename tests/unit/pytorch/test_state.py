"""Counters and random states."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from determined.pytorch._state import TrialState, restore_rng, take_rng


@pytest.fixture(autouse=True)
def _generators_as_they_were() -> Iterator[None]:
    before = take_rng()
    yield
    restore_rng(before)


def _draw() -> list[float]:
    return [torch.rand(1).item(), float(np.random.rand()), random.random(), float(np.random.normal())]


def test_generators_go_on_where_they_were_taken() -> None:
    np.random.normal()  # leaves the second of a pair behind, which is part of the state
    taken = take_rng()
    first = _draw()
    assert _draw() != first
    restore_rng(taken)
    assert _draw() == first


def test_a_generator_without_a_saved_state_is_left_alone() -> None:
    taken = take_rng()
    del taken["cpu_rng_state"]
    torch_before = torch.random.get_rng_state()
    random.random()
    restore_rng(taken)
    assert torch.equal(torch.random.get_rng_state(), torch_before)
    assert random.getstate() == taken["random_rng_state"]


def test_no_gpu_is_claimed_to_take_a_state() -> None:
    assert not torch.cuda.is_initialized()
    assert set(take_rng()) == {"cpu_rng_state", "np_rng_state", "random_rng_state"}


def test_a_taken_state_survives_a_file(tmp_path: Path) -> None:
    taken = take_rng()
    torch.save(taken, tmp_path / "rng")
    first = _draw()
    restore_rng(torch.load(tmp_path / "rng", weights_only=False))
    assert _draw() == first


def test_a_trial_that_begins_has_counted_nothing() -> None:
    assert TrialState(3) == TrialState(3, last_ckpt=0, step_id=0, last_val=0, batches_trained=0, epochs_trained=0)
