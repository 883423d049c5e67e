"""Rank of the launch benchmark: says when its process group stands. Started by us, by torchrun and by Ray Train.

launch_rank.py FOLDER
"""

import sys
import time
from pathlib import Path


def ready(folder: Path) -> None:
    """After a barrier: whoever is through it knows that all are there."""
    import torch.distributed as dist

    dist.barrier()
    (folder / f"rank-{dist.get_rank()}-of-{dist.get_world_size()}").write_text(repr(time.time()))


if __name__ == "__main__":
    import torch.distributed

    torch.distributed.init_process_group("gloo")
    ready(Path(sys.argv[1]))
    torch.distributed.destroy_process_group()
