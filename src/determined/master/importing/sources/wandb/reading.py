"""Runs of a `wandb` directory: the logs of each run, and what stands once in them (config, summary, end)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.master.importing.sources.wandb import records
from determined.master.importing.sources.wandb.framing import LogFile
from determined.master.importing.sources.wandb.records import (
    DamagedRecord,
    Message,
    decode,
    items,
    moment_of,
    pairs,
    path_of,
    put,
)

_LOGS = ("run-*.wandb", "run-*/run-*.wandb", "offline-run-*/run-*.wandb")


@dataclass(slots=True)
class Run:
    """Run with its logs in the order of their directories: a run that was resumed has several."""

    id: str
    paths: list[Path]
    project: str = ""
    name: str = ""
    notes: str = ""
    sweep: str = ""
    group: str = ""
    job_type: str = ""
    host: str = ""
    tags: list[str] = field(default_factory=list)
    config: JsonObject = field(default_factory=dict)
    summary: JsonObject = field(default_factory=dict)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    exit_code: int | None = None  # None: the log has no end
    media: int = 0
    logged: set[str] = field(default_factory=set)  # names of the history; not those inside of objects
    damage: list[str] = field(default_factory=list)


def find_logs(source: Path) -> list[Path]:
    """Return the logs of a run's directory, of a `wandb` directory or of its parent. Raises InvalidArgument."""
    inner = source / "wandb"
    for directory in (source,) if inner.is_symlink() else (source, inner):
        if paths := _logs_in(directory):
            return sorted(paths, key=lambda path: (path.parent.name.removeprefix("offline-"), path.name))
    raise InvalidArgument(
        f"--source {str(source)!r} has no run-*/run-<id>.wandb and no offline-run-*/run-<id>.wandb; "
        "name the directory `wandb` that W&B wrote beside the script"
    )


def store_of(source: Path) -> Path:
    """Return the `wandb` directory, by whichever of its names it is given: its parent, itself, or that of a run."""
    if any(source.glob("run-*.wandb")):
        return source.resolve().parent
    return (source if _logs_in(source) or not _logs_in(source / "wandb") else source / "wandb").resolve()


def read_runs(source: Path) -> Iterator[Run]:
    """Read what stands once in the logs of each run, in the order of their first directories."""
    by_id: dict[str, list[Path]] = {}
    for path in find_logs(source):
        by_id.setdefault(path.stem.removeprefix("run-"), []).append(path)
    for run_id, paths in by_id.items():
        yield _read(Run(run_id, paths))


def log_records(run: Run, damage: list[str] | None = None) -> Iterator[tuple[int, Message]]:
    """Yield the records of a run as (field of the record, its message); add what is damaged to `damage`."""
    for path in run.paths:
        log = LogFile(path)
        for message in log.messages():
            try:
                yield from _messages_in(decode(message))
            except DamagedRecord as e:
                log.damage.append(f"{path.name}: {e}")
        if damage is not None:
            damage += log.damage


def _logs_in(directory: Path) -> set[Path]:
    """Return the logs in a directory. Links are not followed, and a pipe would hold whoever reads it."""
    paths = {path for pattern in _LOGS for path in directory.glob(pattern)}
    return {path for path in paths if path.is_file() and not _is_linked(path, directory)}


def _is_linked(path: Path, directory: Path) -> bool:
    return path.is_symlink() or (path.parent != directory and path.parent.is_symlink())


def _messages_in(record: Message) -> Iterator[tuple[int, Message]]:
    for number in records.KNOWN:
        if record.has(number):
            yield number, record.message(number)


def _read(run: Run) -> Run:
    for number, message in log_records(run, run.damage):
        try:
            _apply(run, number, message)
        except DamagedRecord as e:
            run.damage.append(f"run {run.id}: {e}")
    return run


def _apply(run: Run, number: int, message: Message) -> None:
    if number == records.RUN:
        _begin(run, message)
    elif number == records.CONFIG:
        _update(run.config, message)
    elif number == records.SUMMARY:
        _update(run.summary, message)
    elif number == records.EXIT:
        run.exit_code = None if message.number(3) else message.number(1)
    elif number == records.HISTORY:
        row = items(message, 1)
        run.media += sum(isinstance(value, dict) and "_type" in value for value in row.values())
        run.logged |= {key for key, value in row.items() if key[:1] != "_" and isinstance(value, int | float)}
        _see(run, moment_of(row.get("_timestamp")))
    else:
        _see(run, message.time(2))


def _begin(run: Run, message: Message) -> None:
    run.project, run.name, run.notes = message.text(3), message.text(8), message.text(9)
    run.group, run.job_type, run.host, run.sweep = (message.text(number) for number in (6, 7, 13, 12))
    run.tags = message.texts(10)
    _update(run.config, message.message(4))
    _update(run.summary, message.message(5))
    run.started_at = run.started_at or message.time(17)
    run.exit_code = None  # a run that was resumed has not ended until its next end


def _update(target: JsonObject, message: Message) -> None:
    for path, value in pairs(message, 1):
        put(target, path, value)
    for item in message.messages(2):
        _remove(target, path_of(item))


def _remove(target: JsonObject, path: list[str]) -> None:
    for key in path[:-1]:
        inner = target.get(key)
        target = inner if isinstance(inner, dict) else {}
    target.pop(path[-1], None)


def _see(run: Run, moment: datetime | None) -> None:
    if moment is not None and (run.ended_at is None or moment > run.ended_at):
        run.ended_at = moment
