"""Requests of the sitter to the master: its claim, and that its host wants it gone. Blocking; no proxy is used."""

import http.client
import json
import logging
import secrets
import ssl
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from determined import _bound_address
from determined._backoff import Backoff
from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.errors import BY_CODE, DeterminedError, InvalidArgument, Unavailable
from determined.wire import master_proof
from determined.wire.allocation import POST_PENDING_PREEMPTION
from determined.wire.claim import CLAIM_RUNNER, Claimed, ClaimRequest, Order, answer_proof, is_proven
from determined.wire.codec import from_json, to_json
from determined.wire.report import LaunchFile

logger = logging.getLogger(__name__)

_SECONDS = 10.0
_PATIENCE_SECONDS = 300.0
_RETRY = Backoff(0.2, limit=10.0, factor=1.7)
_HURRY_SECONDS = 5.0  # a host that is taken away waits half a minute at best, and the task has yet to save
_STEP_SECONDS = 0.1


class Master:
    """Master that `order` names."""

    def __init__(self, order: Order) -> None:
        self._url = urlsplit(order.master_url)
        self.address = _bound_address.of_url(order.master_url)
        self._ticket = order.ticket
        self._cert, self._name = order.master_cert, order.master_cert_name

    def claim(self, request: ClaimRequest, is_unwanted: Callable[[], bool]) -> LaunchFile | None:
        """Claim the launch file; None when nobody wants it any more. Raises the master's own error when it refuses.

        Raises Unavailable when no master answers for minutes: nothing has begun that could be lost, and a node that
        cannot reach its master at all must not hold a trial for ever.
        """
        delays, deadline, has_warned = _RETRY.delays(), time.monotonic() + _PATIENCE_SECONDS, False
        while True:
            try:
                return self._claim(request)
            except Unavailable as e:
                if not has_warned:
                    logger.warning("%s; trying again", e.message)
                has_warned = True
                if time.monotonic() > deadline:
                    raise
            if _sleep(next(delays), is_unwanted):
                return None

    def ask_to_leave(self, launch: LaunchFile) -> None:
        """Ask the task to save and leave, because this host is about to be taken away.

        Tried for a moment: masters restart.
        """
        path = POST_PENDING_PREEMPTION.at(allocation_id=launch.allocation_id)
        deadline = time.monotonic() + _HURRY_SECONDS
        while True:
            try:
                self._post(path, b"{}", {ALLOCATION_TOKEN_HEADER: f"Bearer {launch.token}"}, launch)
            except Unavailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY.first)
            else:
                return

    def _claim(self, request: ClaimRequest) -> LaunchFile:
        answer = self._post(CLAIM_RUNNER.at(), to_json(request), {})
        try:
            claimed = from_json(answer, Claimed)
        except ValueError as e:
            raise Unavailable(f"whoever answers at {self._url.geturl()} is no master of ours: {e}") from e
        if not is_proven(answer_proof(self._ticket, request.claimant), claimed.proof):
            raise Unavailable(f"whoever answers at {self._url.geturl()} did not make our ticket")
        return claimed.launch

    def _post(self, path: str, body: bytes, headers: dict[str, str], proven: LaunchFile | None = None) -> bytes:
        """Send a request. `proven`: its token must be known to the master before anything is sent there."""
        connection = self._connect()
        prefix = self._url.path.rstrip("/")
        try:
            if proven is not None:
                self._demand_proof(connection, prefix, proven)
            connection.request("POST", prefix + path, body, {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as e:
            raise Unavailable(f"no answer from the master at {self._url.geturl()}: {str(e) or type(e).__name__}") from e
        finally:
            connection.close()
        if answer.status >= 300:
            raise _error(answer.status, content)
        return content

    def _demand_proof(self, connection: http.client.HTTPConnection, prefix: str, launch: LaunchFile) -> None:
        nonce = secrets.token_bytes(32)
        connection.request("GET", prefix + master_proof.question(nonce, launch.allocation_id))
        try:
            answer = json.loads(connection.getresponse().read())
        except ValueError:
            answer = None
        if not master_proof.is_proven(master_proof.allocation_proof(launch.token, nonce, self.address), answer):
            raise Unavailable(f"whoever answers at {self._url.geturl()} is not the master of this task")
        connection.auto_open = 0  # a second connection may lead to another server

    def _connect(self) -> http.client.HTTPConnection:
        name, port = self._url.hostname or "", self._url.port
        # `address` takes localhost for 127.0.0.1: another server may listen on ::1
        host = "127.0.0.1" if name == "localhost" else name
        if self._url.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=_SECONDS)
        context = ssl.create_default_context(cadata=self._cert)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the certificate given to us is the master's own
        return _Named(host, port, context, self._name or name)


class _Named(http.client.HTTPSConnection):
    """Connection to one host name whose certificate has another."""

    def __init__(self, host: str, port: int | None, context: ssl.SSLContext, name: str) -> None:
        super().__init__(host, port, timeout=_SECONDS, context=context)
        self._tls, self._name = context, name

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


def _sleep(seconds: float, is_unwanted: Callable[[], bool]) -> bool:
    """Sleep; return True as soon as `is_unwanted`."""
    deadline = time.monotonic() + seconds
    while not (unwanted := is_unwanted()) and time.monotonic() < deadline:
        time.sleep(_STEP_SECONDS)
    return unwanted


def _error(status: int, content: bytes) -> DeterminedError:
    try:
        inner = json.loads(content)["error"]
        kind, text = BY_CODE.get(str(inner.get("reason")), InvalidArgument), str(inner.get("error"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Unavailable(f"the master answers {status}: {content[:200]!r}")
    return Unavailable(text) if status >= 500 else kind(text)
