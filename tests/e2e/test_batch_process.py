"""Batch inference on two slots: a pause repeats no batch, and a crash one interval at most."""

import importlib.util
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from documents import blocks
from stage_4 import finished, said, saved_at, submit, trial_of

from cluster import ROOT, Client, Cluster, copy_example, det, eventually

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
)
EXAMPLE = "pytorch/batch_inference"
RECORDS, BATCH, INTERVAL, WORKERS = 4050, 100, 5, 2
ITERATIONS = 21  # of 41 batches the second worker finds 20
BATCHES = {(number % WORKERS, number // WORKERS) for number in range(41)}
STEP = "        inputs, labels = self.context.to_device(batch)\n"
TOLD = '        print("processing", self.context.get_distributed_rank(), batch_idx, flush=True)\n'


def _example(directory: Path, before_a_batch: str) -> Path:
    model = copy_example(EXAMPLE, directory)
    script = model / "train.py"
    text = script.read_text()
    assert STEP in text
    script.write_text(text.replace(STEP, TOLD + before_a_batch + STEP, 1))
    return model


def _processed(client: Client, trial: int) -> Counter[tuple[int, int]]:
    """Return how often each worker began each of its batches."""
    found = [re.search(r"\|\| processing (\d+) (\d+)$", line) for line in said(client, trial, "processing")]
    return Counter((int(match[1]), int(match[2])) for match in found if match)


def _stored(cluster: Cluster, client: Client, trial: int) -> dict[tuple[int, int], int]:
    """Worker and batch -> predictions that were stored for it."""
    import torch

    checkpoints = client.get(f"/api/v1/trials/{trial}/checkpoints")["checkpoints"]
    (output,) = {checkpoint["metadata"]["default_output_uuid"] for checkpoint in checkpoints}
    stored: dict[tuple[int, int], int] = {}
    for file in (cluster.directory / "checkpoints" / output).glob("rank_*/*.pt"):
        held: dict[int, Any] = torch.load(file, weights_only=True)
        part = {(int(file.parent.name.removeprefix("rank_")), index): len(held[index]) for index in held}
        assert not part.keys() & stored.keys(), "no batch is in two files"
        stored |= part
    return stored


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_paused_job_processes_each_batch_once(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    model = _example(tmp_path / "model", "        __import__('time').sleep(0.15)\n")
    experiment = submit(cluster, home, model, "config.yaml")
    trial = trial_of(client, experiment)
    eventually(lambda: saved_at(client, trial), 90, lambda: "\n".join(client.log_lines(trial)))
    det(home, "e", "pause", str(experiment), master=cluster.url)
    client.wait_state(experiment, "PAUSED", seconds=60)
    det(home, "e", "activate", str(experiment), master=cluster.url)
    assert finished(client, experiment, 150) == trial
    assert _processed(client, trial) == Counter(BATCHES)
    stored = _stored(cluster, client, trial)
    assert stored.keys() == BATCHES
    assert sum(stored.values()) == RECORDS
    assert saved_at(client, trial) == [*range(INTERVAL, ITERATIONS, INTERVAL), ITERATIONS]
    reports = client.metrics(trial, "validation")
    left_at, ended_at = [report["totalBatches"] for report in reports]
    assert (left_at % INTERVAL, ended_at) == (0, ITERATIONS), "what was reduced until the pause, and after it"
    assert all(report["metrics"]["validation_metrics"]["accuracy"] > 0.9 for report in reports)
    assert client.trials(experiment)[0]["restarts"] == 0


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_killed_worker_costs_one_interval_at_most(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "killed"
    crash = (
        "        if (self.context.get_distributed_rank(), batch_idx) == (1, 8) and not MARK.exists():\n"
        "            MARK.touch()\n"
        "            os.kill(os.getpid(), 9)\n"
    )
    model = _example(tmp_path / "model", crash)
    script = model / "train.py"
    begin = f"import os, pathlib\nMARK = pathlib.Path({str(mark)!r})\n"
    script.write_text(begin + script.read_text())
    experiment = submit(cluster, home, model, "config.yaml")
    trial = finished(client, experiment, 200)
    assert client.trials(experiment)[0]["restarts"] == 1
    counted = _processed(client, trial)
    assert counted.keys() == BATCHES
    repeated = {index for (_, index), times in counted.items() if times > 1}
    assert repeated <= set(range(INTERVAL, 2 * INTERVAL)), "only what came after the checkpoint at 5"
    assert (1, 8) in counted and counted[1, 8] == 2
    assert _stored(cluster, client, trial).keys() == BATCHES


def test_the_readme_submits_the_configuration() -> None:
    shown = "\n".join(block.script for block in blocks(ROOT / "examples" / EXAMPLE / "README.md"))
    assert "det e create config.yaml . -f" in shown
