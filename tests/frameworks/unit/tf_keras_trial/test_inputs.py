"""Arrays, Sequences and datasets: which batches a rank gets, in which order, from where on."""

from itertools import chain
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from small_keras_trial import ShufflingSequence, points

from determined.errors import InvalidExperimentException
from determined.keras import InMemorySequence, KerasDataAdapter, SequenceAdapter
from determined.keras._batches import training_dataset, validation_dataset
from determined.keras._context import FitOptions
from determined.keras._tensorflow import KERAS_3


def _numbers(count: int = 10) -> tuple[Any, Any]:
    return np.arange(count), np.arange(count)


def _first(data: Any, batches: int, *, step: int = 0, rank: int = 0, size: int = 1, **options: Any) -> list[list[int]]:
    dataset = training_dataset(
        data, step=step, batch_size=4, seed=3, rank=rank, size=size, options=FitOptions(**options)
    )
    return [np.ravel(x).tolist() for x, *_ in dataset.take(batches)]


def test_an_epoch_has_every_record_once_and_the_next_another_order() -> None:
    batches = _first(_numbers(), 6)
    assert [len(batch) for batch in batches] == [4, 4, 2, 4, 4, 2]
    one, other = [*chain(*batches[:3])], [*chain(*batches[3:])]
    assert sorted(one) == sorted(other) == list(range(10))
    assert one != other


def test_without_shuffling_records_keep_their_order() -> None:
    assert _first(_numbers(), 4, shuffle=False) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [0, 1, 2, 3]]


@pytest.mark.parametrize("step", [1, 3, 8])
def test_any_batch_can_be_gone_on_from(step: int) -> None:
    assert _first(_numbers(), 4, step=step) == _first(_numbers(), 4 + step)[step:]


def test_ranks_share_all_batches_even_where_they_cannot_be_divided() -> None:
    together = _first(_numbers(), 6)
    apart = [_first(_numbers(), 3, rank=rank, size=2) for rank in range(2)]
    assert [batch for pair in zip(*apart, strict=True) for batch in pair] == together


def test_threads_that_read_ahead_keep_the_order() -> None:
    sequence = ShufflingSequence()
    sequence.on_epoch_end = lambda: None  # type: ignore[method-assign]
    x, _ = points()
    found = _first(SequenceAdapter(sequence, workers=3, max_queue_size=4), 9)
    one_by_one = _first(sequence, 9)
    assert [np.argmin(np.abs(x[:, 0] - batch[0])) for batch in found] == [
        np.argmin(np.abs(x[:, 0] - batch[0])) for batch in one_by_one
    ]


def test_batches_of_a_sequence_may_differ_in_size() -> None:
    class Growing(tf.keras.utils.Sequence):
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            return np.zeros([2, index + 1]), np.zeros([2])

    assert [len(batch) for batch in _first(Growing(), 3, shuffle=False)] == [2, 4, 6]


def test_several_inputs_stay_together() -> None:
    x = {"a": np.arange(8), "b": [np.arange(8), np.arange(8) * 2.0]}
    dataset = training_dataset((x, np.arange(8)), step=0, batch_size=4, seed=3, rank=0, size=1, options=FitOptions())
    inputs, y = next(iter(dataset))
    assert np.array_equal(inputs["a"], y)
    assert np.array_equal(inputs["b"][1], y * 2)
    assert inputs["b"][1].dtype == tf.float32


def test_class_weights_multiply_sample_weights() -> None:
    options = FitOptions(shuffle=False, class_weight={0: 2.0, 1: 3.0})
    data = (np.zeros([4, 1]), np.array([0, 1, 1, 0]), np.array([1.0, 1.0, 0.5, 0.5]))
    dataset = training_dataset(data, step=0, batch_size=4, seed=3, rank=0, size=1, options=options)
    assert next(iter(dataset))[2].numpy().tolist() == [2.0, 3.0, 1.5, 1.0]


def test_classes_without_a_weight_count_once() -> None:
    options = FitOptions(shuffle=False, class_weight={0: 2.0})
    data = (np.zeros([4, 1]), np.array([0, 1, 2, 0]))
    dataset = training_dataset(data, step=0, batch_size=4, seed=3, rank=0, size=1, options=options)
    assert next(iter(dataset))[2].numpy().tolist() == [2.0, 1.0, 1.0, 2.0]


@pytest.mark.skipif(not KERAS_3, reason="Keras 2 has neither on_epoch_begin nor num_batches")
def test_a_sequence_of_keras_3_may_shuffle_itself_as_an_epoch_begins() -> None:
    class Shuffled(tf.keras.utils.PyDataset):
        num_batches = 3

        def __init__(self) -> None:
            super().__init__()
            self.order = np.arange(3)

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            return self.order[[index]], np.zeros(1)

        def on_epoch_begin(self) -> None:
            np.random.shuffle(self.order)

    found = _first(Shuffled(), 9, shuffle=False)
    epochs = [sorted(chain(*found[first : first + 3])) for first in (0, 3, 6)]
    assert epochs == [[0, 1, 2]] * 3
    assert len({str(found[first : first + 3]) for first in (0, 3, 6)}) > 1
    assert _first(Shuffled(), 4, step=5, shuffle=False) == found[5:]


def test_validation_data_is_divided_among_ranks_without_a_rest() -> None:
    found = []
    for rank in range(2):
        dataset, batches = validation_dataset(_numbers(), batch_size=4, rank=rank, size=2)
        parts = [x.numpy().tolist() for x, _ in dataset]
        assert len(parts) == batches
        found += parts
    assert sorted(chain(*found)) == list(range(10))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((np.zeros(8), np.zeros(7)), r"build_training_data_loader returned arrays of \[7, 8\] records"),
        ((np.zeros(3), np.zeros(3)), "3 records, less than a batch of 4"),
        (np.zeros(8), "returned a ndarray; return arrays"),
        (None, "returned a NoneType; return arrays"),
    ],
)
def test_other_data_is_refused_in_words(data: Any, words: str) -> None:
    with pytest.raises(InvalidExperimentException, match=words):
        _first(data, 1)


def test_a_sequence_of_no_batches_is_refused() -> None:
    class Empty(ShufflingSequence):
        def __len__(self) -> int:
            return 0

    with pytest.raises(InvalidExperimentException, match="Empty has no batches"):
        _first(Empty(), 1)


def test_names_of_the_first_release_hold_the_same_data() -> None:
    x, y = np.arange(10), np.arange(10) * 2
    sequence = InMemorySequence(x, y, batch_size=4)
    assert (len(sequence), [part.tolist() for part in sequence[2]]) == (3, [[8, 9], [16, 18]])
    assert len(InMemorySequence(x, y, 4, drop_leftovers=True)) == 2
    assert len(InMemorySequence(x, y, 4, sample_weight=np.ones(10))[0]) == 3
    adapter = KerasDataAdapter(data=sequence, workers=2)
    assert isinstance(adapter, SequenceAdapter)
    assert _first(adapter, 3, shuffle=False) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert SequenceAdapter(sequence=sequence).sequence is sequence
    with pytest.raises(ValueError, match="one length"):
        InMemorySequence(x, y[:3], 2)
