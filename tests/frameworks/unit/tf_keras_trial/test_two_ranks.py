"""Two processes that train one model: they stay alike, do what one process does, and a pause leaves no trace."""

import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rank_job import PLAIN, Plain
from small_keras_trial import Run

pytestmark = pytest.mark.timeout(500)  # TensorFlow is imported twice, and traces a graph for every run

_JOB = Path(__file__).parent / "rank_job.py"


def test_two_ranks_train_one_model(tmp_path: Path) -> None:
    one, other = _on_two_ranks(tmp_path)
    shared = [name for name in one if name.startswith(("after", "pair"))]
    assert all(np.array_equal(one[name], other[name]) for name in shared)
    paused = {name: value for name, value in one.items() if name.startswith("after ")}
    assert all(np.array_equal(value, one[name.replace("after", "alone")]) for name, value in paused.items())
    alone = Run(tmp_path / "single", Plain, batches=2, config=PLAIN)  # whole batches
    for place, weight in enumerate(alone.weights):
        assert np.allclose(weight, one[f"plain {place}"], atol=1e-6)
    assert np.array_equal(one["losses after"], one["losses alone"]) and len(one["losses alone"]) == 2
    assert np.all(np.isfinite(one["losses pair"])) and len(one["losses pair"]) == 1


def _on_two_ranks(directory: Path) -> list[dict[str, Any]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = {**os.environ, "DET_SESSION_TOKEN": secrets.token_hex(), "OMP_NUM_THREADS": "1"}
    outs = [directory / f"{rank}.npz" for rank in range(2)]
    jobs = [
        subprocess.Popen(
            [sys.executable, str(_JOB), str(rank), port, str(directory), str(outs[rank])],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    try:
        said = [job.communicate(timeout=400)[0] for job in jobs]
    finally:
        for job in jobs:
            job.kill()  # nothing, where it has ended
    assert [job.returncode for job in jobs] == [0, 0], "\n".join(said)[-4000:]
    return [dict(np.load(out)) for out in outs]
