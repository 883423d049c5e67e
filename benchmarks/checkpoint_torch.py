"""torch.save of as many bytes to the same disk, for checkpoint.py: `python checkpoint_torch.py FOLDER SIZE ROUNDS`."""

import json
import os
import sys
import time
from pathlib import Path

import torch


def main(folder: Path, size: int, rounds: int) -> None:
    state = {f"layer{index}": torch.rand(size // 16 // 4) for index in range(16)}
    took = []
    for number in range(rounds + 1):
        path = folder / f"torch-{number}.pt"
        begin = time.perf_counter()
        torch.save(state, path)
        if number:  # the first round warms up, as it does for the others
            took.append(time.perf_counter() - begin)
        path.unlink()
        os.sync()
    print(json.dumps(took))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
