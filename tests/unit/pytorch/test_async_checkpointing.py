"""Checkpoints that are written and stored while training goes on: what is in them, who hears of them and when, and
what happens where storing fails or memory is short."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from made_context import made_context
from ranks import run_ranks
from small_trial import SmallTrial

from determined import pytorch
from determined.pytorch import Batch, _saves
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._checkpoint import Checkpoints
from determined.pytorch._saves import Way
from determined.pytorch._state import TrialState
from determined.storage.local import LocalStorageManager
from determined.trial import FreeMemory, read_counters

pytestmark = pytest.mark.usefixtures("own_place")

JOBS = Path(__file__).with_name("async_jobs.py")
WAIT_SECONDS = 60.0


class Gate:
    """Holds back what is stored until a batch is trained."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.stored: list[str] = []
        self.threads: set[str] = set()

    def publish(self, publish: Any, *arguments: Any) -> None:
        assert self.opened.wait(WAIT_SECONDS)
        publish(*arguments)
        self.threads.add(threading.current_thread().name)
        self.stored.append(arguments[1])


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made, publish = Gate(), LocalStorageManager.publish
    monkeypatch.setattr(LocalStorageManager, "publish", lambda *arguments: made.publish(publish, *arguments))
    yield made
    made.opened.set()


class Watched(SmallTrial):
    """Calls functions at batches, by their number."""

    calls: dict[int, Any]
    callbacks: dict[str, pytorch.PyTorchCallback]

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return self.callbacks

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        self.calls.get(batch_idx, lambda _trial: None)(self)
        return super().train_batch(batch, epoch_idx, batch_idx)


def _fit(
    calls: dict[int, Any] | None = None,
    callbacks: dict[str, pytorch.PyTorchCallback] | None = None,
    batches: int = 6,
    **how: Any,
) -> Watched:
    torch.manual_seed(7)
    with pytorch.init(hparams={}, enable_tensorboard_logging=False) as context:
        trial = type("Trial", (Watched,), {"calls": calls or {}, "callbacks": callbacks or {}})(context)
        periods = {"reporting_period": Batch(1), "checkpoint_period": Batch(3), "checkpoint_policy": "none"}
        pytorch.Trainer(trial, context).fit(max_length=Batch(batches), **(periods | how))
        return trial


def _states(place: Path) -> dict[int, Any]:
    """What is stored, by the batches that were trained."""
    states = {}
    for file in place.glob("*/state_dict.pth"):
        counters = read_counters(file.parent)
        assert counters is not None
        states[counters["batches_trained"]] = torch.load(file, weights_only=False)
    return states


class Count(pytorch.PyTorchCallback):
    """Counts batches, and keeps what it is told."""

    def __init__(self) -> None:
        self.batches = 0
        self.told: list[str] = []

    def on_training_workload_end(self, avg_metrics: dict[str, Any], batch_metrics: list[dict[str, Any]]) -> None:
        self.batches += len(batch_metrics)

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.told.append(f"stored after {self.batches}")

    def on_trial_shutdown(self) -> None:
        self.told.append("shut down")

    def state_dict(self) -> dict[str, Any]:
        return {"batches": self.batches}


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(_equal(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    return repr(one) == repr(other)


def test_training_goes_on_and_the_checkpoint_is_of_the_batch_it_was_taken_at(
    gate: Gate, off_cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Count()
    _fit({5: lambda _trial: gate.opened.set()}, {"count": count})
    assert len(gate.stored) == 2 and "checkpoint-save" in gate.threads
    in_background = _states(off_cluster)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))
    _fit(None, {"count": Count()}, async_checkpointing=False)
    in_foreground = _states(tmp_path / "other" / "determined")
    assert in_background.keys() == in_foreground.keys() == {3, 6}
    assert all(_equal(in_background[batches], in_foreground[batches]) for batches in (3, 6))


def test_callbacks_hear_of_a_stored_checkpoint_at_the_next_report_and_before_the_end(gate: Gate) -> None:
    count = Count()
    stored = threading.Event()

    def open_and_wait(_trial: Watched) -> None:
        gate.opened.set()
        for thread in threading.enumerate():
            if thread.name == "checkpoint-save":
                thread.join(WAIT_SECONDS)
        stored.set()

    _fit({4: open_and_wait}, {"count": count})
    assert count.told == ["stored after 5", "stored after 6", "shut down"]


def test_the_next_save_waits_for_the_last(gate: Gate) -> None:
    count = Count()
    timer = threading.Timer(0.2, gate.opened.set)
    timer.start()
    _fit(None, {"count": count}, batches=9, checkpoint_period=Batch(4))
    assert [told.split()[0] for told in count.told] == ["stored"] * 3 + ["shut"]
    assert len(gate.stored) == 3


def test_a_stored_checkpoint_lets_random_numbers_go_on_as_they_were(gate: Gate) -> None:
    class Drawing(pytorch.PyTorchCallback):
        def on_checkpoint_upload_end(self, uuid: str) -> None:
            torch.rand(7)

    gate.opened.set()
    alone = _fit(async_checkpointing=False)
    for batch in (3, 4):
        drawn = _fit({batch: lambda _trial: None}, {"drawing": Drawing()})
        assert all(torch.equal(*pair) for pair in zip(alone.model.parameters(), drawn.model.parameters(), strict=True))


def test_a_hook_that_adds_files_finds_the_written_ones_and_the_model_as_it_is_in_them(
    gate: Gate, off_cluster: Path
) -> None:
    found: list[bool] = []

    class Exporting(pytorch.PyTorchCallback):
        trial: Any = None

        def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
            state = torch.load(Path(checkpoint_dir, "state_dict.pth"), weights_only=False)["models_state_dict"][0]
            found.append(_equal(dict(state), dict(self.trial.model.state_dict())))
            Path(checkpoint_dir, "exported").write_text("model")

    exporting = Exporting()
    calls = {0: lambda trial: setattr(exporting, "trial", trial), 4: lambda _trial: gate.opened.set()}
    _fit(calls, {"exporting": exporting})
    assert found == [True, True] and "checkpoint-save" in gate.threads
    assert len(list(off_cluster.glob("*/exported"))) == 2


@pytest.mark.parametrize("batches", [5, 6])
def test_a_failure_in_the_background_ends_the_trial_at_the_next_report_or_save(
    off_cluster: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalStorageManager, "publish", fail)
    with pytest.raises(OSError, match="No space left"):
        _fit(batches=batches)
    assert list(off_cluster.iterdir()) == []


def test_a_failure_of_the_last_save_is_raised_by_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    trained: list[int] = []
    monkeypatch.setattr(LocalStorageManager, "publish", fail)
    with pytest.raises(OSError, match="No space left"):
        _fit({number: lambda _trial: trained.append(1) for number in range(4)}, batches=4, checkpoint_period=Batch(4))
    assert len(trained) == 4


def test_without_memory_for_a_copy_files_are_written_first_which_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, gate: Gate, off_cluster: Path
) -> None:
    monkeypatch.setattr(_saves, "free_memory", lambda: FreeMemory(100 << 20, 1 << 40))
    caplog.set_level(logging.WARNING, logger="determined.pytorch")
    _fit({4: lambda _trial: gate.opened.set()}, {"count": Count()}, batches=9)
    said = [record.message for record in caplog.records if "a copy of the state" in record.message]
    assert len(said) == 1 and said[0].endswith("and 100 of 1048576 MiB are free")
    assert "checkpoint-save" in gate.threads and set(_states(off_cluster)) == {3, 6, 9}


def test_memory_that_is_kept_from_the_last_save_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = made_context(tmp_path)
    saves = _saves.Saves(context._core, CallbackSet({}), in_background=True)
    state = {"weights": torch.rand(1 << 20)}
    monkeypatch.setattr(_saves, "free_memory", lambda: FreeMemory(1 << 30, 1 << 30))
    assert saves.way(state, awaited=False) is Way.COPIED
    monkeypatch.setattr(_saves, "free_memory", lambda: FreeMemory(0, 1 << 30))
    assert saves.way(state, awaited=False) is Way.COPIED
    assert saves.way({"weights": torch.rand(3 << 20)}, awaited=False) is Way.WRITTEN


def test_a_save_that_is_awaited_in_any_case_and_one_of_a_trial_that_wants_it_are_done_at_once(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    assert _saves.Saves(context._core, CallbackSet({}), in_background=True).way({}, awaited=True) is Way.STORED
    assert _saves.Saves(context._core, CallbackSet({}), in_background=False).way({}, awaited=False) is Way.STORED


def test_memory_that_the_system_refuses_leaves_the_other_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    saves = _saves.Saves(made_context(tmp_path)._core, CallbackSet({}), in_background=True)
    monkeypatch.setattr(saves._copies, "reserve", refuse)
    assert saves.way({}, awaited=False) is Way.WRITTEN


def test_a_checkpoint_restores_while_the_next_one_is_awaited(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    trial = SmallTrial(context)
    checkpoints = Checkpoints(trial, context, CallbackSet({}), is_trainer=True, in_background=True)
    storage_id = checkpoints.save(TrialState(0, batches_trained=3), None)
    expected = [parameter.detach().clone() for parameter in trial.model.parameters()]
    for parameter in trial.model.parameters():
        parameter.data.zero_()
    checkpoints.restore(storage_id, TrialState(0))
    assert all(torch.equal(*pair) for pair in zip(trial.model.parameters(), expected, strict=True))
    checkpoints.wait()


@pytest.mark.parametrize("job", ["whole", "between_steps", "sharded"])
def test_ranks_train_on_while_their_checkpoint_is_stored_and_go_on_from_it_bit_by_bit(job: str, tmp_path: Path) -> None:
    for rank in run_ranks(2, f"{JOBS}:{job}", str(tmp_path)):
        assert rank["is_under_way"], "training has gone on behind the save"
        assert rank["heard"] == rank["stored"] and len(rank["stored"]) == 2
        assert _equal(rank["uninterrupted"], rank["resumed"])


@pytest.mark.parametrize("culprit", [0, 1])
def test_a_rank_that_fails_in_the_background_fails_the_save_of_all(culprit: int, tmp_path: Path) -> None:
    told = run_ranks(2, f"{JOBS}:failing", str(tmp_path), culprit)
    assert "No space left" in told[culprit] and "rank" in told[1 - culprit]
    assert not [path for path in (tmp_path / "checkpoints").iterdir() if not path.name.startswith(".staging")]
