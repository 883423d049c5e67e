"""Where one request fits."""

import hashlib

import pytest
from scheduling_pools import Queue, node

from determined.engines.scheduling.fitting import Cluster
from determined.engines.scheduling.model import FittingPolicy, NodeView, Placement, Request, Settings

WORST = Settings(fitting=FittingPolicy.WORST)
MIXED = Settings(allow_heterogeneous=True)


def fit(slots: int, *nodes: NodeView, settings: Settings | None = None, single_node: bool = False) -> Placement | None:
    request = Queue().pending("a", slots, single_node=single_node)
    return Cluster(nodes, settings or Settings()).fit(request)


def sizes(placement: Placement | None) -> list[int]:
    return sorted(slots for _, slots in placement or ())


def test_two_slots_share_one_of_two_nodes() -> None:
    assert sizes(fit(2, node("n1"), node("n2"))) == [2]


def test_eight_slots_take_two_idle_nodes_of_four() -> None:
    assert sorted(fit(8, node("n1"), node("n2")) or ()) == [("n1", 4), ("n2", 4)]


def test_six_slots_never_fit_two_nodes_of_four() -> None:
    assert fit(6, node("n1"), node("n2")) is None


def test_five_slots_share_a_node_of_eight() -> None:
    assert fit(5, node("n1", 8)) == (("n1", 5),)


def test_multi_node_request_needs_completely_idle_nodes() -> None:
    assert fit(8, node("n1"), node("n2", free_slots=3)) is None


def test_zero_slot_tasks_do_not_make_a_node_busy() -> None:
    assert sizes(fit(8, node("n1", used_aux=5), node("n2"))) == [4, 4]


def test_single_node_request_does_not_spread() -> None:
    assert fit(8, node("n1"), node("n2"), single_node=True) is None


def test_largest_size_that_divides_the_need_is_taken() -> None:
    nodes = [node(f"four{i}") for i in range(4)] + [node(f"eight{i}", 8) for i in range(2)]
    assert sizes(fit(16, *nodes)) == [8, 8]
    assert sizes(fit(12, *nodes)) == [4, 4, 4]


def test_sizes_are_mixed_only_when_allowed() -> None:
    nodes = [node("n1", 4), node("n2", 8)]
    assert fit(12, *nodes) is None
    assert sizes(fit(12, *nodes, settings=MIXED)) == [4, 8]


def test_mixing_does_not_backtrack() -> None:
    assert fit(12, node("n1", 4), node("n2", 6), node("n3", 8), settings=MIXED) is None


def test_best_policy_fills_the_fullest_node() -> None:
    assert fit(1, node("n1", free_slots=4), node("n2", free_slots=2), node("n3", free_slots=3)) == (("n2", 1),)


def test_worst_policy_takes_the_emptiest_share() -> None:
    nodes = [node("n1", 8, free_slots=6), node("n2", 4, free_slots=4), node("n3", 8, free_slots=7)]
    assert fit(1, *nodes, settings=WORST) == (("n2", 1),)


def test_best_policy_packs_zero_slot_tasks() -> None:
    nodes = [node("n1", used_aux=1), node("n2", used_aux=99), node("n3", used_aux=100)]
    assert fit(0, *nodes) == (("n2", 0),)


def test_best_policy_prefers_a_full_node_for_zero_slot_tasks() -> None:
    assert fit(0, node("n1", used_aux=90), node("n2", free_slots=0)) == (("n2", 0),)


def test_worst_policy_spreads_zero_slot_tasks() -> None:
    nodes = [node("n1", used_aux=1), node("n2", used_aux=99), node("n3", 0, max_aux=10)]
    assert fit(0, *nodes, settings=WORST) == (("n3", 0),)


def test_node_without_zero_slot_places_takes_none() -> None:
    assert fit(0, node("n1", max_aux=0)) is None


def test_ties_go_to_the_smallest_hash_distance() -> None:
    def number(name: str) -> int:
        return int.from_bytes(hashlib.md5(name.encode()).digest()[:8], "little")

    nodes = [node(f"n{i}") for i in range(20)]
    for allocation in ("1.a.1", "1.b.1", "2.c.7"):
        request = Queue().pending(allocation, 1)
        expected = min(nodes, key=lambda n: ((number(allocation) - number(n.id)) % 2**64, n.id)).id
        assert Cluster(nodes, Settings()).fit(request) == ((expected, 1),)


def test_excluded_node_is_not_used() -> None:
    request = Queue().pending("a", 2, excluded_nodes=frozenset({"n1"}))
    assert Cluster([node("n1", free_slots=2), node("n2")], Settings()).fit(request) == (("n2", 2),)
    everywhere = Queue().pending("b", 8, excluded_nodes=frozenset({"n1"}))
    assert Cluster([node("n1"), node("n2")], Settings()).fit(everywhere) is None


@pytest.mark.parametrize("out", [{"enabled": False}, {"draining": True}, {"enabled": False, "draining": True}])
def test_disabled_and_draining_nodes_take_nothing(out: dict[str, bool]) -> None:
    closed = node("n1", free_slots=4, **out)
    assert fit(1, closed) is None
    assert fit(0, closed) is None
    assert fit(8, closed, node("n2")) is None


def test_capacity_of_a_draining_node_is_what_runs_there() -> None:
    cluster = Cluster([node("n1", free_slots=1, draining=True), node("n2"), node("n3", enabled=False)], Settings())
    assert cluster.total == 7
    assert cluster.free == 4
    cluster.release((("n1", 3),))
    assert cluster.total == 4
    assert cluster.free == 4


def test_failed_shape_fits_after_a_release() -> None:
    cluster = Cluster([node("n1", free_slots=0)], Settings())
    request: Request = Queue().pending("a", 2)
    assert cluster.fit(request) is None
    cluster.release((("n1", 2),))
    assert cluster.fit(request) == (("n1", 2),)
