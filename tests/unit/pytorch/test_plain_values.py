"""Containers and dates of Python in a user's state: loaded as they were, without trusting anything else."""

import datetime
import logging
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import Path
from typing import Any

import pytest
import torch
from small_trial import SmallTrial

from determined import pytorch
from determined.errors import UnsafeCheckpoint
from determined.pytorch._formats import read_state, unsafe_classes

UTC = datetime.UTC
VALUES: dict[str, Any] = {
    "deque": deque([1, (2, deque("a"))], maxlen=3),
    "empty deque": deque(),
    "defaultdict": defaultdict(list, a=[1.5], b=deque([torch.tensor(3.0)])),
    "no factory": defaultdict(None, a=1),
    "factories": [defaultdict(each, a=1) for each in (int, float, str, bool, dict, set, tuple, frozenset, deque)],
    "nested": {"x": [OrderedDict(a=defaultdict(deque, b=deque([1])))], "y": Counter("aab")},
    "frozenset": frozenset({1, ("a", 2)}),
    "dates": (datetime.datetime(2024, 2, 29, 1, 2, 3, 4, UTC), datetime.date(2024, 1, 1), datetime.time(1, 2)),
    "timedelta": datetime.timedelta(days=1, microseconds=3),
    "class": deque,
}


class Own:
    """A class of the user's."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _saved(directory: Path, value: Any) -> Path:
    torch.save({"models_state_dict": [{}], "callbacks": {"mine": value}}, directory / "state_dict.pth")
    return directory


def _read(directory: Path) -> Any:
    return read_state(directory)["callbacks"]["mine"]


@pytest.mark.parametrize("name", VALUES)
def test_plain_values_of_python_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    found = _read(_saved(tmp_path, VALUES[name]))
    assert (repr(found), type(found)) == (repr(VALUES[name]), type(VALUES[name]))
    assert unsafe_classes(tmp_path / "state_dict.pth") == []


def test_a_container_in_two_places_is_still_one(tmp_path: Path) -> None:
    window: Any = deque([1])
    window.append(window)
    first, second = _read(_saved(tmp_path, [window, {"same": window}]))
    assert first is second["same"] is first[1]


def test_nothing_is_allowed_beyond_the_reading(tmp_path: Path) -> None:
    _saved(tmp_path, deque([1]))
    nothing = set(torch.serialization.get_safe_globals())  # torch allows some of its own
    assert _read(tmp_path) == deque([1])
    assert set(torch.serialization.get_safe_globals()) == nothing
    with torch.serialization.safe_globals([deque, datetime.date, Own]):
        allowed = set(torch.serialization.get_safe_globals())
        assert _read(tmp_path) == deque([1])
        assert set(torch.serialization.get_safe_globals()) == allowed == nothing | {deque, datetime.date, Own}


def test_classes_in_plain_containers_are_refused_all_the_same(tmp_path: Path) -> None:
    _saved(tmp_path, defaultdict(Own, a=deque([Own(1)])))
    with pytest.raises(UnsafeCheckpoint, match=rf"holds {__name__}\.Own, and"):
        read_state(tmp_path)


def test_a_deque_where_it_cannot_be_put_back_is_refused_rather_than_a_list(tmp_path: Path) -> None:
    _saved(tmp_path, Own(deque([1])))
    with torch.serialization.safe_globals([Own]):
        with pytest.raises(UnsafeCheckpoint, match="deque or defaultdict inside of an object"):
            read_state(tmp_path)
        assert read_state(tmp_path, is_own=True)["callbacks"]["mine"].value == deque([1])


class _Window(pytorch.PyTorchCallback):
    def __init__(self) -> None:
        self.losses: deque[float] = deque(maxlen=2)

    def on_training_workload_end(self, avg_metrics: dict[str, Any], batch_metrics: list[dict[str, Any]]) -> None:
        self.losses.append(avg_metrics["loss"])

    def state_dict(self) -> dict[str, Any]:
        return {"losses": self.losses, "at": datetime.datetime(2024, 1, 1), "seen": frozenset({1})}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.losses = state_dict["losses"]


class _WindowTrial(SmallTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.window = _Window()

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"window": self.window}


@pytest.mark.usefixtures("own_place")
def test_a_training_off_cluster_goes_on_with_such_values_in_its_state(
    off_cluster: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fit(batches: int, latest: str | None) -> deque[float]:
        with pytorch.init(hparams={}) as context:
            trial = _WindowTrial(context)
            pytorch.Trainer(trial, context).fit(
                max_length=pytorch.Batch(batches),
                reporting_period=pytorch.Batch(1),
                checkpoint_policy="none",
                latest_checkpoint=latest,
            )
            return trial.window.losses

    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        first = fit(2, None)
    assert "add_safe_globals" not in caplog.text
    (saved,) = off_cluster.iterdir()
    second = fit(3, saved.name)
    assert (second.maxlen, second[0]) == (2, first[1])
