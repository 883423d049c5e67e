"""REST API of an MLflow tracking server, as far as a reader needs it. Every request only reads."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import urllib3
from urllib3.exceptions import HTTPError

from determined._json import JsonObject
from determined.errors import InvalidArgument, Unavailable

_API = "/api/2.0/mlflow"
_TIMEOUT = urllib3.Timeout(connect=10, read=300)  # a long history comes in one answer
_MOST_PAGES = 1_000_000  # a server that names the same page for ever must not hold an import


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
        except ValueError as e:
            raise InvalidArgument(f"--source is no address of a server ({e}); write http://HOST:PORT") from e
        if not parts.hostname:
            raise InvalidArgument("--source names no host; write http://HOST:PORT of the tracking server")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.address = f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
        self._headers = {"Content-Type": "application/json", **_login(parts.username, parts.password)}
        retry = urllib3.Retry(total=5, backoff_factor=0.5, status_forcelist=(429, 502, 503), allowed_methods=None)
        self._pool = urllib3.PoolManager(retries=retry, timeout=_TIMEOUT)

    def get(self, path: str, **fields: str) -> JsonObject:
        return self._request("GET", path, fields=fields)

    def pages(self, path: str, items: str, **fields: object) -> Iterator[JsonObject]:
        """Yield the items of a search, page by page."""
        for _ in range(_MOST_PAGES):
            answer = self._request("POST", path, body=msgspec.json.encode(fields))
            yield from answer.get(items) or ()
            if not answer.get("next_page_token"):
                return
            fields["page_token"] = answer["next_page_token"]

    def _request(self, method: str, path: str, **sent: Any) -> JsonObject:
        url = f"{self.address}{_API}/{path}"
        try:
            response = self._pool.request(method, url, headers=self._headers, redirect=False, **sent)
        except HTTPError as e:
            raise Unavailable(f"no MLflow server answers at {self.address}: {e}; check --source") from e
        return self._answer(path, response.status, response.data)

    def _answer(self, path: str, status: int, data: bytes) -> JsonObject:
        try:
            answer: Any = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError):
            answer = None
        if status == 200 and isinstance(answer, dict):
            return answer
        if isinstance(answer, dict) and "error_code" in answer:
            raise MlflowRefused(f"MLflow refuses {path}: {str(answer.get('message', ''))[:500]}; check --source")
        hint = "write http://USER:PASSWORD@HOST" if status in (401, 403) else "is it an MLflow server?"
        raise InvalidArgument(f"{self.address} answers {path} with status {status}; {hint}")


def _login(user: str | None, password: str | None) -> dict[str, str]:
    if user:
        return urllib3.make_headers(basic_auth=f"{unquote(user)}:{unquote(password or '')}")
    return {"Authorization": f"Bearer {unquote(password)}"} if password else {}
