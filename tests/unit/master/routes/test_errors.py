"""Every failure is answered in one shape, with a status and words that say what to do."""

import json
import logging
import warnings
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from litestar import Litestar, get, post
from litestar.exceptions import HTTPException, ValidationException
from litestar.testing import TestClient

from determined import errors
from determined.errors import DeterminedError, InvalidConfig, NotFound, Unavailable
from determined.master.routes.errors import CLIENT_LEFT, exception_handlers
from determined.wire.error import error_body


def client_for(raised: BaseException) -> TestClient[Litestar]:
    @get("/fails/{number:int}", sync_to_thread=False)
    def fails(number: int) -> None:
        raise raised

    @post("/takes", sync_to_thread=False, request_max_body_size=10)
    def takes(body: bytes) -> None:
        return None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as in create_app
        app = Litestar(route_handlers=[fails, takes], exception_handlers=exception_handlers(), logging_config=None)
    return TestClient(app, raise_server_exceptions=False)


def answer(raised: BaseException) -> tuple[int, dict[str, Any]]:
    with client_for(raised) as client:
        got = client.get("/fails/1")
    assert got.headers["content-type"].startswith("application/json")
    return got.status_code, got.json()


OWN = sorted(
    {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DeterminedError)}
    - {DeterminedError, InvalidConfig},
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.__name__)
def test_an_error_of_ours_has_its_status_code_and_words(kind: type[DeterminedError]) -> None:
    try:
        raised = kind("what; do this")
    except TypeError:
        pytest.skip("made by the harness, never by the master")
    status, body = answer(raised)
    assert status == kind.status
    assert body == {
        "error": {"code": kind.grpc, "reason": kind.code, "error": raised.message},
        "message": raised.message,
    }


def test_every_violation_of_a_config_is_in_the_details() -> None:
    status, body = answer(InvalidConfig("bad config", ["<config>.b: y", "<config>.a: x"]))
    assert status == 400
    assert body["message"] == "bad config\n<config>.a: x\n<config>.b: y"
    assert body["error"]["reason"] == "invalid_config"
    assert body["error"]["details"] == {"violations": ["<config>.a: x", "<config>.b: y"]}


def test_details_that_json_has_no_word_for_are_text() -> None:
    body = error_body(NotFound("x", best=float("nan"), all=[float("inf")]))
    assert body["error"]["details"] == {"best": "NaN", "all": ["Infinity"]}


def test_an_error_without_a_class_of_its_own_is_internal() -> None:
    assert error_body(DeterminedError("x"))["error"] == {"code": 13, "reason": "internal", "error": "x"}


FOREIGN: list[tuple[BaseException, int, str, str]] = [
    (HTTPException("slow down", status_code=429), 429, "invalid_argument", "slow down"),
    (HTTPException("who are you", status_code=401), 401, "unauthenticated", "who are you"),
    (HTTPException("no", status_code=403), 403, "forbidden", "no"),
    (HTTPException("later", status_code=503), 503, "unavailable", "later"),
    (
        ValidationException("Validation failed", extra=[{"key": "limit", "message": "Expected int"}, "odd", {}]),
        400, "invalid_argument", "Validation failed: limit: Expected int; odd; ?: invalid",
    ),
    (msgspec.ValidationError("Expected `int`"), 400, "invalid_argument", "the request cannot be read: Expected `int`"),
    (OverflowError("int too large"), 400, "invalid_argument", "a number in the request does not fit into 64 bits"),
    (
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
        400, "invalid_argument", "the request holds text that is not valid Unicode: ",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("raised", "status", "reason", "words"), FOREIGN, ids=[str(row[3])[:30] for row in FOREIGN])
def test_errors_of_libraries_have_the_same_shape(raised: BaseException, status: int, reason: str, words: str) -> None:
    got, body = answer(raised)
    assert (got, body["error"]["reason"]) == (status, reason)
    assert body["message"] == body["error"]["error"] and body["message"].startswith(words)


REQUESTS: list[tuple[str, Callable[[TestClient[Litestar]], Any], int, str]] = [
    ("an unknown path", lambda c: c.get("/nowhere?x=1"), 404, "no such path: GET /nowhere"),
    ("a wrong method", lambda c: c.delete("/fails/1"), 405, "DELETE is not allowed on /fails/1"),
    ("an id that is no number", lambda c: c.get("/fails/one"), 404, "no such path: GET /fails/one"),
    ("a large body", lambda c: c.post("/takes", content=b"x" * 11), 413,
     "the request is larger than /takes takes; send less at once"),
]  # fmt: skip


@pytest.mark.parametrize(("send", "status", "message"), [row[1:] for row in REQUESTS], ids=[row[0] for row in REQUESTS])
def test_a_request_that_reaches_no_handler_is_told_why(send: Callable[..., Any], status: int, message: str) -> None:
    with client_for(NotFound("x")) as client:
        got = send(client)
    assert got.status_code == status
    assert got.json()["message"] == message


def test_a_client_that_left_in_the_middle_is_no_failure_of_ours() -> None:
    status, body = answer(HTTPException("client disconnected prematurely", status_code=500))
    assert status == CLIENT_LEFT
    assert body["message"] == "the client left before it had sent the whole request"


def test_a_defect_is_told_by_a_number_that_the_log_has_too(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        status, body = answer(ZeroDivisionError("secret inner state"))
    assert status == 500
    assert "secret inner state" not in json.dumps(body)
    incident = body["message"].rpartition(" ")[2]
    assert len(incident) == 8
    [record] = [r for r in caplog.records if incident in r.getMessage()]
    assert record.exc_info is not None and isinstance(record.exc_info[1], ZeroDivisionError)


def test_only_failures_of_the_master_itself_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        answer(NotFound("trial 5 not found"))
        assert not [r for r in caplog.records if "trial 5" in r.getMessage()]
        answer(Unavailable("the database is away"))
    assert [r.getMessage() for r in caplog.records if "database" in r.getMessage()] == [
        "GET /fails/1: the database is away"
    ]
