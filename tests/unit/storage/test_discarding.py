"""A failed upload is told by its own reason, also where what it left in an object store cannot be removed."""

import logging
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest

from determined.storage import CloudStorageManager
from determined.storage.checkpoint_id import InvalidCheckpointId

UUID = "3f1d2a8e-0000-4000-8000-00000000000a"


class _Failing(type(fsspec.filesystem("memory"))):  # type: ignore[misc]
    """Takes no file, and gives none away: its driver raises what is no OSError, as those of clouds do."""

    cachable = False
    store: ClassVar[dict[str, Any]] = {}  # its own
    pseudo_dirs: ClassVar[list[str]] = [""]

    def put(self, *args: object, **how: object) -> None:
        raise RuntimeError("SlowDown: the upload failed")

    def rm(self, *args: object, **how: object) -> None:
        raise RuntimeError("AccessDenied: no delete")


@pytest.fixture
def manager(tmp_path: Path) -> CloudStorageManager:
    return CloudStorageManager(_Failing(), "bucket/prefix", str(tmp_path))


def test_the_reason_of_a_failed_upload_comes_through(
    manager: CloudStorageManager, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(RuntimeError, match="SlowDown"), manager.store_path(UUID) as path:
        (path / "weights").write_text("1")
    told = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert told, "what is left behind is named"
    assert all(f"bucket/prefix/{UUID}" in line and "AccessDenied" in line for line in told)


def test_the_reason_of_whoever_writes_comes_through(manager: CloudStorageManager) -> None:
    with pytest.raises(ZeroDivisionError), manager.store_path(UUID) as path:
        (path / "weights").write_text(str(1 // 0))


def test_a_name_that_is_none_is_still_refused(manager: CloudStorageManager) -> None:
    with pytest.raises(InvalidCheckpointId):
        manager.discard("../elsewhere")
