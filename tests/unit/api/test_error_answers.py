"""An answer that is no success, as the error that the master raised, with its words."""

import json
from typing import Any

import pytest

from determined import errors
from determined.api.errors import error_from, error_of
from determined.errors import BY_CODE, DeterminedError, InvalidConfig
from determined.master.routes.errors import error_body

URL = "http://master:8080/api/v1/x"
CLIENT_SIDE = {"checkpoint_damaged", "checkpoint_not_found", "checkpoint_state"}


def _of(status: int, body: Any) -> DeterminedError:
    return error_of(status, body if isinstance(body, bytes) else json.dumps(body).encode(), URL)


@pytest.mark.parametrize("code", sorted(BY_CODE))
def test_every_error_of_the_master_comes_out_of_the_client_as_it_went_in(code: str) -> None:
    kind = BY_CODE[code]
    raised = InvalidConfig("refused", ["<config>.a: b", "<config>.c: d"]) if kind is InvalidConfig else kind("why, 7")
    came_out = _of(raised.status, error_body(raised))
    assert type(came_out) is kind
    assert (came_out.message, came_out.details) == (raised.message, raised.details)
    assert came_out.status_code == kind.status


@pytest.mark.parametrize("kind", [errors.CheckpointDamaged, errors.CheckpointNotFound, errors.CheckpointStateException])
def test_errors_of_checkpoints_are_told_apart_from_those_with_the_same_status(kind: type[DeterminedError]) -> None:
    assert kind.code in CLIENT_SIDE
    assert type(_of(kind.status, error_body(kind("why")))) is kind


def test_details_beside_a_message_are_kept() -> None:
    raised = errors.Conflict("changed meanwhile", current="text of somebody else")
    assert _of(409, error_body(raised)).details == {"current": "text of somebody else"}


@pytest.mark.parametrize(
    "details",
    [{"message": "again"}, {"self": 1}, {"violations": 5}, {"violations": ["x"], "hint": "y"}, {"odd key": 1}, [], "x"],
)
@pytest.mark.parametrize("reason", ["invalid_config", "not_found"])
def test_details_that_a_class_does_not_take_cost_nothing_but_themselves(reason: str, details: Any) -> None:
    body = {"error": {"reason": reason, "error": "first line\nsecond line", "details": details}}
    error = _of(400, body)
    assert type(error) is BY_CODE[reason]
    assert error.message.startswith("first line")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, errors.InvalidArgument),
        (401, errors.Unauthenticated),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (410, errors.Gone),
        (413, errors.TooLarge),
        (429, errors.TooManyRequests),
        (500, errors.DeterminedError),
        (502, errors.Unavailable),
        (503, errors.Unavailable),
        (504, errors.Unavailable),
    ],
)
@pytest.mark.parametrize("body", [{"message": "m"}, {"error": {"error": "m"}}, {"error": "m"}])
def test_a_status_without_a_reason_decides_the_class(
    status: int, expected: type[DeterminedError], body: dict[str, Any]
) -> None:
    error = _of(status, body)
    assert (type(error), error.message) == (expected, "m")


@pytest.mark.parametrize("body", [{}, {"error": {}}, {"error": None}, {"error": {"reason": "unheard_of"}}])
def test_an_answer_without_words_is_told_by_its_status(body: dict[str, Any]) -> None:
    assert _of(418, body).message == "the master answered status 418"


@pytest.mark.parametrize("body", [b"", b"<html>Not here</html>", b"[]", b'"text"', b"\xff\xfe", b"{"])
def test_an_answer_that_is_no_object_comes_from_somebody_else(body: bytes) -> None:
    error = _of(404, body)
    assert type(error) is errors.BadMaster
    assert URL in error.message and "404" in error.message and "DET_MASTER" in error.message


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateway_says_that_the_master_behind_it_is_away(status: int) -> None:
    error = _of(status, b"<html>Bad Gateway</html>")
    assert type(error) is errors.Unavailable
    assert f"{URL} answered status {status}" in error.message and "try again" in error.message


def test_an_error_in_the_middle_of_a_stream_has_no_status_and_is_still_its_class() -> None:
    assert type(error_from({"code": 5, "error": "gone"})) is errors.NotFound
    assert type(error_from({"error": "something"})) is DeterminedError
