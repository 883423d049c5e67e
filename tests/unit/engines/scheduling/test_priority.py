"""The priority scheduler."""

import time

import pytest
from scheduling_pools import Queue, after, node

from determined.engines.scheduling.model import Decision, NodeView, Request, Settings
from determined.engines.scheduling.priority import decide

PREEMPT = Settings(preemption=True)


def two_nodes(requests: list[Request], settings: Settings = PREEMPT) -> Decision:
    return decide(requests, after(requests, node("A"), node("B")), settings)


def started(decision: Decision) -> list[str]:
    return [allocation for allocation, _ in decision.start]


def test_higher_priority_request_preempts_and_nothing_starts() -> None:
    q = Queue()
    decision = two_nodes(
        [
            q.running("P45", 4, "A", priority=45),
            q.running("P40", 4, "B", priority=40),
            q.pending("P40x4", 4, priority=40),
            q.pending("P40x8", 8, priority=40),
            q.pending("P50x1", 1, priority=50),
        ]
    )
    assert decision.preempt == ["P45"]
    assert decision.start == []
    assert set(decision.reasons) == {"P40x4", "P40x8", "P50x1"}


def test_lower_level_backfills_beside_a_request_that_cannot_fit() -> None:
    q = Queue()
    decision = two_nodes(
        [
            q.running("P55", 1, "A", priority=55),
            q.running("P40", 4, "B", priority=40),
            q.pending("P40x2", 2, priority=40),
            q.pending("P40x8", 8, priority=40),
            q.pending("P45x1", 1, priority=45),
            q.pending("P50x1", 1, priority=50),
        ]
    )
    assert started(decision) == ["P40x2", "P45x1"]
    assert decision.preempt == ["P55"]


def test_request_that_does_not_fit_does_not_block_its_level() -> None:
    q = Queue()
    requests = [q.pending("big", 16), q.pending("small", 1)]
    assert started(two_nodes(requests, Settings())) == ["small"]


def test_small_jobs_behind_a_large_one_do_not_take_its_slots() -> None:
    q = Queue()
    requests = [q.running("first", 1, "A"), q.pending("large", 2), q.pending("small", 1)]
    decision = decide(requests, after(requests, node("A", 2)), Settings())
    assert decision.start == []
    assert decision.reasons == {
        "large": "waits for 2 free slots in pool 'default': 1 of 2 free, 0 jobs ahead",
        "small": "waits behind job job-large, for which 2 slots of pool 'default' are reserved",
    }


def test_job_before_the_large_one_still_comes_first() -> None:
    q = Queue()
    requests = [q.running("first", 1, "A"), q.pending("small", 1), q.pending("large", 2)]
    assert started(decide(requests, after(requests, node("A", 2)), Settings())) == ["small"]


def test_small_jobs_fill_what_the_large_one_will_not_need() -> None:
    q = Queue()
    requests = [
        q.running("a", 2, "A"), q.running("b", 3, "B"),
        q.pending("large", 3), q.pending("one", 1), q.pending("two", 1),
    ]  # fmt: skip
    decision = decide(requests, after(requests, node("A"), node("B")), Settings())
    assert decision.start == [("one", [("B", 1)])]  # A lacks one slot for the large job, B two
    assert "reserved" in decision.reasons["two"]


def test_whole_nodes_are_reserved_where_the_fewest_slots_are_missing() -> None:
    q = Queue()
    requests = [
        q.running("a", 1, "A"), q.running("b", 1, "B"), q.running("c", 2, "C"),
        q.pending("large", 8), *(q.pending(f"s{i}", 2) for i in range(2)),
    ]  # fmt: skip
    decision = decide(requests, after(requests, node("A"), node("B"), node("C")), Settings())
    assert decision.start == [("s0", [("C", 2)])]


def test_large_job_starts_whatever_keeps_arriving_behind_it() -> None:
    q = Queue()
    running = [q.running("r0", 1, "A"), q.running("r1", 1, "A")]
    large = q.pending("large", 2)
    for step in range(2):
        requests = [*running[step:], large, *(q.pending(f"s{step}{i}", 1) for i in range(3))]
        assert started(decide(requests, after(requests, node("A", 2)), Settings())) == []
    requests = [large, *(q.pending(f"last{i}", 1) for i in range(3))]
    assert started(decide(requests, after(requests, node("A", 2)), Settings())) == ["large"]


def test_with_preemption_only_what_cannot_be_preempted_keeps_out_of_a_reservation() -> None:
    q = Queue()
    requests = [
        q.running("first", 1, "A"), q.pending("large", 2),
        q.pending("shell", 1, preemptible=False), q.pending("trial", 1),
    ]  # fmt: skip
    decision = decide(requests, after(requests, node("A", 2)), PREEMPT)
    assert started(decision) == ["trial"]


def test_without_preemption_nothing_of_a_lower_level_starts_while_a_higher_one_waits() -> None:
    q = Queue()
    requests = [q.running("r", 1, "A"), q.pending("big", 8, priority=10), q.pending("low", 1, priority=50)]
    decision = two_nodes(requests, Settings(pool="gpu"))
    assert decision.start == []
    assert "backfill needs preemption" in decision.reasons["low"]
    assert "'gpu'" in decision.reasons["low"]


def test_only_preemptible_tasks_backfill() -> None:
    q = Queue()
    requests = [
        q.running("r", 1, "A", preemptible=False),
        q.pending("big", 8, priority=10),
        q.pending("notebook", 1, priority=50, preemptible=False),
        q.pending("trial", 1, priority=50),
    ]
    decision = two_nodes(requests)
    assert started(decision) == ["trial"]
    assert "only for preemptible tasks" in decision.reasons["notebook"]


def test_order_is_priority_then_position_then_age() -> None:
    q = Queue()
    requests = [
        q.pending("old-low", priority=60),
        q.pending("behind", position=9.0),
        q.pending("first", position=3.0),
        q.pending("young-high", priority=5),
    ]
    nodes = [node("A", 8)]
    assert started(decide(requests, nodes, Settings())) == ["young-high", "first", "behind", "old-low"]


def test_requests_of_equal_standing_start_in_order_of_their_ids() -> None:
    q = Queue()
    b = q.pending("b", job_id="j")
    same = {"job_id": "j", "position": b.position, "job_submitted": b.job_submitted, "requested_at": b.requested_at}
    assert started(decide([b, q.pending("a", **same)], [node("A")], Settings())) == ["a", "b"]


def test_newest_of_the_worst_level_is_preempted_first() -> None:
    q = Queue()
    requests = [
        q.running("p50-old", 4, "A", priority=50),
        q.running("p60-old", 2, "B", priority=60),
        q.running("p60-new", 2, "B", priority=60),
        q.pending("want2", 2, priority=40),
    ]
    assert two_nodes(requests).preempt == ["p60-new"]


def test_victims_accumulate_until_the_request_fits() -> None:
    q = Queue()
    requests = [
        q.running("p60", 2, "A", priority=60),
        q.running("p50", 2, "A", priority=50),
        q.running("p45", 4, "B", priority=45),
        q.pending("want4", 4, priority=40),
    ]
    assert two_nodes(requests).preempt == ["p60", "p50"]


def test_nobody_is_preempted_for_a_request_that_still_would_not_fit() -> None:
    q = Queue()
    requests = [
        q.running("victim", 4, "A", priority=60),
        q.running("fixed", 1, "B", priority=60, preemptible=False),
        q.pending("want8", 8, priority=40),
    ]
    assert two_nodes(requests).preempt == []


def test_older_job_preempts_a_newer_equal_but_not_the_reverse() -> None:
    q = Queue()
    old = q.pending("old", 4)
    requests = [old, q.running("x", 4, "A"), q.running("y", 4, "B")]
    assert two_nodes(requests).preempt == ["y"]
    newest = q.pending("newest", 4)
    assert two_nodes([newest, *requests[1:]]).preempt == []


def test_worse_priority_never_preempts_better() -> None:
    q = Queue()
    early = q.pending("early", 8, priority=50)
    requests = [early, q.running("better", 4, "A", priority=40), q.running("also", 4, "B", priority=40)]
    assert two_nodes(requests).preempt == []


def test_without_preemption_nobody_is_preempted() -> None:
    q = Queue()
    requests = [q.running("r", 4, "A", priority=99), q.pending("want", 4, priority=1)]
    nodes = after(requests, node("A"))
    assert decide(requests, nodes, Settings()).preempt == []


def test_second_request_that_fits_once_victims_left_gets_no_victims_of_its_own() -> None:
    q = Queue()
    requests = [
        q.running("big", 4, "A", priority=60),
        q.running("other", 4, "B", priority=50),
        q.pending("first", 2, priority=40),
        q.pending("second", 2, priority=40),
    ]
    decision = two_nodes(requests)
    assert decision.preempt == ["big"]
    assert "promised to it" in decision.reasons["first"]
    assert "promised to it" in decision.reasons["second"]


def test_lower_level_does_not_start_in_a_pass_that_chose_victims() -> None:
    q = Queue()
    requests = [
        q.running("victim", 3, "A", priority=60),
        q.running("fixed", 4, "B", priority=1, preemptible=False),
        q.pending("want", 4, priority=40),
        q.pending("low", 1, priority=50),
    ]
    decision = two_nodes(requests)
    assert decision.preempt == ["victim"]
    assert decision.start == []


def test_slots_on_their_way_back_need_no_further_victim() -> None:
    q = Queue()
    requests = [
        q.running("leaving", 4, "A", priority=40, leaving=True),
        q.running("newest", 4, "B", priority=60),
        q.pending("want", 4, priority=30),
        q.pending("low", 1, priority=70),
    ]
    decision = two_nodes(requests)
    assert decision.preempt == []
    assert decision.start == []
    assert "promised to it" in decision.reasons["want"]


def test_leaving_task_and_a_victim_are_added_up() -> None:
    q = Queue()
    requests = [
        q.running("leaving", 4, "A", priority=60, leaving=True),
        q.running("victim", 4, "B", priority=60),
        q.pending("want8", 8, priority=30),
    ]
    assert two_nodes(requests).preempt == ["victim"]


def test_slotted_and_zero_slot_requests_do_not_wait_for_one_another() -> None:
    q = Queue()
    requests = [
        q.pending("big", 16, priority=1),
        q.pending("aux", 0, priority=90),
        q.running("aux-full", 0, "B"),
        q.pending("aux-impossible", 0, priority=2, excluded_nodes=frozenset({"A", "B"})),
        q.pending("small", 1, priority=1),
    ]
    decision = two_nodes(requests, Settings())
    assert started(decision) == ["small"]
    requests = [r for r in requests if r.allocation_id != "aux-impossible"]
    assert started(two_nodes(requests, Settings())) == ["small", "aux"]


def test_draining_nodes_victims_help_nobody() -> None:
    q = Queue()
    requests = [q.running("there", 4, "A", priority=90), q.pending("want", 4, priority=1)]
    nodes = after(requests, node("A", draining=True))
    assert decide(requests, nodes, PREEMPT).preempt == []


@pytest.mark.parametrize(
    ("nodes", "changes", "reason"),
    [
        ([node("A", 8, free_slots=2)], {"slots": 4}, "waits for 4 free slots in pool 'gpu': 2 of 8 free, 1 job ahead"),
        (
            [node("A", free_slots=2), node("B", free_slots=2)],
            {"slots": 3},
            "waits for 3 free slots on one node or on whole idle nodes in pool 'gpu': 4 of 8 free but scattered,"
            " 1 job ahead",
        ),
        (
            [node("A"), node("B")],
            {"slots": 8, "single_node": True},
            "cannot start: no node of pool 'gpu' has 8 slots, the largest has 4",
        ),
        ([node("A"), node("B")], {"slots": 9}, "cannot start: 9 slots exceed pool 'gpu' (8 slots)"),
        (
            [node("A"), node("B")],
            {"slots": 6},
            "cannot start: 6 slots neither fit one node of pool 'gpu' nor fill whole nodes of equal size",
        ),
        ([node("A", enabled=False)], {"slots": 1}, "cannot start: pool 'gpu' has no enabled node"),
        (
            [node("A")],
            {"slots": 1, "excluded_nodes": frozenset({"A"})},
            "cannot start: its log policies exclude the nodes of pool 'gpu' that could hold it",
        ),
        (
            [node("A", max_aux=2, used_aux=2)],
            {"slots": 0},
            "waits for a free zero-slot place in pool 'gpu': 2 of 2 in use, 1 job ahead",
        ),
    ],
)
def test_queued_request_says_what_it_waits_for(nodes: list[NodeView], changes: dict[str, object], reason: str) -> None:
    q = Queue()
    ahead = q.pending("ahead", **{**changes, "job_id": "other"})
    decision = decide([ahead, q.pending("me", **changes)], nodes, Settings(pool="gpu"))
    assert decision.start == []
    assert decision.reasons["me"] == reason


def test_own_jobs_requests_are_not_jobs_ahead() -> None:
    q = Queue()
    requests = [q.pending(f"mine{i}", 4, job_id="mine") for i in range(3)]
    decision = decide(requests, [node("A", free_slots=0)], Settings())
    assert decision.reasons["mine2"].endswith("0 jobs ahead")


def test_same_input_gives_the_same_decision_in_any_order() -> None:
    q = Queue()
    requests = [q.pending(f"a{i}", i % 3 + 1, priority=40 + i % 4) for i in range(40)]
    nodes = [node(f"n{i}") for i in range(4)]
    forward = decide(requests, nodes, PREEMPT)
    assert decide(requests[::-1], nodes[::-1], PREEMPT) == forward


@pytest.mark.parametrize("preemption", [False, True])
def test_ten_thousand_requests_on_a_hundred_nodes_are_decided_quickly(preemption: bool) -> None:
    q = Queue()
    running = [q.running(f"r{i}", 2, f"n{i % 100}", priority=60, preemptible=i % 2 == 0) for i in range(200)]
    pending = [q.pending(f"p{i}", (1, 2, 8, 16)[i % 4], priority=40 + i % 30) for i in range(10_000)]
    requests = running + pending
    nodes = after(running, *(node(f"n{i}", 8) for i in range(100)))
    settings = Settings(preemption=preemption)
    begin = time.process_time()
    decision = decide(requests, nodes, settings)
    took = time.process_time() - begin
    assert len(decision.start) + len(decision.reasons) == 10_000
    assert took < 2  # seconds of the processor; some 0.1 on a machine of today
