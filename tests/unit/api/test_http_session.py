"""The HTTP client against a real server on loopback."""

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from determined import errors
from determined.api.session import CertSpec, Session
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class Server:
    """Answers every request with the next of `answers` (status, body), the last one for ever."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.answers: list[tuple[int, Any]] = [(200, {})]
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "https" if context else "http"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                server.seen.append((self.command, self.path, dict(self.headers), body))
                status, answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

            def log_message(self, *args: Any) -> None:
                return

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def session(server: Server) -> Iterator[Session]:
    with Session(server.url, token="t", backoff=0.001) as opened:
        yield opened


class Thing(Wire):
    some_name: int


def test_answers_are_decoded(server: Server, session: Session) -> None:
    server.answers = [(200, {"someName": 3})]
    assert session.get("/api/v1/x") == {"someName": 3}
    assert session.call(Operation("GET", "/api/v1/x", Nothing, Thing)).some_name == 3
    assert session.call(Operation("POST", "/api/v1/x", Nothing, Thing)).some_name == 3


def test_an_empty_answer_is_an_empty_object(server: Server, session: Session) -> None:
    server.answers = [(200, b"")]
    assert session.delete("/x") == {}


def test_parameters_are_written_as_the_wire_wants_them(server: Server, session: Session) -> None:
    session.get("/x", {"archived": False, "ids": [1, 2], "name": "a b", "absent": None})
    assert server.seen[0][1] == "/x?archived=false&ids=1&ids=2&name=a+b"


def test_bodies_are_json_and_nan_is_a_word(server: Server, session: Session) -> None:
    session.patch("/x", {"v": float("nan"), "w": [float("inf")]})
    assert json.loads(server.seen[0][3]) == {"v": "NaN", "w": ["Infinity"]}


def test_tokens_of_users_and_tasks_go_into_their_headers(server: Server, session: Session) -> None:
    session.get("/x")
    with Session(server.url, token="t", allocation_token=True) as task:
        task.get("/x")
    assert server.seen[0][2]["Authorization"] == "Bearer t"
    assert server.seen[1][2]["Grpc-Metadata-x-allocation-token"] == "Bearer t"
    assert "Authorization" not in server.seen[1][2]


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (404, {"code": 5, "reason": "not_found", "error": "m"}, errors.NotFound),
        (404, {"code": 5, "reason": "checkpoint_not_found", "error": "m"}, errors.CheckpointNotFound),
        (409, {"code": 10, "reason": "conflict", "error": "m"}, errors.Conflict),
        (409, {"code": 6, "reason": "already_exists", "error": "m"}, errors.AlreadyExists),
        (400, {"code": 9, "error": "m"}, errors.FailedPrecondition),
        (401, {"error": "m"}, errors.Unauthenticated),
        (403, {"error": "m"}, errors.Forbidden),
        (410, {"error": "m"}, errors.Gone),
        (413, {"error": "m"}, errors.TooLarge),
        (418, {"error": "m"}, errors.DeterminedError),
    ],
)
def test_the_class_the_master_raised_is_raised_again(
    server: Server, session: Session, status: int, error: dict[str, Any], expected: type[Exception]
) -> None:
    server.answers = [(status, {"error": error})]
    with pytest.raises(expected, match=r"^m$") as raised:
        session.get("/x")
    assert type(raised.value) is expected


def test_details_come_along(server: Server, session: Session) -> None:
    details = {"violations": ["<config>.a: b"]}
    message = "invalid\n<config>.a: b"
    body = {"error": {"code": 3, "reason": "invalid_config", "error": message, "details": details}}
    server.answers = [(400, body)]
    with pytest.raises(errors.InvalidConfig) as raised:
        session.post("/x", {})
    assert raised.value.violations == ["<config>.a: b"]
    assert raised.value.message == message


def test_an_older_master_sends_only_a_message(server: Server, session: Session) -> None:
    server.answers = [(404, {"message": "no experiment 7"})]
    with pytest.raises(errors.NotFound, match="no experiment 7"):
        session.get("/x")


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_read_is_repeated_while_the_master_is_away(server: Server, session: Session, status: int) -> None:
    server.answers = [(status, b"<html>"), (status, b"<html>"), (200, {"ok": True})]
    assert session.get("/x") == {"ok": True}


def test_a_post_is_repeated_only_when_nothing_was_done(server: Server, session: Session) -> None:
    server.answers = [(503, {}), (200, {"ok": True})]
    assert session.post("/x", {}) == {"ok": True}
    server.answers = [(502, b"<html>"), (200, {"ok": True})]
    with pytest.raises(errors.Unavailable, match="502"):
        session.post("/x", {})


def test_after_all_retries_the_master_is_unavailable(server: Server) -> None:
    server.answers = [(503, {"error": {"code": 14, "reason": "unavailable", "error": "stopping"}})]
    with Session(server.url, retries=2, backoff=0.001) as session, pytest.raises(errors.Unavailable, match="stopping"):
        session.get("/x")
    assert len(server.seen) == 3


def test_nobody_listening_names_the_address_and_the_next_command() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"  # kept, so that nobody else listens there
        with Session(url, retries=0) as session, pytest.raises(errors.MasterNotFound) as raised:
            session.get("/x")
    assert url in str(raised.value)
    assert "det deploy local cluster-up" in str(raised.value)


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"\xff\xfe"])
def test_something_else_that_answers_is_no_master(server: Server, session: Session, body: bytes) -> None:
    server.answers = [(200, body)]
    with pytest.raises(errors.BadMaster, match="not JSON"):
        session.get("/info")
    server.answers = [(404, body)]
    with pytest.raises(errors.BadMaster, match="something else"):
        session.get("/info")


def test_missing_fields_are_no_master(server: Server, session: Session) -> None:
    with pytest.raises(errors.BadMaster, match="someName"):
        session.call(Operation("GET", "/x", Nothing, Thing))


def test_a_server_that_speaks_something_else_is_no_master() -> None:
    with (
        _greeter(b"SSH-2.0-OpenSSH_9.2\r\n") as url,
        Session(url, retries=0) as session,
        pytest.raises(errors.BadMaster, match="does not speak HTTP"),
    ):
        session.get("/x")


def test_streams_yield_results_and_raise_errors(server: Server, session: Session) -> None:
    lines = [{"result": {"n": 1}}, {"result": {"n": 2}}, {"error": {"code": 5, "reason": "not_found", "error": "gone"}}]
    server.answers = [(200, "\n".join(map(json.dumps, lines)).encode())]
    got = []
    with pytest.raises(errors.NotFound, match="gone"):
        for item in session.stream("/x"):
            got.append(item["n"])
    assert got == [1, 2]


def test_a_stream_of_something_else_is_no_master(server: Server, session: Session) -> None:
    server.answers = [(200, {"neither": 1})]
    with pytest.raises(errors.BadMaster, match="neither result nor error"):
        list(session.stream("/x"))


def test_loopback_never_goes_through_a_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with Session(server.url, retries=0) as session:
        assert session.get("/x") == {}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    pem = tmp_path / "cert.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=cluster -addext subjectAltName=DNS:cluster"
    subprocess.run(
        ["openssl", *words.split(), "-keyout", str(tmp_path / "key.pem"), "-out", str(pem)],
        check=True,
        capture_output=True,
    )
    return pem


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    running = Server(context)
    yield running
    running.close()


@pytest.mark.parametrize(
    "spec", [lambda pem: CertSpec(str(pem), "cluster"), lambda _pem: CertSpec("noverify")], ids=["trusted", "noverify"]
)
def test_a_cluster_of_its_own_certificate_is_trusted_when_told_so(
    tls_server: Server, certificate: Path, spec: Callable[[Path], CertSpec]
) -> None:
    with Session(tls_server.url, cert=spec(certificate), retries=0) as session:
        assert session.get("/x") == {}


def test_an_unknown_certificate_is_not_trusted(tls_server: Server) -> None:
    with Session(tls_server.url, retries=0) as session, pytest.raises(errors.BadMaster, match="DET_MASTER_CERT_FILE"):
        session.get("/x")


class _greeter:
    """A server that says `greeting` to everybody and hangs up."""

    def __init__(self, greeting: bytes) -> None:
        self._greeting = greeting
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._greet)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *exc: object) -> None:
        self._thread.join()
        self._listener.close()

    def _greet(self) -> None:
        peer, _ = self._listener.accept()
        with peer:
            peer.sendall(self._greeting)
            peer.recv(4096)
