"""Sessions by upstream's names and constructors, on the HTTP client of `determined.api`.

They are also sessions of the SDK: `client.Experiment(3, session)` takes one.
"""

import copy
from typing import Any, Self

import urllib3

from determined.api.address import canonical
from determined.api.session import Session as HttpSession
from determined.common.api._response import Response
from determined.common.api.certs import Cert

Retries = urllib3.Retry | int | None

DEFAULT_MAX_RETRIES = urllib3.Retry(total=5, backoff_factor=0.5, status_forcelist=[502, 503, 504])


def do_request(
    session: HttpSession,
    method: str,
    path: str,
    params: dict[str, Any] | None = None,
    json: Any = None,
    data: Any = None,
    headers: dict[str, Any] | None = None,
    timeout: float | None = None,
    stream: bool = False,
) -> Response:
    """Send one request by a session of the HTTP client. Raises as `HttpSession.raw`."""
    if json is not None and data is not None:
        raise ValueError("give json or data, not both")
    body = json if data is None else data.encode() if isinstance(data, str) else data
    limit = -1.0 if timeout is None and not stream else timeout
    response = session.raw(method, path, body, params=params, headers=headers, stream=stream, timeout=limit)
    return Response(response, f"{session.master_url}/{path.lstrip('/')}")


class BaseSession(HttpSession):
    """Session of any kind. Every request raises the class of `determined.common.api.errors` that fits the answer."""

    _do_request = do_request

    def __init__(
        self,
        master: str,
        cert: Cert | None,
        max_retries: Retries,
        *,
        username: str | None = None,
        token: str | None = None,
        allocation_token: bool = False,
    ) -> None:
        if master != canonical(master):
            raise RuntimeError(f"{master!r} is not canonical; pass it through canonicalize_master_url() first")
        super().__init__(
            master,
            token=token,
            allocation_token=allocation_token,
            username=username,
            cert=cert.spec if cert is not None else None,
        )
        self.cert = cert
        self._set_retries(max_retries)

    @property
    def master(self) -> str:
        return self.master_url

    def with_retry(self, max_retries: Retries) -> Self:
        """Return a session with another policy of retries and the same connections."""
        other = copy.copy(self)
        other._set_retries(max_retries)
        return other

    def get(
        self,
        path: str,
        params: dict[str, Any] | None = None,
        *,
        headers: dict[str, Any] | None = None,
        timeout: float | None = None,
        stream: bool = False,
    ) -> Response:
        return self._do_request("GET", path, params, headers=headers, timeout=timeout, stream=stream)

    def delete(
        self,
        path: str,
        body: Any = None,
        *,
        params: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Response:
        return self._do_request("DELETE", path, params, body, headers=headers, timeout=timeout)

    def post(self, path: str, body: Any = None, **request: Any) -> Response:
        """Send `params`, `json` or `data`, `headers`, `timeout`."""
        return self._do_request("POST", path, **_with_body(body, request))

    def patch(self, path: str, body: Any = None, **request: Any) -> Response:
        return self._do_request("PATCH", path, **_with_body(body, request))

    def put(self, path: str, body: Any = None, **request: Any) -> Response:
        return self._do_request("PUT", path, **_with_body(body, request))

    def _set_retries(self, max_retries: Retries) -> None:
        self._max_retries = max_retries
        given = max_retries if isinstance(max_retries, urllib3.Retry) else urllib3.Retry(total=max_retries or 0)
        self._retry = self._retry.new(total=given.total, backoff_factor=given.backoff_factor)


class UnauthSession(BaseSession):
    """Session without a user, for logging in and for what everybody may read."""

    def __init__(self, master: str, cert: Cert | None, max_retries: Retries = DEFAULT_MAX_RETRIES) -> None:
        super().__init__(master, cert, max_retries)


class Session(BaseSession):
    """Session of a user."""

    _is_task = False

    def __init__(
        self, master: str, username: str, token: str, cert: Cert | None, max_retries: Retries = DEFAULT_MAX_RETRIES
    ) -> None:
        super().__init__(master, cert, max_retries, username=username, token=token, allocation_token=self._is_task)


class TaskSession(Session):
    """Session with the token of a task."""

    _is_task = True


def _with_body(body: Any, request: dict[str, Any]) -> dict[str, Any]:
    return request if body is None else {"json": body, **request}
