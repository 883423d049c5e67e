"""HTTP conversation with a master: JSON in and out, retries, streams, errors as the classes the master raised."""

import io
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast, overload
from urllib.parse import urlencode, urlsplit

import msgspec
import urllib3
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, MaxRetryError, NewConnectionError, ProtocolError, SSLError

from determined._version import __version__
from determined.api import own_master
from determined.api.address import canonical, is_loopback, is_same_place
from determined.api.certificates import CertSpec, UntrustedMaster, context_of
from determined.api.errors import error_from, error_of
from determined.api.expected_master import Expected, expected_at, news_of
from determined.api.proof import Claim
from determined.api.proven_connection import demand_proof
from determined.api.proxy import behind, proxy_of
from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.errors import BadMaster, DeterminedError, MasterNotFound, Unavailable
from determined.wire.codec import convert, plain, to_json
from determined.wire.operation import Nothing, Operation, StreamOperation

__all__ = ["CertSpec", "Sending", "Session"]

T = TypeVar("T")
RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")
Params = dict[str, Any]
Sending = Callable[[int], None]  # hears of so many bytes more on their way
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")  # what OpenSSL makes of an answer in plain HTTP
_SAFE_TO_REPEAT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"})


class Session:
    """Thread-safe; keeps connections open. `close()` it, or use it as a context manager.

    Args:
        master_url: any address `canonical` understands.
        token: sent as a user's bearer token, or as a task's when `allocation_token`.
        allocation_id: with a task's token: send it only to a master that proves to be the one of this allocation.
        username: whose token it is, for messages.
        cert: how to trust an https master.
        expected: who must prove to be there on each connection before a token is sent; by default this user's own
            master where `master_url` is its address, else the master of the task around this process.
        retries: how often a request is repeated while nobody answers, or the answer is 502, 503 or 504.
        backoff: seconds; doubles from one repetition to the next.
        timeout: seconds to wait for an answer unless a call says otherwise.
    """

    def __init__(
        self,
        master_url: str,
        *,
        token: str | None = None,
        allocation_token: bool = False,
        allocation_id: str | None = None,
        username: str | None = None,
        cert: CertSpec | None = None,
        expected: Expected | None = None,
        retries: int = 5,
        backoff: float = 0.5,
        timeout: float = 60.0,
    ) -> None:
        self.master_url = canonical(master_url)
        self.token = token
        self.username = username
        self._headers = {"User-Agent": f"determined/{__version__}", "Accept": "application/json"}
        if token:
            name = ALLOCATION_TOKEN_HEADER if allocation_token else "Authorization"
            self._headers[name] = f"Bearer {token}"
        self._retry = _Retry(
            total=retries,
            backoff_factor=backoff,
            status_forcelist=(502, 503, 504),
            allowed_methods=_SAFE_TO_REPEAT,
            raise_on_status=False,
            respect_retry_after_header=False,  # a proxy could make us sleep for hours
        )
        self._timeout = timeout
        if allocation_id is not None and token:
            expected = Claim(self.master_url, allocation_id, token)
        self._go_to(self.master_url, cert, expected or expected_at(self.master_url))

    @overload
    def call(
        self, operation: Operation[Nothing, ResponseT], /, *, timeout: float | None = None, **ids: str | int
    ) -> ResponseT: ...

    @overload
    def call(
        self,
        operation: Operation[RequestT, ResponseT],
        request: RequestT,
        /,
        *,
        timeout: float | None = None,
        **ids: str | int,
    ) -> ResponseT: ...

    def call(
        self,
        operation: Operation[Any, ResponseT],
        request: Any = None,
        /,
        *,
        timeout: float | None = None,
        **ids: str | int,
    ) -> ResponseT:
        """Call an operation: `session.call(LIST_TRIALS, ListTrials(limit=3), experiment_id=1)`. Raises as `raw`."""
        path, fields = operation.at(**ids), {} if request is None else plain(msgspec.to_builtins(request))
        if operation.method == "GET":
            answer = self._json("GET", path, params=fields, timeout=timeout)
        else:
            answer = self._json(operation.method, path, fields, timeout=timeout)
        return self._typed(answer, path, operation.response)

    @overload
    def follow(self, operation: StreamOperation[Nothing, ResponseT], /, **ids: str | int) -> Iterator[ResponseT]: ...

    @overload
    def follow(
        self, operation: StreamOperation[RequestT, ResponseT], request: RequestT, /, **ids: str | int
    ) -> Iterator[ResponseT]: ...

    def follow(
        self, operation: StreamOperation[Any, ResponseT], request: Any = None, /, **ids: str | int
    ) -> Iterator[ResponseT]:
        """Yield what the lines of a stream hold, as they come. An `error` line is raised."""
        path = operation.at(**ids)
        for result in self.stream(path, params=msgspec.to_builtins(request) if request is not None else None):
            yield self._typed(result, path, operation.response)

    def get(self, path: str, params: Params | None = None, *, timeout: float | None = None) -> Any:
        """Read the decoded answer. `raw` lists what every verb raises."""
        return self._json("GET", path, params=params, timeout=timeout)

    def post(self, path: str, body: Any = None, *, params: Params | None = None) -> Any:
        return self._json("POST", path, body, params=params)

    def send(self, operation: Operation[RequestT, ResponseT], request: RequestT, sending: Sending) -> ResponseT:
        """Call an operation with a large body; `sending` hears of each part as it leaves."""
        path, body = operation.at(), to_json(plain(request))
        headers = {"Content-Length": str(len(body)), "Content-Type": "application/json"}
        response = self.raw(operation.method, path, _Counted(body, sending), headers=headers)
        return self._typed(self._decode(response.data, path), path, operation.response)

    def put(self, path: str, body: Any = None) -> Any:
        return self._json("PUT", path, body)

    def patch(self, path: str, body: Any = None) -> Any:
        return self._json("PATCH", path, body)

    def delete(self, path: str, body: Any = None, *, params: Params | None = None) -> Any:
        return self._json("DELETE", path, body, params=params)

    def download(
        self,
        operation: Operation[RequestT, Any],
        request: RequestT,
        /,
        *,
        headers: dict[str, str] | None = None,
        stream: bool = False,
        **ids: str | int,
    ) -> urllib3.BaseHTTPResponse:
        """Call an operation that answers a file."""
        params = msgspec.to_builtins(request)
        return self.raw("GET", operation.at(**ids), params=params, headers=headers, stream=stream)

    def stream(self, path: str, params: Params | None = None) -> Iterator[dict[str, Any]]:
        """Yield the `result` of each line of a newline-delimited stream, as it comes. An `error` line is raised."""
        response = self.raw("GET", path, params=params, stream=True, timeout=None)
        try:
            for line in _lines(response):
                yield _result(self._decode(line, path))
        except HTTPError as err:
            raise MasterNotFound(f"{self.master_url} broke off the answer to {path} ({err}); try again") from err
        finally:
            response.close()

    def raw(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Params | None = None,
        headers: dict[str, str] | None = None,
        stream: bool = False,
        timeout: float | None = -1.0,
    ) -> urllib3.BaseHTTPResponse:
        """Send a request; the response is a success (status below 300), its body read unless `stream`.

        Raises:
            MasterNotFound: nobody answers.
            BadMaster: somebody answers, but not a Determined master.
            DeterminedError: the class the master raised.
        """
        target = f"/{path.lstrip('/')}" + (f"?{_query(params)}" if params else "")
        payload = body if body is None or isinstance(body, bytes | io.BytesIO) else to_json(plain(body))
        limit = self._timeout if timeout == -1.0 else timeout
        how: dict[str, Any] = {
            "body": payload,
            "headers": {**self._headers, **(headers or {})},
            "retries": self._retry,
            "timeout": urllib3.Timeout(connect=min(limit or 10.0, 10.0), read=limit),
            "preload_content": not stream,
            "redirect": False,
        }
        try:
            response = self._pool.request(method, self.master_url + target, **how)
        except HTTPError as err:
            if not _is_unsent(err) or not self.look_for_news():
                raise _unreachable(self.master_url, err) from None  # its text has the reason
            response = self._again(method, target, how)
        if response.status < 300:
            return response
        raise error_of(response.status, response.data, self.master_url + target)

    def look_for_news(self) -> bool:
        """Go to where this user's own master is now; False when it has not moved, or is no own one."""
        state = news_of(self._expected)
        if state is None or is_same_place(state.url, self.master_url):
            return False
        cert = CertSpec(pinned=state.certificate) if state.certificate else self._cert
        self._pool.clear()
        self._go_to(canonical(state.url), cert, own_master.expected(state))
        return True

    def answers(self, timeout: float = 5.0) -> bool:
        """Look whether the master is there, with its proof where one is expected. Sends no token."""
        with Session(
            self.master_url, cert=self._cert, expected=self._expected, retries=0, timeout=timeout
        ) as anonymous:
            try:
                anonymous.get("/info")
            except (MasterNotFound, Unavailable):
                return False
            return True

    def connection(self) -> HTTPConnection:
        """Open a connection of its own, with the proof of the master where one is expected, for another protocol.

        Raises:
            MasterNotFound: nobody answers.
        """
        try:
            pool = self._pool.connection_from_url(self.master_url)
            connection: Any = pool._new_conn()
            if pool.proxy is not None and self.master_url.startswith("https:"):
                pool._prepare_proxy(connection)  # asks the proxy for a connection to the master
            else:
                connection.connect()
        except HTTPError as err:
            raise _unreachable(self.master_url, err) from None  # its text has the reason
        return cast(HTTPConnection, connection)

    def close(self) -> None:
        self._pool.clear()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _go_to(self, url: str, cert: CertSpec | None, expected: Expected | None) -> None:
        self.master_url, self._cert, self._expected = url, cert, expected
        self._pool = _pool(url, cert)
        if expected is not None:
            demand_proof(self._pool, expected)

    def _again(self, method: str, target: str, how: dict[str, Any]) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.request(method, self.master_url + target, **how)
        except HTTPError as err:
            raise _unreachable(self.master_url, err) from None  # its text has the reason

    def _json(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        if how.get("timeout") is None:
            how.pop("timeout", None)
        response = self.raw(method, path, body, **how)
        return self._decode(response.data, path) if response.data else {}

    def _decode(self, raw: bytes, path: str) -> Any:
        try:
            return msgspec.json.decode(raw)
        except msgspec.DecodeError as err:
            raise self._not_a_master(path, "its answer is not JSON") from err

    def _typed(self, value: Any, path: str, kind: type[T]) -> T:
        try:
            return convert(value, kind)
        except msgspec.ValidationError:
            pass
        try:
            return msgspec.convert(value, kind, strict=False)  # some masters write int64 as text
        except msgspec.ValidationError as err:
            raise self._not_a_master(path, str(err)) from err

    def _not_a_master(self, path: str, what: str) -> BadMaster:
        return BadMaster(
            f"{self.master_url} does not answer {path} as a Determined master does ({what}); "
            "check the address given with -m or DET_MASTER"
        )


class _Counted(io.BytesIO):
    """A body that tells how far it has been read; urllib3 reads it block by block and rewinds it to repeat."""

    def __init__(self, body: bytes, sending: Sending) -> None:
        super().__init__(body)
        self._sending = sending

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        self._sending(len(piece))
        return piece


class _Retry(urllib3.Retry):
    """503 is a master saying that it did nothing: any method may be repeated. 502 and 504 may have done it."""

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        if status_code == 503 and self.total:
            return True
        return super().is_retry(method, status_code, has_retry_after)


def _pool(master_url: str, cert: CertSpec | None) -> urllib3.PoolManager:
    parts = urlsplit(master_url)
    host = parts.hostname or ""
    options: dict[str, Any] = {"maxsize": 4}
    if parts.scheme == "https":
        options["ssl_context"] = context_of(cert)
        if cert is not None and cert.pinned and not cert.file:
            options["assert_hostname"] = False
        if cert is not None and cert.name:
            options |= {"server_hostname": cert.name, "assert_hostname": cert.name}
    proxy = None if is_loopback(host) else proxy_of(parts.scheme, host)
    return behind(proxy, parts.scheme, options) if proxy else urllib3.PoolManager(**options)


def _query(params: Params) -> str:
    words: list[tuple[str, str]] = []
    for name, value in params.items():
        values = value if isinstance(value, list | tuple) else [value]
        words += [(name, _word(item)) for item in values if item is not None]
    return urlencode(words)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for block in response.stream(65536):
        *whole, rest = (rest + block).split(b"\n")
        yield from (line for line in whole if line.strip())
    if rest.strip():
        yield rest


def _result(chunk: Any) -> dict[str, Any]:
    if isinstance(chunk, dict) and isinstance(chunk.get("error"), dict):
        raise error_from(chunk["error"])
    if isinstance(chunk, dict) and "result" in chunk:
        return cast(dict[str, Any], chunk["result"])
    raise BadMaster(f"a stream line has neither result nor error: {str(chunk)[:100]!r}; is this a Determined master?")


def _unreachable(url: str, err: HTTPError) -> DeterminedError:
    reason = err.reason if isinstance(err, MaxRetryError) and err.reason is not None else err
    if isinstance(reason, SSLError) and any(word in str(reason) for word in _NO_TLS):
        return BadMaster(f"{url} does not speak TLS; if it is a master, give its address with http://")
    if isinstance(reason, SSLError):
        return UntrustedMaster(f"{url} cannot be trusted ({reason}); give its certificate with DET_MASTER_CERT_FILE")
    if isinstance(reason, ProtocolError) and not isinstance(reason, NewConnectionError) and _is_foreign(reason):
        return BadMaster(f"{url} does not speak HTTP ({reason}); check the address given with -m or DET_MASTER")
    return MasterNotFound(
        f"no master answers at {url} ({reason}); start one of your own with 'det master start' or a cluster with "
        "'det deploy local cluster-up', or name another with DET_MASTER ('det -m URL')"
    )


def _is_unsent(err: HTTPError) -> bool:
    """Return whether no connection was made, or none that was believed: the request has left nothing behind."""
    return isinstance(err.reason if isinstance(err, MaxRetryError) else err, NewConnectionError)


def _is_foreign(reason: ProtocolError) -> bool:
    return any(type(arg).__name__ in ("BadStatusLine", "LineTooLong") for arg in reason.args)
