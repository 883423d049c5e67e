"""Answers of a master to its runner: which mean later, which mean over, and which are its own words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined.errors import BY_CODE, Conflict, DeterminedError, Gone, InvalidArgument, NotFound, Unavailable
from determined.exec.master_link import STALE, MasterLink
from determined.exec.runner.master_retry import persistently
from determined.wire.codec import to_json
from determined.wire.report import LaunchFile, RunnerSignals

Answer = tuple[int, bytes] | Exception


class Wires:
    """Connections that give prepared answers, and keep what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, str, dict[str, Any]]] = []
        self.closed = False

    def request(self, method: str, path: str, **how: Any) -> tuple[int, bytes]:
        self.requests.append((method, path, how))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.closed = True


def launch(**changes: Any) -> LaunchFile:
    fields: dict[str, Any] = {
        "master_url": "http://127.0.0.1:9/", "token": "secret", "allocation_id": "a1", "resource_id": "r1",
        "container_id": "c", "node_id": "n", "rank": 0, "slot_ids": [],
    }  # fmt: skip
    return LaunchFile(**(fields | changes))


@pytest.fixture
def link(tmp_path: Path) -> Callable[..., tuple[MasterLink, Wires]]:
    def make(*answers: Answer) -> tuple[MasterLink, Wires]:
        (tmp_path / "launch.json").write_bytes(to_json(launch()))
        made, wires = MasterLink(tmp_path / "launch.json"), Wires(*answers)
        made._connections = wires  # type: ignore[assignment]
        return made, wires

    return make


def refusal(reason: str, text: str = "no", **details: Any) -> bytes:
    error: dict[str, Any] = {"code": 9, "reason": reason, "error": text}
    return json.dumps({"error": error | ({"details": details} if details else {})}).encode()


def raised(link: MasterLink) -> DeterminedError:
    with pytest.raises(DeterminedError) as caught:
        link.report(b"")
    return caught.value


def test_an_answer_below_300_is_given_as_it_is(link: Any) -> None:
    made, wires = link((200, b"first"), (204, b""))
    assert (made.report(b"batch"), made.spec()) == (b"first", b"")
    (method, path, how), second = wires.requests
    assert (method, how["body"]) == ("POST", b"batch") and "/a1/" in path and "/r1/" in path
    assert how["headers"]["Grpc-Metadata-x-allocation-token"] == "Bearer secret"
    assert how["headers"]["Content-Type"] == "application/msgpack"
    assert "Content-Type" not in second[2]["headers"]


@pytest.mark.parametrize("code", sorted(BY_CODE))
def test_every_error_of_the_master_comes_back_as_its_own_class(link: Any, code: str) -> None:
    details = {"violations": ["a: b"]} if code == "invalid_config" else {"positions": {"logs": 3}}
    made, _ = link((409, refusal(code, "words of the master", **details)))
    error = raised(made)
    assert type(error) is BY_CODE[code]
    assert error.message.startswith("words of the master") and error.details == details


def test_an_error_of_a_newer_master_is_still_one_of_ours(link: Any) -> None:
    made, _ = link((418, refusal("teapot", "short and stout")))
    error = raised(made)
    assert type(error) is InvalidArgument and error.message == "short and stout"


@pytest.mark.parametrize(
    ("status", "body", "is_defect"),
    [
        (500, refusal("internal"), True),
        (500, refusal("unavailable"), False),
        (503, refusal("internal"), False),
        (500, b"Internal Server Error", False),
        (404, b"<html>nginx</html>", False),
        (403, b'{"error": "a text"}', False),
        (410, b"[1]", False),
        (302, b"", False),
    ],
)
def test_what_is_not_the_masters_own_refusal_is_tried_again_later(
    link: Any, status: int, body: bytes, is_defect: bool
) -> None:
    made, _ = link((status, body))
    error = raised(made)
    assert type(error) is Unavailable and f"answers {status}" in error.message
    assert error.details["defect"] is is_defect


@pytest.mark.parametrize("kind", STALE)
def test_an_allocation_that_is_over_is_told_from_a_master_that_is_away(link: Any, kind: type[DeterminedError]) -> None:
    code = next(code for code, known in BY_CODE.items() if known is kind)
    made, _ = link((410, refusal(code)))
    assert isinstance(raised(made), STALE)


def test_nobody_who_answers_is_named_with_the_address(link: Any) -> None:
    made, _ = link(ConnectionRefusedError(111, "Connection refused"))
    assert raised(made).message == "no answer from the master at http://127.0.0.1:9: [Errno 111] Connection refused"
    made, _ = link(TimeoutError())
    assert raised(made).message.endswith("TimeoutError")


def test_a_master_that_moved_is_found_by_the_launch_file_and_old_connections_are_closed(
    link: Any, tmp_path: Path
) -> None:
    made, wires = link(OSError("gone"), OSError("still gone"))
    (tmp_path / "launch.json").write_bytes(b'{"half')
    raised(made)
    assert made.launch.master_url == "http://127.0.0.1:9/" and not wires.closed
    (tmp_path / "launch.json").write_bytes(to_json(launch(master_url="http://127.0.0.1:10")))
    raised(made)
    assert made.launch.master_url == "http://127.0.0.1:10" and wires.closed


def test_signals_say_what_is_known_and_wait_longer_than_the_master(link: Any) -> None:
    made, wires = link((200, b"{}"))
    made.signals(RunnerSignals(preempt=True, stacks=2), 60)
    _, path, how = wires.requests[0]
    assert path.endswith("?preempt=true&kill=false&stacks=2&shell=false&timeoutSeconds=60")
    assert how["seconds"] > 60


def test_each_gathering_is_a_peer_of_its_own(link: Any) -> None:
    answer = (200, json.dumps({"data": [{"x": 1}]}).encode())
    made, wires = link(answer, answer)
    assert made.all_gather("facts", {"x": 1}, peers=2, timeout=3.5) == [{"x": 1}]
    made.all_gather("facts", {"x": 1}, peers=2, timeout=3.5)
    first, second = (json.loads(how["body"]) for _, _, how in wires.requests)
    assert (first["allocationId"], first["topic"], first["numPeers"]) == ("a1", "facts", 2)
    assert first["requestUuid"] != second["requestUuid"]


def test_a_master_that_is_away_is_asked_again_and_its_refusals_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    answers: list[Any] = [Unavailable("away"), Unavailable("away"), "here"]

    def ask() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    assert persistently(ask) == "here"
    for refused in (Gone("over"), NotFound("none"), Conflict("gap")):
        answers.append(refused)
        with pytest.raises(type(refused)):
            persistently(ask)
