"""What storing a checkpoint costs: files already written -> stored on a local disk, beside `cp` and torch.save.

    python benchmarks/checkpoint.py [--quick] [--folder DIR]

All on the same file system. Each round runs every case once, so that all of them meet the same noise; files are read
from the page cache, as they are in a training that has just written them.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import machine
import peers
from determined.storage.directory import DirectoryStorageManager

TORCH = Path(__file__).with_name("checkpoint_torch.py")
_FILES = 4
_STORED = "stored by upload (copied, hashed, published)"
_DIRECT = "stored by store_path (written in place, hashed, published)"
_COPY = "cp -r"
_TORCH = "torch.save"
_HOLD = 0.8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="64 MiB and two rounds: to see that it works")
    parser.add_argument("--folder", type=Path, help="a directory on the disk to measure (default: the temporary one)")
    options = parser.parse_args()
    size, rounds = (64 * 2**20, 2) if options.quick else (2**30, 7)
    with tempfile.TemporaryDirectory(prefix="det-checkpoint-", dir=options.folder) as folder:
        took = measure(Path(folder), size, rounds)
    print(render(took, size))
    ratio = machine.median(took[_COPY]) / machine.median(took[_STORED])
    return 0 if ratio >= _HOLD and machine.median(took[_STORED]) < machine.median(took[_TORCH]) else 1


def measure(folder: Path, size: int, rounds: int) -> dict[str, list[float]]:
    source = folder / "source"
    source.mkdir()
    for index in range(_FILES):
        _write_noise(source / f"shard-{index}.bin", size // _FILES)
    os.sync()  # what was written for the measurement must not be flushed in the middle of it
    store = DirectoryStorageManager(str(folder / "store"))
    cases: dict[str, Callable[[Path], float]] = {
        _COPY: lambda target: _copy(source, target),
        _STORED: lambda target: _upload(store, source, target.name),
        _DIRECT: lambda target: _store_in_place(store, source, target.name),
    }
    took: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for index, (name, case) in enumerate(cases.items()):
            seconds = case(folder / f"round-{number}-{index}")
            if number:  # the first round allocates and warms up
                took[name].append(seconds)
            _clear(folder, keep=source)
    return {**took, _TORCH: _torch(folder, size, rounds)}


def render(took: dict[str, list[float]], size: int) -> str:
    raw = machine.median(took[_COPY])
    rows = []
    for name, values in took.items():
        middle = machine.median(values)
        spread = f"{min(values):.2f} to {max(values):.2f}"
        rows.append([name, f"{middle:.3f}", spread, f"{size / 2**20 / middle:,.0f}", f"{raw / middle:.2f}"])
    stored, saved = machine.median(took[_STORED]), machine.median(took[_TORCH])
    ratio = raw / stored
    verdicts = [
        ["stored, against raw copy", "at least 0.8x", f"{ratio:.2f}x", machine.held(-ratio, -_HOLD)],
        ["stall of the trainer, against torch.save", f"{saved:.2f} s", f"{stored:.2f} s", machine.held(stored, saved)],
    ]
    return "\n".join([
        "# Storing a checkpoint",
        "",
        f"{size // 2**20:,} MiB in {_FILES} files, one local disk, page cache warm, nothing fsynced by anybody but our",
        "manifest. `store_path` counts what comes after the script has written into the directory it was given.",
        "",
        machine.table(["case", "median s", "range s", "MiB/s", "speed of cp -r"], rows),
        "",
        machine.table(["hold", "limit", "measured", ""], verdicts),
        "",
    ])  # fmt: skip


def _write_noise(path: Path, size: int) -> None:
    """Not compressible and not the same twice, so that no clever file system gives anybody a present."""
    with path.open("wb") as out:
        while (left := size - out.tell()) > 0:
            out.write(os.urandom(min(left, 2**24)))


def _copy(source: Path, target: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)
    return time.perf_counter() - begin


def _upload(store: DirectoryStorageManager, source: Path, name: str) -> float:
    begin = time.perf_counter()
    store.upload(source, name)
    return time.perf_counter() - begin


def _store_in_place(store: DirectoryStorageManager, source: Path, name: str) -> float:
    with store.store_path(name) as directory:
        shutil.copytree(source, directory, dirs_exist_ok=True)
        begin = time.perf_counter()
    return time.perf_counter() - begin


def _torch(folder: Path, size: int, rounds: int) -> list[float]:
    command = [peers.peers_python(), str(TORCH), str(folder), str(size), str(rounds)]
    done = subprocess.run(command, env=peers.environment(), capture_output=True, text=True, timeout=600, check=True)
    values: list[float] = json.loads(done.stdout.splitlines()[-1])
    return values


def _clear(folder: Path, keep: Path) -> None:
    for path in folder.iterdir():
        if path != keep:
            shutil.rmtree(path)
    os.sync()


if __name__ == "__main__":
    sys.exit(main())
