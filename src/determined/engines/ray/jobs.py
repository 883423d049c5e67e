"""The Jobs API of a Ray dashboard, as far as a bridge needs it. Blocking; no proxy is used and no Ray is imported."""

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from determined.errors import FailedPrecondition, Unavailable

_SECONDS = 15.0
_LIVE = ("PENDING", "RUNNING")


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    status: str
    message: str
    started: int
    metadata: dict[str, str]

    @property
    def is_alive(self) -> bool:
        return self.status in _LIVE


class Dashboard:
    """Client of a dashboard.

    `token_file` holds the cluster's token, if it needs one; read at each call: it may change.
    """

    def __init__(self, url: str, token_file: str | None) -> None:
        self._url = urlsplit(url)
        self._token_file = token_file

    def jobs(self) -> list[Job]:
        """Return the submitted jobs, oldest first."""
        jobs = [_job(row) for row in self._call("GET", "/api/jobs/") if row.get("submission_id")]
        return sorted(jobs, key=lambda job: job.started)

    def submit(self, job: str, entrypoint: str, metadata: dict[str, str]) -> None:
        body = {"entrypoint": entrypoint, "submission_id": job, "metadata": metadata, "entrypoint_num_cpus": 0}
        self._call("POST", "/api/jobs/", body)

    def stop(self, job: str) -> None:
        self._call("POST", f"/api/jobs/{quote(job, safe='')}/stop")

    def last_words(self, job: str) -> str:
        text = self._call("GET", f"/api/jobs/{quote(job, safe='')}/logs").get("logs") or ""
        return "\n".join(str(text).strip().splitlines()[-5:])

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        connection = self._connect()
        content = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, self._url.path.rstrip("/") + path, content, self._headers())
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as e:
            raise Unavailable(f"no Ray dashboard answers at {self._url.geturl()}: {str(e) or type(e).__name__}") from e
        finally:
            connection.close()
        if answer.status in (401, 403):
            raise FailedPrecondition(
                f"the Ray dashboard at {self._url.geturl()} asks for a token; name a file that holds it:"
                " resource_manager.auth_token_file"
            )
        if answer.status >= 300:
            raise Unavailable(f"the Ray dashboard answers {answer.status} to {method} {path}: {text[:300]!r}")
        return _decoded(text)

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname or "", self._url.port, timeout=_SECONDS)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self._token_file is not None:
            try:
                headers["Authorization"] = f"Bearer {Path(self._token_file).read_text().strip()}"
            except OSError as e:
                raise FailedPrecondition(f"resource_manager.auth_token_file cannot be read: {e}") from e
        return headers


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as e:
        raise Unavailable(f"whoever answers is no Ray dashboard: {text[:100]!r}") from e


def _job(row: dict[str, Any]) -> Job:
    return Job(
        id=str(row["submission_id"]),
        status=str(row.get("status")),
        message=str(row.get("message") or ""),
        started=int(row.get("start_time") or 0),
        metadata={str(k): str(v) for k, v in (row.get("metadata") or {}).items()},
    )
