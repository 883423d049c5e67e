"""How long a node rests on which runners do not start."""

from determined.engines.ray.node_backoff import NodeBackoff


def test_each_failure_makes_the_rest_longer_up_to_minutes() -> None:
    rests, now, seconds = NodeBackoff(), 0.0, []
    for _ in range(9):
        seconds.append(rests.fail("n1", now))
        assert rests.is_resting("n1", now)
        now += seconds[-1]
        assert not rests.is_resting("n1", now)
    assert seconds == [5, 10, 20, 40, 80, 160, 300, 300, 300]


def test_failures_at_the_same_time_are_one() -> None:
    rests = NodeBackoff()
    assert [rests.fail("n1", 0.0), rests.fail("n1", 1.0)] == [5, 4]
    assert rests.fail("n1", 5.0) == 10


def test_success_and_other_nodes_are_no_rest() -> None:
    rests = NodeBackoff()
    rests.fail("n1", 0.0)
    assert not rests.is_resting("n2", 1.0)
    rests.succeed("n1")
    assert not rests.is_resting("n1", 1.0)
    assert rests.fail("n1", 1.0) == 5
