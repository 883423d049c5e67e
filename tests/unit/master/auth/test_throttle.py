"""Slowing down password guessing."""

from determined.master.auth.throttle import LoginThrottle


def _fail(throttle: LoginThrottle, name: str, times: int, now: float = 0.0) -> None:
    for _ in range(times):
        throttle.failed(name, now)


def test_a_few_mistakes_cost_nothing() -> None:
    throttle = LoginThrottle()
    _fail(throttle, "ann", 4)
    assert throttle.wait("ann", 1.0) == 0.0


def test_many_mistakes_wait_longer_and_longer_up_to_a_limit() -> None:
    throttle = LoginThrottle()
    waits = []
    for _ in range(20):
        throttle.failed("ann", 0.0)
        waits.append(throttle.wait("ann", 0.0))
    assert waits == sorted(waits)
    assert waits[5] > 0
    assert waits[-1] == 3.0


def test_one_user_does_not_slow_another() -> None:
    throttle = LoginThrottle()
    _fail(throttle, "ann", 20)
    assert throttle.wait("bob", 0.0) == 0.0


def test_a_success_or_time_forgets_the_mistakes() -> None:
    throttle = LoginThrottle()
    _fail(throttle, "ann", 20)
    assert throttle.wait("ann", 301.0) == 0.0
    throttle.succeeded("ann")
    assert throttle.wait("ann", 0.0) == 0.0


def test_guessing_names_does_not_fill_the_memory() -> None:
    throttle = LoginThrottle()
    for n in range(10_500):
        throttle.failed(f"name{n}", 0.0)
    assert len(throttle._failures) == 10_000
