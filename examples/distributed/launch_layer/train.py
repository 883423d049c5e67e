"""Data-parallel gradient descent in plain Python: each rank has its own records, and all take the mean gradient."""

import json
import os
import random

import determined as det


def who_am_i() -> det.core.DistributedContext:
    """Read what launch.py has told."""
    names = ("rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")
    numbers = {name: int(os.environ[f"MY_{name.upper()}"]) for name in names}
    return det.core.DistributedContext(**numbers, chief_ip=os.environ["DET_CHIEF_IP"])


def gradient(weight: float, records: list[tuple[float, float]]) -> float:
    return sum(2 * (weight * x - y) * x for x, y in records) / len(records)


def loss_of(weight: float, records: list[tuple[float, float]]) -> float:
    return sum((weight * x - y) ** 2 for x, y in records) / len(records)


context = det.generic.init(distributed=who_am_i())
peers = context.distributed
dice = random.Random(peers.rank)
records = [(x, 3 * x) for x in (dice.uniform(-1, 1) for _ in range(100))]

weight, last_epoch = 0.0, -1
if context.latest_checkpoint is not None:
    with context.latest_checkpoint as path:
        state = json.loads((path / "state.json").read_text())
    weight, last_epoch = state["weight"], state["epoch"]

op = context.training.basic_search()
for epoch in range(last_epoch + 1, op.epochs):
    if context.should_preempt():
        break
    weight -= 0.3 * sum(peers.allgather(gradient(weight, records))) / peers.size
    loss = sum(peers.allgather(loss_of(weight, records))) / peers.size
    if peers.rank != 0:
        continue
    print(f"epoch {epoch}: weight={weight:.4f} loss={loss:.6f}", flush=True)
    context.training.report_validation_metrics(batches_trained=epoch + 1, metrics={"loss": loss})
    # Save before completing: a trial that ended between the two would be complete and have no checkpoint.
    with context.checkpoint.save_path() as path:
        (path / "state.json").write_text(json.dumps({"weight": weight, "epoch": epoch}))
    if epoch == op.epochs - 1:
        op.complete(loss)
    else:
        op.report_progress(epoch + 1)
