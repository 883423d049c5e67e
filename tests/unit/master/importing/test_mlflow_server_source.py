"""Runs of an MLflow server: pages are followed, damaged answers and refusals named. A slow test reads a real server."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from determined.errors import DeterminedError
from determined.master.importing.sources.mlflow.mapping import MlflowSource
from served_handler import served

Answer = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]
RUN = {
    "info": {"run_id": "r1", "run_name": "one", "status": "FINISHED", "start_time": "1700000000000", "end_time": 1.0},
    "data": {"metrics": [{"key": "loss"}], "params": [{"key": "lr", "value": "0.1"}], "tags": [{"key": "a"}]},
}


@contextmanager
def serving(answer: Answer, heard: list[str] | None = None) -> Iterator[str]:
    """Serve answers on loopback; `heard` gets the authorization of each request."""

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._send(parts.path, {key: values[0] for key, values in parse_qs(parts.query).items()})

        def do_POST(self) -> None:
            self._send(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _send(self, path: str, fields: dict[str, Any]) -> None:
            if heard is not None:
                heard.append(self.headers["Authorization"])
            status, body = answer(path.removeprefix("/base/api/2.0/mlflow/"), fields)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as place:
        yield f"{place}/base/"


def paged(path: str, fields: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Answer as a server whose pages have one entry each."""
    is_second = "page_token" in fields
    more = {} if is_second else {"next_page_token": "p"}
    if path == "experiments/search":
        id_, name = ("2", "second") if is_second else ("1", "first")
        return 200, {"experiments": [{"experiment_id": id_, "name": name}], **more}
    if path == "runs/search" and fields["experiment_ids"] == ["1"]:
        if fields["run_view_type"] == "DELETED_ONLY":
            return 200, {"runs": [RUN], **more}
        other = {"info": {**RUN["info"], "run_id": "r2", "run_name": "two", "status": "RUNNING", "end_time": None}}
        return 200, {"runs": [other if is_second else RUN], **more}
    if path == "metrics/get-history":
        texts = ["NaN", "Infinity", 1.7976931348623157e308, "no number", -0.5]
        points = [{"timestamp": 1000 + n, "value": value, "step": str(n)} for n, value in enumerate(texts)]
        return 200, {"metrics": points[3:] if is_second else points[:3], **more}
    if path == "registered-models/search":
        return 200, {"registered_models": [{"name": "mnist"}]}
    return 200, {}


def test_pages_of_a_server_are_followed() -> None:
    with serving(paged) as place:
        experiments = list(MlflowSource(f"http://{place}").experiments())
        reports = list(experiments[0].trials[0].reports())
    assert [(one.project, one.name) for one in experiments] == [("first", "one"), ("first", "two")]
    assert experiments[0].trials[0].hparams == {"lr": 0.1}
    rules = [note.rule.name for one in experiments for note in one.findings]
    assert rules == ["mlflow_models", "mlflow_deleted", "mlflow_deleted", "mlflow_running"]
    values = {report.step: report.metrics["loss"] for report in reports}
    assert math.isnan(values.pop(0))
    assert values == {1: math.inf, 2: math.inf, 4: -0.5}


def test_a_server_without_a_registry_has_runs() -> None:
    def answer(path: str, fields: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path.startswith("registered"):
            return 400, {"error_code": "FEATURE_DISABLED", "message": "no registry"}
        return paged(path, fields)

    with serving(answer) as place:
        assert len(list(MlflowSource(f"http://{place}").experiments())) == 2


@pytest.mark.parametrize(
    ("login", "sent"),
    [("ada:p%40ss@", "Basic YWRhOnBAc3M="), (":token@", "Bearer token"), ("", None)],
)
def test_a_login_of_the_address_is_sent_and_not_shown(login: str, sent: str | None) -> None:
    heard: list[str] = []
    with serving(paged, heard) as place:
        source = MlflowSource(f"http://{login}{place}")
        assert list(source.experiments())
    assert source.address == f"http://{place.rstrip('/')}"
    assert set(heard) == {sent}


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (404, {}, "is it an MLflow server"),
        (401, {}, "USER:PASSWORD"),
        (200, [], "is it an MLflow server"),
        (400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "bad order"}, "MLflow refuses .*: bad order"),
    ],
)
def test_what_is_no_tracking_server_is_refused_with_a_reason(status: int, body: Any, message: str) -> None:
    with serving(lambda path, fields: (status, body)) as place, pytest.raises(DeterminedError, match=message):
        list(MlflowSource(f"http://ada:secret@{place}").experiments())


@pytest.mark.parametrize("source", ["http://", "http://[::1", "http://host:port/"])
def test_what_is_no_address_is_refused(source: str) -> None:
    with pytest.raises(DeterminedError, match="--source"):
        MlflowSource(source)
