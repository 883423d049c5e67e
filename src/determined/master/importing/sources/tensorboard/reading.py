"""Runs below a log directory: every directory with event files is one, but for those of the parts of a run."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.tensorboard.event_reader import EventReader, Scalar, plugin_contents
from determined.tensorboard.protobuf import fields

_PARTS = {
    "train": "training",
    "training": "training",
    "validation": "validation",
    "val": "validation",
    "eval": "validation",
    "test": "validation",
}  # directories that Keras and others write beside one another for one run
_PLUGIN = "hparams"


@dataclass(slots=True)
class Run:
    """Run with its event files. `parts`: (group or None, file) in the order of their names."""

    name: str  # relative to the log directory
    parts: list[tuple[str | None, Path]] = field(default_factory=list)
    tags: set[tuple[str | None, str]] = field(default_factory=set)  # group and tag
    hparams: JsonObject = field(default_factory=dict)
    first: float | None = None  # times of the first and the last event
    last: float | None = None
    status: int | None = None
    damaged: list[str] = field(default_factory=list)


def read_runs(root: Path) -> Iterator[Run]:
    """Read names, hyperparameters and times of all runs. Raises InvalidArgument."""
    runs: dict[str, Run] = {}
    for path in sorted(root.rglob("*tfevents*")):
        if path.is_file() and not path.is_symlink():
            name, group = _run_of(path.parent.relative_to(root))
            runs.setdefault(name, Run(name)).parts.append((group, path))
    if not runs:
        raise InvalidArgument(f"--source {str(root)!r} has no event files (*tfevents*); name the log directory")
    for run in runs.values():
        _look(run)
        yield run


def scalars(run: Run) -> Iterator[tuple[str | None, Scalar]]:
    for group, path in run.parts:
        for scalar in EventReader(path).read():
            yield group, scalar


def _run_of(folder: Path) -> tuple[str, str | None]:
    group = _PARTS.get(folder.name.lower())
    return (str(folder.parent), group) if group else (str(folder), None)


def _look(run: Run) -> None:
    for group, path in run.parts:
        reader = EventReader(path)
        for scalar in reader.read():
            run.tags.add((group, scalar.tag))
            run.first = min(run.first or scalar.time, scalar.time)
            run.last = max(run.last or scalar.time, scalar.time)
        if reader.is_damaged:
            run.damaged.append(path.name)
        for content in plugin_contents(path, _PLUGIN):
            _take(run, content)


def _take(run: Run, content: bytes) -> None:
    """Take the hyperparameters at the start of a session, and the status at its end."""
    try:
        for number, value in fields(content):
            if number == 3 and isinstance(value, bytes):
                run.hparams.update(_hparams(value))
            elif number == 4 and isinstance(value, bytes):
                run.status = next((v for n, v in fields(value) if n == 1 and isinstance(v, int)), run.status)
    except (ValueError, struct.error):
        run.damaged.append(f"hyperparameters of {run.name}")


def _hparams(session: bytes) -> Iterator[tuple[str, Any]]:
    for number, entry in fields(session):
        if number == 1 and isinstance(entry, bytes):
            pair = dict(fields(entry))
            name, value = pair.get(1, b""), pair.get(2, b"")
            if isinstance(name, bytes) and isinstance(value, bytes):
                yield name.decode(), _value(value)


def _value(message: bytes) -> bool | float | str | None:
    for number, value in fields(message):
        if number == 2 and isinstance(value, bytes):
            (double,) = struct.unpack("<d", value)
            return int(double) if double.is_integer() and abs(double) < 2**53 else float(double)
        if number == 3 and isinstance(value, bytes):
            return value.decode()
        if number == 4 and isinstance(value, int):
            return bool(value)
    return None
