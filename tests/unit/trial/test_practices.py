"""State on `self` that a resume would lose is named once; what is no such state is left alone."""

import math
import random
import threading
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from determined.trial import AttributeWatch, TrialContext


class Trial:
    """Whatever a user's trial keeps."""


class Average:
    """As users write them."""

    def __init__(self) -> None:
        self.total, self.number = 0.0, 0

    def add(self, value: float) -> None:
        self.total, self.number = self.total + value, self.number + 1


class Samples:
    """Data with a cache."""

    def __init__(self) -> None:
        self.cache: dict[int, int] = {}

    def __getitem__(self, index: int) -> int:
        return self.cache.setdefault(index, index)


class Unequal:
    """Like a tensor: one that replaces another often lies at its address, and == is no bool."""

    def __eq__(self, other: object) -> Any:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]


def _replace(trial: Any) -> None:
    """Twice, so that the second is where the first was."""
    trial.x = Unequal()
    trial.x = Unequal()


def _watched(is_kept: Any = lambda _value: False, **attributes: Any) -> tuple[Trial, AttributeWatch]:
    trial = Trial()
    vars(trial).update(attributes)
    return trial, AttributeWatch(trial, is_kept)


CHANGES: dict[str, tuple[Any, Any]] = {
    "a number": (lambda: 1, lambda t: setattr(t, "x", 2)),
    "a best value": (lambda: math.inf, lambda t: setattr(t, "x", 0.5)),
    "a history": (list, lambda t: t.x.append(0.5)),
    "a long history": (lambda: [0.0] * 1000, lambda t: t.x.append(0.5)),
    "a window": (lambda: deque([1, 2], maxlen=2), lambda t: t.x.append(3)),
    "histories by name": (lambda: {"loss": [], "accuracy": []}, lambda t: t.x["loss"].append(0.5)),
    "a large array": (lambda: np.zeros(10_000), lambda t: t.x.__setitem__(9_000, 1)),
    "an average": (Average, lambda t: t.x.add(0.5)),
    "averages by name": (lambda: {"loss": Average()}, lambda t: t.x["loss"].add(0.5)),
    "an object in the place of another": (Unequal, _replace),
    "a count by class": (lambda: {"cat": 0}, lambda t: t.x.update(cat=1)),
    "numbers seen": (set, lambda t: t.x.add(7)),
    "an array": (lambda: np.zeros(3), lambda t: t.x.__iadd__(1)),
    "a number of numpy": (lambda: np.float32(0), lambda t: setattr(t, "x", np.float32(1))),
    "random numbers": (lambda: random.Random(1), lambda t: t.x.random()),
    "random numbers of numpy": (lambda: np.random.default_rng(1), lambda t: t.x.random()),
    "random numbers of older numpy": (lambda: np.random.RandomState(1), lambda t: t.x.rand()),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_between_start_and_checkpoint_is_named_once(what: str, caplog: pytest.LogCaptureFixture) -> None:
    make, change = CHANGES[what]
    trial, watch = _watched(x=make(), constant=3)
    watch.look()
    assert not caplog.records
    change(trial)
    watch.look()
    change(trial)
    watch.look()
    (record,) = caplog.records
    text = record.getMessage()
    assert text.startswith("Trial changed self.x while it trained")
    assert "constant" not in text and "state_dict" in text


def test_what_stays_the_same_is_not_named(caplog: pytest.LogCaptureFixture) -> None:
    same = {"nan": math.nan, "text": "a", "none": None, "model": object(), "list": [object(), 1.5], "array": np.ones(2)}
    _, watch = _watched(**same, average=Average(), nested={"a": [Average(), Unequal()]}, kind=Average, method=same.get)
    watch.look()
    watch.look()
    assert not caplog.records


def test_caches_of_data_and_objects_of_libraries_may_change(caplog: pytest.LogCaptureFixture) -> None:
    trial: Any
    trial, watch = _watched(samples=Samples(), thread=threading.Thread(name="a"))
    trial.samples[3]
    trial.thread.name = "b"
    watch.look()
    assert not caplog.records


def test_what_a_checkpoint_holds_may_change(caplog: pytest.LogCaptureFixture) -> None:
    models = [object(), object()]
    trial, watch = _watched(lambda value: value in models, current=models[0])
    trial.current = models[1]  # type: ignore[attr-defined]
    watch.look()
    assert not caplog.records


def test_what_a_checkpoint_holds_may_change_within_a_container(caplog: pytest.LogCaptureFixture) -> None:
    average = Average()
    _, watch = _watched(lambda value: value is average, all={"average": average})
    average.add(1)
    watch.look()
    assert not caplog.records


def test_a_cache_that_is_made_once_is_not_named_and_one_that_changes_again_is(caplog: pytest.LogCaptureFixture) -> None:
    trial, watch = _watched(late=None)
    vars(trial).update(late=[1], made=[1])
    watch.look()
    assert not caplog.records
    trial.made.append(2)  # type: ignore[attr-defined]
    watch.look()
    assert "self.made" in caplog.text and "self.late" not in caplog.text


def test_a_trial_without_attributes_is_let_be(caplog: pytest.LogCaptureFixture) -> None:
    AttributeWatch(object()).look()
    assert not caplog.records


def test_a_path_of_data_that_leads_nowhere_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    gone = tmp_path / "somebody" / "data"
    data = {
        "train": {"files": [str(gone / "a.csv"), str(tmp_path)]},
        "made_here": str(tmp_path / "later"),
        "url": "//host/share",
        "name": "a/b",
        "n": 3,
    }
    context = TrialContext.from_config({"data": data})
    assert context.get_data_config() == data
    context.get_data_config()
    (record,) = caplog.records
    assert record.getMessage().startswith(f"data.train.files is {gone / 'a.csv'}, which this node does not have")


def test_a_path_right_below_the_root_is_named(caplog: pytest.LogCaptureFixture) -> None:
    TrialContext.from_config(
        {"data": {"root": "/no-such-data", "again": "/no-such-data/", "all": "/"}}
    ).get_data_config()
    assert [record.getMessage().split(",")[0] for record in caplog.records] == [
        "data.root is /no-such-data",
        "data.again is /no-such-data/",
    ]


def test_a_path_that_cannot_be_looked_at_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    text = "/" + "a sentence that begins with a slash " * 200
    TrialContext.from_config({"data": {"prompt": text}}).get_data_config()
    assert len(caplog.records) == 1
