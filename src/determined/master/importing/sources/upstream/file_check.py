"""`--check-files N`: sizes of the files of sampled checkpoints, where their storage can be reached from here."""

import threading
from collections.abc import Callable, Iterator, Sequence

from determined import storage
from determined._json import JsonObject
from determined.errors import CheckpointDamaged, CheckpointNotFound
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.checkpoint import map_storage
from determined.master.importing.sources.upstream.reading import checkpoint_files, checkpoints
from determined.master.importing.sources.upstream.reading.checkpoint_files import FileSample
from determined.master.importing.sources.upstream.source import Source
from determined.storage.local import LocalStorageManager

_LIMIT_SECONDS = 60.0  # for one look: drivers of object stores retry for minutes
_PLACES = ("host_path", "storage_path", "container_path", "bucket", "container", "prefix")  # none is a secret


def notes(source: Source, trial_ids: Sequence[int], count: int) -> Iterator[Note]:
    """Yield what is wrong with the files of `count` checkpoints. A storage that is gone is named once."""
    sections = {id_: map_storage(section) for id_, section in checkpoints.storages(source).items()}
    gone: set[str] = set()
    for sample in checkpoint_files.sample(source, trial_ids, count):
        section = _section(sample, sections)
        name = _shown(section)
        if name in gone:
            continue
        problem, is_storage = _problem(section, sample)
        if is_storage:
            gone.add(name)
            yield Note(rules.STORAGE_UNREACHABLE, f"{name}: {problem}")
        elif problem:
            yield Note(rules.FILES_DIFFER, f"{sample.uuid} in {name}: {problem}")


def _section(sample: FileSample, sections: dict[int, JsonObject]) -> JsonObject:
    if sample.storage_id is not None and sample.storage_id in sections:
        return sections[sample.storage_id]
    own = sample.own_storage
    return map_storage(own) if isinstance(own, dict) and "type" in own else {}


def _problem(section: JsonObject, sample: FileSample) -> tuple[str, bool]:
    """Return what is wrong, and whether the storage is to blame."""
    resources = sample.resources if isinstance(sample.resources, dict) else {}
    try:
        _in_time(lambda: _look(section, sample.uuid, resources))
    except (CheckpointNotFound, CheckpointDamaged) as e:
        return str(e), False
    except Exception as e:  # noqa: BLE001  drivers have errors of their own; their texts may hold credentials
        return (str(e) if isinstance(e, OSError | TimeoutError) else type(e).__name__), True
    return "", False


def _look(section: JsonObject, uuid: str, resources: dict[str, int]) -> None:
    manager = storage.build({key: value for key, value in section.items() if key != "propagation"})
    if isinstance(manager, LocalStorageManager) and not manager.base.is_dir():
        raise NotADirectoryError(f"{manager.base} is no directory of this machine")
    manager.check(uuid, resources)


def _in_time(look: Callable[[], None]) -> None:
    """Run in a thread that does not keep the process. Raises what `look` raises, or TimeoutError."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            look()
        except Exception as e:  # noqa: BLE001  raised again below
            raised.append(e)

    thread = threading.Thread(target=run, daemon=True, name="check-files")
    thread.start()
    thread.join(_LIMIT_SECONDS)
    if thread.is_alive():
        raise TimeoutError(f"no answer in {_LIMIT_SECONDS:.0f} s")
    if raised:
        raise raised[0]


def _shown(section: JsonObject) -> str:
    parts = [str(section[key]) for key in _PLACES if section.get(key)]
    return " ".join([str(section.get("type", "no storage")), *parts])
