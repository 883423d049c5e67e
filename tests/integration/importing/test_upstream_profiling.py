"""`--with-profiling`: system metrics come in numbered, and the profile of a trial shows them."""

import json
import math
from pathlib import Path
from typing import Any

from importer import Importer
from upstream_filler import PASSWORDS

from conftest import Source
from determined.master.db.queries import import_check, metric_live


def test_system_metrics_are_numbered_from_run_to_run(importer: Importer, source: Source) -> None:
    events = importer.run("--source", source.url, "--with-profiling")
    assert events[-1]["problems"] == []
    assert events[0]["counts"]["metrics of system_metrics"] == 6
    stored = importer.read(lambda conn: import_check.points(conn, [1]))
    assert (stored[1, "gpu"], stored[1, "cpu"]) == ((4, 0, 3), (1, 0, 0))
    assert (1, "memory") not in stored
    rows = importer.read(lambda conn: import_check.series(conn, 1, "gpu"))
    values = [row.metrics["node"]["GPU-1"]["gpu_util"] for row in rows]
    assert ([row.step for row in rows], values[0], values[2:]) == ([0, 1, 2, 3], 0.0, [1.0, 7.0])
    assert math.isnan(values[1])
    assert [row.time - rows[0].time for row in rows] == [0, 1, 2, 9]
    marks = importer.read(lambda conn: metric_live.watermarks(conn, 1))
    assert {mark.group for mark in marks.rows if mark.indexed} == {"gpu", "cpu"}
    report = next(path for path in events[-1]["files"] if path.endswith("report.json"))
    notes = json.loads(Path(report).read_text())["notes"]
    assert (notes["bad_metrics"]["count"], notes["bad_metrics"]["places"]) == (1, {"1 memory": 1})
    assert "profiling" not in notes


def test_the_profile_of_an_imported_trial_is_served(
    start_master: Any, sqlite_importer: Importer, source: Source
) -> None:
    sqlite_importer.run("--source", source.url, "--with-profiling", "--only", "experiments=1")
    client = start_master(data_dir=sqlite_importer.data).client("admin", PASSWORDS["admin"])
    (available,) = client.lines("/api/v1/trials/1/profiler/available_series")
    found = {(one["name"], one["agentId"], one["gpuUuid"]) for one in available["result"]["labels"]}
    assert found == {("gpu_util", "node", "GPU-1"), ("cpu_util_simple", "node", "")}


def test_an_import_goes_on_with_system_metrics_where_they_were_wanted(
    sqlite_importer: Importer, source: Source
) -> None:
    wrong = source.copy()
    summary = json.dumps({"avg_metrics": {"loss": {"type": "number", "count": 1}}})
    wrong.execute(f"UPDATE runs SET summary_metrics = '{summary}' WHERE id = 1")
    sqlite_importer.run("--source", wrong.url, "--with-profiling", status=1)
    wrong.execute("UPDATE runs SET summary_metrics = NULL")
    refused = sqlite_importer.run("--source", wrong.url, status=1)
    assert "other options" in refused[-1]["message"]
    assert sqlite_importer.run("--source", wrong.url, "--with-profiling")[-1]["problems"] == []
