"""What a node has to give: what its engine reports, less what runs, less what administrators took away."""

import random

import pytest

from determined.engines.model import Device, Node, Slot
from determined.engines.scheduling.model import Settings
from determined.errors import InvalidArgument
from determined.master.db.rows.allocations import Runner
from determined.master.db.rows.cluster import NodeOverride
from determined.master.lifecycle.capacity import WHOLE_NODE, Capacity, Overrides, capacities, check_fits
from determined.master.lifecycle.cluster import PlacedNode
from determined.master.lifecycle.pools import Pool, SchedulerKind

POOL = Pool("default", "", SchedulerKind.PRIORITY, Settings(pool="default"))


def node(name: str = "n", slots: int = 4, *, pool: str = "default", also: tuple[str, ...] = ()) -> PlacedNode:
    made = tuple(Slot(i, Device.CPU, f"{name}-{i}") for i in reversed(range(slots)))
    return PlacedNode("local", Node(name, pool, made, max_aux=3, also_pools=also))


def runner(*slots: int, where: str = "n") -> Runner:
    return Runner(
        resource_id="r", allocation_id="1.a.1", container_id="c", rank=0, engine="local", node_id=where,
        slot_ids=list(slots), device="cpu", state="RUNNING", address=None, claimant=None, rendezvous_at=None,
        started_at=None, exited_at=None, exit_code=None, exit_cause=None, exit_message=None, daemon=False,
        drained=False,
    )  # fmt: skip


def capacity(held: list[Runner], *overrides: NodeOverride) -> Capacity:
    return capacities([node()], held, Overrides(overrides), {"default": POOL})["n"]


def test_free_slots_are_given_out_from_the_lowest_number() -> None:
    found = capacity([runner(1)])
    assert (found.total, [slot.id for slot in found.take(2)], [slot.id for slot in found.take(5)]) == (4, [0, 2], [3])


def test_task_without_slots_takes_one_of_the_places_for_such() -> None:
    found = capacity([runner(), runner()])
    found.take(0)
    assert (found.used_aux, found.view().used_aux, found.view().free_slots) == (3, 3, 4)


def test_disabled_slot_counts_only_while_it_is_used() -> None:
    disabled = NodeOverride("n", 0, enabled=False, draining=False)
    assert (capacity([], disabled).total, len(capacity([], disabled).free)) == (3, 3)
    assert (capacity([runner(0)], disabled).total, len(capacity([runner(0)], disabled).free)) == (4, 3)


def test_draining_slot_is_not_given_out_again() -> None:
    draining = NodeOverride("n", 2, enabled=True, draining=True)
    assert [slot.id for slot in capacity([runner(2)], draining).free] == [0, 1, 3]
    assert capacity([], draining).total == 3


def test_state_of_the_whole_node_is_in_its_view() -> None:
    view = capacity([runner(0)], NodeOverride("n", WHOLE_NODE, enabled=False, draining=True)).view()
    assert (view.enabled, view.draining, view.total_slots, view.free_slots) == (False, True, 4, 3)


def test_runner_on_a_node_that_is_gone_takes_nothing_from_others() -> None:
    assert len(capacity([runner(0, 1, where="gone")]).free) == 4


def test_limit_of_the_pool_counts_before_that_of_the_node() -> None:
    limited = {"default": Pool("default", "", SchedulerKind.PRIORITY, Settings(), max_aux=7)}
    assert capacities([node()], [], Overrides([]), limited)["n"].max_aux == 7
    assert capacity([]).max_aux == 3


def test_used_and_free_slots_are_all_there_are_whatever_runs() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        used = rng.sample(range(4), rng.randint(0, 4))
        states = [NodeOverride("n", n, rng.random() < 0.5, rng.random() < 0.5) for n in rng.sample(range(4), 2)]
        found = capacity([runner(*used)], *states)
        free = {slot.id for slot in found.free}
        closed = {row.slot_id for row in states if not row.enabled or row.draining}
        assert free == set(range(4)) - set(used) - closed, seed
        assert found.total == len(free | set(used)), seed


def test_request_is_measured_by_the_nodes_that_serve_its_pool() -> None:
    """Also by one that is another pool's first of all, and by one that drains: it may be back when its turn comes."""
    nodes = [node("a", 8, pool="other"), node("b", 4, pool="other", also=("default",)), node("c", 2)]
    draining = NodeOverride("c", WHOLE_NODE, enabled=False, draining=True)
    found = capacities(nodes, [runner(0, 1, where="c")], Overrides([draining]), {"default": POOL}).values()
    check_fits(POOL, found, 4, single_node=True)
    check_fits(POOL, found, 2, single_node=False)
    with pytest.raises(InvalidArgument, match=r"slots_per_trial=5 .*; lower it to 4"):
        check_fits(POOL, found, 5, single_node=True)
    check_fits(POOL, found, 5, single_node=True, possible=[5])


def test_disabled_node_holds_nothing() -> None:
    off = NodeOverride("n", WHOLE_NODE, enabled=False, draining=False)
    with pytest.raises(InvalidArgument, match="pool 'default' has no slots; add a node or pick another pool"):
        check_fits(POOL, [capacity([], off)], 1, single_node=False)
