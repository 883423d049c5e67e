"""A save passes over the weights once, and the manifest tells the truth whatever callbacks did to the file."""

import errno
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from made_context import made_context
from small_trial import SmallTrial

from determined.pytorch import PyTorchCallback
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._checkpoint import Checkpoints
from determined.pytorch._state import TrialState
from determined.storage import copying

pytestmark = pytest.mark.usefixtures("own_place")


class Meddling(PyTorchCallback):
    def __init__(self, meddle: Callable[[Path], object]) -> None:
        self.meddle = meddle

    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        self.meddle(Path(checkpoint_dir) / "state_dict.pth")


def _save(context: Any, meddle: Callable[[Path], object] = str) -> str:
    callbacks = CallbackSet({"meddling": Meddling(meddle)})
    checkpoints = Checkpoints(SmallTrial(context), context, callbacks, is_trainer=True)
    return checkpoints.save(TrialState(0, batches_trained=3), None)


def _flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    with file.open("r+b") as changed:
        changed.write(content)


def test_the_weights_are_not_read_again_to_be_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    hash_files = copying.hash_files

    def spy(paths: Iterable[Path]) -> list[tuple[int, str]]:
        todo = list(paths)
        read.extend(path.name for path in todo)
        return hash_files(todo)

    monkeypatch.setattr(copying, "hash_files", spy)
    context = made_context(tmp_path)
    storage_id = _save(context)
    assert "metadata.json" in read and "state_dict.pth" not in read
    context._core.checkpoint.download(storage_id, tmp_path / "again")  # checks every file against the manifest
    assert torch.load(tmp_path / "again" / "state_dict.pth", weights_only=False)["models_state_dict"]


@pytest.mark.parametrize("meddle", [_flip_a_bit, Path.unlink, lambda file: file.write_bytes(b"other")])
def test_what_a_callback_makes_of_the_file_is_what_is_stored(tmp_path: Path, meddle: Callable[[Path], object]) -> None:
    context = made_context(tmp_path)
    storage_id = _save(context, meddle)
    context._core.checkpoint.download(storage_id, tmp_path / "again")
    assert (tmp_path / "again" / "state_dict.pth").exists() == (meddle is not Path.unlink)


def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    context = made_context(tmp_path)
    trial_files = list(tmp_path.rglob("*"))
    with monkeypatch.context() as patch, pytest.raises(OSError, match=r"No space left on device: .*state_dict\.pth"):
        patch.setattr(os, "write", full)
        _save(context)
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and file not in trial_files]
