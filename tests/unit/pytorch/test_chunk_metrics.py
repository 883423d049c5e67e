"""ChunkMetrics: kept on the device, averaged over ranks and batches, in a few microseconds per batch."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from ranks import run_ranks

from determined.core import DistributedContext, DummyDistributedContext
from determined.pytorch import _metric_columns
from determined.pytorch._chunk_metrics import ChunkMetrics


def _taken(rows: list[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    chunk = ChunkMetrics()
    for row in rows:
        chunk.add(row)
    assert len(chunk) == len(rows)
    return chunk.take(DummyDistributedContext())


def test_a_chunk_gives_averages_and_batches_and_is_empty_again() -> None:
    chunk = ChunkMetrics()
    for value in (1.0, 2.0, 6.0):
        chunk.add({"loss": torch.tensor(value, requires_grad=True), "lr": 0.5, "right": torch.tensor(int(value))})
    averages, batches = chunk.take(DummyDistributedContext())
    assert averages == {"loss": 3.0, "lr": 0.5, "right": 3.0}
    assert batches[1] == {"loss": 2.0, "lr": 0.5, "right": 2.0} and len(batches) == 3
    assert len(chunk) == 0 and chunk.take(DummyDistributedContext()) == ({}, [])


def test_a_bare_tensor_is_the_loss() -> None:
    assert _taken([torch.tensor(2.0), torch.tensor([4.0])]) == ({"loss": 3.0}, [{"loss": 2.0}, {"loss": [4.0]}])


def test_the_graph_of_a_batch_is_let_go_of() -> None:
    chunk = ChunkMetrics()
    for _ in range(20):
        chunk.add({"loss": torch.ones(3, requires_grad=True).sum()})
    assert all(value.grad_fn is None for value in chunk._columns["loss"])


def test_a_metric_that_is_part_of_a_batch_does_not_keep_the_batch() -> None:
    chunk = ChunkMetrics()
    for _ in range(2 * _metric_columns._WATCHED_BATCHES):
        chunk.add({"first": torch.zeros(1000)[0]})
    assert {value.untyped_storage().nbytes() for value in chunk._columns["first"]} == {4}


def test_tensors_in_lists_are_let_go_of_and_are_no_number() -> None:
    chunk = ChunkMetrics()
    loss = torch.ones(3, requires_grad=True).sum()
    for value in ([loss, loss], [loss, torch.ones(2)], (loss,), {"x": [loss]}):
        chunk.add({"losses": value, "a": 1.0})
    kept = chunk._columns["losses"]
    assert not any(tensor.requires_grad for tensor in (*kept[0], *kept[1], *kept[2], *kept[3]["x"]))
    averages, batches = chunk.take(DummyDistributedContext())
    assert averages == {"losses": None, "a": 1.0}
    assert batches == [{"losses": None, "a": 1.0}] * 4


def test_nan_and_infinity_stay_what_they_are() -> None:
    averages, batches = _taken([{"a": torch.tensor(math.nan), "b": 1.0}, {"a": torch.tensor(1.0), "b": math.inf}])
    assert math.isnan(averages["a"]) and averages["b"] == math.inf
    assert math.isnan(batches[0]["a"]) and batches[1]["b"] == math.inf


def test_none_is_left_out_and_what_is_no_number_becomes_none() -> None:
    rows = [{"a": None, "b": "text", "c": np.float32(1.0), "d": {"x": 1}}, {"a": 4.0, "b": "more", "c": 3, "d": {}}]
    averages, batches = _taken(rows)
    assert averages == {"a": 4.0, "b": None, "c": 2.0, "d": None}
    assert batches == [{"a": None, "b": None, "c": 1.0, "d": None}, {"a": 4.0, "b": None, "c": 3.0, "d": None}]


def test_vectors_are_averaged_to_a_number_and_kept_per_batch() -> None:
    averages, batches = _taken([{"v": torch.tensor([1.0, 3.0])}, {"v": torch.tensor([5.0, 7.0])}])
    assert averages == {"v": 4.0} and batches == [{"v": [1.0, 3.0]}, {"v": [5.0, 7.0]}]
    assert _taken([{"v": np.array([1.0, 3.0])}, {"v": [4.0]}])[0] == {"v": 3.0}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.bool])
def test_every_type_of_number_has_an_average(dtype: torch.dtype) -> None:
    assert _taken([{"x": torch.tensor(1, dtype=dtype)}, {"x": torch.tensor(0, dtype=dtype)}])[0] == {"x": 0.5}


def test_a_chunk_longer_than_a_block_is_packed_on_the_way() -> None:
    chunk = ChunkMetrics()
    for at in range(2 * _metric_columns._PACK_BATCHES + 5):
        chunk.add({"at": torch.tensor(float(at)), "n": at})
    assert len(chunk._columns["at"]) == 5 and len(chunk._packed["at"]) == 2
    averages, batches = chunk.take(DummyDistributedContext())
    assert averages == {"at": 1002.0, "n": 1002.0}
    assert [batch["at"] for batch in batches] == list(range(2005))


def test_a_buffer_that_is_written_in_place_is_reported_as_it_was_at_each_batch() -> None:
    """Also a CUDA graph's output, whose memory changes hands only after its first runs."""
    buffer, later, array = torch.zeros(()), torch.zeros(4), np.zeros(())
    chunk = ChunkMetrics()
    for at in range(30):
        buffer += 1
        later[0] = at
        array += 1
        chunk.add({"total": buffer, "view": later[0] if at > 2 else torch.tensor(float(at)), "array": array})
    _, batches = chunk.take(DummyDistributedContext())
    assert [batch["total"] for batch in batches] == list(range(1, 31))
    assert [batch["view"] for batch in batches] == list(range(30))
    assert [batch["array"] for batch in batches] == list(range(1, 31))


def test_tensors_with_memory_of_their_own_are_not_copied_once_that_is_known() -> None:
    chunk = ChunkMetrics()
    for at in range(_metric_columns._WATCHED_BATCHES):
        chunk.add({"loss": torch.tensor(float(at))})
    value = torch.tensor(99.0)
    chunk.add({"loss": value})
    assert chunk._columns["loss"][-1].data_ptr() == value.data_ptr()
    assert not chunk._watched


def test_large_metrics_leave_the_device_before_the_chunk_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_metric_columns, "_DEVICE_BYTES", 1000)
    chunk, most = ChunkMetrics(), 0
    for at in range(50):
        chunk.add({"v": torch.full((25,), float(at)), "pair": [torch.ones(at % 3)], "n": at, "loss": torch.tensor(1.0)})
        kept = [chunk._columns.values(), chunk._packed.values()]
        most = max(most, sum(map(_metric_columns._bytes_of, map(list, kept))))
    assert most <= 1000 + 200
    averages, batches = chunk.take(DummyDistributedContext())
    assert averages == {"v": 24.5, "pair": None, "n": 24.5, "loss": 1.0}
    assert [batch["v"] for batch in batches] == [[float(at)] * 25 for at in range(50)]
    assert [batch["n"] for batch in batches] == list(range(50))
    assert not chunk._sent and not chunk._arrived and not chunk._bytes


def test_many_blocks_of_small_metrics_are_bounded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_metric_columns, "_DEVICE_BYTES", 1000)
    monkeypatch.setattr(_metric_columns, "_PACK_BATCHES", 10)
    chunk = ChunkMetrics()
    for at in range(1003):
        chunk.add({"at": torch.tensor(float(at))})
        assert sum(block.nbytes for block in chunk._packed.get("at", [])) <= 1004
    assert [batch["at"] for batch in chunk.take(DummyDistributedContext())[1]] == list(range(1003))


def test_vectors_whose_length_changes_leave_the_device_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_metric_columns, "_DEVICE_BYTES", 100)
    rows = [{"v": torch.full((1 + at % 4,), float(at), dtype=torch.bfloat16)} for at in range(60)]
    assert [batch["v"] for batch in _taken(rows)[1]] == [[float(at)] * (1 + at % 4) for at in range(60)]


def test_large_tensors_are_not_held_to_learn_whether_they_are_ever_the_same() -> None:
    chunk = ChunkMetrics()
    for _ in range(4):
        chunk.add({"large": torch.zeros(2**15), "part": torch.zeros(2**15)[:2], "loss": torch.zeros(())})
    assert {name: len(held or {}) for name, held in chunk._watched.items()} == {"large": 0, "part": 0, "loss": 4}


def test_names_that_change_are_an_error_with_both_sets_and_the_method() -> None:
    chunk = ChunkMetrics()
    chunk.add({"loss": 1.0})
    with pytest.raises(ValueError, match=r"train_batch returned metrics \['acc', 'loss'\] for a batch and \['loss'\]"):
        chunk.add({"loss": 1.0, "acc": 1.0})
    chunk.take(DummyDistributedContext())
    chunk.add({"acc": 1.0})


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "train_batch returned a NoneType; return a dict of metric names to values, or a tensor, which is the"),
        ((1.0, 2.0), "train_batch returned a tuple"),
        ({1: 2.0}, "train_batch returned a metric named 1; metric names are text"),
    ],
)
def test_what_is_no_dict_of_metrics_is_refused(returned: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        ChunkMetrics().add(returned)


def chunk_of_a_rank(distributed: DistributedContext) -> Any:
    chunk, rank = ChunkMetrics(), distributed.rank
    for at in range(3):
        chunk.add(
            {
                "loss": torch.tensor(float(at + rank)),
                "nan": torch.tensor(math.nan if rank == at == 1 else 1.0),
                "some": None if rank else float(at),
                "text": "text",
                "ragged": torch.ones(at + 1) * rank,
            }
        )
    taken = chunk.take(distributed)
    chunk.add({f"metric of {rank}": 1.0})
    try:
        chunk.take(distributed)
    except ValueError as err:
        return taken, str(err)
    return taken, None


def test_two_ranks_average_each_batch_over_both_and_tell_both() -> None:
    first, second = run_ranks(2, f"{__file__}:chunk_of_a_rank")
    (averages, batches), error = first
    assert {name: averages[name] for name in ("loss", "some", "text", "ragged")} == {
        "loss": 1.5, "some": 1.0, "text": None, "ragged": 0.5,
    }  # fmt: skip
    assert math.isnan(averages["nan"])
    assert [batch["loss"] for batch in batches] == [0.5, 1.5, 2.5]
    assert [batch["some"] for batch in batches] == [0.0, 1.0, 2.0]
    assert batches[1]["ragged"] == [0.5, 0.5]
    assert repr(second) == repr(first)
    assert error == (
        "train_batch returned metrics ['metric of 1'] on rank 1 and ['metric of 0'] on rank 0; return the same names "
        "on every rank"
    )
