"""One caller has a bounded number of requests under way; those of others are served meanwhile."""

from typing import Any

import pytest

from determined.errors import TooManyRequests
from determined.master.auth import request_limits
from determined.master.auth.identity import Caller
from determined.master.auth.request_limits import RequestLimits


def test_places_are_given_back_and_tasks_have_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "PER_USER", 2)
    limits = RequestLimits()
    user = Caller(user_id=1, username="u", admin=False)
    task = Caller(user_id=1, username="u", admin=False, kind="task", allocation_id="a.1")
    first = limits.enter(user)
    limits.enter(user)
    limits.enter(task)
    with pytest.raises(TooManyRequests, match="2 requests of user 'u' are under way"):
        limits.enter(user)
    limits.leave(first)
    limits.enter(user)


def test_followers_of_a_log_count_until_they_end_and_hold_up_nobody_else(
    master: Any, user: Any, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "PER_USER", 1)
    limits: RequestLimits = master.app.state.request_limits
    own = user.get("/api/v1/me").json["user"]["id"]
    counted = limits.enter(Caller(user_id=own, username="determined", admin=False))
    refused = user.get("/api/v1/workspaces")
    assert refused.status == 429 and "under way already" in refused.message, refused.raw
    assert admin.get("/api/v1/workspaces").status == 200
    again = user.get("/api/v1/workspaces")
    assert (again.status, again.message) == (refused.status, refused.message), "refused before it is looked at"
    assert {name.lower() for name in again.headers} >= {name.lower() for name in refused.headers}
    limits.leave(counted)
    for _ in range(3):
        assert user.get("/api/v1/workspaces").status == 200, "an ended request does not count"
        assert user.get("/api/v1/trials/99/logs", fields={"follow": "true"}).status == 404
    assert not limits._under_way
