"""The REST API of an MLflow tracking server, as far as an export needs it. No package of MLflow is used."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import urllib3
from urllib3.exceptions import HTTPError

from determined._json import JsonObject
from determined.errors import DeterminedError, InvalidArgument, Unavailable

_API = "/api/2.0/mlflow"
_TIMEOUT = urllib3.Timeout(connect=10, read=120)
_MOST, _MOST_PARAMS, _MOST_TAGS = 1000, 100, 100  # entries of a batch in all, parameters and tags of them
_MOST_BYTES = 800_000  # of a batch of parameters; MLflow takes a megabyte


class MlflowRefused(DeterminedError):
    """MLflow has answered that it does not do what was asked."""

    code = "mlflow_refused"

    def __init__(self, message: str, error_code: str = "") -> None:
        super().__init__(message)
        self.error_code = error_code


class MlflowServer:
    """`uri`: http or https; a user and password may stand in it.

    Raises:
        InvalidArgument: it is another kind of URI.
    """

    def __init__(self, uri: str, token: str | None = None) -> None:
        parts = urlsplit(uri)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidArgument(
                "--to-mlflow takes the address of a tracking server, such as http://127.0.0.1:5000; "
                "for a directory or a database start one: mlflow server --backend-store-uri URI"
            )
        port = f":{parts.port}" if parts.port else ""
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.address = f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
        self._headers = {"Content-Type": "application/json", **_login(parts.username, parts.password, token)}
        # a request that was not read is sent again; one whose answer was lost is not: it would make a second run
        retry = urllib3.Retry(total=5, read=0, backoff_factor=0.5, status_forcelist=(429, 503), allowed_methods=None)
        self._pool = urllib3.PoolManager(retries=retry, timeout=_TIMEOUT)

    def close(self) -> None:
        self._pool.clear()

    def experiment(self, name: str) -> str:
        """Return the id of an experiment, made where it is missing. Raises MlflowRefused where it was deleted."""
        try:
            experiment = self._call("GET", "experiments/get-by-name", {"experiment_name": name})["experiment"]
        except MlflowRefused as e:
            if e.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return str(self._call("POST", "experiments/create", {"name": name})["experiment_id"])
        if experiment.get("lifecycle_stage") == "deleted":
            raise MlflowRefused(f"MLflow has deleted experiment {name!r}; restore it there, or delete it for good")
        return str(experiment["experiment_id"])

    def run(self, experiment_id: str, tags: dict[str, str]) -> JsonObject | None:
        """Return the run of an experiment that has these tags, if any."""
        condition = " and ".join(f"tags.`{key}` = '{value}'" for key, value in tags.items())
        body = {
            "experiment_ids": [experiment_id],
            "filter": condition,
            "max_results": 1,
            "run_view_type": "ACTIVE_ONLY",
        }
        runs = self._call("POST", "runs/search", body).get("runs") or []
        return runs[0] if runs else None

    def create_run(self, experiment_id: str, name: str, start_time: int, tags: dict[str, str]) -> JsonObject:
        body = {"experiment_id": experiment_id, "run_name": name, "start_time": start_time, "tags": _pairs(tags)}
        run: JsonObject = self._call("POST", "runs/create", body)["run"]
        return run

    def log(
        self,
        run_id: str,
        *,
        metrics: Sequence[JsonObject] = (),
        params: dict[str, str] | None = None,
        tags: dict[str, str] | None = None,
    ) -> None:
        """Log a batch: at most 1000 entries, 100 parameters and 100 tags among them."""
        assert len(metrics) + len(params or {}) + len(tags or {}) <= _MOST
        assert len(params or {}) <= _MOST_PARAMS
        assert len(tags or {}) <= _MOST_TAGS
        body = {"run_id": run_id, "metrics": list(metrics), "params": _pairs(params or {}), "tags": _pairs(tags or {})}
        self._call("POST", "runs/log-batch", body)

    def log_params(self, run_id: str, params: dict[str, str]) -> None:
        part: dict[str, str] = {}
        size = 0
        for key, value in params.items():
            added = len(msgspec.json.encode([key, value]))
            if part and (len(part) == _MOST_PARAMS or size + added > _MOST_BYTES):
                self.log(run_id, params=part)
                part, size = {}, 0
            part[key], size = value, size + added
        if part:
            self.log(run_id, params=part)

    def update_run(self, run_id: str, status: str, end_time: int | None) -> None:
        ended = {} if end_time is None else {"end_time": end_time}
        self._call("POST", "runs/update", {"run_id": run_id, "status": status, **ended})

    def _call(self, method: str, path: str, fields: JsonObject) -> JsonObject:
        url = f"{self.address}{_API}/{path}"
        try:
            if method == "GET":
                response = self._pool.request(method, url, fields=fields, headers=self._headers, redirect=False)
            else:
                body = msgspec.json.encode(fields)
                response = self._pool.request(method, url, body=body, headers=self._headers, redirect=False)
        except HTTPError as e:
            raise Unavailable(f"no MLflow server answers at {self.address}: {e}; check --to-mlflow") from e
        return self._answer(path, response.status, response.data)

    def _answer(self, path: str, status: int, data: bytes) -> JsonObject:
        try:
            answer: Any = msgspec.json.decode(data)
        except msgspec.DecodeError:
            answer = None
        if status == 200 and isinstance(answer, dict):
            return answer
        if isinstance(answer, dict) and "error_code" in answer:
            text = str(answer.get("message", ""))[:500]
            raise MlflowRefused(f"MLflow refuses {path}: {text}", str(answer["error_code"]))
        hint = "give a user in the URI or MLFLOW_TRACKING_TOKEN" if status in (401, 403) else "is it an MLflow server?"
        raise MlflowRefused(f"{self.address} answers {path} with status {status}; {hint}")


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in values.items()]


def _login(user: str | None, password: str | None, token: str | None) -> dict[str, str]:
    if user is not None:
        return urllib3.make_headers(basic_auth=f"{unquote(user)}:{unquote(password or '')}")
    return {"Authorization": f"Bearer {token}"} if token else {}
