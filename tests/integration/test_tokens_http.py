"""Access tokens over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest


class MovableClock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 15, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


def _with(master: Any, token: str) -> Any:
    return master.anonymous.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})


def test_a_token_stands_in_for_its_user_until_revoked(master: Any, user: Any) -> None:
    made = user.post("/api/v1/tokens", {"userId": 2, "description": "ci"}).json
    assert _with(master, made["token"]).json["user"]["username"] == "determined"
    listed = user.get("/api/v1/tokens").json
    assert [t["description"] for t in listed["tokenInfo"]] == ["ci"]
    assert listed["tokenInfo"][0]["tokenType"] == "TOKEN_TYPE_ACCESS_TOKEN"
    assert "token" not in listed["tokenInfo"][0]
    revoked = user.patch(f"/api/v1/tokens/{made['tokenId']}", {"tokenId": made["tokenId"], "setRevoked": True})
    assert revoked.json["tokenInfo"]["revoked"] is True
    assert _with(master, made["token"]).status == 401
    assert user.get("/api/v1/tokens").json["tokenInfo"] == []
    assert len(user.get("/api/v1/tokens", fields={"showInactive": "true"}).json["tokenInfo"]) == 1


def test_an_inactive_token_cannot_be_edited(user: Any) -> None:
    made = user.post("/api/v1/tokens", {"userId": 2}).json
    path = f"/api/v1/tokens/{made['tokenId']}"
    user.patch(path, {"tokenId": made["tokenId"], "setRevoked": True})
    assert user.patch(path, {"tokenId": made["tokenId"], "description": "x"}).status == 400


def test_a_description_can_change(user: Any) -> None:
    token_id = user.post("/api/v1/tokens", {"userId": 2}).json["tokenId"]
    changed = user.patch(f"/api/v1/tokens/{token_id}", {"tokenId": token_id, "description": "new"})
    assert changed.json["tokenInfo"]["description"] == "new"


def test_users_see_and_make_only_their_own_and_administrators_all(admin: Any, user: Any) -> None:
    assert user.post("/api/v1/tokens", {"userId": 1}).status == 403
    foreign = admin.post("/api/v1/tokens", {"userId": 1}).json["tokenId"]
    admin.post("/api/v1/tokens", {"userId": 2})
    assert [t["userId"] for t in user.get("/api/v1/tokens").json["tokenInfo"]] == [2]
    assert len(admin.get("/api/v1/tokens").json["tokenInfo"]) == 2
    only = admin.get("/api/v1/tokens", fields={"username": "determined"}).json["tokenInfo"]
    assert [t["userId"] for t in only] == [2]
    by_id = admin.get("/api/v1/tokens", fields={"tokenIds": [foreign]}).json["tokenInfo"]
    assert [t["id"] for t in by_id] == [foreign]
    assert user.patch(f"/api/v1/tokens/{foreign}", {"tokenId": foreign, "setRevoked": True}).status == 404


@pytest.mark.parametrize("lifespan", ["721h", "-1", "0h", "-3h", "nonsense", "99999999999999999h"])
def test_a_lifespan_beyond_the_limit_or_without_sense_is_refused(user: Any, lifespan: str) -> None:
    assert user.post("/api/v1/tokens", {"userId": 2, "lifespan": lifespan}).status == 400


def test_an_unlimited_cluster_gives_tokens_without_end(start_master: Any, sqlite_url: str) -> None:
    security = {"initial_user_password": "", "token": {"max_lifespan_days": -1, "default_lifespan_days": 30}}
    user = start_master(sqlite_url, security=security).client("determined")
    assert user.post("/api/v1/tokens", {"userId": 2, "lifespan": "-1"}).status == 200
    assert user.get("/api/v1/tokens").json["tokenInfo"][0]["expiry"] is None


def test_a_token_ends_when_its_lifespan_does(start_master: Any, sqlite_url: str) -> None:
    clock = MovableClock()
    master = start_master(sqlite_url, clock=clock)
    made = master.client("determined").post("/api/v1/tokens", {"userId": 2, "lifespan": "48h"}).json
    clock.moment += timedelta(hours=47)
    assert _with(master, made["token"]).status == 200
    clock.moment += timedelta(hours=2)
    assert _with(master, made["token"]).status == 401


def test_changing_the_password_revokes_access_tokens(master: Any, user: Any) -> None:
    made = user.post("/api/v1/tokens", {"userId": 2}).json
    user.post("/api/v1/users/2/password", "Better123")
    assert _with(master, made["token"]).status == 401
