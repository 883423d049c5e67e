"""Config sections and shortcut strings become the right manager, or an error that says what is wrong."""

from pathlib import Path
from typing import Any

import pytest

from determined import storage
from determined.errors import DeterminedError, NoDirectStorageAccess
from determined.schema.node import Integer, Text
from determined.schema.section import field
from determined.storage import registry
from determined.storage.section import CheckpointStorage


def _base(manager: storage.StorageManager) -> str:
    return manager._base_path


def test_shared_fs_lies_under_host_path_where_there_is_no_container() -> None:
    config = {"type": "shared_fs", "host_path": "/data", "storage_path": "a/b", "save_trial_best": 1}
    assert _base(storage.build(config)) == "/data/a/b"


def test_shared_fs_lies_under_the_mount_of_a_container() -> None:
    config = {"type": "shared_fs", "host_path": "/data", "storage_path": "/data/a"}
    assert _base(storage.build(config, "/determined_shared_fs")) == "/determined_shared_fs/a"
    assert _base(storage.build({"type": "shared_fs", "host_path": "/data"}, "/mnt")) == "/mnt"


@pytest.mark.parametrize("path", ["../x", "/elsewhere", "a/../../x"])
def test_a_storage_path_that_escapes_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="must be a subdirectory"):
        storage.build({"type": "shared_fs", "host_path": "/data", "storage_path": path})


@pytest.mark.parametrize(
    ("config", "error", "words"),
    [
        ({}, ValueError, "needs a 'type'"),
        ({"type": "tape"}, TypeError, "'tape' is unknown"),
        ({"type": "directory"}, ValueError, "needs 'container_path'"),
        ({"type": "directory", "container_path": "/a", "colour": "red"}, ValueError, "no field 'colour'"),
        ({"type": "shared_fs"}, ValueError, "needs 'host_path'"),
        ({"type": "azure", "container": "c"}, ValueError, "exactly one of"),
        ({"type": "azure", "container": "c", "connection_string": "s", "credential": "k"}, ValueError, "account_url"),
    ],
)
def test_a_wrong_section_says_what_is_wrong(config: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        storage.build(config)


@pytest.mark.parametrize(("kind", "extra"), [("s3", "s3"), ("gcs", "gcs")])
def test_a_missing_driver_names_the_extra_to_install(kind: str, extra: str) -> None:
    with pytest.raises(ImportError, match=rf"redetermined\[{extra}\]"):
        storage.build({"type": kind, "bucket": "b"})


@pytest.mark.parametrize("text", ["/data/x", "file:///data/x"])
def test_a_path_is_a_shared_file_system(text: str) -> None:
    assert _base(storage.from_string(text)) == "/data/x"
    assert storage.as_config(text) == {"type": "directory", "container_path": "/data/x"}


def test_bucket_shortcuts_become_sections() -> None:
    assert storage.as_config("s3://b/pre//fix/") == {"type": "s3", "bucket": "b", "prefix": "pre/fix"}
    assert storage.as_config("gs://b") == {"type": "gcs", "bucket": "b", "prefix": ""}


class _Shelf(CheckpointStorage):
    """A store whose places are called otherwise."""

    kind = "shelf"
    scheme = "shelf"

    room: str = field(Text(), "Name of the room.")
    board: int = field(Integer(low=0), "Number of the board.")

    @classmethod
    def at_url(cls, place: str, path: str) -> dict[str, Any]:
        return {"type": cls.kind, "room": place, "board": int(path.strip("/"))}


def test_shortcut_of_a_store_becomes_the_fields_that_this_store_has(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {**registry.sections(), "shelf": _Shelf}
    monkeypatch.setattr(registry, "sections", lambda: every)
    assert storage.as_config("shelf://cellar/3") == {"type": "shelf", "room": "cellar", "board": 3}
    assert storage.as_config("gs://b") == {"type": "gcs", "bucket": "b", "prefix": ""}


@pytest.mark.parametrize("kind", [kind for kind, section in registry.sections().items() if section.scheme])
def test_section_of_a_shortcut_is_one_that_its_store_accepts(kind: str) -> None:
    declared = registry.section(kind)
    made = storage.as_config(f"{declared.scheme}://place/below")
    declared.require_known({key: value for key, value in made.items() if key != "type"})


@pytest.mark.parametrize("kind", [kind for kind, section in registry.sections().items() if section.scheme])
@pytest.mark.parametrize("below", ["", "/below"])
def test_url_of_a_section_is_the_shortcut_that_it_was_made_of(kind: str, below: str) -> None:
    declared = registry.section(kind)
    text = f"{declared.scheme}://place{below}"
    assert declared.url(storage.as_config(text)) == text


@pytest.mark.parametrize(
    ("section", "url", "described"),
    [
        ({"type": "shared_fs", "host_path": "/data/"}, "file:///data", "/data/"),
        ({"type": "shared_fs", "host_path": "/data", "storage_path": "runs"}, "file:///data/runs", "/data"),
        ({"type": "shared_fs", "host_path": "/data", "storage_path": "/data/a"}, "file:///data/a", "/data"),
        ({"type": "shared_fs"}, None, "the shared_fs storage None"),
        ({"type": "directory", "container_path": "/ckpt"}, "file:///ckpt", "/ckpt"),
        ({"type": "azure", "container": "weights"}, None, "the azure storage weights"),
        ({"type": "s3", "bucket": "weights", "prefix": "a"}, "s3://weights/a", "the s3 storage weights"),
    ],
)
def test_a_section_is_told_by_its_url_and_to_people(section: dict[str, Any], url: str | None, described: str) -> None:
    declared = registry.section(section["type"])
    assert (declared.url(section), declared.described(section)) == (url, described)


@pytest.mark.parametrize("text", ["", "file://host/x", "s3://b/x?y=1", "s3://b/x#y", "ftp://b", "s3://b/../c"])
def test_a_malformed_shortcut_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"checkpoint_storage|prefix"):
        storage.as_config(text)


@pytest.mark.parametrize(
    ("prefix", "normal"), [(None, ""), ("", ""), ("/pre/.//fix", "pre/fix"), ("a/", "a"), ("/", ""), (".", "")]
)
def test_a_prefix_is_normalised(prefix: str | None, normal: str) -> None:
    assert storage.normalize_prefix(prefix) == normal


def test_a_probe_leaves_nothing_behind(tmp_path: Path) -> None:
    storage.probe({"type": "directory", "container_path": str(tmp_path / "store")})
    assert list((tmp_path / "store").iterdir()) == []


def test_a_probe_of_a_place_that_cannot_be_written_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(NoDirectStorageAccess, match=str(tmp_path / "file" / "store")):
        storage.probe({"type": "directory", "container_path": str(tmp_path / "file" / "store")})


def test_a_probe_of_a_wrong_section_is_one_of_our_errors() -> None:
    with pytest.raises(DeterminedError, match="checkpoint_storage cannot be used"):
        storage.probe({"type": "directory"})


def test_a_store_that_cannot_be_used_is_named_once_with_the_key_to_correct() -> None:
    with pytest.raises(NoDirectStorageAccess) as refused:
        storage.probe({"type": "shared_fs", "host_path": "/proc/none"})
    said = str(refused.value)
    assert said.startswith("/proc/none cannot be used: ") and said.count("checkpoint_storage") == 1
