"""Sharded checkpoints: saved by each rank, read by any number of them; an index that would run code is refused."""

import io
import json
import pickle
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from ranks import run_ranks
from sharded_jobs import ShardedTrial, train
from torch.distributed.checkpoint import FileSystemWriter, state_dict_saver
from torch.distributed.checkpoint.api import CheckpointException

from determined import pytorch
from determined.errors import UnsafeCheckpoint
from determined.pytorch import _load, _shards

JOBS = Path(__file__).parent / "sharded_jobs.py"


pytestmark = pytest.mark.usefixtures("own_place")


def _on_two_ranks(*arguments: Any) -> list[dict[str, Any]]:
    return run_ranks(2, f"{JOBS}:on_ranks", *arguments)


def _same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_what_ranks_have_saved_goes_on_on_any_number_of_them(off_cluster: Path) -> None:
    uninterrupted = _on_two_ranks(5, 3, None)
    assert all(rank["is_distributed"] for rank in uninterrupted)
    (uuid, at_three), (_, at_five) = uninterrupted[0]["stored"]
    assert sorted(path.name for path in (off_cluster / uuid / "sharded").iterdir()) == [
        ".metadata", "__0_0.distcp", "__1_0.distcp",
    ]  # fmt: skip

    alone = train(None, 5, 5, uuid)
    assert _same(alone.begun, at_three) and not alone.is_distributed
    of_one, at_its_five = alone.stored[-1]

    for rank in _on_two_ranks(5, 5, uuid, of_one):
        assert _same(rank["begun"], at_three)
        assert _same(rank["stored"][-1][1], at_five)  # dropout and data went on as well, on both ranks
        assert _same(rank["restored"], at_its_five)

    trial: Any = pytorch.load_trial_from_checkpoint_path(str(off_cluster / uuid), trial_class=ShardedTrial)
    assert all(torch.equal(value, at_three[name]) for name, value in trial.model.state_dict().items())


def test_weights_alone_are_loaded_without_reading_the_optimizers_state(tmp_path: Path) -> None:
    weight, moment = ["models_state_dict", 0, "w"], ["optimizers_state_dict", 0, "state", 0, "m"]
    parts = {json.dumps(weight): torch.ones(3), json.dumps(moment): torch.ones(3)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")
        state_dict_saver.save(parts, storage_writer=FileSystemWriter(tmp_path / "sharded"), no_dist=True)
    stored = _shards._Reader(tmp_path / "sharded").read_metadata().storage_data
    (of_moment,) = [place for index, place in stored.items() if index.fqn == json.dumps(moment)]
    with (tmp_path / "sharded" / of_moment.relative_path).open("r+b") as file:
        file.seek(of_moment.offset)
        file.write(bytes(of_moment.length))
    state: dict[str, Any] = {
        "models_state_dict": [{"w": None}],
        "optimizers_state_dict": [{"state": {0: {"m": None}}}],
    }
    torch.save(state, tmp_path / "state_dict.pth")
    context: Any = SimpleNamespace(models=[_OneWeight()], _bare=lambda model: model)
    _load._load_weights(context, tmp_path, {})
    assert context.models[0].w.tolist() == [1, 1, 1]
    with pytest.raises((RuntimeError, CheckpointException)):
        _shards.load(state, tmp_path, lambda _place: None)


class _OneWeight(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(3))


def test_an_index_that_would_run_code_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    class Touch:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    (tmp_path / "sharded").mkdir()
    (tmp_path / "sharded" / ".metadata").write_bytes(pickle.dumps(Touch()))
    with pytest.raises(UnsafeCheckpoint, match="index of a sharded checkpoint"):
        _shards.load({}, tmp_path, lambda _place: None)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("module", ["pathlib", "pathlib._local"])
def test_paths_in_an_index_are_read_as_any_release_of_python_writes_them(module: str) -> None:
    written = pickle.dumps(Path("/a/b"), protocol=0).replace(b"cpathlib\n", f"c{module}\n".encode())
    assert f"c{module}\n".encode() in written
    assert _shards._IndexUnpickler(io.BytesIO(written)).load() == Path("/a/b")


def _pickled_by_getattr(owner: Any, name: str) -> bytes:
    """Return what Python 3.11.0 to 3.11.3 write for a member of an enum."""
    members = pickle.dumps(owner, protocol=0)
    return b"cbuiltins\ngetattr\n(" + members[: -len(b".")] + pickle.dumps(name, protocol=0)[: -len(b".")] + b"tR."


def test_an_enum_of_an_older_python_is_read_and_getattr_reaches_nothing_else() -> None:
    formats = torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING
    written = _pickled_by_getattr(formats, "TORCH_CHANNELS_LAST")
    assert _shards._IndexUnpickler(io.BytesIO(written)).load() is formats.TORCH_CHANNELS_LAST
    for owner, name in ((formats, "__init__"), (torch.Size, "count")):
        with pytest.raises(UnsafeCheckpoint, match="it is not loaded"):
            _shards._IndexUnpickler(io.BytesIO(_pickled_by_getattr(owner, name))).load()
