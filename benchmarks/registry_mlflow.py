"""The MLflow side of registry.py, run by a python that has MLflow: the same models in its SQLite, the same lists."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ingest_mlflow import serving

_BEGIN_MS = 1_767_225_600_000


def main(folder: str, number: int, versions: int, calls: int) -> None:
    store = Path(folder) / "mlflow.db"
    subprocess.run(
        [sys.executable, "-m", "mlflow", "db", "upgrade", f"sqlite:///{store}"], check=True, stdout=sys.stderr
    )
    _fill(store, number, versions)
    with serving(Path(folder)) as url:
        print(json.dumps(_measure(url, number, calls)))


def _fill(store: Path, number: int, versions: int) -> None:
    database = sqlite3.connect(store)
    for n in range(1, number + 1):
        name, changed = f"model {n} of team {n % 20}", _BEGIN_MS + n * 7919 % 100_003 * 1000
        _insert(database, "registered_models", name=name, creation_time=_BEGIN_MS, last_updated_time=changed,
                description=f"a description {n % 97}")  # fmt: skip
        _insert(database, "registered_model_tags", name=name, key=f"label{n % 50}", value="")
        _insert(database, "registered_model_aliases", name=name, alias="production", version=3)
        for version in range(1, versions + 1):
            _insert(database, "model_versions", name=name, version=version, creation_time=_BEGIN_MS,
                    last_updated_time=_BEGIN_MS, current_stage="None", source="s3://b/c", status="READY")  # fmt: skip
    database.commit()
    database.close()


def _insert(database: sqlite3.Connection, table: str, **values: object) -> None:
    columns, places = ", ".join(values), ", ".join("?" * len(values))
    database.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", list(values.values()))


def _measure(url: str, number: int, calls: int) -> dict[str, object]:
    import mlflow
    from mlflow.tracking import MlflowClient

    client, one = MlflowClient(registry_uri=url, tracking_uri=url), f"model {number // 2} of team {number // 2 % 20}"
    search = client.search_registered_models
    cases: dict[str, Callable[[], object]] = {
        "by_name": lambda: search(max_results=100, order_by=["name ASC"]),
        "newest": lambda: search(max_results=100, order_by=["last_updated_timestamp DESC"]),
        "part_of_name": lambda: search(max_results=100, filter_string="name ILIKE '%77%'"),
        "tag": lambda: search(max_results=100, filter_string="tags.label7 = ''"),
        "versions": lambda: client.search_model_versions(f"name = '{one}'", max_results=100),
        "alias": lambda: client.get_model_version_by_alias(one, "production"),
    }
    return {"version": mlflow.__version__, **{name: _times(call, calls) for name, call in cases.items()}}


def _times(call: Callable[[], object], calls: int) -> list[float]:
    assert call(), "nothing was found"
    took = []
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        took.append((time.perf_counter() - begin) * 1000)
    return took


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
