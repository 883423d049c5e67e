"""What uploads that were killed have left behind goes after a while; what is being written stays."""

import os
import time
from pathlib import Path

from determined.storage.directory.manager import DirectoryStorageManager

DAY = 24 * 3600.0
LEFT = "3f1d2a8e-0000-4000-8000-00000000000a"
KEPT = "3f1d2a8e-0000-4000-8000-00000000000b"


def test_only_what_has_not_changed_for_long_is_swept(tmp_path: Path) -> None:
    store = DirectoryStorageManager(str(tmp_path / "store"))
    left = store.pre_store_path(LEFT)
    (left / "deep").mkdir()
    (left / "deep" / "weights").write_text("w")
    os.utime(left / "deep" / "weights", (1, 1))
    source = tmp_path / "source"
    source.mkdir()
    (source / "weights").write_text("w")
    store.upload(source, KEPT)
    now = time.time()
    assert store.sweep_staging(DAY, now + DAY - 60) == []
    assert (left / "deep" / "weights").exists(), "copied with its old time, but a moment ago"
    assert store.sweep_staging(DAY, now + DAY + 60) == [LEFT]
    assert sorted(path.name for path in store.base.iterdir()) == [KEPT]


def test_link_in_the_place_of_a_staging_directory_leads_nowhere(tmp_path: Path) -> None:
    store = DirectoryStorageManager(str(tmp_path / "store"))
    store.base.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("p")
    (store.base / ".staging-x").symlink_to(elsewhere)
    assert store.sweep_staging(0.0, time.time() + DAY) == []
    assert (elsewhere / "precious").exists()


def test_store_that_does_not_exist_has_nothing_to_sweep(tmp_path: Path) -> None:
    assert DirectoryStorageManager(str(tmp_path / "none")).sweep_staging(0.0, time.time()) == []
