"""For a machine with an NVIDIA GPU (`make test-gpu`): large metrics of many batches take a bounded part of its memory,
nobody waits for it while they are collected, and reducers of one slot get tensors where they are.

Needs torch with CUDA.
"""

import sys
from typing import Any

import numpy as np
import torch

from determined.core import DummyDistributedContext
from determined.pytorch._metric_columns import _DEVICE_BYTES, MetricColumns
from determined.pytorch._reducer import ReducerSet

BATCHES, NUMBERS = 300, 2**18  # a MiB for each batch, and 300 MiB in all
# What is collected, what it is packed into, and the metrics of the batch that runs.
_MOST_BYTES = 3 * _DEVICE_BYTES


def main() -> int:
    columns, most = _collected()
    right = [_is_right(columns, name) for name in ("vector", "ragged", "loss", "number")]
    where = _reduced_at()
    print(f"{BATCHES} MiB of metrics: at most {most / 2**20:.0f} MiB on the GPU; all of them exact: {all(right)}")
    print(f"a reducer of one slot: {where}")
    return 0 if most <= _MOST_BYTES and all(right) and where.startswith("cuda") else 1


def _collected() -> tuple[dict[str, Any], int]:
    metrics = MetricColumns("evaluate_batch")
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.set_sync_debug_mode("error")  # torch itself refuses to wait, with a traceback of who wanted it
    try:
        for at in range(BATCHES):
            metrics.add(
                {
                    "vector": torch.full((NUMBERS,), float(at), device="cuda"),
                    "ragged": [torch.full((at % 3,), float(at), device="cuda")],
                    "loss": torch.full((), float(at), device="cuda", dtype=torch.bfloat16),
                    "number": at,
                }
            )
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return metrics.drain(), torch.cuda.max_memory_allocated() - before


def _is_right(columns: dict[str, Any], name: str) -> bool:
    column = columns[name]
    if name == "ragged":
        return all(part.tolist() == [float(at)] * (at % 3) for at, (part,) in enumerate(column))
    wanted = torch.arange(BATCHES, dtype=torch.bfloat16 if name == "loss" else torch.float64).double().numpy()
    return len(column) == BATCHES and bool(np.all(column.reshape(BATCHES, -1) == wanted[:, None]))


def _reduced_at() -> str:
    reducers = ReducerSet()
    where = reducers.wrap(lambda values: str(values[0].device), "where")
    where.update(torch.ones(3, device="cuda"))
    return str(reducers.reduce(DummyDistributedContext(), for_training=True)["where"])


if __name__ == "__main__":
    sys.exit(main())
