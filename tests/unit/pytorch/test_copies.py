"""Copies of a state: whole, of one moment, and in memory that is used again."""

import io
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from determined.pytorch import _device_copies
from determined.pytorch._copies import Copies, size_of
from determined.pytorch._device_copies import DeviceCopies
from determined.pytorch._formats import unsafe_classes
from determined.pytorch._host_memory import HostMemory
from determined.pytorch._memory_file import MemoryFile

MIB = 1 << 20


def _content(copies: Copies, file: MemoryFile) -> io.BytesIO:
    out = io.BytesIO()
    copies.write(file, out)
    return io.BytesIO(out.getvalue())


def _loaded(copies: Copies, file: MemoryFile) -> Any:
    return torch.load(_content(copies, file), weights_only=False)


class Own:
    """An object of a user's class, with a tensor in it."""

    def __init__(self) -> None:
        self.tensor = torch.ones(3)


def test_a_copy_does_not_change_with_what_was_copied() -> None:
    weights, losses, own = torch.arange(3 * MIB), [1.0], Own()
    state = {"weights": weights, "part": weights[5:9], "losses": losses, "own": own}
    copies = Copies()
    file = copies.file(state)
    weights.zero_(), losses.append(2.0), own.tensor.zero_()
    loaded = _loaded(copies, file)
    assert torch.equal(loaded["weights"], torch.arange(3 * MIB)) and torch.equal(loaded["part"], torch.arange(5, 9))
    assert loaded["losses"] == [1.0] and torch.equal(loaded["own"].tensor, torch.ones(3))


def test_tensors_that_share_memory_share_it_in_the_copy_and_take_it_once() -> None:
    base = torch.rand(2 * MIB)
    copies = Copies()
    file = copies.file({"all": base, "rows": base.view(2, -1)[1], "turned": base.view(4, -1).t()})
    loaded = _loaded(copies, file)
    loaded["all"].zero_()
    assert not loaded["rows"].any() and not loaded["turned"].any()
    assert len(_content(copies, file).getvalue()) < 9 * MIB


def test_a_copy_is_the_same_file_as_torch_save_writes() -> None:
    state = {"weights": torch.rand(MIB), "small": torch.rand(3), "numbers": np.arange(4), "words": ["a", "b"]}
    copies, saved = Copies(), io.BytesIO()
    torch.save(state, saved)
    content = _content(copies, copies.file(state)).getvalue()
    assert len(content) == len(saved.getvalue())


def test_another_save_of_the_same_size_takes_no_new_memory() -> None:
    copies, state = Copies(), {"weights": torch.rand(3 * MIB)}
    copies.reserve(size_of(state))
    assert copies.lacking(size_of(state)) == 0
    segments = list(copies._memory.segments)
    for _ in range(3):
        copies.begin()
        file = copies.file(state)
        state["weights"].add_(1)
    assert [id(segment) for segment in copies._memory.segments] == [id(segment) for segment in segments]
    assert torch.equal(_loaded(copies, file)["weights"], state["weights"] - 1)


def test_a_state_that_has_grown_takes_more_memory() -> None:
    copies = Copies()
    copies.file({"weights": torch.rand(MIB)})
    copies.begin()
    grown = {"weights": torch.rand(MIB), "moments": torch.rand(5 * MIB)}
    assert copies.lacking(size_of(grown)) > 0
    assert torch.equal(_loaded(copies, copies.file(grown))["moments"], grown["moments"])


def test_what_runs_code_is_found_in_a_copy_as_in_a_file() -> None:
    copies = Copies()
    assert unsafe_classes(copies.file({"weights": torch.rand(MIB)}).reader()) == []
    copies.begin()
    assert unsafe_classes(copies.file({"weights": torch.rand(MIB), "own": Own()}).reader()) == [f"{__name__}.Own"]


@given(st.lists(st.binary(max_size=4000), max_size=30), st.lists(st.integers(1, 3000), max_size=5))
def test_what_is_written_comes_back_in_its_order(writes: list[bytes], segments: list[int]) -> None:
    memory = HostMemory()
    memory.segments += [np.empty(size, np.uint8) for size in segments]
    with MemoryFile(memory) as file:
        for data in writes:
            assert file.write(data) == len(data)
    out = io.BytesIO()
    file.write_to(out)
    assert out.getvalue() == b"".join(writes)
    reader = file.reader()
    assert reader.read() == b"".join(writes)
    reader.seek(len(out.getvalue()) // 2)
    assert reader.read(100) == out.getvalue()[len(out.getvalue()) // 2 :][:100]


def test_a_write_outside_of_the_block_is_refused() -> None:
    with pytest.raises(ValueError, match="inside of its block"):
        MemoryFile(HostMemory()).write(b"1")


def test_memory_is_handed_out_in_pieces_that_do_not_overlap() -> None:
    memory = HostMemory()
    memory.reserve(3 * MIB)
    taken = [memory.take(size) for size in (1, 5, 2 * MIB, 0, 3 * MIB, 7)]
    for number, part in enumerate(taken):
        part[:] = number
    assert all((part == number).all() for number, part in enumerate(taken))
    assert all(part.ctypes.data % 64 == 0 for part in taken if part.size)
    assert len(memory.segments) == 3, "what does not fit behind the others has a place of its own"


def test_memory_that_the_system_refuses_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError):
        HostMemory().reserve(1 << 62)


def test_the_size_of_a_state_counts_shared_memory_once_and_whatever_lies_in_dicts_and_lists() -> None:
    base = torch.rand(100)
    state = OrderedDict(a=base, b=[base[:50], (torch.rand(10), "text")], c=OrderedDict(d=torch.rand(5)))
    assert size_of(state) == 4 * (100 + 10 + 5)


class _OfThisMachine(DeviceCopies):
    """Treats tensors of this machine as those of a GPU, whose copies arrive when they are waited for."""

    def _lock_pages(self) -> None:
        return

    def _start_on(self, device: torch.device, moves: list[Any]) -> None:
        self.arriving = [(move.target, move.source.clone()) for move in moves]

    def wait(self) -> None:
        for target, source in self.arriving:
            target.copy_(source)


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> Copies:
    monkeypatch.setattr(_device_copies, "_is_plain", lambda node: type(node) is torch.Tensor)
    copies = Copies(overlaps=True)
    copies._devices = _OfThisMachine(copies._memory)
    return copies


def test_tensors_of_a_device_are_written_when_they_have_arrived(on_device: Copies) -> None:
    base, versions = torch.rand(2 * MIB), OrderedDict(weight=torch.rand(3))
    versions._metadata = {"": 1}  # type: ignore[attr-defined]
    state = {"all": base, "part": [base[7:9], ("text", torch.rand(4)[1:])], "model": versions}
    expected = {"all": base.clone(), "part": state["part"][1][1].clone()}
    file = on_device.file(state)
    base.zero_()
    taken = on_device._memory.size
    loaded = _loaded(on_device, file)
    assert torch.equal(loaded["all"], expected["all"]) and torch.equal(loaded["part"][0], expected["all"][7:9])
    assert torch.equal(loaded["part"][1][1], expected["part"]) and loaded["part"][1][0] == "text"
    assert type(loaded["model"]) is OrderedDict and loaded["model"]._metadata == {"": 1}
    assert taken < base.nbytes + 2 * MIB, "they are not copied once more on the host"


def _copies_of_single_tensors_are_theirs(copies: Copies) -> None:
    tensors = {"turned": torch.rand(3, 4).t(), "none": torch.rand(0, 2), "half": torch.rand(5).half()}
    expected = {name: tensor.clone() for name, tensor in tensors.items()}
    copied = copies.tensors(tensors)
    for tensor in tensors.values():
        tensor.zero_()
    copies.wait()
    assert all(torch.equal(copied[name], expected[name]) for name in expected)


def test_single_tensors_are_copied_as_well() -> None:
    _copies_of_single_tensors_are_theirs(Copies())


def test_single_tensors_of_a_device_are_copied_as_well(on_device: Copies) -> None:
    _copies_of_single_tensors_are_theirs(on_device)
