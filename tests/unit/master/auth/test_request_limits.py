"""How many requests a caller may have under way, and what is remembered of those that were refused."""

from typing import Any

import pytest

from determined.errors import TooManyRequests
from determined.master.auth import request_limits
from determined.master.auth.identity import Caller
from determined.master.auth.request_limits import RequestLimits, request_of

ANN = Caller(user_id=1, username="ann", admin=False)
BOB = Caller(user_id=2, username="bob", admin=False)


def scope(token: bytes | None = b"Bearer a", path: str = "/x", method: str = "GET") -> dict[str, Any]:
    headers = [(b"host", b"h")] + ([(b"authorization", token)] if token is not None else [])
    return {"headers": headers, "method": method, "path": path}


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> RequestLimits:
    """One request of a user, two of an allocation."""
    monkeypatch.setattr(request_limits, "PER_USER", 1)
    monkeypatch.setattr(request_limits, "PER_ALLOCATION", 2)
    return RequestLimits()


def refuse(limits: RequestLimits, caller: Caller, **request: Any) -> None:
    with pytest.raises(TooManyRequests):
        limits.enter(caller, request_of(scope(**request)))


def test_one_user_does_not_use_up_the_places_of_another(limits: RequestLimits) -> None:
    limits.enter(ANN)
    limits.enter(BOB)
    refuse(limits, ANN)


def test_allocations_of_one_user_have_places_of_their_own(limits: RequestLimits) -> None:
    tasks = [Caller(1, "ann", False, kind="task", allocation_id=f"a.{n}") for n in range(3)]
    for task in tasks * 2:
        limits.enter(task)
    limits.enter(ANN)
    with pytest.raises(TooManyRequests, match=r"2 requests of allocation a\.1 are under way"):
        limits.enter(tasks[1])


def test_place_that_is_given_back_lets_the_same_request_in(limits: RequestLimits) -> None:
    place = limits.enter(ANN)
    refuse(limits, ANN)
    again = limits.refuse_again(scope())
    assert again is not None and "1 requests of user 'ann'" in again.message
    limits.leave(place)
    assert limits.refuse_again(scope()) is None
    limits.enter(ANN)
    assert limits.refuse_again(scope()) is None, "it was let in once, so it is looked at again"


@pytest.mark.parametrize(
    "other",
    [scope(b"Bearer b"), scope(path="/y"), scope(method="POST"), scope(None)],
    ids=["token", "path", "method", "no token"],
)
def test_only_the_very_same_request_is_refused_unseen(limits: RequestLimits, other: dict[str, Any]) -> None:
    limits.enter(ANN)
    refuse(limits, ANN)
    assert limits.refuse_again(other) is None


def test_refused_requests_of_many_kinds_do_not_fill_the_memory(
    limits: RequestLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "_MAX_REFUSED", 5)
    limits.enter(ANN)
    for n in range(20):
        refuse(limits, ANN, path=f"/{n}")
    assert len(limits._refused) == 5
    assert limits.refuse_again(scope(path="/4")) is not None
    assert limits.refuse_again(scope(path="/5")) is None


def test_nothing_is_kept_of_callers_whose_requests_have_ended(limits: RequestLimits) -> None:
    for caller in (ANN, BOB):
        limits.leave(limits.enter(caller))
    assert not limits._under_way


def test_websocket_that_is_refused_is_not_remembered(limits: RequestLimits) -> None:
    limits.enter(ANN)
    with pytest.raises(TooManyRequests):
        limits.enter(ANN, None)
    assert not limits._refused
