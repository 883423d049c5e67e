"""`sync` counts what is in the store now, and nothing that was left out."""

from pathlib import Path

import pytest

from determined.rundir.event_files import Destination, Ledger, read_ledger
from determined.storage import SharedFSStorageManager
from determined.tensorboard import TensorboardManager


class _Picky(SharedFSStorageManager):
    """Cannot hold one file by its name; another's writer moves it away before it is copied."""

    def put(self, src: object, key: str) -> None:
        if key.endswith("unnamable"):
            raise UnicodeEncodeError("utf-8", key, 0, 1, "no such key")
        if key.endswith("moved.tmp"):
            Path(str(src)).unlink()
        super().put(src, key)  # type: ignore[arg-type]


@pytest.mark.parametrize("left_out", ["unnamable", "moved.tmp"])
def test_what_is_left_out_is_not_counted(left_out: str, tmp_path: Path) -> None:
    manager = TensorboardManager(tmp_path / "local", _Picky(str(tmp_path / "store")), "p")
    for name in ("a", left_out, "z"):
        (manager.base_path / name).write_text("1")
    assert manager.sync() == 2
    assert manager.sync() == 0


def test_what_is_left_out_is_noted_for_whoever_copies_the_rest(tmp_path: Path) -> None:
    directory = tmp_path / "local"
    to = Destination(storage={}, container_path=None, prefix="p", python="python3", workdir=None)
    manager = TensorboardManager(directory, _Picky(str(tmp_path / "store")), "p", ledger=Ledger(directory, to))
    (manager.base_path / "unnamable").write_text("1")
    assert manager.sync() == 0
    kept = read_ledger(directory)
    assert kept is not None
    assert list(kept.sent) == ["unnamable"]
