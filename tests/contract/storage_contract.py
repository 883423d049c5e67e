"""Test the duties of every checkpoint store. test_storages.py gives it a `manager` of each."""

import json
import random
from pathlib import Path

import pytest

from determined.errors import CheckpointDamaged, CheckpointNotFound
from determined.storage import StorageManager, tree
from determined.storage.manifest import MANIFEST_NAME, resources

UUID = "5b9d1f9e-8f0e-4f0e-9d6a-000000000001"
ABSENT = "5b9d1f9e-8f0e-4f0e-9d6a-000000000002"


def make_files(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def read_files(root: Path) -> dict[str, str]:
    return {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}


FILES = {"metadata.json": "{}", "model.pt": "weights", "logs/a.txt": "a", "logs/deep/b.txt": "b", "empty/": ""}
RESOURCES = {
    "empty/": 0, "logs/": 0, "logs/a.txt": 1, "logs/deep/": 0, "logs/deep/b.txt": 1,
    "metadata.json": 2, "model.pt": 7,
}  # fmt: skip


class StorageContract:
    """Override `manager`."""

    @pytest.fixture
    def manager(self, tmp_path: Path) -> StorageManager:
        raise NotImplementedError

    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        return make_files(tmp_path / "source", FILES)

    @pytest.fixture
    def stored(self, manager: StorageManager, source: Path) -> StorageManager:
        manager.upload(source, UUID)
        return manager

    def test_what_is_uploaded_comes_back(self, stored: StorageManager, tmp_path: Path) -> None:
        stored.download(UUID, tmp_path / "back")
        assert read_files(tmp_path / "back") == {k: v for k, v in FILES.items() if not k.endswith("/")}
        assert (tmp_path / "back" / "empty").is_dir()

    def test_entries_tell_sizes_and_hide_our_own_files(self, stored: StorageManager) -> None:
        assert {entry.path: entry.size for entry in stored.entries(UUID)} == RESOURCES

    def test_a_look_finds_what_was_stored(self, stored: StorageManager) -> None:
        stored.check(UUID, RESOURCES)
        with pytest.raises(CheckpointNotFound):
            stored.check(ABSENT, {})
        for other in ({"model.pt": 8}, {"optimizer.pt": 1}):
            with pytest.raises(CheckpointDamaged, match=next(iter(other))):
                stored.check(UUID, other)

    def test_a_look_finds_what_was_only_staged_to_be_none(self, manager: StorageManager, source: Path) -> None:
        manager.stage(source, UUID)
        with pytest.raises(CheckpointNotFound):
            manager.check(UUID, {})

    def test_only_the_given_paths_are_uploaded(self, manager: StorageManager, source: Path, tmp_path: Path) -> None:
        manager.upload(source, UUID, {"logs/deep/b.txt", "metadata.json"})
        manager.download(UUID, tmp_path / "back")
        assert read_files(tmp_path / "back") == {"logs/deep/b.txt": "b", "metadata.json": "{}"}

    def test_a_selector_picks_files_and_their_directories(self, stored: StorageManager, tmp_path: Path) -> None:
        stored.download(UUID, tmp_path / "back", lambda path: path.endswith("b.txt"))
        assert read_files(tmp_path / "back") == {"logs/deep/b.txt": "b"}

    def test_what_is_staged_is_not_there_until_it_is_published(
        self, manager: StorageManager, source: Path, tmp_path: Path
    ) -> None:
        entries = manager.stage(source, UUID)
        with pytest.raises(CheckpointNotFound):
            manager.download(UUID, tmp_path / "back")
        manager.publish(UUID, entries)
        manager.download(UUID, tmp_path / "back")

    def test_what_is_discarded_leaves_nothing(self, manager: StorageManager, source: Path, tmp_path: Path) -> None:
        manager.stage(source, UUID)
        manager.discard(UUID)
        with pytest.raises(CheckpointNotFound, match=UUID):
            manager.entries(UUID)
        manager.upload(make_files(tmp_path / "other", {"metadata.json": "{}"}), UUID)
        assert [entry.path for entry in manager.entries(UUID)] == ["metadata.json"]

    def test_parts_staged_by_several_ranks_make_one_checkpoint(self, manager: StorageManager, tmp_path: Path) -> None:
        first = manager.stage(make_files(tmp_path / "r0", {"a": "0", "metadata.json": "{}"}), UUID)
        second = manager.stage(make_files(tmp_path / "r1", {"b": "1"}), UUID)
        manager.publish(UUID, [*first, *second])
        manager.download(UUID, tmp_path / "back")
        assert read_files(tmp_path / "back") == {"a": "0", "b": "1", "metadata.json": "{}"}

    def test_a_second_upload_adds_to_a_checkpoint(self, stored: StorageManager, tmp_path: Path) -> None:
        stored.upload(make_files(tmp_path / "more", {"model.pt": "new", "extra/c": "c"}), UUID)
        stored.download(UUID, tmp_path / "back")
        back = read_files(tmp_path / "back")
        assert (back["model.pt"], back["extra/c"], back["logs/a.txt"]) == ("new", "c", "a")

    def test_store_path_publishes_on_a_clean_exit(self, manager: StorageManager, tmp_path: Path) -> None:
        with manager.store_path(UUID) as path:
            make_files(path, FILES)
        with manager.restore_path(UUID) as path:
            assert read_files(path)["model.pt"] == "weights"

    def test_store_path_leaves_nothing_after_an_exception(self, manager: StorageManager) -> None:
        with pytest.raises(ZeroDivisionError), manager.store_path(UUID) as path:
            make_files(path, FILES)
            raise ZeroDivisionError
        with pytest.raises(CheckpointNotFound):
            manager.entries(UUID)
        assert manager.delete(UUID, ["**/*"]) == {}

    def test_an_unknown_checkpoint_is_named(self, manager: StorageManager, tmp_path: Path) -> None:
        for name in (ABSENT, "nowhere"):
            with pytest.raises(CheckpointNotFound, match=name):
                manager.download(name, tmp_path / "back")
            with pytest.raises(CheckpointNotFound, match=name), manager.restore_path(name):
                pass

    def test_deleting_everything_returns_no_resources(self, stored: StorageManager) -> None:
        assert stored.delete(UUID, ["**/*"]) == {}
        with pytest.raises(CheckpointNotFound):
            stored.entries(UUID)
        assert stored.delete(UUID, ["**/*"]) == {}, "deleting again is harmless"

    def test_deleting_by_glob_returns_what_remains(self, stored: StorageManager, tmp_path: Path) -> None:
        remaining = stored.delete(UUID, ["logs/**", "*.pt"])
        assert {k: v for k, v in remaining.items() if not k.endswith("/")} == {"metadata.json": 2}
        stored.download(UUID, tmp_path / "back")
        assert read_files(tmp_path / "back") == {"metadata.json": "{}"}

    @pytest.mark.parametrize("glob", ["", "../other/*", "a/../b"])
    def test_a_glob_that_reaches_outside_is_refused(self, stored: StorageManager, glob: str) -> None:
        with pytest.raises(ValueError, match="refused"):
            stored.delete(UUID, [glob])

    @pytest.mark.parametrize(
        "name", ["", "..", "a/b", "../x", "victim", UUID.upper(), UUID.replace("-", ""), UUID + "\n"]
    )
    def test_an_id_that_is_no_canonical_uuid_is_refused(self, manager: StorageManager, source: Path, name: str) -> None:
        with pytest.raises(ValueError, match="is not a UUID"):
            manager.upload(source, name)
        with pytest.raises(ValueError, match="is not a UUID"):
            manager.delete(name, ["**/*"])

    def test_a_directory_that_is_no_checkpoint_is_not_deleted(self, manager: StorageManager, source: Path) -> None:
        manager.put(source / "model.pt", f"{UUID}/precious")
        with pytest.raises(CheckpointNotFound, match="neither a manifest nor"):
            manager.delete(UUID, ["**/*"])
        assert manager.read(f"{UUID}/precious") == b"weights"

    @pytest.mark.parametrize("path", ["../../escape", "/etc/escape", "", "a/../../b", "a//b", ".", "nul\0", 7, None])
    def test_a_manifest_that_reaches_outside_is_damage(
        self, stored: StorageManager, tmp_path: Path, path: object
    ) -> None:
        listed = {"version": 1, "files": [{"path": path, "size": 1}]}
        (tmp_path / "forged").write_text(json.dumps(listed))
        stored.put(tmp_path / "forged", f"{UUID}/{MANIFEST_NAME}")
        with pytest.raises(CheckpointDamaged, match="cannot be read"):
            stored.download(UUID, tmp_path / "back")

    def test_a_checkpoint_of_an_older_release_loses_files_and_can_still_be_deleted(
        self, manager: StorageManager, source: Path
    ) -> None:
        for name in ("metadata.json", "model.pt"):
            manager.put(source / name, f"{UUID}/{name}")
        assert manager.delete(UUID, ["metadata.json"]) == {"model.pt": 7}
        assert [entry.path for entry in manager.entries(UUID)] == ["model.pt"]
        assert manager.delete(UUID, ["**/*"]) == {}

    def test_a_checkpoint_is_read_through_its_descriptor(self, stored: StorageManager) -> None:
        with stored.opened(UUID) as (fd, entries):
            assert resources(entries) == RESOURCES
            assert tree.read_file(fd, "logs/deep/b.txt", 100) == b"b"

    def test_one_file_of_a_checkpoint_is_read_from_any_position(self, stored: StorageManager) -> None:
        with stored.opened_file(UUID, "model.pt") as (file, entry):
            file.seek(3)
            assert (file.read(2), file.read(), file.read()) == (b"gh", b"ts", b"")
            assert (entry.path, entry.size, entry.hash is not None) == ("model.pt", 7, True)
        with stored.opened_file(UUID, "logs/deep/b.txt") as (file, _):
            assert file.read() == b"b"

    @pytest.mark.parametrize("path", ["nothing", "logs", "logs/", "../model.pt", "", MANIFEST_NAME])
    def test_what_is_no_file_of_a_checkpoint_is_not_opened(self, stored: StorageManager, path: str) -> None:
        with pytest.raises(CheckpointNotFound, match="has no file"), stored.opened_file(UUID, path):
            pass

    def test_a_file_that_has_changed_its_size_is_not_opened(self, stored: StorageManager, tmp_path: Path) -> None:
        (tmp_path / "short").write_bytes(b"w")
        stored.put(tmp_path / "short", f"{UUID}/model.pt")
        with pytest.raises(CheckpointDamaged, match="it has 1 bytes"), stored.opened_file(UUID, "model.pt"):
            pass

    def test_loose_files_are_put_read_and_removed(self, manager: StorageManager, source: Path) -> None:
        manager.put(source / "model.pt", "cluster/tensorboard/f")
        assert manager.read("cluster/tensorboard/f") == b"weights"
        manager.remove("cluster")
        with pytest.raises(FileNotFoundError):
            manager.read("cluster/tensorboard/f")

    def test_loose_files_are_listed_below_a_directory(self, manager: StorageManager, source: Path) -> None:
        assert manager.list_loose("cluster/tensorboard") == {}
        manager.put(source / "model.pt", "cluster/tensorboard/trial/1/events")
        manager.put(source / "logs/a.txt", "cluster/tensorboard/other")
        manager.put(source / "logs/a.txt", "cluster/tensorboards")
        found = manager.list_loose("cluster/tensorboard")
        assert {path: file.size for path, file in found.items()} == {"trial/1/events": 7, "other": 1}

    def test_a_changed_loose_file_has_another_version(self, manager: StorageManager, source: Path) -> None:
        manager.put(source / "model.pt", "cluster/f")
        before = manager.list_loose("cluster")["f"]
        (source / "model.pt").write_text("WEIGHTS")
        manager.put(source / "model.pt", "cluster/f")
        after = manager.list_loose("cluster")["f"]
        assert (after.size, after.version != before.version) == (before.size, True)

    def test_the_end_of_a_loose_file_is_read_alone(self, manager: StorageManager, source: Path) -> None:
        manager.put(source / "model.pt", "cluster/f")
        assert manager.read("cluster/f", start=4) == b"hts"
        manager.remove("cluster")

    def test_an_upload_does_not_disturb_the_random_state(self, manager: StorageManager, source: Path) -> None:
        random.seed(7)
        before = random.getstate()
        manager.upload(source, UUID)
        assert random.getstate() == before
