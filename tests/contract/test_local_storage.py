"""shared_fs and directory keep the storage contract."""

from pathlib import Path

import pytest
from storage_contract import StorageContract

from determined.storage import StorageManager, build


class TestSharedFS(StorageContract):
    @pytest.fixture
    def manager(self, tmp_path: Path) -> StorageManager:
        return build({"type": "shared_fs", "host_path": str(tmp_path / "host"), "storage_path": "checkpoints"})


class TestDirectory(StorageContract):
    @pytest.fixture
    def manager(self, tmp_path: Path) -> StorageManager:
        return build({"type": "directory", "container_path": str(tmp_path / "directory")})
