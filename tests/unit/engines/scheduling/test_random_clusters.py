"""All schedulers on seeded random pools: what holds whatever waits and runs, against rules tried by brute force."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from random_clusters import Case, emptied, fits, random_case

from determined.engines.scheduling import fair_share, priority, round_robin
from determined.engines.scheduling.model import Decision, Request

SEEDS = range(250)
Decide = Callable[..., Decision]
PREEMPTING = pytest.mark.parametrize("preemption", [False, True], ids=["keeping", "preempting"])
EVERY = pytest.mark.parametrize(
    ("decide", "preemption"),
    [(priority.decide, False), (priority.decide, True), (fair_share.decide, False), (round_robin.decide, False)],
    ids=["priority", "priority-preempting", "fair_share", "round_robin"],
)


def decided(decide: Decide, case: Case) -> Decision:
    return decide(case.requests, case.nodes, case.settings)


@EVERY
def test_no_node_is_given_more_than_it_has(decide: Decide, preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        for node in case.nodes_after(decided(decide, case)):
            before = next(n for n in case.nodes if n.id == node.id)
            assert node.free_slots >= 0 and node.used_aux <= max(node.max_aux, before.used_aux), (seed, node)
            if not node.enabled or node.draining:
                assert node == before, (seed, "a node that takes nothing new got something", node)


@EVERY
def test_placements_have_the_shape_that_was_asked_for(decide: Decide, preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        sizes = {n.id: n.total_slots for n in case.nodes}
        for key, where in decided(decide, case).start:
            request = case.by_id()[key]
            assert sum(slots for _, slots in where) == request.slots, (seed, key)
            assert not {node_id for node_id, _ in where} & request.excluded_nodes, (seed, key)
            if len(where) > 1:
                assert not request.single_node, (seed, key)
                assert {slots for _, slots in where} == {sizes[node_id] for node_id, _ in where}, (seed, key)


@EVERY
def test_each_request_either_starts_or_says_why_it_waits(decide: Decide, preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        decision = decided(decide, case)
        answered = Counter([*(key for key, _ in decision.start), *decision.reasons])
        assert answered == Counter(r.allocation_id for r in case.waiting), seed


@EVERY
def test_only_preemptible_tasks_that_stay_are_preempted_and_each_once(decide: Decide, preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        victims = decided(decide, case).preempt
        assert len(set(victims)) == len(victims), seed
        for victim in (case.by_id()[key] for key in victims):
            assert victim.placement is not None and victim.preemptible and not victim.leaving, (seed, victim)


@EVERY
def test_order_of_the_input_means_nothing(decide: Decide, preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        backwards = Case(case.nodes[::-1], case.requests[::-1], case.settings)
        assert decided(decide, backwards) == decided(decide, case), seed


@PREEMPTING
def test_of_equal_requests_of_one_level_the_earlier_starts_first(preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        started = {key for key, _ in decided(priority.decide, case).start}
        seen_waiting: set[object] = set()
        for request in sorted(case.waiting, key=_standing):
            shape = (request.priority, request.slots, request.single_node, request.excluded_nodes, request.preemptible)
            assert request.allocation_id not in started or shape not in seen_waiting, (seed, request)
            if request.allocation_id not in started:
                seen_waiting.add(shape)


def test_without_preemption_a_waiting_level_keeps_all_later_ones_waiting() -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=False)
        decision = decided(priority.decide, case)
        known, started = case.by_id(), {key for key, _ in decision.start}
        for zero_slot in (False, True):
            own = [r for r in case.waiting if (r.slots == 0) is zero_slot]
            waiting = [r.priority for r in own if r.allocation_id not in started]
            begun = [known[r.allocation_id].priority for r in own if r.allocation_id in started]
            assert not waiting or max(begun, default=0) <= min(waiting), seed


def test_victims_leave_only_for_somebody_more_urgent_or_earlier() -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=True)
        decision = decided(priority.decide, case)
        promised = [case.by_id()[key] for key, why in decision.reasons.items() if "promised to it" in why]
        for victim in (case.by_id()[key] for key in decision.preempt):
            assert any(_standing(r)[:2] < _standing(victim)[:2] for r in promised), (seed, victim)


def test_preempting_ends_in_a_start_and_not_in_a_circle() -> None:
    """Victims come back as requests of their jobs, as trials do. Nobody may be sent away for ever."""
    for seed in SEEDS:
        case, has_left = random_case(seed, preemption=True), set[str]()
        for _ in range(40):
            decision = decided(priority.decide, case)
            has_left = set(decision.preempt) if decision.start else has_left.union(decision.preempt)
            if not decision.start and not decision.preempt:
                break
            case = _one_pass_later(case, decision)
        else:
            pytest.fail(f"seed {seed}: still changing after 40 passes")
        assert not has_left, (seed, "preempted, and then nothing was started")


def test_fair_share_ends_in_a_start_and_not_in_a_circle() -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=False)
        for _ in range(40):
            decision = decided(fair_share.decide, case)
            if not decision.start and not decision.preempt:
                break
            case = _one_pass_later(case, decision)
        else:
            pytest.fail(f"seed {seed}: still changing after 40 passes")


@EVERY
def test_request_that_an_idle_pool_cannot_hold_says_so_and_no_other_does(decide: Decide, preemption: bool) -> None:
    for seed in SEEDS:
        case = random_case(seed, preemption=preemption)
        decision = decided(decide, case)
        for request in case.waiting:
            reason = decision.reasons.get(request.allocation_id, "")
            if not fits(request, emptied(case.nodes)) and request.slots:
                assert reason.startswith(("cannot start", "waits for its job's turn")), (seed, request, reason)
            elif reason.startswith("cannot start"):
                assert not fits(request, emptied(case.nodes)), (seed, request, reason)


def _standing(request: Request) -> tuple[object, ...]:
    """Return what orders the queue of the priority scheduler."""
    return request.priority, request.position, request.job_submitted, request.requested_at, request.allocation_id


def _one_pass_later(case: Case, decision: Decision) -> Case:
    """Return the next pass: what is told to leave has left and waits again, what starts runs, what left is gone."""
    placements = {key: tuple(where) for key, where in decision.start}
    requests, nodes = [], {n.id: n for n in case.nodes_after(decision)}
    for request in case.requests:
        key = request.allocation_id
        if key in placements:
            requests.append(replace(request, placement=placements[key]))
        elif request.leaving or key in decision.preempt:
            for node_id, slots in request.placement or ():
                node = nodes[node_id]
                nodes[node_id] = replace(
                    node, free_slots=node.free_slots + slots, used_aux=node.used_aux - (slots == 0)
                )
            if key in decision.preempt:
                requests.append(replace(request, placement=None))
        else:
            requests.append(request)
    return Case(list(nodes.values()), requests, case.settings)
