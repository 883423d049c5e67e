"""MLflow servers of strangers: what they make an import wait for, keep and show has limits."""

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from determined.errors import DeterminedError, InvalidArgument
from determined.master.importing.sources.mlflow import rest
from determined.master.importing.sources.mlflow.mapping import MlflowSource
from served_handler import served

Answer = Callable[[str, int], tuple[int, dict[str, str], bytes]]
"""Answer of a path that is asked for the nth time: status, headers, body."""

RUN = {"info": {"run_id": "r", "status": "FINISHED"}, "data": {"metrics": [{"key": "loss"}]}}
STORE: dict[str, Any] = {
    "experiments/search": {"experiments": [{"experiment_id": "1", "name": "e"}]},
    "runs/search": {"runs": [RUN]},
}


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    asked: dict[str, int] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0].removeprefix("/api/2.0/mlflow/")
            asked[path] = asked.get(path, 0) + 1
            status, headers, body = answer(path, asked[path])
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as place:
        yield f"http://{place}"


def stored(path: str, **changed: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, json.dumps({**STORE, **changed}.get(path, {})).encode()


def read(answer: Answer) -> list[Any]:
    with serving(answer) as place:
        return [list(trial.reports()) for one in MlflowSource(place).experiments() for trial in one.trials]


def test_a_server_is_not_waited_for_as_long_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    with pytest.raises(InvalidArgument, match="status 503"):
        read(lambda path, n: (503, {"Retry-After": "86400"}, b""))
    assert 0 < sum(waited) < 60


def test_a_server_that_is_busy_for_a_moment_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    assert read(lambda path, n: (429, {}, b"") if n == 1 else stored(path)) == [[]]


@pytest.mark.parametrize("path", ["metrics/get-history", "runs/search", "experiments/search"])
def test_pages_in_a_circle_have_an_end(path: str) -> None:
    def answer(asked: str, n: int) -> tuple[int, dict[str, str], bytes]:
        return stored(asked, **{path: {**STORE.get(path, {}), "next_page_token": "AB"[n % 2]}})

    with pytest.raises(InvalidArgument, match=f"names a page of {path} twice"):
        read(answer)


@pytest.mark.parametrize("limit", ["_MOST_PAGES", "_MOST_LISTED"])
def test_pages_without_an_end_are_given_up(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(rest, limit, 1000)
    with pytest.raises(InvalidArgument, match="more pages of experiments/search than are read"):
        read(lambda path, n: stored(path, **{"experiments/search": {"next_page_token": str(n)}}))


def test_an_answer_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "_MOST_BYTES", 1 << 20)
    with pytest.raises(InvalidArgument, match="more than 1 MiB"):
        read(lambda path, n: (200, {}, b" " * (2 << 20)))


def test_an_answer_is_not_unpacked() -> None:
    packed = gzip.compress(json.dumps({"registered_models": [{"name": "n" * 1000}]}).encode())
    with pytest.raises(InvalidArgument, match="cannot be read"):
        read(lambda path, n: (200, {"Content-Encoding": "gzip"}, packed))


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("registered-models/search", {"registered_models": [1]}),
        ("registered-models/search", {"registered_models": 1}),
        ("experiments/search", {"experiments": [1]}),
        ("experiments/search", {"experiments": [], "next_page_token": {"a": 1}}),
        ("runs/search", {"runs": [{"info": [1]}]}),
        ("runs/search", {"runs": [{"data": {"tags": [1]}}]}),
        ("runs/search", {"runs": [{"data": {"metrics": {"a": 1}}}]}),
        ("metrics/get-history", {"metrics": [[1]]}),
    ],
)
def test_answers_of_other_types_are_refused_with_a_reason(path: str, answer: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=rf"answers {path} with what cannot be read \(Expected"):
        read(lambda asked, n: stored(asked, **{path: answer}))


def test_values_of_other_types_are_left_out() -> None:
    history = [{"timestamp": 1, "value": 1, "step": 1}, {"timestamp": "9" * 5000, "value": 1}, {"value": {}.get("a")}]
    infinite = {"timestamp": 1e300, "value": "1e999", "step": "2"}
    (reports,) = read(lambda path, n: stored(path, **{"metrics/get-history": {"metrics": [*history, infinite]}}))
    assert [report.step for report in reports] == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        "http://u:sek#ret9@host",
        "http://u:sek/ret9@host",
        "http://u:123#ret9@host",
        "http://u:123/ret9@host",
        "http://u:123?ret9@host",
        "http://u:se[k@host",
    ],
)
def test_no_part_of_a_password_is_shown(source: str) -> None:
    with pytest.raises(DeterminedError) as caught:
        MlflowSource(source)
    assert "%23" in str(caught.value)
    assert not any(part in str(caught.value) for part in ("sek", "ret9", "123", "se[k"))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
