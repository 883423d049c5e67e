"""The endless stream of training batches: entered anywhere it is the same, and ranks share it without a gap."""

import io
import itertools
import multiprocessing
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import Dataset, RandomSampler, Sampler, WeightedRandomSampler

from determined.errors import InvalidExperimentException
from determined.pytorch._batch_order import ReplayedOrder
from determined.pytorch._batches import TrainingBatches
from determined.pytorch._loader import DataLoader
from determined.pytorch.samplers import EpochShuffle, ReproducibleShuffleSampler

shapes = st.fixed_dictionaries(
    {"n": st.integers(1, 40), "batch_size": st.integers(1, 7), "shuffle": st.booleans(), "drop_last": st.booleans()}
).filter(lambda shape: not shape["drop_last"] or shape["n"] >= shape["batch_size"])


class Augmented(Dataset[tuple[int, float, float, float]]):
    """Every record is seen through random numbers of all three libraries."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> tuple[int, float, float, float]:
        if index >= self.n:
            raise IndexError(index)
        return index, torch.rand(()).item(), np.random.rand(), random.random()


class Lazy(Sampler[list[int]]):
    """Draws while it is iterated, from all three libraries, and fills the same list again and again."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[list[int]]:
        batch = [0, 0, 0]
        for _ in range(self.n):
            batch[:] = [int(torch.randint(99, ())), int(np.random.randint(99)), random.randrange(99)]
            yield batch

    def __len__(self) -> int:
        return self.n


class ByEpoch(Sampler[int]):
    """Knows its epoch, as torch's distributed sampler does."""

    epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        return iter([self.epoch % 9 * 10 + i for i in range(5)])

    def __len__(self) -> int:
        return 5


def _loader(n: int, **arguments: Any) -> DataLoader:
    records: Any = list(range(n))
    return DataLoader(records, collate_fn=list, **arguments)


def _of_user(name: str) -> DataLoader:
    records: Any = list(range(100))
    generator = torch.Generator()
    generator.manual_seed(7)
    with_sampler: dict[str, Callable[[], Any]] = {
        "random": lambda: RandomSampler(range(23)),
        "random with a generator": lambda: RandomSampler(range(23), generator=generator),
        "weighted": lambda: WeightedRandomSampler([0.1 * i for i in range(1, 24)], 23),
        "numbers of its own": lambda: ReproducibleShuffleSampler(range(23), 5),
        "by epoch": ByEpoch,
    }
    if name == "shuffle with a generator":
        return DataLoader(records, 5, shuffle=True, generator=generator, collate_fn=list)
    if name == "lazy":
        return DataLoader(records, batch_sampler=Lazy(9), collate_fn=list)
    return DataLoader(records, 2, sampler=with_sampler[name](), collate_fn=list)


USERS = [
    "random", "random with a generator", "weighted", "numbers of its own", "by epoch", "shuffle with a generator",
    "lazy",
]  # fmt: skip


def _take(batches: TrainingBatches, count: int, first: int = 0, state: dict[str, Any] | None = None) -> list[Any]:
    taken = list(itertools.islice(batches.iterate(first, state), count))
    batches.close()
    return taken


def _alone(loader: Any, seed: int = 1) -> TrainingBatches:
    return TrainingBatches(loader, num_replicas=1, rank=0, seed=seed)


@given(shape=shapes, ranks=st.integers(1, 5), data=st.data(), position=st.integers(0, 60), seed=st.integers(0, 2**31))
def test_a_stream_entered_at_a_batch_is_the_tail_of_the_whole(
    shape: dict[str, Any], ranks: int, data: st.DataObject, position: int, seed: int
) -> None:
    rank = data.draw(st.integers(0, ranks - 1))

    def stream() -> TrainingBatches:
        return TrainingBatches(_loader(**shape), num_replicas=ranks, rank=rank, seed=seed)

    whole = stream()
    tail = _take(whole, position + 20)[position:]
    assert _take(stream(), 20, position, whole.state(position)) == tail == _take(stream(), 20, position)


@given(shape=shapes, ranks=st.integers(1, 5), seed=st.integers(0, 2**31))
def test_ranks_together_see_every_epoch_exactly_once(shape: dict[str, Any], ranks: int, seed: int) -> None:
    epochs, per_epoch = 4, len(_loader(**shape))
    streams = [
        TrainingBatches(_loader(**shape), num_replicas=ranks, rank=r, seed=seed).iterate(0) for r in range(ranks)
    ]
    seen = [next(streams[number % ranks]) for number in range(epochs * per_epoch)]
    for epoch in range(epochs):
        records = sorted(itertools.chain(*seen[epoch * per_epoch : (epoch + 1) * per_epoch]))
        kept = per_epoch * shape["batch_size"] if shape["drop_last"] else shape["n"]
        assert len(records) == kept == len(set(records))


@given(shape=shapes, ranks=st.integers(1, 5))
def test_the_length_of_an_epoch_is_that_of_the_adapted_loader(shape: dict[str, Any], ranks: int) -> None:
    for rank in range(ranks):
        loader = _loader(**shape)
        batches = TrainingBatches(loader, num_replicas=ranks, rank=rank, seed=0)
        assert batches.epoch_length == len(loader.get_data_loader(repeat=True, num_replicas=ranks, rank=rank))


def test_epochs_are_shuffled_differently_and_by_the_seed() -> None:
    first = _take(_alone(_loader(30, batch_size=30, shuffle=True)), 3)
    assert len({tuple(epoch) for epoch in first}) == 3
    assert _take(_alone(_loader(30, batch_size=30, shuffle=True), seed=2), 3) != first


def test_a_shuffle_with_a_seed_of_its_own_keeps_it() -> None:
    loader = _loader(30, batch_size=30, sampler=EpochShuffle(range(30), seed=5))
    expected = list(EpochShuffle(range(30), seed=5))
    assert _take(_alone(loader), 1) == [expected]


def _train(much: int = 1) -> None:
    """Draws random numbers, as training does."""
    torch.rand(much)
    np.random.rand(much)
    random.random()


def _through_a_file(state: dict[str, Any]) -> Any:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


def _numbers() -> tuple[Any, ...]:
    return torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()  # type: ignore[index]


@pytest.mark.parametrize("name", USERS)
@settings(max_examples=10)
@given(ranks=st.integers(1, 3), data=st.data(), position=st.integers(1, 70))
def test_a_users_sampler_goes_on_where_it_was_whatever_training_draws(
    name: str, ranks: int, data: st.DataObject, position: int
) -> None:
    rank = data.draw(st.integers(0, ranks - 1))
    stream = TrainingBatches(_of_user(name), num_replicas=ranks, rank=rank, seed=3).iterate(0)
    for _ in range(position):
        next(stream)
        _train()
    chief = TrainingBatches(_of_user(name), num_replicas=ranks, rank=0, seed=3)
    _take(chief, position)
    state = _through_a_file(chief.state(position))
    _train(much=position)
    after = TrainingBatches(_of_user(name), num_replicas=ranks, rank=rank, seed=99)
    assert _take(after, 30, position, state) == list(itertools.islice(stream, 30))


@pytest.mark.parametrize("name", USERS)
def test_ranks_whose_random_numbers_differ_share_a_users_sampler(name: str) -> None:
    expected = _take(_alone(_of_user(name), seed=3), 60)
    streams = [TrainingBatches(_of_user(name), num_replicas=3, rank=r, seed=3).iterate(0) for r in range(3)]
    seen = []
    for number in range(60):
        _train(much=number % 5)
        seen.append(next(streams[number % 3]))
    assert seen == expected


def test_a_sampler_that_counts_epochs_is_told_the_epoch() -> None:
    assert _take(_alone(_of_user("by epoch")), 4, 5) == [[14], [20, 21], [22, 23], [24]]


def test_a_sampler_may_fill_the_same_list_again_and_again() -> None:
    class Filling(Sampler[list[int]]):
        def __iter__(self) -> Iterator[list[int]]:
            batch = [0]
            for batch[0] in range(3):
                yield batch

    records: Any = list(range(3))
    assert _take(_alone(DataLoader(records, batch_sampler=Filling(), collate_fn=list)), 4) == [[0], [1], [2], [0]]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("position", [1, 9, 10, 11, 25])
def test_a_generator_that_nobody_seeded_is_put_back_from_the_state(position: int, workers: int) -> None:
    """Workers begin an epoch ahead of training: the state is that of the epoch which training is in."""

    def loader() -> DataLoader:
        generator = torch.Generator()
        generator.seed()
        return _loader(30, batch_size=3, shuffle=True, generator=generator, num_workers=workers)

    interrupted = _alone(loader())
    stream = interrupted.iterate(0)
    list(itertools.islice(stream, position))
    state = _through_a_file(interrupted.state(position))
    rest = list(itertools.islice(stream, 25))
    interrupted.close()
    resumed = _alone(loader())
    assert _take(resumed, 25, position, state) == rest


def test_a_state_taken_before_the_first_batch_is_the_one_that_was_given() -> None:
    interrupted = _alone(_of_user("random with a generator"))
    _take(interrupted, 20)
    state = interrupted.state(20)
    resumed = _alone(_of_user("random with a generator"))
    resumed.iterate(20, state)
    again = resumed.state(20)
    assert (again["seed"], again["epoch"]) == (state["seed"], state["epoch"])
    assert torch.equal(again["generators"][0], state["generators"][0])


def test_states_of_epochs_long_past_are_forgotten() -> None:
    batches = _alone(_loader(1, shuffle=True, generator=torch.Generator()))
    _take(batches, 600)
    assert isinstance(batches._order, ReplayedOrder)
    assert len(batches._order._begun) < 300


def test_the_order_of_an_interrupted_run_is_kept_although_the_seed_is_another() -> None:
    before = _alone(_loader(30, batch_size=4, shuffle=True), seed=1)
    tail = _take(before, 30)[5:]
    after = _alone(_loader(30, batch_size=4, shuffle=True), seed=2)
    assert _take(after, 25, 5, before.state(5)) == tail
    assert after.state(5) == before.state(5) == {"seed": 1}


def test_a_trial_that_begins_with_the_weights_of_another_has_an_order_of_its_own() -> None:
    other = _alone(_loader(30, batch_size=4, shuffle=True), seed=1)
    mine = _alone(_loader(30, batch_size=4, shuffle=True), seed=2)
    expected = _take(mine, 9)
    assert _take(_alone(_loader(30, batch_size=4, shuffle=True), seed=2), 9, 0, other.state(0)) == expected


@pytest.mark.parametrize("name", USERS)
def test_the_stream_takes_no_random_number_from_training(name: str) -> None:
    before = _numbers()
    _take(_alone(_of_user(name)), 40, 30)
    _take(_alone(_loader(9, shuffle=True)), 40, 30)
    assert _numbers() == before


def test_random_numbers_of_records_loaded_here_are_those_of_the_process() -> None:
    def stream(first: int) -> Iterator[Any]:
        return _alone(DataLoader(Augmented(10), 2, shuffle=True, collate_fn=list)).iterate(first)

    uninterrupted = stream(0)
    list(itertools.islice(uninterrupted, 7))
    torch_state, numpy_state, python_state = torch.get_rng_state(), np.random.get_state(), random.getstate()
    expected = list(itertools.islice(uninterrupted, 9))
    resumed = stream(7)
    torch.set_rng_state(torch_state)
    np.random.set_state(numpy_state)
    random.setstate(python_state)
    assert list(itertools.islice(resumed, 9)) == expected


@pytest.mark.parametrize(("position", "rank", "workers"), [(3, 0, 2), (8, 1, 2), (5, 1, 1)])
def test_workers_load_the_same_random_records_wherever_the_stream_is_entered(
    position: int, rank: int, workers: int
) -> None:
    def stream(num_workers: int) -> TrainingBatches:
        loader = DataLoader(Augmented(11), 2, shuffle=True, num_workers=num_workers, collate_fn=list)
        return TrainingBatches(loader, num_replicas=2, rank=rank, seed=4)

    before = _numbers()
    whole = _take(stream(2), position + 8)
    assert _take(stream(workers), 8, position) == whole[position:]
    assert len({record[1] for batch in whole for record in batch}) == sum(map(len, whole))  # never twice the same
    assert _numbers() == before


def _check_own_dataset(worker: int) -> None:
    info = torch.utils.data.get_worker_info()
    assert info is not None
    assert isinstance(info.dataset, Augmented)
    info.dataset.n = 100 + worker


def test_workers_are_set_up_by_the_user_and_know_the_users_dataset() -> None:
    loader = DataLoader(
        Augmented(4), sampler=[50, 100], num_workers=2, worker_init_fn=_check_own_dataset, collate_fn=list
    )
    stream = _alone(loader).iterate(0)
    assert next(stream)[0][0] == 50  # worker 0 would refuse the other
    assert next(stream)[0][0] == 100
    stream.close()  # type: ignore[attr-defined]


def test_closing_ends_the_workers() -> None:
    others, batches = multiprocessing.active_children(), _alone(DataLoader(Augmented(9), num_workers=2))
    stream = batches.iterate(0)
    next(stream)
    workers = set(multiprocessing.active_children()) - set(others)
    batches.close()
    assert [_has_ended(worker) for worker in workers] == [True, True]
    assert next(stream, None) is None
    batches.close()


def test_workers_end_although_somebody_keeps_their_error() -> None:
    others = multiprocessing.active_children()
    stream = _alone(DataLoader(Augmented(9), sampler=[0, 99], num_workers=2)).iterate(0)
    next(stream)
    workers = set(multiprocessing.active_children()) - set(others)
    with pytest.raises(IndexError) as kept:
        list(stream)
    assert [_has_ended(worker) for worker in workers] == [True, True]
    assert kept.value


def _has_ended(worker: Any) -> bool:
    worker.join(30)  # one that was slow to hear of the end is sent a signal, which nobody waits for
    return not worker.is_alive()


def test_iterating_anew_ends_the_iteration_before() -> None:
    batches = _alone(_loader(5))
    first = batches.iterate(0)
    assert next(first) == [0]
    assert next(batches.iterate(3)) == [3]
    assert next(first, None) is None


@pytest.mark.parametrize(
    "loader",
    [
        _loader(3, batch_size=4, drop_last=True),
        _loader(0),
        _loader(3, sampler=[]),
        torch.utils.data.DataLoader(Augmented(3), batch_size=4, drop_last=True),
    ],
)
def test_data_without_a_batch_names_the_method_and_the_way_out(loader: Any) -> None:
    with pytest.raises(InvalidExperimentException, match=r"build_training_data_loader .* without a batch .*drop_last"):
        next(_alone(loader).iterate(0))


def test_a_sampler_without_length_or_end_can_be_entered_too() -> None:
    class Counting(Sampler[list[int]]):
        def __iter__(self) -> Iterator[list[int]]:
            return ([random.randrange(50)] for _ in itertools.count())

    records: Any = list(range(50))
    batches = _alone(DataLoader(records, batch_sampler=Counting(), collate_fn=list))
    assert batches.epoch_length is None
    tail = _take(batches, 600)[500:]
    assert _take(batches, 100, 500) == tail


def test_every_structure_that_a_collate_function_makes_comes_through() -> None:
    def nested(records: list[Any]) -> Any:
        numbers = torch.tensor(records)
        return {"data": [{"a": numbers}, {"b": numbers.numpy()}], "label": (numbers, [numbers])}

    records: Any = list(range(4))
    batch = next(_alone(DataLoader(records, 2, collate_fn=nested)).iterate(1))
    assert batch["data"][0]["a"].tolist() == batch["data"][1]["b"].tolist() == [2, 3]
    assert batch["label"][1][0].tolist() == [2, 3]
