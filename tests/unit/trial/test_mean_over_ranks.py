"""The mean of arrays over ranks: real links between threads of this process."""

import secrets
import socket
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from determined import core
from determined.trial import mean_over_ranks

Arrays = list[NDArray[np.floating]]


def _means(by_rank: list[Arrays], monkeypatch: pytest.MonkeyPatch, *, compress: bool = False) -> list[Arrays]:
    monkeypatch.setenv("DET_SESSION_TOKEN", secrets.token_hex())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    size = len(by_rank)

    def one(rank: int) -> Arrays:
        with core.DistributedContext(
            rank=rank, size=size, local_rank=rank, local_size=size, cross_rank=0, cross_size=1, pub_port=port
        ) as distributed:
            return mean_over_ranks(distributed, by_rank[rank], compress=compress)

    with ThreadPoolExecutor(size) as threads:
        return list(threads.map(one, range(size)))


def test_each_array_is_averaged_in_its_own_type_and_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = (np.float16, np.float32, np.float64)
    ranks = [[np.full((2, 1), 1.0 + 2.0 * rank, kind) for kind in kinds] for rank in range(2)]
    for means in _means(ranks, monkeypatch):
        assert [mean.dtype for mean in means] == list(kinds)
        assert all(mean.tolist() == [[2.0], [2.0]] for mean in means)


def test_a_sum_that_half_precision_cannot_hold_is_no_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    large = [np.full(1, 60000.0, np.float16)]
    assert [means[0].tolist() for means in _means([large, large], monkeypatch)] == [[60000.0]] * 2


def test_a_single_number_is_averaged_too(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = [[np.array(1.0, np.float32)], [np.array(2.0, np.float32)]]
    assert [(means[0].dtype, means[0].tolist()) for means in _means(ranks, monkeypatch)] == [(np.float32, 1.5)] * 2


def test_compressed_values_are_rounded_on_their_way_and_averaged_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    near_one = 1.0 + 2.0**-12  # half precision has no number there
    ranks = [[np.full(1, near_one, np.float32)], [np.full(1, 1.0 + 2.0**-10, np.float32)]]
    (plain, _), (rounded, _) = _means(ranks, monkeypatch), _means(ranks, monkeypatch, compress=True)
    assert plain[0].dtype == rounded[0].dtype == np.float32
    assert plain[0][0] == (near_one + 1.0 + 2.0**-10) / 2
    assert rounded[0][0] == 1.0 + 2.0**-11


def test_an_array_that_a_rank_lacks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="zip"):
        _means([[np.ones(1)], []], monkeypatch)
