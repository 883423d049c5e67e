"""Cost of storing a checkpoint: files already written -> stored on a local disk, beside `cp`, shutil and torch.save;
and of saves that let training go on, beside those of torch, Lightning and Orbax.

    python benchmarks/checkpoint.py [--quick] [--mib N] [--folder DIR]

All on the same file system. Each round runs every case once, so that all of them meet the same noise, and a ratio is
the median of those within a round; files are read from the page cache, as they are in a training that has just written
them. The raw copy moves the same bytes with the same durability: neither it nor we wait until the disk has the data.
Ours does more: it hashes every byte, and fsyncs the manifest, whose hashes tell after a power loss what was lost.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import peers
from determined.storage.directory.manager import DirectoryStorageManager

SOURCE = Path(__file__).parents[1] / "src"
TORCH = Path(__file__).with_name("checkpoint_torch.py")
ASYNC = Path(__file__).with_name("checkpoint_async.py")
_FILES = 4
_STORED = "stored by upload (copied, hashed, published)"
_DIRECT = "stored by store_path (written in place, hashed, published)"
_COPY = "cp -r"
_SHUTIL = "shutil.copytree"
# As checkpoint_torch.py calls them.
_SAVE, _SAVE_AND_COPY, _SAVE_AND_STORE = (
    "torch.save", "torch.save, then cp to the store", "torch.save inside store_path (hashed, published)",
)  # fmt: skip
_SAVED_COPY, _TRIAL = "cp of such a file", "a checkpoint of a PyTorchTrial (hashed, published)"
_HOLD = 0.8
# As checkpoint_async.py calls them.
_ASYNC_TRIAL = "a PyTorchTrial (copied, written, hashed, published)"
_ASYNC_HOLDS = (("first stall", "first", 1.0), ("next stall", "next", 1.0), ("total time", "stored", 2.5))

Times = dict[str, list[float]]
AsyncTimes = dict[str, Times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="64 MiB and two rounds: to see that it works")
    parser.add_argument("--mib", type=int, help="how much to store, in place of 1,024 MiB")
    parser.add_argument("--folder", type=Path, help="a directory on the disk to measure (default: the temporary one)")
    options = parser.parse_args()
    mib, rounds = (64, 2) if options.quick else (1024, 7)
    size = (options.mib or mib) * 2**20
    with tempfile.TemporaryDirectory(prefix="det-checkpoint-", dir=options.folder) as folder:
        copies = measure(Path(folder), size, rounds)
        saves = measure_saves(Path(folder), size, rounds)
        async_saves = measure_async_saves(Path(folder), size, rounds)
    print(render(copies, saves, async_saves, size))
    return 0 if all(row[-1] == "held" for row in _verdicts(copies, saves, async_saves)) else 1


def measure(folder: Path, size: int, rounds: int) -> Times:
    source, place = folder / "source", folder / "place"
    source.mkdir()
    for index in range(_FILES):
        _write_noise(source / f"shard-{index}.bin", size // _FILES)
    os.sync()  # what was written for the measurement must not be flushed in the middle of it
    cases: dict[str, Callable[[], float]] = {
        _COPY: lambda: _timed(lambda: _copy(source, place / "copy")),
        _SHUTIL: lambda: _timed(lambda: shutil.copytree(source, place / "copy")),
        _STORED: lambda: _timed(lambda: _store(place).upload(source, str(uuid.uuid4()))),
        _DIRECT: lambda: _store_in_place(place, source),
    }
    took: Times = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            place.mkdir()
            seconds = case()
            if number:  # the first round allocates and warms up
                took[name].append(seconds)
            shutil.rmtree(place)
            os.sync()
    shutil.rmtree(source)
    return took


def measure_saves(folder: Path, size: int, rounds: int) -> Times:
    values: Times = _by_script(TORCH, folder, size, rounds)
    return values


def measure_async_saves(folder: Path, size: int, rounds: int) -> AsyncTimes:
    values: AsyncTimes = _by_script(ASYNC, folder, size, rounds)
    return values


def _by_script(script: Path, folder: Path, size: int, rounds: int) -> Any:
    """Return what a script printed last that runs in a process with torch."""
    command = [peers.peers_python(), str(script), str(folder), str(size), str(rounds)]
    empty = folder / "code"  # a trial keeps its directory with each checkpoint
    empty.mkdir(exist_ok=True)
    environment = peers.environment(PYTHONPATH=str(SOURCE), CUDA_VISIBLE_DEVICES="")
    done = subprocess.run(
        command, env=environment, cwd=empty, stdout=subprocess.PIPE, text=True, timeout=1800, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def render(copies: Times, saves: Times, async_saves: AsyncTimes, size: int) -> str:
    return "\n".join([
        "# Storing a checkpoint",
        "",
        f"{size // 2**20:,} MiB in {_FILES} files, one local disk, page cache warm, nothing fsynced by anybody but our",
        "manifest. `store_path` counts what comes after the script has written into the directory it was given. Speeds",
        "by another are medians of the ratios within a round.",
        "",
        machine.table(["files that are written already", "median s", "range s", "MiB/s", "speed of cp -r"],
                      _rows(copies, size, _COPY)),
        "",
        f"How long one save keeps the trainer, {size // 2**20:,} MiB of tensors in one file:",
        "",
        machine.table(["a save", "median s", "range s", "MiB/s", f"speed of {_SAVE_AND_COPY}"],
                      _rows(saves, size, _SAVE_AND_COPY)),
        "",
        "A save that lets training go on: how long it stands still at the first save of a process, which takes memory,",
        "and at the next one, and how long it takes until the files of that are stored:",
        "",
        machine.table(["a save", "first stall s", "next stall s", "stored after s", "stalls and total, in cp's time"],
                      _async_rows(async_saves)),
        "",
        machine.table(["hold", "limit", "measured", ""], _verdicts(copies, saves, async_saves)),
        "",
    ])  # fmt: skip


def _async_rows(took: AsyncTimes) -> list[list[str]]:
    rows = []
    for name, times in took.items():
        middles = [machine.median(values) for values in times.values()]
        ratios = [f"{_in_copies(took, name, key):.2f}" for key in times]
        rows.append([name, *(f"{middle:.3f}" for middle in middles), ", ".join(ratios)])
    return rows


def _in_copies(took: AsyncTimes, name: str, key: str) -> float:
    """Divide a time by that of `cp` in the same round."""
    pairs = zip(took[name][key], took[_SAVED_COPY][key], strict=True)
    return machine.median([own / raw for own, raw in pairs])


def _rows(took: Times, size: int, standard: str) -> list[list[str]]:
    rows = []
    for name, values in took.items():
        middle = machine.median(values)
        spread = f"{min(values):.2f} to {max(values):.2f}"
        rows.append(
            [name, f"{middle:.3f}", spread, f"{size / 2**20 / middle:,.0f}", f"{_speed(took, name, standard):.2f}"]
        )
    return rows


def _speed(took: Times, name: str, standard: str) -> float:
    """Divide the speed of a case by that of the standard in the same round."""
    return machine.median([raw / own for raw, own in zip(took[standard], took[name], strict=True)])


def _verdicts(copies: Times, saves: Times, async_saves: AsyncTimes) -> list[list[str]]:
    middle = {name: machine.median(values) for name, values in (copies | saves).items()}
    ratio, whole = _speed(copies, _STORED, _COPY), _speed(saves, _TRIAL, _SAVED_COPY)
    stalls = [
        ("what storing adds to a save, against torch.save", middle[_STORED], middle[_SAVE]),
        (f"stall of a save, against {_SAVE_AND_COPY}", middle[_SAVE_AND_STORE], middle[_SAVE_AND_COPY]),
        ("stall of a PyTorchTrial's save, against torch.save", middle[_TRIAL], middle[_SAVE]),
    ]
    return [
        ["stored, against raw copy", "at least 0.8x", f"{ratio:.2f}x", machine.held(-ratio, -_HOLD)],
        ["a PyTorchTrial's save, against raw copy", "at least 0.8x", f"{whole:.2f}x", machine.held(-whole, -_HOLD)],
        *([what, f"{limit:.2f} s", f"{found:.2f} s", machine.held(found, limit)] for what, found, limit in stalls),
        *(
            [f"{what} of a PyTorchTrial, against cp", f"at most {limit}x", f"{ratio:.2f}x", machine.held(ratio, limit)]
            for what, ratio, limit in (
                (what, _in_copies(async_saves, _ASYNC_TRIAL, key), limit) for what, key, limit in _ASYNC_HOLDS
            )
        ),
    ]


def _write_noise(path: Path, size: int) -> None:
    """Not compressible and not the same twice, so that no clever file system gives anybody a present."""
    with path.open("wb") as out:
        while (left := size - out.tell()) > 0:
            out.write(os.urandom(min(left, 2**24)))


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)


def _store(place: Path) -> DirectoryStorageManager:
    return DirectoryStorageManager(str(place / "store"))


def _store_in_place(place: Path, source: Path) -> float:
    with _store(place).store_path(str(uuid.uuid4())) as directory:
        shutil.copytree(source, directory, dirs_exist_ok=True)
        begin = time.perf_counter()
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
