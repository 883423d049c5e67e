"""DeepSpeed and TensorFlow for real, on two nodes of one machine: each node's launcher starts its own ranks."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import Task

if TYPE_CHECKING:
    import subprocess

pytestmark = [pytest.mark.engines, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
DEEPSPEED = """
import deepspeed, torch
deepspeed.init_distributed(dist_backend="gloo")
rank, size = torch.distributed.get_rank(), torch.distributed.get_world_size()
torch.manual_seed(0)
model = torch.nn.Linear(4, 1, bias=False)
optimizer = {"type": "Adam", "params": {"lr": 0.1, "torch_adam": True}}
config = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 1}, "optimizer": optimizer}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
before = engine.module.weight.detach().clone().reshape(-1)
engine.backward(engine(torch.full((1, 4), float(rank + 1))).sum())
engine.step()
after = [torch.zeros(4) for _ in range(size)]
torch.distributed.all_gather(after, engine.module.weight.detach().reshape(-1))
print("trained", size, all(torch.equal(one, after[0]) for one in after), not torch.equal(before, after[0]), flush=True)
torch.distributed.destroy_process_group()
"""
TENSORFLOW = """
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
index = strategy.cluster_resolver.task_id
def value():
    replica = tf.distribute.get_replica_context()
    return replica.all_reduce(tf.distribute.ReduceOp.SUM, tf.constant(float(index + 1)))
print("sum", strategy.num_replicas_in_sync, float(strategy.run(tf.function(value))), flush=True)
"""


def test_deepspeed_trains_on_two_nodes_without_ssh(tmp_path: Path, unused_tcp_port: int) -> None:
    results = _on_two_nodes(tmp_path, "deepspeed", DEEPSPEED, unused_tcp_port, DS_ACCELERATOR="cpu")
    assert sorted(results) == ["[rank=0] trained 2 True True", "[rank=1] trained 2 True True"]


def test_tensorflow_reduces_over_two_nodes(tmp_path: Path, unused_tcp_port: int) -> None:
    results = _on_two_nodes(tmp_path, "tensorflow", TENSORFLOW, unused_tcp_port, CUDA_VISIBLE_DEVICES="")
    assert sorted(results) == ["[rank=0] sum 2 3.0", "[rank=1] sum 2 3.0"]


def _on_two_nodes(directory: Path, launcher: str, text: str, port: int, **variables: str) -> list[str]:
    """Return what the ranks printed about their result."""
    python, script = _python(), directory / "train.py"
    script.write_text(text)
    running: list[subprocess.Popen[str]] = []
    for node in range(2):
        task = Task(directory / f"node{node}").be([1, 1], node=node, addresses=["127.0.0.1"] * 2)
        search = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # DeepSpeed compiles with the ninja beside it
        task.extra = {"C10D_PORT": str(port), "PATH": search, "OMP_NUM_THREADS": "1", **variables}
        running.append(task.start(launcher, str(python), str(script)))
    try:
        answers = [child.communicate(timeout=300) for child in running]
    finally:
        for child in running:
            child.kill()
    assert [child.returncode for child in running] == [0, 0], answers
    words = ("] trained", "] sum")
    return [line for out, _ in answers for line in out.splitlines() if any(word in line for word in words)]


def _python() -> Path:
    venv = Path(os.environ.get("DET_TEST_FRAMEWORKS", str(ROOT / ".venv-frameworks")))
    python = venv / "bin" / "python"
    assert python.exists(), f"DeepSpeed and TensorFlow are not installed in {venv}; run: make frameworks"
    return python
