"""How long a save keeps a trainer, for checkpoint.py: `python checkpoint_torch.py FOLDER SIZE ROUNDS`, JSON at the end.

Needs torch; our storage room needs nothing but the standard library, so both run in this one process.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import torch

from determined.storage.directory import DirectoryStorageManager

SAVE = "torch.save"
SAVE_AND_COPY = "torch.save, then cp to the store"
SAVE_AND_STORE = "torch.save inside store_path (hashed, published)"


def main(folder: Path, size: int, rounds: int) -> None:
    state = {f"layer{index}": torch.rand(size // 16 // 4) for index in range(16)}
    cases: dict[str, Callable[[Path], None]] = {
        SAVE: lambda place: _save(state, place),
        SAVE_AND_COPY: lambda place: _save_and_copy(state, place),
        SAVE_AND_STORE: lambda place: _save_and_store(state, place),
    }
    took: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            place = folder / f"torch-{number}"
            place.mkdir()
            begin = time.perf_counter()
            case(place)
            if number:  # the first round warms up, as it does for the others
                took[name].append(time.perf_counter() - begin)
            shutil.rmtree(place)
            os.sync()
    print(json.dumps(took))


def _save(state: dict[str, torch.Tensor], place: Path) -> None:
    torch.save(state, place / "state.pt")


def _save_and_copy(state: dict[str, torch.Tensor], place: Path) -> None:
    torch.save(state, place / "state.pt")
    subprocess.run(["cp", str(place / "state.pt"), str(place / "stored.pt")], check=True)


def _save_and_store(state: dict[str, torch.Tensor], place: Path) -> None:
    with DirectoryStorageManager(str(place / "store")).store_path(str(uuid.uuid4())) as directory:
        torch.save(state, directory / "state.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
