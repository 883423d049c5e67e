"""REST API of an MLflow tracking server, as far as a reader needs it. Every request only reads.

The server may be a stranger's: what it makes us keep, read and wait for has limits.
"""

import time
from collections.abc import Iterator
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec
import urllib3
from urllib3.exceptions import HTTPError

from determined.errors import InvalidArgument, Unavailable
from determined.master.importing.sources.mlflow.answers import Page, Refusal

P = TypeVar("P", bound=Page)

_API = "/api/2.0/mlflow"
_TIMEOUT = urllib3.Timeout(connect=10, read=300)  # a long history comes in one answer
_MOST_SECONDS = 900  # for one answer
_MOST_BYTES = 128 << 20  # of one answer
_MOST_LISTED = 512 << 20  # bytes of all pages of one search, whose entries are in memory together
_MOST_PAGES = 100_000
_ENCODED = "; / ? # [ @ of a password are written %2F %3F %23 %5B %40"
_PIECE = 1 << 16
_BUSY = frozenset({429, 502, 503})
_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds until a busy server is asked again, whatever time it names


class MlflowRefused(InvalidArgument):
    """MLflow has answered that it does not do what was asked."""


class RestClient:
    """`source`: http or https. A user and password may stand in it; a password without a user is a bearer token.

    Raises:
        InvalidArgument: it is no such address.
    """

    def __init__(self, source: str) -> None:
        try:
            parts = urlsplit(source)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:  # whose text may have a part of the password
            raise InvalidArgument(f"--source is no address of a server; write http://HOST:PORT{_ENCODED}") from None
        if not parts.hostname:
            raise InvalidArgument("--source names no host; write http://HOST:PORT of the tracking server")
        if "@" in parts.path + parts.query + parts.fragment:
            raise InvalidArgument(f"--source has an @ behind its host{_ENCODED}")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.address = f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
        # nothing packed: a small answer could unpack to more than the memory of this machine
        common = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        self._headers = {**common, **_login(parts.username, parts.password)}
        retry = urllib3.Retry(
            total=5, read=1, backoff_factor=0.5, respect_retry_after_header=False, allowed_methods=None
        )
        self._pool = urllib3.PoolManager(retries=retry, timeout=_TIMEOUT)

    def get_pages(self, path: str, kind: type[P], **fields: str) -> Iterator[P]:
        """Yield the pages of what is asked for by GET."""
        return self._pages("GET", path, kind, fields)

    def pages(self, path: str, kind: type[P], **fields: object) -> Iterator[P]:
        """Yield the pages of a search."""
        return self._pages("POST", path, kind, fields)

    def _pages(self, method: str, path: str, kind: type[P], fields: dict[str, Any]) -> Iterator[P]:
        seen: set[str] = set()
        size = 0
        while len(seen) < _MOST_PAGES:
            sent = {"fields": fields} if method == "GET" else {"body": msgspec.json.encode(fields)}
            data = self._request(method, path, **sent)
            size += len(data)
            if size > _MOST_LISTED:
                break
            page = self._decode(path, data, kind)
            yield page
            token = page.next_page_token
            if not token:
                return
            if token in seen:
                raise InvalidArgument(f"{self.address} names a page of {path} twice; is it an MLflow server?")
            seen.add(token)
            fields = {**fields, "page_token": token}
        raise InvalidArgument(f"{self.address} has more pages of {path} than are read; is it an MLflow server?")

    def _request(self, method: str, path: str, **sent: Any) -> bytes:
        """Return the body of an answer with status 200. Raises DeterminedError."""
        url = f"{self.address}{_API}/{path}"
        try:
            response = self._answered(method, url, **sent)
            status, data = response.status, self._body(response, path)
        except HTTPError as e:
            raise Unavailable(f"no MLflow server answers at {self.address}: {e}; check --source") from e
        if status == 200:
            return data
        raise self._refusal(path, status, data)

    def _answered(self, method: str, url: str, **sent: Any) -> urllib3.BaseHTTPResponse:
        """Return the first answer of a server that is not busy, or the last one. Its body is not read yet."""
        for wait in (*_WAITS, None):
            response = self._pool.request(
                method, url, headers=self._headers, redirect=False, preload_content=False, **sent
            )
            if response.status not in _BUSY or wait is None:
                break
            response.close()
            time.sleep(wait)
        return response

    def _body(self, response: urllib3.BaseHTTPResponse, path: str) -> bytes:
        data, end = bytearray(), time.monotonic() + _MOST_SECONDS
        try:
            while piece := response.read1(_PIECE, decode_content=False):
                data += piece
                if len(data) > _MOST_BYTES or time.monotonic() > end:
                    raise InvalidArgument(
                        f"{self.address} answers {path} with more than {_MOST_BYTES >> 20} MiB, or for longer than "
                        f"{_MOST_SECONDS} seconds; is it an MLflow server?"
                    )
        finally:
            response.close()  # one that was read to its end has given its connection back
        return bytes(data)

    def _decode(self, path: str, data: bytes, kind: type[P]) -> P:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise InvalidArgument(
                f"{self.address} answers {path} with what cannot be read ({e}); is it an MLflow server?"
            ) from e

    def _refusal(self, path: str, status: int, data: bytes) -> InvalidArgument:
        try:
            refusal = msgspec.json.decode(data, type=Refusal)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            hint = "write http://USER:PASSWORD@HOST" if status in (401, 403) else "is it an MLflow server?"
            return InvalidArgument(f"{self.address} answers {path} with status {status}; {hint}")
        return MlflowRefused(f"MLflow refuses {path}: {str(refusal.message)[:500]}; check --source")


def _login(user: str | None, password: str | None) -> dict[str, str]:
    if user:
        return urllib3.make_headers(basic_auth=f"{unquote(user)}:{unquote(password or '')}")
    return {"Authorization": f"Bearer {unquote(password)}"} if password else {}
