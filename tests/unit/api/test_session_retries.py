"""What a session sends again, what it never sends twice, and whom it follows where."""

import json
import socket
import threading
from collections.abc import Iterator

import pytest
import urllib3.util.retry

from determined.api.session import Session
from determined.errors import BadMaster, DeterminedError, MasterNotFound, Unavailable

OK = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"ok":true}'
HANGS_UP = b""


class Scripted:
    """A server that answers the n-th request with the n-th of `script`, then closes that connection."""

    def __init__(self) -> None:
        self.script: list[bytes] = []
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def methods(self) -> list[str]:
        return [request.split(b" ", 1)[0].decode() for request in self.requests]

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(60)
                self.requests.append(_request(peer))
                peer.sendall(self.script.pop(0))


def _request(peer: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        part = peer.recv(65536)
        if not part:
            return received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(x.split(b":")[1]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length")), 0)
    while len(body) < length:
        body += peer.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.fixture
def server() -> Iterator[Scripted]:
    running = Scripted()
    yield running
    running.close()


@pytest.fixture
def session(server: Scripted) -> Iterator[Session]:
    with Session(server.url, token="secret", retries=2, backoff=0.001) as opened:
        yield opened


def _status(code: int, headers: str = "", body: bytes = b"") -> bytes:
    return f"HTTP/1.1 {code} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n".encode() + body


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_a_lost_connection_is_tried_again_where_twice_is_as_good_as_once(
    server: Scripted, session: Session, method: str
) -> None:
    server.script = [HANGS_UP, HANGS_UP, OK]
    assert session.raw(method, "/x", {"a": 1}).data == b'{"ok":true}'
    assert server.methods() == [method] * 3
    assert len({request.rpartition(b"\r\n\r\n")[2] for request in server.requests}) == 1, "the same body each time"


def test_a_post_whose_connection_is_lost_is_not_sent_again(server: Scripted, session: Session) -> None:
    """It may have been done: a second one could submit an experiment twice."""
    server.script = [HANGS_UP, OK]
    with pytest.raises(MasterNotFound, match=server.url):
        session.post("/api/v1/experiments", {"config": "x"})
    assert server.methods() == ["POST"]


def test_a_post_is_sent_once_when_its_answer_breaks_off(server: Scripted, session: Session) -> None:
    server.script = [b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half', OK]
    with pytest.raises(DeterminedError, match=server.url):
        session.post("/x", {})
    assert server.methods() == ["POST"]


@pytest.mark.parametrize("status", [502, 504])
def test_a_gateway_that_failed_may_have_passed_a_post_on(server: Scripted, session: Session, status: int) -> None:
    server.script = [_status(status), OK]
    with pytest.raises(Unavailable, match=str(status)):
        session.post("/x", {})
    assert server.methods() == ["POST"]


@pytest.mark.parametrize("status", [500, 501, 505])
def test_other_failures_of_a_server_are_not_repeated(server: Scripted, session: Session, status: int) -> None:
    server.script = [_status(status, body=b'{"error": {"error": "incident 7"}}'), OK]
    with pytest.raises(DeterminedError, match="incident 7"):
        session.get("/x")
    assert server.methods() == ["GET"]


@pytest.mark.parametrize("status", [413, 429, 503])
def test_nobody_makes_a_session_sleep_for_longer_than_its_own_backoff(
    server: Scripted, session: Session, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(urllib3.util.retry.time, "sleep", waits.append)
    server.script = [_status(status, "Retry-After: 3600\r\n", b'{"message": "later"}'), OK]
    if status == 503:
        assert session.get("/x") == {"ok": True}
    else:
        with pytest.raises(DeterminedError, match="later"):
            session.get("/x")
        assert server.methods() == ["GET"]
    assert max(waits, default=0.0) < 1.0


def test_repetitions_end_and_the_last_answer_counts(server: Scripted, session: Session) -> None:
    error = json.dumps({"error": {"code": 14, "reason": "unavailable", "error": "starting"}}).encode()
    server.script = [_status(503, body=error)] * 3
    with pytest.raises(Unavailable, match=r"^starting$"):
        session.post("/x", {})
    assert server.methods() == ["POST"] * 3


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_is_no_answer_of_a_master_and_gets_no_token(
    server: Scripted, session: Session, status: int
) -> None:
    elsewhere = Scripted()
    try:
        server.script = [_status(status, f"Location: {elsewhere.url}/x\r\n")]
        with pytest.raises(BadMaster, match=f"status {status}.*-m or DET_MASTER"):
            session.get("/x")
        assert elsewhere.requests == []
    finally:
        elsewhere.close()


def test_an_answer_that_breaks_off_is_told_as_a_master_that_is_away(server: Scripted) -> None:
    with Session(server.url, retries=0) as session:
        server.script = [b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half']
        with pytest.raises(MasterNotFound, match=server.url):
            session.get("/x")


def test_a_stream_that_breaks_off_gives_its_whole_lines_and_then_says_so(server: Scripted, session: Session) -> None:
    line = b'{"result": {"n": 1}}\n'
    server.script = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(line), line) + b'9\r\n{"result"\r\n'
    ]
    lines = session.stream("/x")
    assert next(lines) == {"n": 1}
    with pytest.raises(MasterNotFound, match=r"broke off the answer to /x.*try again"):
        next(lines)


def test_lines_of_a_stream_are_put_together_whatever_its_pieces(server: Scripted, session: Session) -> None:
    text = b'{"result": {"n": 1}}\n\n  \n{"result": {"n": "\xc3\xa4"}}\r\n{"result": {"n": 3}}'
    pieces = b"".join(b"1\r\n%s\r\n" % bytes([byte]) for byte in text)
    server.script = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n\r\n"]
    assert [each["n"] for each in session.stream("/x")] == [1, "ä", 3]


def test_a_stream_line_that_is_no_json_is_no_master(server: Scripted, session: Session) -> None:
    server.script = [_status(200, body=b"<html>\n")]
    with pytest.raises(BadMaster, match=r"does not answer /x as a Determined master.*not JSON"):
        list(session.stream("/x"))


def test_a_refused_stream_raises_the_error_of_the_master(server: Scripted, session: Session) -> None:
    server.script = [_status(404, body=b'{"error": {"reason": "not_found", "error": "no trial 7"}}')]
    with pytest.raises(DeterminedError, match="no trial 7"):
        next(session.stream("/x"))


def test_looking_whether_a_master_answers_sends_no_token_and_repeats_nothing(
    server: Scripted, session: Session
) -> None:
    server.script = [OK, _status(503), HANGS_UP]
    assert [session.answers() for _ in range(3)] == [True, False, False]
    assert server.methods() == ["GET"] * 3
    assert not any(b"secret" in request for request in server.requests)
