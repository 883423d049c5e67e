"""Speaks HTTP to a master under test, as the official client does."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import urllib3


@dataclass
class Answer:
    status: int
    raw: bytes
    headers: Any

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def message(self) -> str:
        return str(self.json["message"])


@dataclass
class Client:
    """Speaks HTTP to a master as the official client does: JSON without a Content-Type, a bearer token."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pool = urllib3.PoolManager(retries=False)

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """`body`: JSON-ready data, or bytes as they are. `fields` (query), `headers` (added), `timeout`."""
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = self.headers | options.pop("headers", {})
        fields = options.pop("fields", None)
        if fields:
            path += "?" + urlencode(fields, doseq=True)
        answer = self.pool.request(
            method, self.url + path, body=raw, headers=headers, timeout=options.pop("timeout", 30)
        )
        return Answer(answer.status, answer.data, answer.headers)

    def get(self, path: str, **options: Any) -> Answer:
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.call("POST", path, body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.call("PATCH", path, body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.call("PUT", path, body, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.call("DELETE", path, **options)

    def lines(self, path: str, **options: Any) -> Iterator[Any]:
        """Each line of a newline-delimited stream as it arrives."""
        fields = options.pop("fields", None)
        if fields:
            path += "?" + urlencode(fields, doseq=True)
        with self.pool.request(
            "GET", self.url + path, headers=self.headers, preload_content=False, timeout=60
        ) as answer:
            assert answer.status == 200, answer.read()
            pending = b""
            for chunk in answer.stream(2**16):
                *whole, pending = (pending + chunk).split(b"\n")
                yield from (json.loads(line) for line in whole)

    def login(self, username: str, password: str = "") -> "Client":
        answer = self.post("/api/v1/auth/login", {"username": username, "password": password})
        assert answer.status == 200, answer.raw
        return Client(self.url, {"Authorization": f"Bearer {answer.json['token']}"})
