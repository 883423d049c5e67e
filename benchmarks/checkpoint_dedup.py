"""Bytes and time of storing checkpoints that have much in common: ours beside cp, rsync, borg and restic.

    python benchmarks/checkpoint_dedup.py [--quick] [--mib N] [--rounds N] [--folder DIR]...

It needs torch. Peers that are not installed are left out (Debian has rsync, borgbackup and restic). A checkpoint is one
file as a PyTorchTrial writes it: tensors, and beside them a history that grows with each epoch and moves the rest. It
is written before the clock starts, outside of the store, by the same code for all. Bytes are those by which the store
has grown on the disk. Of a file system with clones, give the mount point: its own count of free space is taken. Time is
wall time with the page cache warm, nobody waits for the disk; processor time is that of this process and of the
programs that it starts.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch

import machine
from determined.pytorch._copies import write_state
from determined.storage.directory.manager import DirectoryStorageManager

_LAYERS = 20
_EPOCHS = 20
_CLONES = ("xfs", "btrfs")
_QUIET = {"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes", "RESTIC_PASSWORD": "benchmark"}
_LIMIT = 0.15
_FIRST, _SAME, _TENTH, _HEAD = (
    "First save", "Nothing changed", "10 % changed", f"{_EPOCHS} saves, 1 % changed by each",
)  # fmt: skip
_OURS_FILES, _OURS_BLOCKS = "ours, deduplicate: files (default)", "ours, deduplicate: blocks"

Store = Callable[[Path, Path], None]  # (directory with the files of a checkpoint, directory of the store)


@dataclass(slots=True)
class Cost:
    """Cost of one step: of each round its seconds, and the bytes of the last."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    bytes: int = 0


Costs = dict[str, dict[str, Cost]]  # by contestant and step


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="64 MiB and one round: to see that it works")
    parser.add_argument("--mib", type=int, default=1024, help="size of a checkpoint")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", type=Path, action="append", help="where stores are made (default: temporary)")
    options = parser.parse_args()
    mib, rounds = (64, 1) if options.quick else (options.mib, options.rounds)
    print("# Checkpoints that have much in common\n")
    print(
        f"Checkpoints of {mib:,} MiB in one file, medians of {rounds} rounds. Bytes are those that the disk has more.\n"
    )
    verdicts = []
    for folder in options.folder or [Path(tempfile.gettempdir())]:
        costs = measure(folder, mib * 2**20, rounds)
        verdicts.append(_verdict(folder, costs, mib * 2**20))
        print(render(folder, costs, mib * 2**20))
    print(machine.table(["hold", "limit", "measured", ""], verdicts))
    return 0 if all(verdict[-1] == "held" for verdict in verdicts) else 1


def measure(folder: Path, size: int, rounds: int) -> Costs:
    contestants = _contestants(folder)
    costs: Costs = {name: {step: Cost() for step in (_FIRST, _SAME, _TENTH, _HEAD)} for name in contestants}
    with tempfile.TemporaryDirectory(prefix="det-dedup-source-") as source:
        for _ in range(rounds):
            for name, store in contestants.items():
                with tempfile.TemporaryDirectory(prefix="det-dedup-", dir=folder) as place:
                    _one_round(Path(source), Path(place), size, store(), costs[name])
    return costs


def _one_round(source: Path, place: Path, size: int, store: Store, costs: dict[str, Cost]) -> None:
    layers = [torch.rand(size // _LAYERS // 4) for _ in range(_LAYERS)]
    head = torch.rand(size // 100 // 4)
    _write(source, 0, layers, head)
    _timed(costs[_FIRST], place, lambda: store(source, place))
    _timed(costs[_SAME], place, lambda: store(source, place))
    for layer in layers[-_LAYERS // 10 :]:
        layer.add_(1)
    _write(source, 1, layers, head)
    _timed(costs[_TENTH], place, lambda: store(source, place))
    total = Cost()
    before = _used(place)
    for epoch in range(_EPOCHS):
        head.add_(1)
        _write(source, 2 + epoch, layers, head)
        _timed(total, place, lambda: store(source, place))
    costs[_HEAD].seconds.append(sum(total.seconds))
    costs[_HEAD].processor.append(sum(total.processor))
    costs[_HEAD].bytes = _used(place) - before


def _write(source: Path, epoch: int, layers: list[torch.Tensor], head: torch.Tensor) -> None:
    history = [{"epoch": past, "loss": 1 / (past + 1)} for past in range(50 * epoch)]
    with (source / "state_dict.pth").open("wb") as file:
        write_state({"history": history, "backbone": layers, "head": head}, file)
    (source / "metadata.json").write_text("{}")


def _timed(cost: Cost, place: Path, work: Callable[[], None]) -> None:
    os.sync()
    used, processor, begin = _used(place), _processor(), time.perf_counter()
    work()
    cost.seconds.append(time.perf_counter() - begin)
    cost.processor.append(_processor() - processor)
    cost.bytes = _used(place) - used


def _processor() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _used(place: Path) -> int:
    """Return the bytes on the disk: files with several names count once, clones as their file system counts them."""
    if _kind(place) in _CLONES:
        os.sync()
        status = os.statvfs(place)
        return (status.f_blocks - status.f_bfree) * status.f_frsize
    sizes = {path.lstat().st_ino: path.lstat().st_blocks * 512 for path in place.rglob("*")}
    return sum(sizes.values())


def _kind(place: Path) -> str:
    """Return the name of a file system."""
    done = subprocess.run(["df", "--output=fstype", str(place)], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.split()[-1]


def _contestants(folder: Path) -> dict[str, Callable[[], Store]]:
    """Return those that are here; each is made anew for a store."""
    contestants: dict[str, Callable[[], Store]] = {
        "cp -r --reflink=never": lambda: lambda source, place: _copy(source, place, "never"),
        _OURS_FILES: lambda: _ours("files"),
        _OURS_BLOCKS: lambda: _ours("blocks"),
    }
    if _kind(folder) in _CLONES:
        contestants["cp -r --reflink=auto"] = lambda: lambda source, place: _copy(source, place, "auto")
    if shutil.which("rsync"):
        contestants["rsync --link-dest"] = _rsync
    if shutil.which("borg"):
        contestants["borg create (no compression)"] = _borg
    if shutil.which("restic"):
        contestants["restic backup (no compression)"] = _restic
    return contestants


def _ours(mode: str) -> Store:
    managers: dict[Path, DirectoryStorageManager] = {}

    def store(source: Path, place: Path) -> None:
        manager = managers.setdefault(place, DirectoryStorageManager(str(place / "store"), mode))
        manager.upload(source, str(uuid.uuid4()))

    return store


def _copy(source: Path, place: Path, reflink: str) -> None:
    _run("cp", "-r", f"--reflink={reflink}", str(source), str(place / uuid.uuid4().hex))


def _rsync() -> Store:
    last: list[Path] = []

    def store(source: Path, place: Path) -> None:
        target = place / uuid.uuid4().hex
        # by content, as all others do: files that are written anew have new times
        known = ["--checksum", f"--link-dest={last[-1]}"] if last else []
        _run("rsync", "-a", *known, f"{source}/", f"{target}/")
        last.append(target)

    return store


def _borg() -> Store:
    def store(source: Path, place: Path) -> None:
        repository = place / "repository"
        if not repository.exists():
            _run("borg", "init", "-e", "none", str(repository))
        _run("borg", "create", "-C", "none", f"{repository}::{uuid.uuid4().hex}", str(source))

    return store


def _restic() -> Store:
    def store(source: Path, place: Path) -> None:
        repository = str(place / "repository")
        if not Path(repository).exists():
            _run("restic", "init", "-q", "-r", repository)
        _run("restic", "backup", "-q", "--compression", "off", "-r", repository, str(source))

    return store


def _run(*command: str) -> None:
    home = {"BORG_BASE_DIR": tempfile.gettempdir(), "RESTIC_CACHE_DIR": f"{tempfile.gettempdir()}/det-dedup-restic"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **_QUIET, **home})
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-500:]}")


def render(folder: Path, costs: Costs, size: int) -> str:
    tables = []
    for step in (_FIRST, _SAME, _TENTH, _HEAD):
        logical = size * (_EPOCHS if step == _HEAD else 1)
        rows = [
            [name, f"{cost[step].bytes / 2**20:,.1f}", f"{cost[step].bytes / logical:.1%}",
             f"{statistics.median(cost[step].seconds):.2f}", f"{statistics.median(cost[step].processor):.2f}"]
            for name, cost in costs.items()
        ]  # fmt: skip
        header = ["store", "MiB on the disk", "of what was saved", "seconds", "processor seconds"]
        tables += [f"## {step}, {_kind(folder)}", "", machine.table(header, rows), ""]
    return "\n".join(tables)


def _verdict(folder: Path, costs: Costs, size: int) -> list[str]:
    """Judge the way of ours that stores parts of files on this file system."""
    kind = _kind(folder)
    name = _OURS_FILES if kind in _CLONES else _OURS_BLOCKS
    share = costs[name][_TENTH].bytes / size
    return [f"10 % changed, {kind}, {name}", f"{_LIMIT:.0%}", f"{share:.1%}", machine.held(share, _LIMIT)]


if __name__ == "__main__":
    sys.exit(main())
