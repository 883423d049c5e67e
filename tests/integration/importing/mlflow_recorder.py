"""A tracking server that keeps what it is sent, with the limits that MLflow 3's own server was seen to hold.

What it accepts was compared by hand with `mlflow server` on SQLite: names, values cut at 6000, NaN as text, a batch of
1000 entries in all, runs found by their tags. `test_export_to_real_mlflow.py` exports into such a server.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from served_handler import served

_PREFIX = "/api/2.0/mlflow/"
_NAME = re.compile(r"^[/\w.\- :]{1,250}$")
_TAG = re.compile(r"tags\.`([^`]+)` = '([^']*)'")


class Recorder:
    """`experiments` by name, `runs` by id; a run's `metrics` is a list of what was logged, in its order."""

    def __init__(self) -> None:
        self.experiments: dict[str, str] = {}
        self.runs: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.breaks_after: int | None = None  # batches; then every request fails

    def answer(self, path: str, fields: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.calls.append(path)
        if self.breaks_after is not None and self.calls.count("runs/log-batch") > self.breaks_after:
            return 500, {}
        try:
            return 200, getattr(self, "_" + re.sub(r"[/-]", "_", path))(fields)
        except KeyError as e:
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": str(e)}
        except AssertionError as e:
            return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": str(e)}

    def _experiments_get_by_name(self, fields: dict[str, Any]) -> dict[str, Any]:
        name = fields["experiment_name"]
        return {"experiment": {"experiment_id": self.experiments[name], "lifecycle_stage": "active"}}

    def _experiments_create(self, fields: dict[str, Any]) -> dict[str, Any]:
        self.experiments[fields["name"]] = str(len(self.experiments) + 1)
        return {"experiment_id": self.experiments[fields["name"]]}

    def _runs_search(self, fields: dict[str, Any]) -> dict[str, Any]:
        wanted = dict(_TAG.findall(fields["filter"]))
        assert wanted
        own = [id_ for id_, run in self.runs.items() if run["experiment_id"] in fields["experiment_ids"]]
        return {"runs": [self._shown(id_) for id_ in own if wanted.items() <= self.runs[id_]["tags"].items()]}

    def _runs_create(self, fields: dict[str, Any]) -> dict[str, Any]:
        id_ = f"run{len(self.runs)}"
        self.runs[id_] = {**fields, "tags": _pairs(fields["tags"]), "params": {}, "metrics": []}
        return {"run": self._shown(id_)}

    def _runs_log_batch(self, fields: dict[str, Any]) -> dict[str, Any]:
        run = self.runs[fields["run_id"]]
        metrics, params, tags = fields["metrics"], _pairs(fields["params"]), _pairs(fields["tags"])
        assert len(metrics) + len(params) + len(tags) <= 1000, "too many entries"
        assert max(len(params), len(tags)) <= 100, "too many parameters or tags"
        for key in (*params, *(metric["key"] for metric in metrics)):
            assert _NAME.match(key), f"bad name {key!r}"
            assert not {"", ".", ".."} & set(key.split("/")), f"bad name {key!r}"
        for key, value in tags.items():
            assert _NAME.match(key), f"bad tag {key!r}"
            assert len(value) <= 5000, f"tag {key!r} is too long"
        for key, value in params.items():
            assert len(value) <= 6000, "a parameter is too long"
            assert run["params"].setdefault(key, value) == value, "a parameter changes"
        assert all(isinstance(m["value"], float) or m["value"] in ("NaN", "Infinity", "-Infinity") for m in metrics)
        run["metrics"] += metrics
        run["tags"].update(tags)
        return {}

    def _runs_update(self, fields: dict[str, Any]) -> dict[str, Any]:
        self.runs[fields["run_id"]].update(fields)
        return {}

    def _shown(self, id_: str) -> dict[str, Any]:
        tags = [{"key": key, "value": value} for key, value in self.runs[id_]["tags"].items()]
        return {"info": {"run_id": id_}, "data": {"tags": tags}}


@contextmanager
def serving(recorder: Recorder) -> Iterator[str]:
    """Serve on loopback; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet: a second one would wait 40 ms for the answer to the first

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._send(parts.path, {key: values[0] for key, values in parse_qs(parts.query).items()})

        def do_POST(self) -> None:
            self._send(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _send(self, path: str, fields: dict[str, Any]) -> None:
            status, answer = recorder.answer(path.removeprefix(_PREFIX), fields)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as place:
        yield f"http://{place}"


def _pairs(listed: list[dict[str, str]]) -> dict[str, str]:
    return {pair["key"]: pair["value"] for pair in listed}
