"""Factory from a `checkpoint_storage` section or a shortcut string to a storage manager, and a probe that it works."""

import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlparse

from determined._json import JsonObject
from determined.errors import DeterminedError, NoDirectStorageAccess
from determined.schema.paths import path_problem
from determined.storage import registry
from determined.storage.base import StorageManager
from determined.storage.shared_fs.manager import SharedFSStorageManager

_POLICY = ("save_experiment_best", "save_trial_best", "save_trial_latest")


def build(config: JsonObject, container_path: str | None = None) -> StorageManager:
    """Build the manager of a `checkpoint_storage` section.

    Args:
        config: the section; `save_*` keys and None values are ignored.
        container_path: where a container has shared_fs's `host_path` mounted; None where there is no container.

    Raises:
        ValueError: `type` is missing or a field is wrong.
        TypeError: an unknown type.
    """
    kind, fields = _split(config)
    manager = manager_class(kind)
    registry.section(kind).require_known(fields)
    return manager.from_config(fields, container_path)


def build_stored(config: JsonObject, container_path: str | None = None) -> StorageManager:
    """Build the manager of a section that the master has checked: training starts without waiting for the schema."""
    kind, fields = _split(config)
    return manager_class(kind).from_config(fields, container_path)


def from_string(shortcut: str) -> StorageManager:
    """Build the manager of `/path`, `file:///path`, `s3://bucket[/prefix]` or `gs://bucket[/prefix]`.

    Raises:
        ValueError: another scheme, or a URL with more than a place in it.
    """
    config = as_config(shortcut)
    path = config.get(registry.section(config["type"]).path_key)
    # SharedFSStorageManager makes a directory that is missing, for every user
    return build(config) if path is None else SharedFSStorageManager(path)


def as_config(storage: str | JsonObject) -> JsonObject:
    """Return a storage as a `checkpoint_storage` section; a path becomes type `directory`.

    Raises:
        ValueError: another scheme, or a URL with more than a place in it.
    """
    return dict(storage) if isinstance(storage, dict) else _parse_shortcut(storage)


def _parse_shortcut(shortcut: str) -> JsonObject:
    url = urlparse(shortcut)
    if not shortcut or url.params or url.query or url.fragment:
        raise ValueError(f"checkpoint_storage={shortcut!r} is malformed; give a path or scheme://bucket/prefix")
    if url.scheme in ("", "file"):
        if url.netloc:
            raise ValueError(f"checkpoint_storage={shortcut!r} names a host; write file:///path")
        if url.path.startswith("~"):
            raise ValueError(f"checkpoint_storage {path_problem(url.path)}")
        from determined.storage.directory.config import section_at

        return section_at(url.path)
    stores = {section.scheme: section for section in registry.sections().values() if section.scheme}
    if url.scheme not in stores:
        known = " or ".join(f"{scheme}://" for scheme in stores)
        raise ValueError(f"checkpoint_storage={shortcut!r}: unknown scheme; use a path, file://, {known}")
    return stores[url.scheme].at_url(url.netloc, url.path)


def validate_config(config: JsonObject, container_path: str | None = None) -> None:
    """Build, then write, read back and delete a file. Raises NoDirectStorageAccess with the reason."""
    validate_manager(build(config, container_path))


def validate_manager(manager: StorageManager) -> None:
    """Write, read back and delete a file. Raises NoDirectStorageAccess with the reason."""
    key = f".probe-{uuid.uuid4()}/VALIDATE.txt"
    text = key.encode()
    try:
        _round_trip(manager, key, text)
    except OSError as err:
        raise NoDirectStorageAccess(
            f"{manager._base_path} cannot be used: {err}; "
            "fix checkpoint_storage in the config, or the permissions there"
        ) from err


def probe(config: JsonObject, container_path: str | None = None, *, outside: Iterable[str] = ()) -> None:
    """Check that a store works, before a trial starts: the message of the error says what is wrong.

    Args:
        outside: directories that are deleted with the task, where no checkpoint may lie.

    Raises:
        DeterminedError: the section is wrong or the store cannot be used.
    """
    try:
        manager = build(config, container_path)
        for directory in outside:
            manager.refuse_inside(directory)
        validate_manager(manager)
    except (ValueError, TypeError) as err:
        raise DeterminedError(f"checkpoint_storage cannot be used: {err}") from err


def _split(config: JsonObject) -> tuple[str, JsonObject]:
    """Return the type of a section, and the fields that its store reads."""
    fields = {key: value for key, value in config.items() if value is not None and key not in _POLICY}
    kind = fields.pop("type", None)
    if kind is None:
        raise ValueError(f"checkpoint_storage needs a 'type'; give one of {list(registry.kinds())}")
    return kind, fields


def manager_class(kind: str) -> type[StorageManager]:
    """Import the code of a store.

    Raises:
        TypeError: an unknown kind.
    """
    if kind not in registry.kinds():
        raise TypeError(f"checkpoint_storage type {kind!r} is unknown; give one of {list(registry.kinds())}")
    (declared,) = [item for item in registry.classes(kind, "manager") if issubclass(item, StorageManager)]
    return declared


def _round_trip(manager: StorageManager, key: str, text: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="determined-probe-") as directory:
        source = Path(directory) / "VALIDATE.txt"
        source.write_bytes(text)
        manager.put(source, key)
    try:
        if manager.read(key) != text:
            raise OSError("what was written does not read back")
    finally:
        manager.remove(key.split("/", maxsplit=1)[0])
