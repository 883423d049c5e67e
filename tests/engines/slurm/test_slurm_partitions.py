"""Hosts out of sinfo's lines, the nodes they make, and how trials spread over them."""

import pytest

from determined.engines.model import Device
from determined.engines.slurm.partitions import (
    device_of,
    expand,
    limit_of,
    nodes_of,
    parse_hosts,
    silent_ranks,
    spread,
)
from determined.errors import InvalidArgument, Unavailable

LINES = [
    "main*|n1|idle|8|n/a|infinite|10.0.0.1|gpu:a100:4(S:0-1)",
    "main*|n2|mixed|8|n/a|infinite|10.0.0.2|gpu:a100:4(S:0-1),nic:2",
    "main*|n3|drained|8|n/a|infinite|10.0.0.3|gpu:2",
    "main*|n4|idle*|8|n/a|infinite|10.0.0.4|gpu:4",
    "quick|n1|idle|8|30:00|1:00:00|10.0.0.1|gpu:a100:4(S:0-1)",
    "cpus|c1|idle~|16|n/a|infinite|10.0.0.9|(null)",
    "a line of another kind",
]
HOSTS = parse_hosts(LINES)
POOLS = {"big": "main", "quick": "quick", "cpus": "cpus"}


def test_lines_of_sinfo_become_hosts() -> None:
    assert [(h.partition, h.name, h.cpus, h.gpus) for h in HOSTS[:3]] == [
        ("main", "n1", 8, 4), ("main", "n2", 8, 4), ("main", "n3", 8, 2),
    ]  # fmt: skip
    assert [h.is_default for h in HOSTS] == [True, True, True, True, False, False]
    assert len(HOSTS) == 6


def test_nodes_that_are_away_are_not_offered_and_shared_ones_once() -> None:
    nodes = nodes_of(HOSTS, POOLS, Device.CUDA)
    assert [(n.id, n.pool, n.also_pools, len(n.slots)) for n in nodes] == [
        ("c1", "cpus", (), 0), ("n1", "big", ("quick",), 4), ("n2", "big", (), 4),
    ]  # fmt: skip
    assert nodes[1].addresses == ("10.0.0.1",)


def test_slots_are_gpus_where_any_node_has_one() -> None:
    assert device_of("auto", HOSTS) is Device.CUDA
    assert device_of("auto", HOSTS[5:]) is Device.CPU
    assert device_of("rocm", HOSTS) is Device.ROCM


def _spread(slots: int, per_node: int | None = None, *, single_node: bool = False) -> list[int]:
    return spread(HOSTS[:4], slots, per_node, single_node=single_node, where="pool 'big'", device=Device.CUDA)


@pytest.mark.parametrize(
    ("slots", "per_node", "sizes"),
    [(0, None, [0]), (1, None, [1]), (4, None, [4]), (8, None, [4, 4]), (4, 2, [2, 2]), (8, 2, [2, 2, 2, 2])],
)
def test_trials_spread_over_nodes_of_equal_size(slots: int, per_node: int | None, sizes: list[int]) -> None:
    assert _spread(slots, per_node) == sizes


@pytest.mark.parametrize(
    ("slots", "per_node", "words"), [(5, None, "ask for 4"), (16, None, "ask for 12"), (3, 2, "ask for 2")]
)
def test_impossible_size_is_refused_with_one_that_is_possible(slots: int, per_node: int | None, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        _spread(slots, per_node)


def test_single_node_trial_does_not_spread() -> None:
    with pytest.raises(InvalidArgument, match="ask for 4"):
        _spread(8, single_node=True)


def test_more_slots_of_a_node_than_any_has_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="largest node"):
        _spread(8, 8)


def test_unknown_partition_waits_for_slurm_instead_of_failing() -> None:
    with pytest.raises(Unavailable, match="has not told yet"):
        spread((), 4, None, single_node=False, where="pool 'x'", device=Device.CUDA)


def test_time_limit_is_the_usual_one_of_the_partition_else_the_longest() -> None:
    assert limit_of(HOSTS[4:5]) == 1800
    assert limit_of(HOSTS[:4]) is None


def test_node_lists_are_read_as_slurm_writes_them() -> None:
    assert expand("n1") == ["n1"]
    assert expand("n[1-3,07],m1") == ["n1", "n2", "n3", "n07", "m1"]
    assert expand("a[098-101]-ib") == ["a098-ib", "a099-ib", "a100-ib", "a101-ib"]
    assert expand("") == []


def test_ranks_of_silent_nodes_are_known_by_their_place_in_the_list() -> None:
    assert silent_ranks(HOSTS, "n[1,4]") == {1: "n4 (idle*)"}
    assert silent_ranks(HOSTS, "n[1-3]") == {}
