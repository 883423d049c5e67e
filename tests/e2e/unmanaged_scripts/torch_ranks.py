"""Ranks of torchrun without ids: each reports its own steps, and all save 100 sharded checkpoints with own metadata."""

import logging
import random

import torch.distributed

import determined
import determined.core
from determined.experimental import core_v2

torch.distributed.init_process_group("gloo")
logging.basicConfig(format=determined.LOG_FORMAT)
logging.getLogger("determined").setLevel(logging.INFO)
distributed = core_v2.DistributedContext.from_torch_distributed()
core_v2.init(config=core_v2.Config(name="torch ranks"), distributed=distributed)
rank, size = torch.distributed.get_rank(), torch.distributed.get_world_size()
for step in range(100):
    if step % size == rank:
        metrics = {"loss": random.random(), "rank": rank + 0.01}
        core_v2.train.report_training_metrics(steps_completed=step, metrics=metrics)
        if (step + 1) % 10 == 0:
            core_v2.train.report_validation_metrics(steps_completed=step, metrics=metrics)
    with core_v2.checkpoint.store_path({"steps_completed": step, f"rank_{rank}": "ok"}, shard=True) as (path, uuid):
        (path / f"part_{rank}").write_text(f"{step} of {rank}")
if rank == 0:
    print("page:", core_v2.url_reverse_webui_exp_view())
core_v2.close()
