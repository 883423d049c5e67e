"""Rank of the allgather benchmark (under torchrun): ours and gloo's, in turns, in the same processes.

launch_allgather.py TIMES     rank 0 prints {"ours": [seconds], "gloo": [seconds]}
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import torch.distributed as dist

from determined.core import DistributedContext

_WARM_UP = 50


def main(times: int) -> None:
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    payload = {"rank": rank, "loss": 0.5, "stop": False}

    def gloo() -> list[Any]:
        found: list[Any] = [None] * size
        dist.all_gather_object(found, payload)
        return found

    with DistributedContext.from_torch_distributed() as ours:
        assert [p["rank"] for p in ours.allgather(payload)] == [p["rank"] for p in gloo()] == list(range(size))
        measured = {
            name: _time(call, times) for name, call in (("ours", lambda: ours.allgather(payload)), ("gloo", gloo))
        }
    if rank == 0:
        print(json.dumps(measured), flush=True)
    dist.destroy_process_group()


def _time(call: Callable[[], object], times: int) -> list[float]:
    for _ in range(_WARM_UP):
        call()
    dist.barrier()
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    dist.barrier()
    return seconds


if __name__ == "__main__":
    os.environ.setdefault("INTER_TRAIN_PROCESS_COMM_PORT_1", "12960")
    main(int(sys.argv[1]))
