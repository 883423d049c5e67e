"""Run the storage contract on every checkpoint store. Its rig is the file of its name in storage_rigs."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import fsspec
import pytest
from storage_contract import UUID, StorageContract

from determined.errors import CheckpointDamaged
from determined.storage import StorageManager, block_names, build, content_index, factory, registry

RIGS = Path(__file__).parent / "storage_rigs"


def _rig(kind: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"storage_rig_{kind}", RIGS / f"{kind}.py")
    assert spec is not None and spec.loader is not None, f"write a rig for {kind} in {RIGS}"
    rig = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rig)
    return rig


class TestStorage(StorageContract):
    @pytest.fixture(params=registry.kinds())
    def manager(
        self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[StorageManager]:
        kind = str(request.param)
        rig = _rig(kind)
        drivers = getattr(rig, "DRIVERS", {})
        if drivers:
            code = factory.manager_class(kind).__module__
            monkeypatch.setattr(f"{code}.load_optional", lambda name, *, extra: drivers[name])
        yield build(rig.section(tmp_path))
        memory = fsspec.filesystem("memory")
        memory.store.clear()
        memory.pseudo_dirs[:] = [""]


class TestDeduplicatingStorage(StorageContract):
    """Every file is treated as a large one here."""

    @pytest.fixture(params=["none", "files", "blocks"])
    def manager(
        self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> StorageManager:
        monkeypatch.setattr(content_index, "LEAST", 1)
        return build(_rig("directory").section(tmp_path) | {"deduplicate": request.param})

    def test_a_file_that_has_changed_its_size_is_not_opened(self, stored: StorageManager, tmp_path: Path) -> None:
        stored_as = [entry.blocks for entry in stored.entries(UUID) if entry.path == "model.pt"]
        place = block_names.path(stored_as[0][0]) if stored_as[0] else "model.pt"
        (tmp_path / "short").write_bytes(b"w")
        stored.put(tmp_path / "short", f"{UUID}/{place}")
        with pytest.raises(CheckpointDamaged, match="it has 1 bytes"), stored.opened_file(UUID, "model.pt"):
            pass


@pytest.mark.parametrize("kind", registry.kinds())
def test_a_store_is_a_folder_of_its_kind_with_a_section_and_a_manager(kind: str) -> None:
    section = registry.section(kind)
    assert section.kind == kind
    assert issubclass(factory.manager_class(kind), StorageManager)
    assert section.path_key == "" or section.path_key in section.schema.fields
