"""Back-off of nodes on which runners do not start."""

from determined.engines.ray.node_backoff import NodeBackoff


def test_each_failure_makes_the_rest_longer_up_to_minutes() -> None:
    backoff, now, seconds = NodeBackoff(), 0.0, []
    for _ in range(9):
        seconds.append(backoff.fail("n1", now))
        assert backoff.is_backing_off("n1", now)
        now += seconds[-1]
        assert not backoff.is_backing_off("n1", now)
    assert seconds == [5, 10, 20, 40, 80, 160, 300, 300, 300]


def test_failures_at_the_same_time_are_one() -> None:
    backoff = NodeBackoff()
    assert [backoff.fail("n1", 0.0), backoff.fail("n1", 1.0)] == [5, 4]
    assert backoff.fail("n1", 5.0) == 10


def test_success_and_other_nodes_are_no_rest() -> None:
    backoff = NodeBackoff()
    backoff.fail("n1", 0.0)
    assert not backoff.is_backing_off("n2", 1.0)
    backoff.succeed("n1")
    assert not backoff.is_backing_off("n1", 1.0)
    assert backoff.fail("n1", 1.0) == 5
