"""HTTP GET on a Unix socket, for programs that look after a server of their own."""

import json
import socket
from pathlib import Path
from typing import Any

from determined.api.exchange import exchange


def get(path: Path, target: str, *, token: str | None = None, seconds: float = 10.0) -> tuple[int, bytes]:
    """Return (status, body).

    Raises:
        OSError: nobody answers in time.
    """
    headers = {"Host": "localhost", "Connection": "close", "Accept": "*/*"}
    if token is not None:
        headers["Authorization"] = f"token {token}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(seconds)
        sock.connect(str(path))
        answer = exchange(sock, "GET", target, headers)
    return answer.status, answer.body


def get_json(path: Path, target: str, *, token: str | None = None) -> Any:
    """Return the decoded answer.

    Raises:
        OSError: nobody answers, or not with status 200 and JSON.
    """
    status, body = get(path, target, token=token)
    if status != 200:
        raise OSError(f"{target} answers {status}")
    try:
        return json.loads(body)
    except ValueError as err:
        raise OSError(f"{target} does not answer JSON: {err}") from err
