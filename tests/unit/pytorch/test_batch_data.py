"""The structures a batch may have: how long it is, and how it gets to a device."""

import logging
import typing
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from determined.pytorch._batch_data import TorchData, data_length, to_device

CPU = torch.device("cpu")
META = torch.device("meta")  # a device that every machine has, and that tensors have to be moved to


class Pair(NamedTuple):
    image: Any
    label: Any


def _structures() -> dict[str, Any]:
    """Return every form of the PyTorch guide, each of two records."""
    one, two = torch.zeros(2), torch.ones(2, 2)
    return {
        "array": np.ones((2, 2)),
        "tensor": two,
        "tuple": (one, two),
        "tuple of arrays": (np.zeros(2), np.zeros((2, 2))),
        "list": [one, two],
        "list of arrays": [np.zeros(2), np.zeros((2, 2))],
        "dict": {"image": two, "class": one},
        "dict of arrays": {"image": np.zeros((2, 2)), "class": np.ones(2)},
        "combination": {"inputs": [{"left": two}, {"right": one}], "targets": (one, two)},
    }


def _shape(data: Any) -> Any:
    """The structure, with the shape of every leaf and where it is."""
    if isinstance(data, dict):
        return {key: _shape(part) for key, part in data.items()}
    if isinstance(data, list | tuple):
        return type(data)([_shape(part) for part in data])
    return tuple(data.shape), str(getattr(data, "device", "array"))


@pytest.mark.parametrize("name", _structures())
def test_every_structure_of_the_guide_has_its_length(name: str) -> None:
    assert data_length(_structures()[name]) == 2


@pytest.mark.parametrize("name", _structures())
def test_every_structure_of_the_guide_keeps_its_form_on_the_device(name: str) -> None:
    before, after = _shape(_structures()[name]), _shape(to_device(_structures()[name], META))
    text = str(before).replace("'cpu'", "'meta'").replace("'array'", "'meta'")
    assert str(after) == text


def test_length_is_that_of_the_first_leaf_that_has_one() -> None:
    assert data_length({"name": "x", "scale": torch.tensor(2.0), "rest": [[], {"x": np.zeros((3, 1))}]}) == 3


@pytest.mark.parametrize("data", [[], {}, (), {"a": [], "b": ({},)}])
def test_an_empty_batch_has_no_length(data: Any) -> None:
    with pytest.raises(ValueError, match=f"an empty {type(data).__name__}"):
        data_length(data)


@pytest.mark.parametrize("data", [3, "text", ["a", 1], torch.tensor(1.0), None])
def test_length_of_something_else_names_the_method_to_override(data: Any) -> None:
    with pytest.raises(TypeError, match="override get_batch_length"):
        data_length(data)


def test_a_tensor_that_is_there_already_is_not_copied() -> None:
    tensor = torch.zeros(2)
    assert to_device(tensor, CPU) is tensor
    assert to_device([tensor], CPU)[0] is tensor


def test_a_device_may_be_named_by_its_text() -> None:
    moved: Any = to_device({"x": np.zeros(2)}, "cpu")
    assert moved["x"].device == torch.device("cpu")


def test_kinds_of_containers_are_kept() -> None:
    plain = defaultdict(list, {"x": torch.zeros(2)})
    data = (Pair(torch.zeros(2), np.zeros(2)), OrderedDict(a=torch.zeros(1)), plain)
    pair, ordered, default = to_device(data, META)
    assert isinstance(pair, Pair)
    assert pair.label.device == META
    assert isinstance(ordered, OrderedDict)
    assert default["missing"] == []
    assert default["x"].device == META
    assert plain["x"].device == CPU  # the batch that was given stays what it was


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int16", "uint8", "bool"])
def test_arrays_of_numbers_become_tensors_of_the_same_type(dtype: str) -> None:
    moved: Any = to_device(np.ones(3, dtype=dtype), CPU)
    assert moved.dtype is getattr(torch, dtype)
    assert moved.numpy().dtype == np.dtype(dtype)


def test_arrays_that_torch_cannot_share_are_copied() -> None:
    fixed = np.arange(3)
    fixed.flags.writeable = False
    arrays = [fixed, np.arange(3)[::-1], np.arange(3).astype(">i4")]
    assert [part.tolist() for part in to_device(arrays, CPU)] == [[0, 1, 2], [2, 1, 0], [0, 1, 2]]  # type: ignore[misc]


def test_tensor_subclasses_and_objects_that_know_how_are_moved_by_their_own_method() -> None:
    class Graph:
        device = CPU

        def to(self, device: torch.device) -> "Graph":
            moved = Graph()
            moved.device = device
            return moved

    graph, parameter = to_device((Graph(), torch.nn.Parameter(torch.zeros(1))), META)
    assert graph.device == META
    assert parameter.device == META
    packed = to_device(pack_sequence([torch.zeros(2), torch.zeros(1)]), META)
    assert isinstance(packed, PackedSequence)
    assert packed.batch_sizes.device == CPU  # torch wants them there


def test_what_cannot_be_moved_is_kept_with_one_warning_per_type(caplog: pytest.LogCaptureFixture) -> None:
    class Caption:
        pass

    caption = Caption()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert to_device([caption, caption], CPU) == [caption, caption]
    assert [record.getMessage() for record in caplog.records] == ["to_device leaves data of type Caption where it is"]


def test_the_callers_set_of_warned_types_counts(caplog: pytest.LogCaptureFixture) -> None:
    warned: set[type] = {str}
    to_device(["text", np.array(["text"])], CPU, warned)
    assert [record.getMessage() for record in caplog.records] == [
        "to_device leaves data of type ndarray (<U4) where it is"
    ]
    assert warned == {str, np.ndarray}


def test_torch_data_names_the_three_forms() -> None:
    assert len(typing.get_args(TorchData)) == 3
