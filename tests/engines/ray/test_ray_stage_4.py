"""Stage 4 of the Core API examples on a Ray cluster, as it is: on one node and on two, paused, and killed half way."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import stage_4
from ray_cluster import RayCluster
from ray_master import left_over, master_over, ready, restarts

from cluster import Client, copy_example, eventually

pytestmark = [pytest.mark.engines, pytest.mark.timeout(600)]

AGAIN_SECONDS = 30.0
TWO_SLOTS = {"slots_per_node": 2}
ON_ONE_NODE_AND_ON_TWO = pytest.mark.parametrize("pool", [{}, TWO_SLOTS], ids=["one-node", "two-nodes"])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return copy_example("core_api", tmp_path / "model")


@pytest.fixture
def spare(pair: RayCluster) -> Iterator[RayCluster]:
    """A third node, for what a dead one leaves."""
    pair.bring_up("n3")
    yield pair
    pair.kill_node("n3")


@ON_ONE_NODE_AND_ON_TWO
def test_stage_4_trains_in_step_on_all_ranks(
    pair: RayCluster, tmp_path: Path, home: Path, model: Path, pool: dict[str, int]
) -> None:
    with master_over(pair, tmp_path / "master", pool) as master:
        client = ready(master, pair)
        experiment = stage_4.submit(master, home, model)
        trial = stage_4.trial_of(client, experiment)
        stage_4.await_reports(client, trial, 1)
        placed = {pair.node_of(pid) for pid, _ in stage_4.workers(tmp_path / "master" / "sitter")}
        assert len(placed) == (2 if pool else 1)
        stage_4.trained_in_step(client, experiment)
        eventually(lambda: not left_over(tmp_path / "master"), 30)


@ON_ONE_NODE_AND_ON_TWO
def test_a_pause_stops_all_ranks_after_the_same_batch(
    pair: RayCluster, tmp_path: Path, home: Path, model: Path, pool: dict[str, int]
) -> None:
    with master_over(pair, tmp_path / "master", pool) as master:
        stage_4.pauses_in_step(master, ready(master, pair), home, model)


@pytest.mark.parametrize("rank", [0, 3])
def test_a_killed_rank_ends_the_others_and_all_go_on_from_the_checkpoint(
    pair: RayCluster, tmp_path: Path, home: Path, model: Path, rank: int
) -> None:
    with master_over(pair, tmp_path / "master", TWO_SLOTS) as master:
        client = ready(master, pair)
        experiment = stage_4.submit(master, home, model)
        trial = stage_4.trial_of(client, experiment)
        stage_4.await_reports(client, trial, 3)
        os.kill(stage_4.worker(tmp_path / "master" / "sitter", rank), signal.SIGKILL)
        _goes_on(client, experiment, trial)
        assert restarts(client, trial) == 1
        eventually(lambda: not left_over(tmp_path / "master"), 30)


@pytest.mark.parametrize("rank", [0, 3])
def test_a_dead_node_costs_no_restart_and_all_go_on_from_the_checkpoint(
    spare: RayCluster, tmp_path: Path, home: Path, model: Path, rank: int
) -> None:
    with master_over(spare, tmp_path / "master", TWO_SLOTS) as master:
        client = ready(master, spare, "n1", "n2", "n3")
        experiment = stage_4.submit(master, home, model)
        trial = stage_4.trial_of(client, experiment)
        stage_4.await_reports(client, trial, 3)
        spare.kill_node(spare.node_of(stage_4.worker(tmp_path / "master" / "sitter", rank)))
        _goes_on(client, experiment, trial)
        assert restarts(client, trial) == 0
        eventually(lambda: not left_over(tmp_path / "master"), 30)


def _goes_on(client: Client, experiment: int, trial: int) -> None:
    """Assert that all ranks resume from one checkpoint, soon, and reach the end of a run that was left alone."""
    eventually(
        lambda: len(stage_4.said(client, trial, stage_4.RESUMED)) == 4,
        AGAIN_SECONDS,
        lambda: "\n".join(client.log_lines(trial)[-60:]),
        poll_seconds=0.1,
    )
    (resumed,) = stage_4.resumed_at(client, trial)
    assert resumed >= 20
    stage_4.trained_in_step(client, experiment)
