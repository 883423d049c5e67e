"""Training on several processes: on one node and on two, paused, killed, and loaded by another number of ranks."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documents import Reader, blocks
from stage_4 import (
    await_reports,
    change,
    finished,
    pause_and_activate,
    pauses_in_step,
    reported,
    saved_at,
    submit,
    trained_in_step,
    trial_of,
    workers,
)

from cluster import HANG_SECONDS, ROOT, Client, Cluster, clean_environment, copy_example, eventually

EXAMPLES = ROOT / "examples"
# The first time they train, those who may be killed stay behind after two reports, while the others wait for them.
STEP = "            all_increment_bys = "
VICTIMS = """\
            while rank % 2 == 1 and batch >= 20 and latest_checkpoint is None:
                time.sleep(0.02)
"""
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
)


def _four_slots(directory: Path, agents: int) -> Cluster:
    cluster = Cluster(directory, slots=4 // agents, config={"local_agents": agents})
    cluster.start()
    return cluster


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.engines), 2], ids=["one-node", "two-nodes"])
def four_slots(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """4 slots on one node, then 2 slots on each of two."""
    running = _four_slots(tmp_path_factory.mktemp("four-slots"), request.param)
    yield running
    running.stop()
    running.end_runners()


@pytest.fixture
def user(four_slots: Cluster) -> Client:
    return Client(four_slots.url)


@pytest.fixture
def stage_4(tmp_path: Path) -> Path:
    """Faster than for an audience."""
    return change(copy_example("core_api", tmp_path / "model"), "4_distributed.py", "sleep(0.1)", "sleep(0.03)")


def test_stage_4_trains_in_step_on_all_ranks(four_slots: Cluster, user: Client, home: Path, stage_4: Path) -> None:
    trained_in_step(user, submit(four_slots, home, stage_4))


def test_a_pause_stops_all_ranks_after_the_same_batch(
    four_slots: Cluster, user: Client, home: Path, stage_4: Path
) -> None:
    pauses_in_step(four_slots, user, home, stage_4)


def test_a_killed_rank_ends_the_others_and_training_goes_on_from_the_checkpoint(
    four_slots: Cluster, user: Client, home: Path, stage_4: Path
) -> None:
    change(stage_4, "4_distributed.py", STEP, VICTIMS + STEP)
    experiment = submit(four_slots, home, stage_4)
    trial = trial_of(user, experiment)
    await_reports(user, trial, 2)
    runs = four_slots.directory / "runs"
    victim, *_ = [pid for pid, words in workers(runs) if words[-2:] == ["worker", "1"]]
    os.kill(victim, signal.SIGKILL)
    assert trained_in_step(user, experiment) == trial
    assert user.trials(experiment)[0]["restarts"] == 1
    log = "\n".join(user.log_lines(trial))
    # The launcher ends the others within 0.1 s: whether one of them saw it first and said "rank 1 is gone" is chance.
    assert re.search(r"[1-4] of [24] workers on node \d of \d failed", log)
    assert "going on from checkpoint" in log
    eventually(lambda: not workers(runs), explain=lambda: f"left behind: {workers(runs)}")


def test_a_launch_layer_of_ones_own_starts_every_rank(
    four_slots: Cluster, user: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("distributed/launch_layer", tmp_path / "model")
    trial = finished(user, submit(four_slots, home, model, "config.yaml", "--config", "resources.slots_per_trial=4"))
    losses = [report["metrics"]["validation_metrics"]["loss"] for report in user.metrics(trial, "validation")]
    assert len(losses) == 20
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("words", [[], ["launcher"]], ids=["alone", "launcher"])
def test_stage_4_runs_without_a_cluster(tmp_path: Path, stage_4: Path, words: list[str]) -> None:
    env = clean_environment(HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    done = subprocess.run(
        [sys.executable, "4_distributed.py", *words], cwd=stage_4, env=env, capture_output=True, text=True,
        timeout=HANG_SECONDS,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "'x': 3.0" in done.stderr if words else "'x': 1.0" in done.stderr


SEEDED = ("--config", "reproducibility.experiment_seed=11")


@needs_torch
@pytest.mark.engines
@pytest.mark.parametrize("four_slots", [1, 2], indirect=True, ids=["one-node", "two-nodes"])
@pytest.mark.timeout(600)
def test_a_paused_ddp_training_has_the_losses_of_one_left_alone(
    four_slots: Cluster, user: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("distributed/ddp", tmp_path / "model")
    alone = finished(user, submit(four_slots, home, model, "config.yaml", *SEEDED), 250)
    step = "training.batches += 1\n"
    change(model, "train.py", step, f"__import__('time').sleep(0.05); {step}")  # slow enough to be caught half way
    experiment = submit(four_slots, home, model, "config.yaml", *SEEDED)
    pause_and_activate(user, experiment, after=5)
    paused = finished(user, experiment, 250)
    losses = reported(user, alone, "loss")
    assert list(losses) == list(range(1, 61))
    assert losses[60] < losses[1]
    assert reported(user, paused, "loss") == losses, "bit for bit"
    (left_at,) = set(saved_at(user, paused)) - {20, 40, 60} or {20}
    assert saved_at(user, paused) == sorted({left_at, 20, 40, 60}), "the pause saved once"
    assert user.trials(experiment)[0]["restarts"] == 0


@needs_torch
@pytest.mark.engines
@pytest.mark.timeout(600)
def test_a_sharded_checkpoint_of_four_ranks_is_loaded_by_two(
    four_slots: Cluster, user: Client, home: Path, tmp_path: Path
) -> None:
    model = copy_example("distributed/fsdp2", tmp_path / "model")
    four = finished(user, submit(four_slots, home, model, "config.yaml", *SEEDED), 250)
    flags = ["--config", f"searcher.source_trial_id={four}", "--config", "resources.slots_per_trial=2", *SEEDED]
    two = finished(user, submit(four_slots, home, model, "config.yaml", *flags), 250)
    saved = _fingerprint(user, four, "saved at batch 30 by 4 ranks: ")
    assert _fingerprint(user, two, "loaded at batch 30 by 2 ranks: ") == saved
    (last,) = [
        checkpoint
        for checkpoint in user.get(f"/api/v1/trials/{four}/checkpoints")["checkpoints"]
        if checkpoint["metadata"]["steps_completed"] == 30
    ]
    parts = [path for path in last["resources"] if path.endswith(".distcp")]
    assert len(parts) == 4
    assert "metadata.json" in last["resources"]


def _fingerprint(client: Client, trial: int, words: str) -> str:
    (line,) = [line for line in client.log_lines(trial) if words in line]
    return line.split(words)[1]


@needs_torch
@pytest.mark.engines
@pytest.mark.timeout(300)
@pytest.mark.parametrize("example", ["ddp", "fsdp2"])
def test_what_the_readme_of_an_example_shows_works_without_a_cluster(tmp_path: Path, example: str) -> None:
    document = EXAMPLES / "distributed" / example / "README.md"
    reader = Reader(tmp_path, document, 0)
    (command,) = [block.script for block in blocks(document) if "torchrun" in block.script]
    done = reader.shell(command)
    assert done.returncode == 0, done.stdout
    assert "validation metrics" in done.stdout


def test_readmes_of_the_examples_submit_their_configurations() -> None:
    for example in ("ddp", "fsdp2", "launch_layer"):
        shown: Any = "\n".join(block.script for block in blocks(EXAMPLES / "distributed" / example / "README.md"))
        assert "det e create config.yaml . " in shown
