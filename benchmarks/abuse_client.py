"""Attacker of abuse.py: `abuse_client.py KIND URL NUMBER SECONDS AUTHORIZATION`."""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import urllib3

_http = urllib3.PoolManager(maxsize=16, retries=False, timeout=600)


class Attacker:
    def __init__(self, url: str, number: int, seconds: float, authorization: str) -> None:
        self.url, self.number, self.seconds, self.authorization = url, number, seconds, authorization

    def nothing(self) -> None:
        time.sleep(self.seconds)

    def trials(self) -> None:
        """A classic search of so many trials at once; all of them created, then killed."""
        searcher = {"name": "random", "metric": "loss", "max_trials": self.number, "max_length": {"batches": 9}}
        searcher["max_concurrent_trials"] = self.number
        space = {f"x{n}": {"type": "double", "minval": 0, "maxval": 1} for n in range(5)}
        number = self._submit({"searcher": searcher, "hyperparameters": space})
        self._wait(lambda: self.call("GET", f"/experiments/{number}")["experiment"]["numTrials"] >= self.number)
        self.call("POST", f"/experiments/{number}/kill")

    def yaml(self) -> None:
        """Configs that are refused for their length or their number of values, and one just within the limits."""
        texts = ["a: [" + "0," * 500_000 + "0]", "a: [" + "0," * 250_000 + "0]", "data: [" + "0," * 29_000 + "0]"]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: self._config(texts[n % len(texts)]), range(self.number)))

    def metrics(self) -> None:
        trial = self._unmanaged_trial()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: self._report(trial, n, 10_000), range(self.number // 2)))
            list(pool.map(lambda n: self._report(trial, n, 2_000), range(self.number // 2, self.number)))

    def half_open(self) -> None:
        asyncio.run(self._hold(lambda: b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "))

    def streams(self) -> None:
        trial = self._unmanaged_trial()
        path = f"/api/v1/trials/{trial}/logs?follow=true"
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {self.authorization}\r\n\r\n"
        asyncio.run(self._hold(head.encode))

    def logins(self) -> None:
        body = json.dumps({"username": "vera", "password": "wrong"})
        head = f"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        asyncio.run(self._hold(f"{head}Connection: close\r\n\r\n{body}".encode, until_answered=True))

    def call(self, method: str, path: str, body: Any = None, status: int | None = 200) -> Any:
        raw = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": self.authorization}
        answer = _http.request(method, f"{self.url}/api/v1{path}", body=raw, headers=headers)
        if status is not None and answer.status != status:
            raise SystemExit(f"{method} {path}: {answer.status} {answer.data.decode()[:500]}")
        return json.loads(answer.data)

    def _submit(self, config: dict[str, Any], **options: Any) -> int:
        whole = {"name": "abuse", "entrypoint": "sleep 3600", "max_restarts": 0, **config}
        body = {"activate": True, "config": json.dumps(whole), "modelDefinition": [], **options}
        return int(self.call("POST", "/experiments", body)["experiment"]["id"])

    def _config(self, text: str) -> None:
        self.call("POST", "/experiments", {"config": text, "validateOnly": True}, status=None)

    def _unmanaged_trial(self) -> int:
        searcher = {"name": "single", "metric": "loss"}
        number = self._submit({"searcher": searcher, "hyperparameters": {}}, unmanaged=True, activate=False)
        body = {"experimentId": number, "hparams": {}, "unmanaged": True}
        return int(self.call("POST", "/trials", body)["trial"]["id"])

    def _report(self, trial: int, step: int, names: int) -> None:
        values = {f"m{n}": float(step) for n in range(names)}
        metrics = {"trialRunId": 0, "stepsCompleted": step, "metrics": {"avgMetrics": values}}
        self.call("POST", f"/trials/{trial}/metrics", {"group": "training", "metrics": metrics}, status=None)

    def _wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 600
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit("waited ten minutes in vain")
            time.sleep(0.5)

    async def _hold(self, head: Callable[[], bytes], *, until_answered: bool = False) -> None:
        """Open the connections, a few hundred a time, send what `head` says and keep them open."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, self.number + 100)), hard))
        opened = []
        for start in range(0, self.number, 250):
            some = range(start, min(start + 250, self.number))
            # one that the master is too busy to take costs the attacker nothing
            tried = await asyncio.gather(*(self._open(head()) for _ in some), return_exceptions=True)
            opened += [one for one in tried if not isinstance(one, BaseException)]
        if until_answered:
            await asyncio.wait_for(asyncio.gather(*(_drain(reader) for reader, _ in opened)), 600)
        await asyncio.sleep(self.seconds)
        for _, writer in opened:
            writer.close()

    async def _open(self, head: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(head)
        return reader, writer


async def _drain(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(65536):
            pass
    except ConnectionError:
        return


if __name__ == "__main__":
    kind, url, number, seconds, authorization = sys.argv[1:]
    getattr(Attacker(url, int(number), float(seconds), authorization), kind)()
