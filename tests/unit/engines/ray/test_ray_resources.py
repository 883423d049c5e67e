"""What of a Ray cluster is offered to which pool."""

from determined.engines.model import Device
from determined.engines.ray import resources
from determined.engines.ray.config import RayPool
from determined.wire.bridge import BridgedNode

GPUS, CPUS = RayPool(name="gpus"), RayPool(name="cpus", resource="CPU", per_slot=2.0)


def node(name: str = "n1", taken: dict[str, float] | None = None, **total: float) -> BridgedNode:
    return BridgedNode(id=f"id-{name}", name=name, address="10.0.0.2", total=total, taken=taken or {})


def ids(found: BridgedNode, pool: RayPool, ours: set[int] | None = None) -> list[int]:
    return [slot.id for slot in resources.offered(found, pool, ours or set(), "1").slots]


def test_node_belongs_to_the_first_pool_that_takes_it() -> None:
    assert resources.pool_of(node(GPU=2, CPU=8), [GPUS, CPUS]) == GPUS
    assert resources.pool_of(node(CPU=8), [GPUS, CPUS]) == CPUS
    assert resources.pool_of(node(), [GPUS, CPUS]) is None


def test_marker_and_labels_choose_nodes() -> None:
    marked = RayPool(name="m", marker="det")
    assert resources.pool_of(node(GPU=1), [marked]) is None
    assert resources.pool_of(node(GPU=1, det=1), [marked]) == marked
    labelled = RayPool(name="l", labels={"zone": "a"})
    assert resources.pool_of(node(GPU=1), [labelled]) is None


def test_head_can_be_left_out() -> None:
    head = BridgedNode(id="h", name="h", address="a", total={"GPU": 1.0, "node:__internal_head__": 1.0})
    assert resources.pool_of(head, [RayPool(name="p", include_head=False)]) is None
    assert resources.pool_of(head, [GPUS]) == GPUS


def test_slots_are_whole_shares_of_the_resource() -> None:
    assert ids(node(CPU=5), CPUS) == [0, 1]
    assert resources.offered(node(CPU=5), CPUS, set(), "1").slots[0].device is Device.CPU
    assert resources.offered(node(GPU=1), GPUS, set(), "1").slots[0].device is Device.CUDA
    assert ids(node(GPU=8), RayPool(name="p", slots_per_node=2)) == [0, 1]


def test_slots_of_other_ray_jobs_are_not_offered_and_ours_stay() -> None:
    assert ids(node(GPU=4, taken={"GPU": 1}), GPUS) == [0, 1, 2]
    assert ids(node(GPU=4, taken={"GPU": 0.5}), GPUS) == [0, 1, 2]
    assert ids(node(GPU=4, taken={"GPU": 2}), GPUS, ours={3}) == [0, 3]
    assert ids(node(GPU=2, taken={"GPU": 2}), GPUS, ours={0}) == [0]


def test_what_may_come_counts_for_what_can_be_asked() -> None:
    growing = RayPool(name="g", slots_per_node=4, max_nodes=3)
    assert resources.possible_sizes([], growing, [growing]) == [4, 4, 4]
    assert resources.possible_sizes([node(GPU=4, taken={"GPU": 4})], growing, [growing]) == [4, 4, 4]
    assert resources.possible_sizes([], GPUS, [GPUS]) == []


def test_queue_becomes_bundles_no_larger_than_a_node() -> None:
    assert resources.bundles(GPUS, [8, 2], 4) == [{"GPU": 4.0}, {"GPU": 4.0}, {"GPU": 2.0}]
    assert resources.bundles(RayPool(name="p", resource="CPU", per_slot=2.0, marker="det"), [1], 4) == [
        {"CPU": 2.0, "det": 0.001}
    ]


def test_task_without_slots_holds_nothing() -> None:
    assert resources.needed(GPUS, 0) == {}
    assert resources.needed(CPUS, 3) == {"CPU": 6.0}
